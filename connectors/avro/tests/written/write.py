"""Writes what two other implementations make of values of every type of `../schemas/all.avsc`.

    python3 -m venv v && v/bin/pip install fastavro==1.13.1 avro==1.12.2 cramjam==2.14.0 backports.zstd==1.8.0 && v/bin/python write.py

`fastavro.hex` and `python.hex`: a record in each line, without a frame; what is in it stands in `../codec/written.rs`, by hand.
`drawn.fastavro.hex` and `drawn.python.hex`: records that are drawn here; `drawn.txt` has a line for each of their values, and an empty one
behind each record. `drawn.CODEC.avro`: the same records in container files of fastavro's.
"""

import datetime
import decimal
import io
import json
import pathlib
import random
import struct
import uuid

import avro.io
import avro.schema
import fastavro

here = pathlib.Path(__file__).parent
text = (here / "../schemas/all.avsc").read_text()
decimal.getcontext().prec = 50

# Logical types are given as their plain values, so that both write the same: what is compared is the encoding.
plain = [
    {
        "nothing": None, "flag": True, "small": -5, "big": 1 << 40, "single": 1.5, "double": -2.25,
        "raw": b"\x00\xff", "text": "gr\u00fc\u00dfe", "status": "PAID", "status_text": "IN_TRANSIT",
        "statuses": ["NEW", "IN_TRANSIT"], "digest": b"abcd", "digest_bytes": b"\x00\x01\x02\x03",
        "digests": [b"wxyz"], "numbers": [1, -1, 64], "nulls": [None, None], "ages": {"a": 1, "b": -2},
        "names": {"k": "v"}, "places": {"home": {"city": "Ulm", "zip": 89073}},
        "origin": {"city": "Bonn", "zip": None}, "events": [{"city": "Rom", "zip": 1}, "text"], "maybe_status": "NEW",
        "chain": {"value": 1, "next": {"value": 2, "next": None}},
        "day": 19000, "time_millis": 35245000, "time_micros": 20192000000, "at_millis": -1, "at_micros": 62135596800000000,
        "at_nanos": 1, "local_millis": 2, "local_micros": 3, "local_nanos": 4,
        "price": b"\xfb\x32", "amount": b"\xff\xff\xff\xff\xff\xff\xff\xfe", "id": "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "span": b"\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00", "maybe_price": b"\x00\xff",
        "prices": {"p": b"\xff"}, "days": [0, -1], "only_at": -9223372036854775808,
    },
    {
        "nothing": None, "flag": False, "small": -2147483648, "big": -9223372036854775808, "single": 0.0, "double": 0.0,
        "raw": b"", "text": "", "status": "NEW", "status_text": "NEW",
        "statuses": [], "digest": b"\xff\xff\xff\xff", "digest_bytes": b"\x00\x00\x00\x00",
        "digests": [], "numbers": [], "nulls": [], "ages": {}, "names": {}, "places": {},
        "origin": None, "events": [], "maybe_status": None, "chain": {"value": 2147483647, "next": None},
        "day": -719162, "time_millis": 0, "time_micros": 0, "at_millis": 0, "at_micros": 0, "at_nanos": 0,
        "local_millis": 0, "local_micros": 0, "local_nanos": 0,
        "price": b"\x00", "amount": b"\x00\x00\x00\x00\x00\x00\x00\x00", "id": "00000000-0000-0000-0000-000000000000",
        "span": b"\x00" * 12, "maybe_price": None, "prices": {}, "days": [], "only_at": 0,
    },
]


def without_logical(schema):
    if isinstance(schema, list):
        return [without_logical(branch) for branch in schema]
    if isinstance(schema, dict):
        return {key: without_logical(value) for key, value in schema.items() if key != "logicalType"}
    return schema


def with_fastavro(values, schema):
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, value)
        yield out.getvalue()


def with_python(values, schema):
    writer = avro.io.DatumWriter(schema)
    for value in values:
        out = io.BytesIO()
        writer.write(value, avro.io.BinaryEncoder(out))
        yield out.getvalue()


schema = without_logical(json.loads(text))
lines = list(with_fastavro(plain, fastavro.parse_schema(schema)))
# fastavro converts logical types by itself: the first value once more, as Python's own types.
utc = datetime.timezone.utc
rich = dict(
    plain[0],
    day=datetime.date(2022, 1, 8), time_millis=datetime.time(9, 47, 25), time_micros=datetime.time(5, 36, 32),
    at_millis=datetime.datetime(1969, 12, 31, 23, 59, 59, 999000, utc), at_micros=datetime.datetime(3939, 1, 1, tzinfo=utc),
    price=decimal.Decimal("-12.30"), amount=decimal.Decimal("-0.0002"), id=uuid.UUID(plain[0]["id"]),
    maybe_price=decimal.Decimal("2.55"), prices={"p": decimal.Decimal("-0.01")},
    days=[datetime.date(1970, 1, 1), datetime.date(1969, 12, 31)],
)
lines += with_fastavro([rich], fastavro.parse_schema(json.loads(text)))
(here / "fastavro.hex").write_text("".join(line.hex() + "\n" for line in lines))
lines = with_python(plain, avro.schema.parse(json.dumps(schema)))
(here / "python.hex").write_text("".join(line.hex() + "\n" for line in lines))

# Drawn records, and their values one by one.
draw = random.Random(1)
STATUSES = ["NEW", "PAID", "IN_TRANSIT"]
ALPHABET = "ab z\u00fc\u4e1c\U0001f600"


def text_of(most):
    return "".join(draw.choice(ALPHABET) for _ in range(draw.randint(0, most)))


def number(bits):
    edge = draw.choice([None, None, None, -(1 << bits - 1), (1 << bits - 1) - 1])
    return draw.getrandbits(bits) - (1 << bits - 1) >> draw.randrange(bits) if edge is None else edge


def list_of(item, most=4):
    return [item() for _ in range(draw.randint(0, most))]


def map_of(value, most=4):
    return {text_of(5): value() for _ in range(draw.randint(0, most))}


def maybe(value):
    return value() if draw.random() < 0.6 else None


def place():
    return {"city": text_of(8), "zip": maybe(lambda: number(32))}


def chain():
    end = None
    for _ in range(draw.randint(0, 5)):
        end = {"value": number(32), "next": end}
    return {"value": number(32), "next": end}


def decimal_bytes(unscaled):
    return unscaled.to_bytes((unscaled.bit_length() + 8) // 8, "big", signed=True)


def price():
    return decimal_bytes(draw.randint(-999_999_999, 999_999_999) >> draw.randrange(30))


def single():
    return struct.unpack("<f", struct.pack("<f", draw.uniform(-1e6, 1e6)))[0]


def record():
    origin = draw.choice([
        lambda: None, lambda: text_of(5), lambda: number(32), place, lambda: list_of(lambda: number(64), 5),
    ])
    return {
        "nothing": None, "flag": draw.random() < 0.5, "small": number(32), "big": number(64), "single": single(),
        "double": draw.uniform(-1e300, 1e300), "raw": draw.randbytes(draw.randrange(20)), "text": text_of(40),
        "status": draw.choice(STATUSES), "status_text": draw.choice(STATUSES), "statuses": list_of(lambda: draw.choice(STATUSES)),
        "digest": draw.randbytes(4), "digest_bytes": draw.randbytes(4), "digests": list_of(lambda: draw.randbytes(4)),
        "numbers": list_of(lambda: number(64), 20), "nulls": list_of(lambda: None, 9), "ages": map_of(lambda: number(32)),
        "names": map_of(lambda: text_of(5)), "places": map_of(place), "origin": origin(),
        "events": list_of(lambda: draw.choice([place, lambda: text_of(5)])()), "maybe_status": maybe(lambda: draw.choice(STATUSES)),
        "chain": chain(), "day": number(32), "time_millis": number(32), "time_micros": number(64), "at_millis": number(64),
        "at_micros": number(64), "at_nanos": number(64), "local_millis": number(64), "local_micros": number(64), "local_nanos": number(64),
        "price": price(), "amount": draw.randint(-10**18 + 1, 10**18 - 1).to_bytes(8, "big", signed=True),
        "id": str(uuid.UUID(int=draw.getrandbits(128))), "span": draw.randbytes(12), "maybe_price": maybe(price),
        "prices": map_of(price), "days": list_of(lambda: number(32)), "only_at": number(64),
    }


DECIMALS = ("price", "amount", "maybe_price", "prices")


def lines_of(path, value, field):
    """A line for each value, in the order of the fields; entries of maps by their keys."""
    if value is None:
        yield f"{path} null"
    elif isinstance(value, bool):
        yield f"{path} {str(value).lower()}"
    elif isinstance(value, float):
        kind = "<f" if field == "single" else "<d"
        yield f"{path} {struct.pack(kind, value)[::-1].hex()}"
    elif isinstance(value, (int, str)):
        yield f"{path} {value}"
    elif isinstance(value, bytes) and field in DECIMALS:
        yield f"{path} {int.from_bytes(value, 'big', signed=True)}"
    elif isinstance(value, bytes):
        yield f"{path} {value.hex()}"
    elif isinstance(value, list):
        yield f"{path} {len(value)}"
        for n, item in enumerate(value):
            yield from lines_of(f"{path}[{n}]", item, field)
    elif field in ("ages", "names", "places", "prices") and set(value) != {"city", "zip"}:
        yield f"{path} {len(value)}"
        for key in sorted(value, key=lambda key: key.encode()):
            yield from lines_of(f"{path}{{{key}}}", value[key], field)
    else:
        for name, inner in value.items():
            yield from lines_of(f"{path}.{name}", inner, field)


drawn = [record() for _ in range(150)]
with open(here / "drawn.txt", "w", newline="\n") as file:
    for one in drawn:
        for name, value in one.items():
            file.writelines(line + "\n" for line in lines_of(name, value, name))
        file.write("\n")
payloads = list(with_fastavro(drawn, fastavro.parse_schema(schema)))
(here / "drawn.fastavro.hex").write_text("".join(line.hex() + "\n" for line in payloads))
payloads = list(with_python(drawn, avro.schema.parse(json.dumps(schema))))
(here / "drawn.python.hex").write_text("".join(line.hex() + "\n" for line in payloads))
for codec in ("null", "deflate", "snappy", "zstandard", "bzip2", "xz"):
    with open(here / f"drawn.{codec}.avro", "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(json.loads(text)), drawn[:40], codec=codec, sync_interval=4000)
