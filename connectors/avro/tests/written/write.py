"""Writes the payloads of `fastavro.hex` and `python.hex`: values of every type as two other implementations encode them.

    python3 -m venv v && v/bin/pip install fastavro==1.13.1 avro==1.12.2 && v/bin/python write.py

Each line is one record of `../schemas/all.avsc`, without a frame. What is in it stands in `../codec/written.rs`, by hand.
"""

import datetime
import decimal
import io
import json
import pathlib
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
