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

import harness
from harness import BIN

WORK = harness.WORK / "parquet"
COLUMNS = 4  # of each file; "one" reads the second
LIBRARIES = ["frazil", "pyarrow", "duckdb", "polars", "carquet"]
CODECS = ["none", "snappy", "zstd"]
TURN_SECONDS = 0.09  # about, of a library's turn at a cell
TURN_LEAST, TURN_MOST = 2, 20  # repetitions
LEAST_TURNS, MOST_TURNS = 3, 12  # of each library for each cell: until no least time falls
FALLS = 0.98  # to less than this of what it was, in a turn
SLOWER, LARGER = 1.05, 1.02  # ratios that are marked


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


def least(task, out, seconds):
    """Least seconds of a task that is repeated for a while; what it wrote last time is removed."""
    best, count, end = 1e9, 0, time.perf_counter() + seconds
    while count < TURN_LEAST or (time.perf_counter() < end and count < TURN_MOST):
        out.unlink(missing_ok=True)
        begin = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - begin)
        count += 1
    return best


def serve(library, threads):
    """A turn for each line of standard input, as bench/parquet_bench.c takes them."""
    read, write = TASKS[library](threads)
    last, task = None, None
    for line in sys.stdin:
        what, seconds, path, out, codec = line.rstrip("\n").split("\t")
        out = pathlib.Path(out)
        try:
            if last != (what, path):
                last, task = (what, path), None  # what the last one held is free first
                columns = ["c1"] if what == "one" else None
                task = write(path, out, codec) if what == "write" else read(path, columns)
            figure = {"seconds": least(task, out, float(seconds))}
            if what == "write":
                figure["bytes"] = out.stat().st_size
        except Exception as failure:  # a library that cannot is shown as such
            figure = {"error": f"{type(failure).__name__}: {failure}"[:200]}
        print(json.dumps(figure), flush=True)


# ---- libraries in turn ----

class Library:
    """A process that measures one library. With one thread it has one processor, since not every
    library keeps to its number of threads."""

    def __init__(self, name, threads):
        command = [str(BIN / "parquet_bench"), str(threads)] if name == "frazil" else [
            sys.executable, __file__, "--library", name, str(threads)]
        if threads == 1:
            command = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] + command
        self.out = WORK / f"out.{name}.parquet"
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def measure(self, cell, seconds):
        kind, codec, what = cell
        words = [what, seconds, path_of(kind, codec), self.out, codec]
        print(*words, sep="\t", file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args}: ended with status {self.process.wait()}")
        return json.loads(line)

    def close(self):
        """What it wrote last is removed."""
        self.process.stdin.close()
        self.process.wait()
        self.out.unlink(missing_ok=True)


def measure_turn(libraries, cell, figures):
    """Each library once; true if a least time fell by much."""
    fell = False
    for name, library in libraries.items():
        if "error" in figures.get(name, {}):
            continue
        figure = library.measure(cell, TURN_SECONDS)
        before = figures.get(name, {}).get("seconds")
        if before is None or figure.get("seconds", 0) < before:
            fell |= before is None or figure.get("seconds", 0) < before * FALLS
            figures[name] = figure
    return fell


def measure_cells(threads, cells):
    """Name of a library -> a figure for each cell. The libraries take turns, so that a machine
    whose speed varies is the same for all, until the least times stay."""
    libraries = {name: Library(name, threads) for name in LIBRARIES}
    results = {name: [] for name in LIBRARIES}
    for cell in cells:
        figures = {}
        for turn in range(MOST_TURNS):
            if not measure_turn(libraries, cell, figures) and turn + 1 >= LEAST_TURNS:
                break
        for name in LIBRARIES:
            results[name].append(figures[name])
    for library in libraries.values():
        library.close()
    return results


def check_values(chosen):
    """Every file read by Frazil, and written by Frazil, is what pyarrow reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    frazil = Library("frazil", 1)
    for kind in chosen:
        for codec in CODECS:
            path = path_of(kind, codec)
            wanted = pq.read_table(path)
            stream = subprocess.run([BIN / "frazil", "cat", path, "--format", "arrow"],
                                    stdout=subprocess.PIPE, check=True).stdout
            frazil.measure((kind, codec, "write"), 0)
            for found in (pa.ipc.open_stream(stream).read_all(), pq.read_table(frazil.out)):
                if not found.cast(wanted.schema).equals(wanted):
                    sys.exit(f"{path}: values differ")
    frazil.close()


# ---- the tables ----

def versions():
    found = {}
    for library in ("pyarrow", "duckdb", "polars", "carquet"):
        try:
            found[library] = __import__(library).__version__
        except (ImportError, AttributeError) as failure:
            found[library] = str(failure)
    return found


def best_other(results, i, figure):
    """The least of a figure among the other libraries, and whose it is."""
    return min((results[name][i][figure], name) for name in LIBRARIES
               if name != "frazil" and figure in results[name][i])


def ratio(results, i, figure):
    return results["frazil"][i][figure] / best_other(results, i, figure)[0]


def row_of(results, i, figure, scale):
    values = [results[name][i].get(figure) for name in LIBRARIES]
    return "".join(f"{value * scale:10.2f}" if value else f"{'-':>10}" for value in values)


def print_table(run):
    """A line for each kind and codec: milliseconds, and Frazil's against the fastest other."""
    what, threads, cells, results = run["what"], run["threads"], run["cells"], run["results"]
    print(f"\n{what}, {threads} thread{'s' if threads > 1 else ''}: milliseconds"
          f"{' and megabytes' if what == 'write' else ''}")
    print(f"{'':26}{'codec':8}" + "".join(f"{name:>10}" for name in LIBRARIES) + "     ratio")
    for i, (kind, codec, _) in enumerate(cells):
        slower = ratio(results, i, "seconds")
        print(f"{kind:26}{codec:8}{row_of(results, i, 'seconds', 1e3)}{slower:10.2f}"
              f"{' *' if slower > SLOWER else ''}")
        if what == "write":
            larger = ratio(results, i, "bytes")
            print(f"{'':34}{row_of(results, i, 'bytes', 1e-6)}{larger:10.2f}"
                  f"{' *' if larger > LARGER else ''}")
    within = sum(ratio(results, i, "seconds") <= SLOWER for i in range(len(cells)))
    print(f"{within} of {len(cells)} within 5 % of the fastest other", flush=True)


def markdown(run, figure, unit, scale, bound):
    """A table of docs/benchmarks.md: Frazil's figure, the best other's and whose it is, the ratio
    in bold where Frazil is behind."""
    results = run["results"]
    lines = [f"| {unit} | " + " | ".join(CODECS) + " |", "|---" * (len(CODECS) + 1) + "|"]
    for first in range(0, len(run["cells"]), len(CODECS)):
        line = f"| {run['cells'][first][0]} |"
        for i in range(first, first + len(CODECS)):
            other, name = best_other(results, i, figure)
            share = f"{ratio(results, i, figure):.2f}"
            share = f"**{share}**" if ratio(results, i, figure) > bound else share
            line += f" {results['frazil'][i][figure] * scale:.1f}; {other * scale:.1f} {name}:" \
                    f" {share} |"
        lines.append(line)
    return "\n".join(lines)


def print_markdown(runs):
    names = {"all": "Reading four columns", "one": "Reading one of four columns",
             "write": "Writing four columns"}
    for run in runs:
        threads = "one thread" if run["threads"] == 1 else f"{run['threads']} threads"
        print(f"\n{names[run['what']]}, {threads}:\n")
        print(markdown(run, "seconds", "milliseconds", 1e3, SLOWER))
        if run["what"] == "write":
            print("\nTheir sizes:\n")
            print(markdown(run, "bytes", "megabytes", 1e-6, LARGER))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--kinds", nargs="*", help="only kinds that hold one of these words")
    parser.add_argument("--what", nargs="*", default=["all", "one", "write"],
                        choices=["all", "one", "write"])
    parser.add_argument("--no-check", action="store_true", help="do not compare values")
    parser.add_argument("--markdown", action="store_true", help="the tables of the docs, too")
    parser.add_argument("--library", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.library:
        serve(args.library[0], int(args.library[1]))
        return
    chosen = [kind for kind in kinds(args.rows)
              if not args.kinds or any(word in kind for word in args.kinds)]
    make_files(args.rows)
    if not args.no_check:
        check_values(chosen)
    runs = []
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs; {versions()}")
    for threads in args.threads:
        for what in args.what:
            if what == "write" and threads > 1:
                continue
            cells = [(kind, codec, what) for kind in chosen for codec in CODECS]
            runs.append({"what": what, "threads": threads, "cells": cells,
                         "results": measure_cells(threads, cells)})
            print_table(runs[-1])
    (WORK / "results.json").write_text(json.dumps({"versions": versions(), "runs": runs}))
    if args.markdown:
        print_markdown(runs)


if __name__ == "__main__":
    main()
