"""Reading a table of 100 data files of which one row in a hundred is deleted, by position delete
files, deletion vectors and equality delete files, against reading the same data files without
deletes, and against PyIceberg and DuckDB. `make bench-deletes`; docs/benchmarks.md has a run.

All tables share their data files. Deleted rows are spread at random and the same in every table. A
commit deletes as ten tasks would: ten delete files, each for ten data files."""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import harness
from harness import BIN, ROOT, Failed, is_same
from plan import COLUMNS, arrow_type

sys.path.insert(0, str(ROOT / "tests" / "interop"))
from delete_tables import POSITIONS, DeleteTable, deletion_vector, field_id  # noqa: E402

WORK = harness.WORK / "deletes"
TASKS = 10
KINDS = {"none": 2, "positions": 2, "vectors": 3, "equality, long": 2, "equality, string": 2}
FRAZIL_TURNS = 3  # of one of a peer's, which take longer
PAIRS = 9  # of reads in one process
MOST_SECONDS = 60  # of one process


# ---- data files ----

def schema():
    return pa.schema([pa.field(name, arrow_type(kind), True, field_id(i))
                      for i, name, kind, _ in COLUMNS])


def rows_of(n, rows):
    """The rows of data file n."""
    rng = np.random.default_rng(n)
    ids = np.arange(n * rows, (n + 1) * rows)
    regions = np.array(["east", "north", "south", "west"])
    cents = rng.integers(0, 1_000_000, rows)
    columns = [ids, 1_700_000_000_000_000 + ids * 1000 + rng.integers(0, 1000, rows),
               rng.integers(0, 100_000, rows), regions[rng.integers(0, 4, rows)],
               cents / 100, rng.integers(1, 100, rows),
               [f"customer {number:08d}" for number in ids * 7919 % 100_000_007],
               rng.integers(0, 2, rows).astype(bool), 19_600 + ids // 1_000_000, cents // 12]
    fields = schema()
    arrays = [pa.array(values) for values in columns]
    arrays[8] = arrays[8].cast(pa.int32())  # days become dates
    arrays[9] = pa.array([f"{tax // 100}.{tax % 100:02d}" for tax in columns[9].tolist()])
    return pa.table([array.cast(field.type) for array, field in zip(arrays, fields)], fields)


def make_data(files, rows):
    """The data files and (path, ids of deleted rows by position) of each."""
    folder = WORK / "data"
    folder.mkdir(parents=True)
    for n in range(files):
        pq.write_table(rows_of(n, rows), folder / f"{n:05}.parquet", compression="zstd")


def deleted_rows(n, rows, share):
    rng = np.random.default_rng(1_000_000 + n)
    return np.sort(rng.choice(rows, int(rows * share), replace=False))


# ---- tables ----

def puffin(vectors):
    """A Puffin file of (data file, positions): its bytes, offset and size of each blob."""
    out, places, blobs = b"PFA1", [], []
    for location, positions in vectors:
        blob = deletion_vector(positions)
        places.append((len(out), len(blob)))
        blobs.append({"type": "deletion-vector-v1", "fields": [2147483645], "snapshot-id": -1,
                      "sequence-number": -1, "offset": len(out), "length": len(blob),
                      "properties": {"referenced-data-file": location,
                                     "cardinality": str(len(positions))}})
        out += blob
    footer = json.dumps({"blobs": blobs, "properties": {}}).encode()
    tail = len(footer).to_bytes(4, "little") + bytes(4) + b"PFA1"
    return out + b"PFA1" + footer + tail, places


def delete_by_vectors(table, deleted):
    contents, places = puffin(deleted)
    path, location = table.path("vectors.puffin")
    path.write_bytes(contents)
    for (data, positions), (offset, size) in zip(deleted, places):
        table.add(POSITIONS, location, len(contents), len(positions), file_format="PUFFIN",
                  referenced_data_file=data, content_offset=offset, content_size_in_bytes=size)


def delete_by_keys(table, deleted, column):
    """Keys of deleted rows, with bounds where a data file has them too."""
    i, name, kind, _ = COLUMNS[column]
    keys = pa.chunked_array([
        pq.read_table(data.removeprefix("file://"), columns=[name])[name].combine_chunks().take(
            positions) for data, positions in deleted])
    bounds = [(i, keys[0].as_py(), keys[-1].as_py())] if column == 0 else ()
    table.delete_equal(pa.table([keys], pa.schema([pa.field(name, arrow_type(kind), True,
                                                            field_id(i))])),
                       [i], bounds=bounds, compression="zstd")


def make_table(kind, files, rows, share):
    """The metadata file."""
    folder = WORK / kind.replace(", ", "-")
    table = DeleteTable(folder, [(i, name, kind) for i, name, kind, _ in COLUMNS], KINDS[kind])
    paths = [WORK / "data" / f"{n:05}.parquet" for n in range(files)]
    for n, path in enumerate(paths):
        table.add(0, f"file://{path}", path.stat().st_size, rows,
                  bounds=[(1, n * rows, (n + 1) * rows - 1)])
    metadata = table.commit()
    if kind == "none":
        return metadata
    deleted = [(f"file://{path}", deleted_rows(n, rows, share)) for n, path in enumerate(paths)]
    for first in range(0, files, max(files // TASKS, 1)):
        part = deleted[first:first + max(files // TASKS, 1)]
        if kind == "positions":
            table.delete_positions([(data, position) for data, positions in part
                                    for position in positions.tolist()], compression="zstd")
        elif kind == "vectors":
            delete_by_vectors(table, part)
        else:
            delete_by_keys(table, part, 0 if kind == "equality, long" else 6)
    return table.commit()


def make_tables(files, rows, share):
    """Name -> metadata file; made once for the same numbers."""
    stamp, numbers = WORK / "made.json", [files, rows, share]
    if not stamp.exists() or json.loads(stamp.read_text())["numbers"] != numbers:
        print("making tables ...", file=sys.stderr)
        shutil.rmtree(WORK, ignore_errors=True)
        make_data(files, rows)
        made = {kind: str(make_table(kind, files, rows, share)) for kind in KINDS}
        stamp.write_text(json.dumps({"numbers": numbers, "tables": made}))
    for path in (WORK / "data").iterdir():
        path.read_bytes()  # into the page cache
    return json.loads(stamp.read_text())["tables"]


# ---- values ----

def check_values(tables, files, rows, share):
    """What Frazil reads is what is left of the data files, value by value."""
    for kind, metadata in tables.items():
        command = [BIN / "frazil", "--metadata", metadata, "scan", "--format", "arrow"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        batches = iter(pa.ipc.open_stream(process.stdout))
        found = pa.table({})
        for n in range(files):
            wanted = pq.read_table(WORK / "data" / f"{n:05}.parquet")
            if kind != "none":
                mask = np.ones(rows, bool)
                mask[deleted_rows(n, rows, share)] = False
                wanted = wanted.filter(mask)
            while len(found) < len(wanted):
                batch = pa.Table.from_batches([next(batches)]).cast(wanted.schema)
                found = pa.concat_tables([found, batch]) if len(found) > 0 else batch
            if not found.slice(0, len(wanted)).equals(wanted):
                sys.exit(f"{kind}: rows of data file {n} differ")
            found = found.slice(len(wanted))
        if len(found) > 0 or next(batches, None) is not None or process.wait() != 0:
            sys.exit(f"{kind}: more rows than expected")


# ---- measuring ----

# Each prints the seconds of a reading, the rows and the sum of the prices.
PYICEBERG = """
import sys, time
import pyarrow as pa, pyarrow.compute as pc
from pyiceberg.table import StaticTable
path, threads = sys.argv[1], int(sys.argv[2])
pa.set_cpu_count(threads); pa.set_io_thread_count(threads)
start = time.perf_counter()
table = StaticTable.from_metadata(path).scan().to_arrow()
total = pc.sum(table["price"]).as_py()
print(time.perf_counter() - start, table.num_rows, repr(total))
"""

STREAM = """
def read(stream):
    rows, total = 0, 0.0
    for batch in stream:
        rows += batch.num_rows
        total += pc.sum(batch.column("price")).as_py() or 0.0
    return rows, repr(total)
"""

DUCKDB = """
import sys, time
import duckdb, pyarrow.compute as pc
path, threads, query, *extensions = sys.argv[1:]
connection = duckdb.connect(config={"threads": threads, "autoinstall_known_extensions": "false",
                                    "autoload_known_extensions": "false"})
for extension in extensions:
    connection.load_extension(extension)
connection.execute("SET enable_progress_bar = false")
""" + STREAM + """
start = time.perf_counter()
rows, total = read(connection.execute(query.format(path)).to_arrow_reader(65536))
print(time.perf_counter() - start, rows, total)
"""

DATASET = """
import sys, time
import pyarrow as pa, pyarrow.compute as pc, pyarrow.dataset as ds
path, threads = sys.argv[1], int(sys.argv[2])
pa.set_cpu_count(threads); pa.set_io_thread_count(threads)
""" + STREAM + """
start = time.perf_counter()
data = ds.dataset(path, format="parquet")
rows, total = read(data.to_batches(use_threads=threads > 1))
print(time.perf_counter() - start, rows, total)
"""


def duckdb_extensions():
    """The files of DuckDB's extensions; None if they are not installed."""
    found = []
    for name in ("avro", "httpfs", "iceberg"):
        spec = importlib.util.find_spec(f"duckdb_extension_{name}")
        folder = pathlib.Path(spec.submodule_search_locations[0]) if spec else None
        found += list(folder.glob(f"extensions/*/{name}.duckdb_extension"))[:1] if spec else []
    return found if len(found) == 3 else None


def peers(tables, kind, threads):
    """Name -> command of those that read tables, and of those that read the data files alone."""
    python = sys.executable
    table, data = tables[kind], WORK / "data"
    commands = {"PyIceberg": [python, "-c", PYICEBERG, table, threads]}
    extensions = duckdb_extensions()
    if extensions is not None:
        commands["DuckDB"] = [python, "-c", DUCKDB, table, threads,
                              "SELECT * FROM iceberg_scan('{}')", *extensions]
    if kind == "none":
        commands["DuckDB, files"] = [python, "-c", DUCKDB, data / "*.parquet", threads,
                                     "SELECT * FROM read_parquet('{}')"]
        commands["pyarrow, files"] = [python, "-c", DATASET, data, threads]
    return commands


def run(threads, *command):
    """Of one process: seconds, those it measured itself, peak resident bytes, rows, total; or why
    there are none."""
    pinned = ["taskset", "-c", max(os.sched_getaffinity(0))] if threads == 1 else []
    environment = os.environ | {"PYICEBERG_MAX_WORKERS": str(threads)}
    try:
        seconds, peak, out = harness.run(
            *command, around=[*pinned, "timeout", MOST_SECONDS], env=environment)
    except Failed as failure:
        stopped = failure.status == 124
        return {"error": f"stopped after {MOST_SECONDS} seconds" if stopped else failure.reason}
    inside, rows, total = out.split()[:3]
    return {"whole": seconds, "inside": float(inside), "peak": peak, "rows": int(rows),
            "total": float(total)}


def take(figures, key, new):
    """Keep the least of what was measured."""
    old = figures.setdefault(key, new)
    if "error" not in new and "error" not in old:
        for name in ("whole", "inside", "peak"):
            old[name] = min(old[name], new[name])
        if old["rows"] != new["rows"] or not is_same(old["total"], new["total"]):
            sys.exit(f"{key}: found {new}, before {old}")


def measure(tables, threads, turns):
    """(who, kind) -> figures. All take turns, so that a machine whose speed varies is the same for
    all."""
    figures = {}
    for _ in range(turns):
        for _ in range(FRAZIL_TURNS):
            for kind, table in tables.items():
                take(figures, ("Frazil", kind),
                     run(threads, BIN / "scan_bench", "--threads", threads, 1, table))
        for kind in tables:
            for name, command in peers(tables, kind, threads).items():
                if "error" not in figures.get((name, kind), {}):
                    take(figures, (name, kind), run(threads, *command))
    for (name, kind), found in figures.items():
        ours = figures["Frazil", kind]
        if "error" not in found and (found["rows"] != ours["rows"]
                                     or not is_same(found["total"], ours["total"])):
            sys.exit(f"{name}, {kind}: found {found}, Frazil {ours}")
    return figures


def measure_pairs(tables, threads, turns):
    """kind -> what a scan with deletes takes as a ratio to one without: the median of processes'
    medians of pairs of reads, since a machine's speed varies more than that."""
    medians = {kind: [] for kind in KINDS if kind != "none"}
    for _ in range(turns):
        for kind, found in medians.items():
            pairs = harness.read_pairs("--beside", tables[kind], tables["none"], threads, PAIRS)
            found.append(median(a / b for (a, _), (b, _) in pairs))
    return {kind: median(found) for kind, found in medians.items()}


# ---- the report ----

def show_pairs(ratios, threads):
    print(f"\n{threads} thread{'s' if threads > 1 else ''}: Frazil against none, read in turn by "
          "one process")
    for kind, ratio in ratios.items():
        print(f"  {kind:18} {ratio:8.3f}")


def show(figures, threads):
    print(f"\n{threads} thread{'s' if threads > 1 else ''}: milliseconds of the reading, of the "
          "whole process, peak MB; against none")
    for (name, kind), found in sorted(figures.items(), key=lambda item: list(KINDS).index(
            item[0][1])):
        if "error" in found:
            print(f"  {kind:18} {name:16} {found['error']}")
            continue
        without = figures[name, "none"]["inside"]
        print(f"  {kind:18} {name:16} {found['inside'] * 1e3:9.0f} {found['whole'] * 1e3:9.0f} "
              f"{found['peak'] / 1e6:9.0f} {found['inside'] / without:8.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=100_000, help="of each file")
    parser.add_argument("--share", type=float, default=0.01, help="of the rows that are deleted")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only-pairs", action="store_true", help="do not measure others")
    parser.add_argument("--no-check", action="store_true", help="do not compare values")
    args = parser.parse_args()
    tables = make_tables(args.files, args.rows, args.share)
    if not args.no_check:
        check_values(tables, args.files, args.rows, args.share)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs; {args.files} files "
          f"of {args.rows} rows, {args.share:.1%} deleted")
    if duckdb_extensions() is None:
        print("without DuckDB's tables: its extensions avro, httpfs and iceberg are not in .venv")
    report = []
    for threads in args.threads:
        ratios = measure_pairs(tables, threads, args.turns)
        show_pairs(ratios, threads)
        report += [{"who": "Frazil", "kind": kind, "threads": threads, "ratio": ratio}
                   for kind, ratio in ratios.items()]
        if args.only_pairs:
            continue
        figures = measure(tables, threads, args.turns)
        show(figures, threads)
        report += [{"who": name, "kind": kind, "threads": threads, **found}
                   for (name, kind), found in figures.items()]
    (WORK / "results.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
