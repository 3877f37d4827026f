"""Writes the container files of `files.hex`: pairs of an older schema as fastavro writes them, one line for each codec: its name and the file.

    python3 -m venv v && v/bin/pip install fastavro==1.13.1 cramjam zstandard backports.zstd && v/bin/python write_files.py

What is in them stands in `../container/writers.rs`, by hand.
"""

import io
import pathlib

import fastavro

here = pathlib.Path(__file__).parent
# An int for the long of today, another order, and a field that is gone.
schema = fastavro.parse_schema({
    "type": "record", "name": "Pair", "namespace": "test", "fields": [
        {"name": "value", "type": "string"},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "key", "type": "int"},
    ]})
records = [{"value": f"value {n}", "at": None if n % 2 else n, "key": n - 7} for n in range(40)]

lines = []
for codec in ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]:
    out = io.BytesIO()
    # Some blocks: one is closed when it has so many bytes.
    fastavro.writer(out, schema, records, codec=codec, sync_interval=100, sync_marker=b"sixteen bytes ..")
    lines.append(f"{codec} {out.getvalue().hex()}\n")
(here / "files.hex").write_text("".join(lines))
