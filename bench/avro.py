"""Avro manifests: decoding one against fastavro, on the same file, sums checked; time of one processor. `make bench-avro`;
docs/benchmarks.md has a run."""

import argparse
import json
import random
import struct
import subprocess
import sys
import time

import harness
from harness import BIN, machine

WORK = harness.WORK / "avro"
CODECS = ["null", "deflate", "snappy", "zstandard"]
STATISTICS = ("column_sizes", "value_counts", "null_value_counts")
BOUNDS = ("lower_bounds", "upper_bounds")

# What a plan reads of a manifest: without statistics, and with those of a filter's columns.
CHOICES = {
    "all": [],
    "planning": ["status", "data_file.file_path", "data_file.record_count", "data_file.partition",
                 "data_file.file_size_in_bytes", "data_file.lower_bounds", "data_file.upper_bounds"],
    "paths": ["status", "data_file.file_path", "data_file.record_count"],
}


# ---- the file ----

def schema():
    """That of PyIceberg's manifests of version 2, with a partition by a string."""
    from pyiceberg.avro.file import AvroSchemaConversion
    from pyiceberg.manifest import manifest_entry_schema_with_data_file, data_file_with_partition
    from pyiceberg.types import NestedField, StringType, StructType
    partition = StructType(NestedField(1000, "day", StringType(), required=False))
    entry = manifest_entry_schema_with_data_file(2, data_file_with_partition(partition, 2))
    return AvroSchemaConversion().iceberg_to_avro(entry, schema_name="manifest_entry")


def entry(rng, i, columns):
    def pairs(make):
        return [{"key": k + 1, "value": make(k)} for k in range(columns)]

    rows = rng.randrange(1_000, 5_000_000)
    file = {"content": 0, "file_format": "PARQUET", "partition": {"day": f"2026-11-{i % 30 + 1:02}"},
            "file_path": f"s3://bucket/warehouse/db/table/data/day=2026-11-{i % 30 + 1:02}/"
                         f"{i:05}-{i % 97}-{rng.getrandbits(128):032x}-00001.parquet",
            "record_count": rows, "file_size_in_bytes": rows * 31,
            "column_sizes": pairs(lambda k: rng.randrange(1_000, 10_000_000)),
            "value_counts": pairs(lambda k: rows),
            "null_value_counts": pairs(lambda k: rng.randrange(100) if k % 3 == 0 else 0),
            "nan_value_counts": [],
            "lower_bounds": pairs(lambda k: struct.pack("<q", rng.randrange(1 << 40))),
            "upper_bounds": pairs(lambda k: b"text of a bound" if k % 2 else bytes(8)),
            "key_metadata": None, "split_offsets": [4, 128 << 20], "equality_ids": None,
            "sort_order_id": 0}
    return {"status": 1, "snapshot_id": 3051729675574597004, "sequence_number": None,
            "file_sequence_number": None, "data_file": file}


def make_file(codec, entries, columns):
    import fastavro
    path = WORK / f"manifest-{codec}-{entries}-{columns}.avro"
    if not path.exists():
        rng = random.Random(42)
        wanted = fastavro.parse_schema(schema())
        names = {f["name"] for f in next(f for f in wanted["fields"] if f["name"] == "data_file")
                 ["type"]["fields"]}
        rows = (entry(rng, i, columns) for i in range(entries))
        rows = ({**r, "data_file": {k: v for k, v in r["data_file"].items() if k in names}} for r in rows)
        with open(path.with_suffix(".part"), "wb") as file:
            fastavro.writer(file, wanted, rows, codec=codec, sync_interval=64_000,
                            metadata={"format-version": "2", "content": "data"})
        path.with_suffix(".part").rename(path)
    return path


# ---- both sides ----

def measure_frazil(path, columns, runs):
    done = subprocess.run([BIN / "avro_bench", path, str(runs), *columns], check=True,
                          capture_output=True, text=True)
    rows, total, ms, opened = done.stdout.split()
    return int(rows), int(total), float(ms), float(opened)


def measure_fastavro(path, runs):
    """Rows, the sum that avro_bench makes of paths and counts, and milliseconds; values are whole
    Python objects, as it has no projection without a schema of its own."""
    import fastavro
    best = None
    for _ in range(runs):
        start = time.process_time()
        with open(path, "rb") as file:
            rows = list(fastavro.reader(file))
        ms = (time.process_time() - start) * 1e3
        best = ms if best is None else min(best, ms)
    total = sum(r["status"] + len(r["data_file"]["file_path"]) + r["data_file"]["record_count"]
                for r in rows)
    return len(rows), total, best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20, help="columns with statistics")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    report = {**machine(), "files": {}}
    plain = make_file("null", options.entries, options.columns).stat().st_size
    print(f"manifest of {options.entries:,} entries, {options.columns} columns with statistics,"
          f" {plain / 1e6:.1f} MB unpacked")
    print(f"  {'codec':10} {'read':9} {'frazil ms':>10} {'MB/s':>7} {'fastavro ms':>12} {'ratio':>7}")
    for codec in CODECS:
        path = make_file(codec, options.entries, options.columns)
        count, wanted, theirs = measure_fastavro(path, 2)
        figures = {}
        for name, columns in CHOICES.items():
            rows, total, ms, opened = measure_frazil(path, columns, options.runs)
            if rows != count or (name == "paths" and total != wanted):
                sys.exit(f"{path}: {rows} rows and sum {total}, expected {count} and {wanted}")
            print(f"  {codec:10} {name:9} {ms:10.2f} {plain / ms / 1e3:7.0f} {theirs:12.1f}"
                  f" {theirs / ms:7.1f}")
            figures[name] = {"ms": ms, "open_ms": opened, "fastavro_ms": theirs}
        report["files"][codec] = figures
    (WORK / "results.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
