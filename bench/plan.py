"""Planning over a million data files: which of them can hold rows that a selective filter lets
through, against PyIceberg and, if .spark is there (tools/spark), the library that Spark plans with.
`make bench-plan`; docs/benchmarks.md has a run.

Tables have manifests and metadata only, no data files. Each entry has statistics of ten columns. The
filter is on a column that files are clustered by, in an unpartitioned table: every manifest must be
read, one entry in thousands is left."""

import argparse
import json
import struct
import sys
import uuid
from concurrent.futures import ProcessPoolExecutor

import harness
from harness import BIN, ROOT, machine, run

WORK = harness.WORK / "plan"

ROWS = 10_000  # of each data file
SNAPSHOT = 3051729675574597004

COLUMNS = [(1, "id", "long", True), (2, "at", "timestamptz", False), (3, "customer", "int", False),
           (4, "region", "string", False), (5, "price", "double", False),
           (6, "quantity", "int", False), (7, "name", "string", False),
           (8, "paid", "boolean", False), (9, "day", "date", False),
           (10, "tax", "decimal(9, 2)", False)]

FIELDS = [{"id": i, "name": n, "type": t, "required": r} for i, n, t, r in COLUMNS]
SCHEMA = {"type": "struct", "schema-id": 0, "fields": FIELDS}


def bounds(n):
    """Lower and upper value of each column in data file n."""
    at = 1_700_000_000_000_000 + n * 60_000_000
    customer = n * 7919 % 100_000
    region = ("east", "north", "south", "west")[n % 4]
    return [(n * ROWS, (n + 1) * ROWS - 1), (at, at + 59_999_999), (customer, customer + 50_000),
            (region, region), (0.01 * (n % 997), 1000.0 + n % 13), (1, 90 + n % 10),
            (f"customer {n % 89:08d}", f"customer {n % 89 + 700:08d}"), (False, True),
            (19_600 + n // 1440, 19_600 + n // 1440), (n % 100, 99_000 + n % 1000)]


# ---- metadata ----


def metadata(version, folder, root):
    snapshot = {"snapshot-id": SNAPSHOT, "sequence-number": 1, "timestamp-ms": 1_764_000_000_000,
                "summary": {"operation": "append"}, "schema-id": 0}
    snapshot["manifest-list" if version < 4 else "root-manifest"] = root
    document = {
        "format-version": version, "table-uuid": str(uuid.UUID(int=version)),
        "location": f"file://{folder}", "last-sequence-number": 1,
        "last-updated-ms": 1_764_000_000_000, "last-column-id": len(COLUMNS), "schemas": [SCHEMA],
        "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0, "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0,
        "properties": {}, "current-snapshot-id": SNAPSHOT, "snapshots": [snapshot],
        "refs": {"main": {"snapshot-id": SNAPSHOT, "type": "branch"}},
    }
    if version >= 3:
        snapshot |= {"first-row-id": 0, "added-rows": 1}
        document["next-row-id"] = 1 << 40
    path = folder / "metadata" / "v1.metadata.json"
    path.write_text(json.dumps(document))
    return path


# ---- version 2: Avro ----


def single(value, kind):
    """Binary single-value serialization."""
    if kind in ("long", "timestamptz"):
        return struct.pack("<q", value)
    if kind in ("int", "date"):
        return struct.pack("<i", value)
    if kind == "double":
        return struct.pack("<d", value)
    if kind == "boolean":
        return b"\1" if value else b"\0"
    if kind == "string":
        return value.encode()[:16]
    return value.to_bytes((value.bit_length() + 8) // 8, "big", signed=True)


def avro_map(name, key, value, kind):
    record = {"type": "record", "name": f"k{key}_v{value}",
              "fields": [{"name": "key", "type": "int", "field-id": key},
                         {"name": "value", "type": kind, "field-id": value}]}
    return {"name": name, "default": None,
            "type": ["null", {"type": "array", "logicalType": "map", "items": record}]}


def optional(name, kind, field):
    return {"name": name, "type": ["null", kind], "default": None, "field-id": field}


def entry_schema():
    maps = [("column_sizes", 108, 117, "long"), ("value_counts", 109, 119, "long"),
            ("null_value_counts", 110, 121, "long"), ("nan_value_counts", 137, 138, "long"),
            ("lower_bounds", 125, 126, "bytes"), ("upper_bounds", 128, 129, "bytes")]
    file = [{"name": "content", "type": "int", "field-id": 134},
            {"name": "file_path", "type": "string", "field-id": 100},
            {"name": "file_format", "type": "string", "field-id": 101},
            {"name": "partition", "type": {"type": "record", "name": "r102", "fields": []},
             "field-id": 102},
            {"name": "record_count", "type": "long", "field-id": 103},
            {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
            *[avro_map(n, k, k + 1, t) | {"field-id": i} for n, i, k, t in maps],
            optional("key_metadata", "bytes", 131),
            optional("split_offsets", {"type": "array", "items": "long", "element-id": 133}, 132),
            optional("equality_ids", {"type": "array", "items": "int", "element-id": 136}, 135),
            optional("sort_order_id", "int", 140)]
    return {"type": "record", "name": "manifest_entry", "fields": [
        {"name": "status", "type": "int", "field-id": 0}, optional("snapshot_id", "long", 1),
        optional("sequence_number", "long", 3), optional("file_sequence_number", "long", 4),
        {"name": "data_file", "field-id": 2,
         "type": {"type": "record", "name": "r2", "fields": file}}]}


def list_schema():
    names = [("manifest_path", "string", 500), ("manifest_length", "long", 501),
             ("partition_spec_id", "int", 502), ("content", "int", 517),
             ("sequence_number", "long", 515), ("min_sequence_number", "long", 516),
             ("added_snapshot_id", "long", 503), ("added_files_count", "int", 504),
             ("existing_files_count", "int", 505), ("deleted_files_count", "int", 506),
             ("added_rows_count", "long", 512), ("existing_rows_count", "long", 513),
             ("deleted_rows_count", "long", 514)]
    return {"type": "record", "name": "manifest_file",
            "fields": [{"name": n, "type": t, "field-id": i} for n, t, i in names]}


def avro_entry(n):
    values = bounds(n)
    kinds = [kind for _, _, kind, _ in COLUMNS]
    ids = range(1, len(COLUMNS) + 1)
    return {"status": 1, "data_file": {
        "content": 0, "file_path": data_path(n), "file_format": "PARQUET", "partition": {},
        "record_count": ROWS, "file_size_in_bytes": 1_234_567 + n % 1000,
        "column_sizes": [{"key": i, "value": 100_000 + i * 7} for i in ids],
        "value_counts": [{"key": i, "value": ROWS} for i in ids],
        "null_value_counts": [{"key": i, "value": n % i} for i in ids],
        "nan_value_counts": [{"key": 5, "value": 0}],
        "lower_bounds": [{"key": i, "value": single(values[i - 1][0], kinds[i - 1])} for i in ids],
        "upper_bounds": [{"key": i, "value": single(values[i - 1][1], kinds[i - 1])} for i in ids],
        "split_offsets": [4, 500_000]}}


def data_path(n):
    return f"s3://lake/db/events/data/{n:08d}-{n * 2654435761 % (1 << 64):016x}-0-00001.parquet"


def write_avro(job):
    import fastavro
    path, first, count = job
    head = {"schema": json.dumps(SCHEMA), "partition-spec": "[]", "partition-spec-id": "0",
            "format-version": "2", "content": "data"}
    with open(path, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(entry_schema()),
                        (avro_entry(first + i) for i in range(count)), codec="deflate",
                        metadata=head)
    return path.stat().st_size


def make_v2(folder, manifests, entries, pool):
    import fastavro
    jobs = [(folder / "metadata" / f"m{i:05d}.avro", i * entries, entries)
            for i in range(manifests)]
    sizes = list(pool.map(write_avro, jobs, chunksize=4))
    rows = [{"manifest_path": f"file://{path}", "manifest_length": size, "partition_spec_id": 0,
             "content": 0, "sequence_number": 1, "min_sequence_number": 1,
             "added_snapshot_id": SNAPSHOT, "added_files_count": entries,
             "existing_files_count": 0, "deleted_files_count": 0,
             "added_rows_count": entries * ROWS, "existing_rows_count": 0, "deleted_rows_count": 0}
            for (path, _, _), size in zip(jobs, sizes)]
    root = folder / "metadata" / "snap-1.avro"
    with open(root, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(list_schema()), rows, codec="deflate",
                        metadata={"format-version": "2"})
    return metadata(2, folder, f"file://{root}")


# ---- version 4: Parquet ----


def arrow_field(name, kind, field, nullable=True):
    import pyarrow as pa
    return pa.field(name, kind, nullable, {"PARQUET:field_id": str(field)})


def arrow_type(kind):
    import pyarrow as pa
    return {"long": pa.int64(), "timestamptz": pa.timestamp("us", "UTC"), "int": pa.int32(),
            "string": pa.string(), "double": pa.float64(), "boolean": pa.bool_(),
            "date": pa.date32()}.get(kind) or pa.decimal128(9, 2)


def v4_schema():
    import pyarrow as pa
    longs = pa.int64()
    tracking = pa.struct([arrow_field("status", pa.int32(), 0, False)] + [
        arrow_field(n, longs, i) for n, i in [
            ("snapshot_id", 1), ("modified_snapshot_id", 5), ("sequence_number", 3),
            ("file_sequence_number", 4), ("first_row_id", 142)]])
    stats = pa.struct([
        arrow_field(name, pa.struct([
            arrow_field("lower_bound", arrow_type(kind), 10_001 + 200 * i),
            arrow_field("upper_bound", arrow_type(kind), 10_002 + 200 * i),
            arrow_field("tight_bounds", pa.bool_(), 10_003 + 200 * i),
            arrow_field("value_count", longs, 10_004 + 200 * i),
            arrow_field("null_value_count", longs, 10_005 + 200 * i)]), 10_000 + 200 * i)
        for i, name, kind, _ in COLUMNS])
    counts = [("added", 504, 512), ("existing", 505, 513), ("deleted", 506, 514),
              ("replaced", 523, 524), ("modified", 525, 526)]
    info = pa.struct([arrow_field(f"{n}_files_count", pa.int32(), i, False) for n, i, _ in counts] +
                     [arrow_field(f"{n}_rows_count", longs, i, False) for n, _, i in counts] +
                     [arrow_field("min_sequence_number", longs, 516, False),
                      arrow_field("dv", pa.binary(), 522),
                      arrow_field("format_version", pa.int32(), 521, False)])
    offsets = pa.list_(arrow_field("element", longs, 133, False))
    return pa.schema([
        arrow_field("tracking", tracking, 147, False),
        arrow_field("content_type", pa.int32(), 134, False),
        arrow_field("location", pa.string(), 100, False),
        arrow_field("file_format", pa.string(), 101, False),
        arrow_field("record_count", longs, 103, False),
        arrow_field("file_size_in_bytes", longs, 104, False),
        arrow_field("spec_id", pa.int32(), 141), arrow_field("sort_order_id", pa.int32(), 140),
        arrow_field("content_stats", stats, 146), arrow_field("manifest_info", info, 150),
        arrow_field("key_metadata", pa.binary(), 131),
        arrow_field("split_offsets", offsets, 132)])


def v4_row(location, content, rows, size, stats=None, info=None, **tracking):
    return {"tracking": {"status": 1, **tracking}, "content_type": content, "location": location,
            "file_format": "parquet", "record_count": rows, "file_size_in_bytes": size,
            "content_stats": stats, "manifest_info": info,
            "split_offsets": [4, 500_000] if content == 0 else None}


def v4_stats(n):
    from datetime import date, datetime, timedelta, timezone
    from decimal import Decimal
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)

    def typed(value, kind):
        if kind == "timestamptz":
            return epoch + timedelta(microseconds=value)
        if kind == "date":
            return date(1970, 1, 1) + timedelta(days=value)
        return Decimal(value).scaleb(-2) if kind.startswith("decimal") else value
    return {name: {"lower_bound": typed(low, kind), "upper_bound": typed(high, kind),
                   "tight_bounds": False, "value_count": ROWS, "null_value_count": n % i}
            for (low, high), (i, name, kind, _) in zip(bounds(n), COLUMNS)}


def write_rows(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq
    table = pa.Table.from_pylist(rows, schema=v4_schema())
    pq.write_table(table, path, compression="zstd", write_statistics=False, store_schema=False)
    return path.stat().st_size


def write_leaf(job):
    path, first, count = job
    return write_rows(path, [
        v4_row(data_path(first + i), 0, ROWS, 1_234_567 + i % 1000, v4_stats(first + i))
        for i in range(count)])


def make_v4(folder, manifests, entries, pool):
    jobs = [(folder / "metadata" / f"leaf-{i:05d}.parquet", i * entries, entries)
            for i in range(manifests)]
    sizes = list(pool.map(write_leaf, jobs, chunksize=4))
    names = ["added", "existing", "deleted", "replaced", "modified"]
    info = {f"{n}_{what}_count": 0 for n in names for what in ("files", "rows")}
    info |= {"added_files_count": entries, "added_rows_count": entries * ROWS,
             "min_sequence_number": 1, "format_version": 4}
    rows = [v4_row(f"metadata/{path.name}", 3, entries, size, info=info, snapshot_id=SNAPSHOT,
                   sequence_number=1, file_sequence_number=1, first_row_id=first * ROWS)
            for (path, first, _), size in zip(jobs, sizes)]
    write_rows(folder / "metadata" / "root-1.parquet", rows)
    return metadata(4, folder, "metadata/root-1.parquet")


MAKERS = {"v2-avro": make_v2, "v4": make_v4}


def make(kind, manifests, entries):
    """The metadata file of a table, made once."""
    folder = WORK / f"{kind}-{manifests}x{entries}"
    done = folder / "metadata" / "v1.metadata.json"
    if not done.exists():
        print(f"making {folder.name} ...", file=sys.stderr)
        (folder / "metadata").mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor() as pool:
            MAKERS[kind](folder, manifests, entries, pool)
    return done


# ---- measuring ----

PYICEBERG = """
import sys, time
from pyiceberg.table import StaticTable
metadata, where = sys.argv[1:]
start = time.perf_counter()
table = StaticTable.from_metadata(metadata)
files = sum(1 for _ in table.scan(row_filter=where).plan_files())
print(files, time.perf_counter() - start)
"""


def ours(table, where, threads, runs):
    """Files, least seconds of the whole process, peak."""
    best = []
    for _ in range(runs):
        seconds, peak, out = run(BIN / "plan_bench", "--threads", threads, table, where)
        best.append((seconds, peak))
    return int(out.split()[0]), min(s for s, _ in best), max(p for _, p in best)


def java(table, low, high, runs):
    """Files, seconds of the first plan and of the fastest in one process, its peak; or None."""
    spark = ROOT / ".spark"
    jars = sorted(spark.glob("lib/python3*/site-packages/pyspark/jars"))
    if not jars:
        return None
    _, peak, out = run("java", "-cp", f"{spark}/jars/*:{jars[0]}/*", ROOT / "bench/PlanIceberg.java",
                       f"file://{table}", low, high, runs)
    files, first, fastest = out.split()[-3:]
    return int(files), float(first), float(fastest), peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--manifests", type=int, default=500)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--pyiceberg-manifests", type=int, default=25,
                        help="of a smaller table for PyIceberg; its time is scaled to the whole")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    total = args.manifests * args.entries
    low, high = total // 3 * ROWS + 5, total // 3 * ROWS + 3 * ROWS
    where = f"id >= {low} and id < {high}"
    results = {**machine(), "where": where, "rows": []}
    print(f"{total} data files in {args.manifests} manifests, WHERE {where}")
    print(f"{'':28}{'files':>8}{'seconds':>10}{'peak MB':>10}")
    for kind in MAKERS:
        table = make(kind, args.manifests, args.entries)
        for threads in (1, 2):
            files, seconds, peak = ours(table, where, threads, args.runs)
            row = {"what": f"frazil {kind}, {threads} threads", "files": files,
                   "seconds": seconds, "peak": peak}
            results["rows"].append(row)
            print(f"{row['what']:28}{files:8}{seconds:10.3f}{peak / 1e6:10.1f}", flush=True)
    least = min(r["seconds"] for r in results["rows"] if "v2" in r["what"])
    peer = java(make("v2-avro", args.manifests, args.entries), low, high, 6)
    if peer is not None:
        files, first, fastest, peak = peer
        results["rows"].append({"what": "Iceberg Java v2-avro", "files": files, "first": first,
                                "seconds": fastest, "peak": peak})
        print(f"{'Iceberg Java v2-avro':28}{files:8}{fastest:10.3f}{peak / 1e6:10.1f}   "
              f"(the first plan of its process {first:.3f}); ratio {fastest / least:.1f}")
    part = min(args.pyiceberg_manifests, args.manifests)
    table = make("v2-avro", part, args.entries)
    lower = part * args.entries // 3 * ROWS
    _, peak, out = run(sys.executable, "-c", PYICEBERG, table,
                       f"id >= {lower + 5} and id < {lower + 3 * ROWS}")
    out = out.split()
    scaled = float(out[1]) * args.manifests / part
    results["rows"].append({"what": f"PyIceberg on {part} manifests, scaled", "files": int(out[0]),
                            "seconds": scaled, "peak": peak, "measured": float(out[1])})
    print(f"{'PyIceberg v2-avro':28}{out[0]:>8}{scaled:10.3f}{peak / 1e6:10.1f}   "
          f"(measured {float(out[1]):.3f} s on {part} manifests, scaled)")
    print(f"ratio: {scaled / least:.0f}")
    (WORK / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
