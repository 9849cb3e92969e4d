"""Wide footers: one column of ten thousand against pyarrow, Polars and DuckDB, whole processes on
the same file, values checked. `make bench-footer`; docs/benchmarks.md has a run."""

import argparse
import json
import os
import struct
import sys
import time

import harness
from harness import BIN, Failed, machine, run

WORK = harness.WORK / "footer"
GROUPS = 20
REST = 5  # seconds after which a file counts as resting, so that its footer is kept

MAKE = """
import sys, numpy as np, pyarrow as pa, pyarrow.parquet as pq
path, columns, groups, rows = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(42)
names = ['id'] + [f'c_{i}' for i in range(1, columns + 1)]
schema = pa.schema([(n, pa.int64() if n == 'id' else pa.float32()) for n in names])
with pq.ParquetWriter(path + '.part', schema, compression='zstd', compression_level=1,
                      use_dictionary=False) as writer:
    for g in range(groups):
        columns = [np.arange(g * rows, (g + 1) * rows)]
        columns += [rng.random(rows, dtype=np.float32) for _ in names[1:]]
        writer.write_table(pa.table(columns, schema=schema), row_group_size=rows)
"""

# Each prints the sum and the seconds without imports; least of one thread and of two is taken.
PEERS = {
    "pyarrow": """
import sys, time, pyarrow as pa, pyarrow.parquet as pq, pyarrow.compute as pc
path, column, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
pa.set_cpu_count(threads); pa.set_io_thread_count(threads)
start = time.perf_counter()
file = pq.ParquetFile(path, thrift_string_size_limit=1 << 30, thrift_container_size_limit=1 << 30)
table = file.read(columns=[column], use_threads=threads > 1)
total = pc.sum(table[column].cast(pa.float64())).as_py()
print(repr(total), time.perf_counter() - start)
""",
    "polars": """
import os, sys, time
path, column, threads = sys.argv[1], sys.argv[2], sys.argv[3]
os.environ['POLARS_MAX_THREADS'] = threads
import polars as pl
start = time.perf_counter()
total = pl.read_parquet(path, columns=[column])[column].cast(pl.Float64).sum()
print(repr(total), time.perf_counter() - start)
""",
    "duckdb": """
import sys, time, duckdb
path, column, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
connection = duckdb.connect(config={'threads': threads})
start = time.perf_counter()
query = f"SELECT sum({column}::DOUBLE) FROM read_parquet('{path}')"
total = connection.execute(query).fetchone()[0]
print(repr(total), time.perf_counter() - start)
""",
}


def footer_bytes(path):
    with open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        return struct.unpack("<I", file.read(4))[0]


def make_file(columns, rows):
    path = WORK / f"wide-{columns}.parquet"
    if not path.exists():
        run(sys.executable, "-c", MAKE, path, columns, GROUPS, rows)
        path.with_suffix(".parquet.part").rename(path)
        time.sleep(REST)
    path.read_bytes()  # into the page cache
    return path


def least(best, **figures):
    for name, value in figures.items():
        best[name] = min(best.get(name, value), value)


def measure_frazil(path, column, best):
    seconds, peak, out = run(BIN / "footer_bench", path, column)
    _, total, opened, read, opened_again, read_again = out.split()
    least(best, process=seconds, inside=(float(opened) + float(read)) / 1e3,
          again=float(opened_again) / 1e3)
    best["peak"] = max(best.get("peak", 0), peak)
    return float(total)


def measure_command(path, column, best):
    seconds, peak, out = run(BIN / "frazil", "cat", path, "--columns", column, "--format", "csv")
    least(best, process=seconds)
    best["peak"] = max(best.get("peak", 0), peak)
    return sum(float(line) for line in out.split()[1:])


def measure_peer(name, path, column, threads, best):
    try:
        seconds, peak, out = run(sys.executable, "-c", PEERS[name], path, column, threads)
    except Failed as failure:
        print(failure.reason, file=sys.stderr)
        return None
    total, inside = out.split()
    least(best, process=seconds, inside=float(inside))
    best["peak"] = max(best.get("peak", 0), peak)
    return float(total)


def check(name, total, wanted, tolerance):
    if abs(total - wanted) > abs(wanted) * tolerance:
        sys.exit(f"{name}: the sum is {total}, expected {wanted}")


def measure(path, column, runs):
    """All sides in turn, so that a machine that becomes slower harms all."""
    results = {name: {} for name in ("frazil", "frazil cat", *PEERS)}
    failed = set()
    for i in range(runs):
        wanted = measure_frazil(path, column, results["frazil"])
        for _ in range(4):  # short ones are disturbed more easily
            check("frazil", measure_frazil(path, column, results["frazil"]), wanted, 0)
            # the text has as many digits as tell one float from another
            check("frazil cat", measure_command(path, column, results["frazil cat"]), wanted, 1e-6)
        for name in PEERS:
            total = None if name in failed else measure_peer(name, path, column, 1 + i % 2,
                                                             results[name])
            if total is None:
                failed.add(name)
            else:
                check(name, total, wanted, 1e-9)
    return results


def show(path, columns, results):
    footer = footer_bytes(path)
    print(f"\n{columns + 1} columns x {GROUPS} row groups, footer of {footer:,} bytes, one column")
    print(f"  {'':12} {'process ms':>11} {'without imports ms':>19} {'peak MB':>9}")
    for name, figures in results.items():
        if "process" not in figures:
            print(f"  {name:12} {'fails':>11}")
            continue
        inside = f"{figures['inside'] * 1e3:.1f}" if "inside" in figures else ""
        print(f"  {name:12} {figures['process'] * 1e3:11.1f} {inside:>19}"
              f" {figures['peak'] / 1e6:9.1f}")
    own = results["frazil"]
    print(f"  second opening in one process: {own['again'] * 1e3:.2f} ms")
    print(f"  peak memory / footer: {own['peak'] / footer:.2f}")
    ratios = {}
    for name in PEERS:
        if "inside" in results[name]:
            ratios[name] = results[name]["inside"] / own["process"]
            print(f"  {name} without imports / frazil's whole process: {ratios[name]:.1f}")
    return {"footer": footer, "results": results, "ratios": ratios}


# what the project promises of ten thousand columns
def missed(report):
    own, ratios = report["results"]["frazil"], report["ratios"]
    return [text for text, held in (
        ("a process takes more than a tenth of pyarrow's time", ratios.get("pyarrow", 10) >= 10),
        ("a process takes more than a quarter of Polars' time", ratios.get("polars", 4) >= 4),
        ("opening again takes more than a millisecond", own["again"] <= 1e-3),
        ("memory is more than three times the footer", own["peak"] < 3 * report["footer"]),
    ) if not held]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--full", action="store_true",
                        help="also 100 001 columns; takes minutes to make the file")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    report = {**machine(), "tables": {}}
    path = make_file(10_000, 100)
    report["tables"]["10001"] = show(path, 10_000, measure(path, "c_5000", options.runs))
    if options.full:
        path = make_file(100_000, 10)
        results = measure(path, "c_50000", min(options.runs, 2))
        report["tables"]["100001"] = show(path, 100_000, results)
    (WORK / "results.json").write_text(json.dumps(report, indent=1))
    problems = missed(report["tables"]["10001"])
    if problems:
        sys.exit("beyond the limit: " + "; ".join(problems))


if __name__ == "__main__":
    main()
