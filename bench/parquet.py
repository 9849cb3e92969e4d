"""Parquet alone: reading and writing each kind of column against pyarrow, DuckDB, Polars and
carquet, on the same files, values checked. `make bench-parquet`; docs/benchmarks.md has a run."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
WORK = ROOT / "build" / "bench" / "parquet"
COLUMNS = 4  # of each file; "one" reads the second
LIBRARIES = ["frazil", "pyarrow", "duckdb", "polars", "carquet"]
CODECS = ["none", "snappy", "zstd"]
REPEAT_FOR = 0.5  # seconds at least, and
REPEAT_MOST = 15


# ---- the columns ----

def kinds(rows):
    """Name of a kind -> function of a random generator giving one Arrow array."""
    import numpy as np
    import pyarrow as pa

    def nullable(percent):
        def make(rng):
            return pa.array(rng.random(rows), mask=rng.random(rows) * 100 < percent)
        return make

    def words(rng, count, least, most, n=rows):
        letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz ", dtype="u1")
        lengths = rng.integers(least, most, count)
        pool = [bytes(letters[rng.integers(0, 27, k)]).decode() for k in lengths]
        return pa.array(pool).take(pa.array(rng.integers(0, count, n))) if n != count \
            else pa.array(pool)

    def decimals(rng):
        return pa.array(rng.integers(0, 10**7, rows)).cast(pa.decimal128(19, 0)).cast(
            pa.decimal128(19, 2))

    def vectors(rng):
        n = rows // 200
        flat = pa.array(rng.random(n * 768, dtype="f4"))
        return pa.ListArray.from_arrays(pa.array(np.arange(n + 1) * 768, pa.int32()), flat)

    def maps(rng):
        n = rows // 4
        counts = rng.integers(0, 6, n)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        total = int(offsets[-1])
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()),
                                       words(rng, 50, 4, 12, total), pa.array(rng.random(total)))

    def structs(rng):
        return pa.StructArray.from_arrays(
            [pa.array(rng.integers(0, 10**6, rows)),
             pa.array(rng.random(rows), mask=rng.random(rows) < 0.1)], ["a", "b"],
            mask=pa.array(rng.random(rows) < 0.05))

    return {
        "int32": lambda rng: pa.array(rng.integers(0, 10**6, rows, dtype="i4")),
        "int64": lambda rng: pa.array(rng.integers(0, 2**40, rows)),
        "double": lambda rng: pa.array(rng.random(rows)),
        "float": lambda rng: pa.array(rng.random(rows, dtype="f4")),
        "boolean": lambda rng: pa.array(rng.random(rows) < 0.3),
        "decimal": decimals,
        "timestamp": lambda rng: pa.array(
            1_700_000_000_000_000 + np.cumsum(rng.integers(0, 10**6, rows))).cast(
                pa.timestamp("us")),
        "short strings, dictionary": lambda rng: words(rng, 1000, 4, 16),
        "short strings, plain": lambda rng: words(rng, rows, 4, 16),
        "long strings, plain": lambda rng: words(rng, rows // 10, 50, 400, rows // 10),
        "double, 10 % null": nullable(10),
        "double, 50 % null": nullable(50),
        "list<float>[768]": vectors,
        "struct": structs,
        "map": maps,
    }


def path_of(kind, codec):
    name = "".join(c if c.isalnum() else "_" for c in kind)
    return WORK / f"{name}.{codec}.parquet"


def make_files(rows):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    WORK.mkdir(parents=True, exist_ok=True)
    for kind, make in kinds(rows).items():
        if all(path_of(kind, codec).exists() for codec in CODECS):
            continue
        rng = np.random.default_rng(42)
        table = pa.table({f"c{i}": make(rng) for i in range(COLUMNS)})
        for codec in CODECS:
            pq.write_table(table, path_of(kind, codec), compression=codec,
                           compression_level=1 if codec == "zstd" else None,
                           use_dictionary=kind in ("short strings, dictionary", "map"),
                           row_group_size=max(table.num_rows // 2, 1))


# ---- one library in one process ----

def least(task):
    best, count, end = 1e9, 0, time.perf_counter() + REPEAT_FOR
    while count < 3 or (time.perf_counter() < end and count < REPEAT_MOST):
        begin = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - begin)
        count += 1
    return best


def pyarrow_tasks(threads):
    import pyarrow as pa
    import pyarrow.parquet as pq
    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)

    def read(path, columns):
        return lambda: pq.ParquetFile(path).read(columns=columns, use_threads=threads > 1)

    def write(path, out, codec):
        table = pq.read_table(path)
        return lambda: pq.write_table(table, out, compression=codec,
                                      compression_level=1 if codec == "zstd" else None)
    return read, write


def polars_tasks(threads):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars as pl

    def read(path, columns):
        return lambda: pl.read_parquet(path, columns=columns)

    def write(path, out, codec):
        frame = pl.read_parquet(path)
        codec = "uncompressed" if codec == "none" else codec
        return lambda: frame.write_parquet(out, compression=codec,
                                           compression_level=1 if codec == "zstd" else None)
    return read, write


def duckdb_tasks(threads):
    import duckdb
    connection = duckdb.connect(config={"threads": threads})

    def read(path, columns):
        names = ", ".join(columns or ["*"])
        return lambda: connection.sql(f"SELECT {names} FROM '{path}'").to_arrow_table()

    def write(path, out, codec):
        connection.execute(f"CREATE OR REPLACE TABLE t AS FROM '{path}'")
        level = ", COMPRESSION_LEVEL 1" if codec == "zstd" else ""
        codec = "uncompressed" if codec == "none" else codec
        return lambda: connection.execute(
            f"COPY t TO '{out}' (FORMAT parquet, COMPRESSION {codec}{level})")
    return read, write


def carquet_tasks(threads):
    import carquet

    def read(path, columns):
        def task():
            with carquet.open_reader(str(path), num_threads=threads) as reader:
                reader.read_all(columns)
        return task

    def write(path, out, codec):
        with carquet.open_reader(str(path), num_threads=threads) as reader:
            table = reader.read_all(None)
        level = {"compression_level": 1} if codec == "zstd" else {}
        return lambda: carquet.write_table(table, str(out), compression=codec, **level)
    return read, write


TASKS = {"pyarrow": pyarrow_tasks, "polars": polars_tasks, "duckdb": duckdb_tasks,
         "carquet": carquet_tasks}


def run_library(library, threads, cells):
    """In a process of its own: one JSON line for each cell."""
    read, write = TASKS[library](threads)
    for kind, codec, what in cells:
        path, out = path_of(kind, codec), WORK / f"out.{library}.parquet"
        figure = {}
        try:
            if what == "write":
                out.unlink(missing_ok=True)
                figure["seconds"] = least(write(path, out, codec))
                figure["bytes"] = out.stat().st_size
                out.unlink()
            else:
                columns = ["c1"] if what == "one" else None
                figure["seconds"] = least(read(path, columns))
        except Exception as failure:  # a library that cannot is shown as such
            figure = {"error": f"{type(failure).__name__}: {failure}"[:200]}
        print(json.dumps(figure), flush=True)


# ---- Frazil ----

def run_frazil(threads, cells):
    """The same through bench/parquet_bench.c, one process for all cells."""
    words = [BIN / "parquet_bench", threads, REPEAT_FOR, REPEAT_MOST]
    for kind, codec, what in cells:
        words += [what, path_of(kind, codec), WORK / "out.frazil.parquet", codec]
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def run_other(library, threads, cells):
    done = subprocess.run([sys.executable, __file__, "--library", library, str(threads)],
                          input=json.dumps(cells), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_values(rows):
    """Every file read by Frazil, and written by Frazil, is what pyarrow reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    for kind in kinds(rows):
        for codec in CODECS:
            path, out = path_of(kind, codec), WORK / "check.parquet"
            wanted = pq.read_table(path)
            stream = subprocess.run([BIN / "frazil", "cat", path, "--format", "arrow"],
                                    stdout=subprocess.PIPE, check=True).stdout
            out.unlink(missing_ok=True)
            subprocess.run([BIN / "parquet_bench", "1", "0", "1", "write", path, out, codec],
                           stdout=subprocess.DEVNULL, check=True)
            for found in (pa.ipc.open_stream(stream).read_all(), pq.read_table(out)):
                if not found.cast(wanted.schema).equals(wanted):
                    sys.exit(f"{path}: values differ")
            out.unlink()


# ---- the table ----

def versions():
    found = {}
    for library in ("pyarrow", "duckdb", "polars", "carquet"):
        try:
            found[library] = __import__(library).__version__
        except (ImportError, AttributeError) as failure:
            found[library] = str(failure)
    return found


def print_table(what, threads, cells, results):
    """A line for each kind and codec: seconds, and Frazil's against the fastest other."""
    print(f"\n{what}, {threads} thread{'s' if threads > 1 else ''}: milliseconds"
          f"{' and megabytes' if what == 'write' else ''}")
    print(f"{'':26}{'codec':8}" + "".join(f"{name:>10}" for name in LIBRARIES) + "     ratio")
    behind = []
    for i, (kind, codec, _) in enumerate(cells):
        figures = {name: results[name][i].get("seconds") for name in LIBRARIES}
        others = [value for name, value in figures.items() if value and name != "frazil"]
        ratio = figures["frazil"] / min(others)
        cols = "".join(f"{value * 1e3:10.2f}" if value else f"{'-':>10}"
                       for value in figures.values())
        print(f"{kind:26}{codec:8}{cols}{ratio:10.2f}{' *' if ratio > 1.05 else ''}")
        if ratio > 1.05:
            behind.append((kind, codec, round(ratio, 2)))
        if what == "write":
            sizes = {name: results[name][i].get("bytes") for name in LIBRARIES}
            smallest = min(value for name, value in sizes.items() if value and name != "frazil")
            cols = "".join(f"{value / 1e6:10.2f}" if value else f"{'-':>10}"
                           for value in sizes.values())
            size = sizes["frazil"] / smallest
            print(f"{'':34}{cols}{size:10.2f}{' *' if size > 1.02 else ''}")
    print(f"{len(cells) - len(behind)} of {len(cells)} within 5 % of the fastest other")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--kinds", nargs="*", help="only kinds that hold one of these words")
    parser.add_argument("--what", nargs="*", default=["all", "one", "write"])
    parser.add_argument("--no-check", action="store_true", help="do not compare values")
    parser.add_argument("--library", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.library:
        return run_library(args.library[0], int(args.library[1]), json.load(sys.stdin))
    make_files(args.rows)
    if not args.no_check:
        check_values(args.rows)
    chosen = [kind for kind in kinds(args.rows)
              if not args.kinds or any(word in kind for word in args.kinds)]
    everything = []
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs; {versions()}")
    for threads in args.threads:
        for what in args.what:
            if what == "write" and threads > 1:
                continue
            cells = [(kind, codec, what) for kind in chosen for codec in CODECS]
            results = {name: run_frazil(threads, cells) if name == "frazil"
                       else run_other(name, threads, cells) for name in LIBRARIES}
            print_table(what, threads, cells, results)
            everything.append({"what": what, "threads": threads, "cells": cells,
                               "results": results})
    (WORK / "results.json").write_text(json.dumps({"versions": versions(), "runs": everything}))
    return None


if __name__ == "__main__":
    main()
