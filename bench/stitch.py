"""What reading a table costs whose columns lie in column files, against the same table compacted:
1, 5 and 50 column files of a column each, of an id and 200 doubles. `make bench-stitch`;
docs/benchmarks.md has a run.

Row groups of column files end where those of the data file do. In the tables that are not aligned
they do not: the data file has been exchanged for one of the same rows in other row groups. Both
tables are read in turn by one process, with sums compared, and each pair of reads gives a ratio: a
line has the median of several processes' medians. As root, at real-time priority, so that other
work on the machine disturbs little; the time that processors worked, which it changes less, is
told, too."""

import argparse
import json
import os
import shutil
import sys
import time
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq

import harness
from harness import BIN, ROOT, machine, run

sys.path.insert(0, str(ROOT / "tests" / "interop"))
import checker  # noqa: E402

WORK = harness.WORK / "stitch"
GROUP_BYTES = 32 << 20  # of the data file
OTHER_GROUP_BYTES = 30 << 20  # of the one that it is exchanged for
LIMIT = 1.02  # what the project promises
SPOKEN = {True: "aligned", False: "misaligned"}
REST_SECONDS = 5  # after which footers are kept: files do not change any more
PROCESS_SECONDS = 2  # of reading, about


def frazil(warehouse, *args):
    return run(BIN / "frazil", "--warehouse", warehouse, *args)[2]


def metadata_of(warehouse):
    return json.loads(frazil(warehouse, "describe", "db.wide", "--json"))["metadata_location"]


# ---- the tables ----

def import_table(warehouse, source, group_bytes):
    """One data file of row groups of so many bytes."""
    frazil(warehouse, "import", "db.wide", source, "--rewrite", "--property",
           f"write.parquet.row-group-size-bytes={group_bytes}", "--property",
           "write.durability=none")


def data_file(warehouse):
    """Its path, and the root manifest's; the table has one data file."""
    table = checker.Table(checker.metadata_location(warehouse / "catalog.db", "db", "wide"))
    root = table.path(table.resolve(table.snapshots[table.current]["root-manifest"]))
    (location,) = {entry["location"] for entry in pq.read_table(root).to_pylist()}
    return table.path(table.resolve(location)), root


def exchange_data_file(warehouse, source, folder):
    """The table gets a data file of other row groups, and column files keep theirs."""
    other = folder / "other"
    import_table(other, source, OTHER_GROUP_BYTES)
    path, root = data_file(warehouse)
    shutil.move(data_file(other)[0], path)
    shutil.rmtree(other)
    manifest = pq.read_table(root)
    entries = [entry | {"file_size_in_bytes": os.path.getsize(path), "split_offsets": None}
               for entry in manifest.to_pylist()]  # one as it was and one as it is
    pq.write_table(pa.Table.from_pylist(entries, manifest.schema), root, store_schema=False)


def write_anew(folder):
    """All data files, in pieces of 1 MiB. The system keeps what was written at once in one place of
    its memory, and what compaction copied or others read first in small ones, which are read up to
    twice as slowly; so both tables are kept alike."""
    for path in folder.glob("*.parquet"):
        new = path.with_suffix(".new")
        with open(path, "rb") as old, open(new, "xb", buffering=0) as out:
            while piece := old.read(1 << 20):
                out.write(piece)
        new.rename(path)


def make_table(source, files, aligned):
    """Metadata of the table with so many column files, and of the same one compacted."""
    folder = WORK / f"{files}-{SPOKEN[aligned]}"
    folder.mkdir(parents=True)
    warehouse = folder / "warehouse"
    import_table(warehouse, source, GROUP_BYTES)
    for i in range(1, files + 1):
        frazil(warehouse, "sql", f"UPDATE db.wide SET c_{i} = c_{i} + 1")
    if not aligned:
        exchange_data_file(warehouse, source, folder)
    stitched = metadata_of(warehouse)
    frazil(warehouse, "compact", "db.wide")
    return {"stitched": stitched, "compacted": metadata_of(warehouse),
            "folder": warehouse / "db" / "wide" / "data"}


# ---- measuring ----

def read_pairs(tables, threads, columns, pairs):
    """Of the stitched table and of the compacted one."""
    return harness.read_pairs("--against", tables["stitched"], tables["compacted"], threads, pairs,
                              columns)


def uncertainty(values):
    """Standard error of a median, from deviations that a few outliers do not touch."""
    middle = median(values)
    spread = median(abs(value - middle) for value in values)
    return 1.25 * 1.48 * spread / len(values) ** 0.5


def measure_process(tables, threads, columns):
    """Medians of one process's pairs."""
    trial = read_pairs(tables, threads, columns, 3)
    pair = sum(seconds for seconds, _ in min(trial))
    reads = read_pairs(tables, threads, columns, max(5, min(200, int(PROCESS_SECONDS / pair))))
    return {"stitched": median(a for (a, _), _ in reads),
            "compacted": median(b for _, (b, _) in reads),
            "ratio": median(a / b for (a, _), (b, _) in reads),
            "work": median(a / b for (_, a), (_, b) in reads)}


def measure(tables, files, aligned, options):
    """Lines of one table. Processes differ in where their memory lies, and files in where the
    system's does, so each round writes the files anew, and a process counts as one value."""
    updated = [f"c_{i}" for i in range(1, files + 1)]
    lines = [(threads, what, columns, []) for threads in options.threads
             for what, columns in (("all columns", []), ("updated columns", updated))]
    for _ in range(options.rounds):
        if not options.as_written:
            write_anew(tables["folder"])
        time.sleep(REST_SECONDS)
        for threads, _, columns, found in lines:
            found.append(measure_process(tables, threads, columns))
    for threads, what, _, found in lines:
        yield {"files": files, "aligned": aligned, "threads": threads, "what": what,
               **{key: median(f[key] for f in found) for key in found[0]},
               "uncertainty": uncertainty([f["ratio"] for f in found])}


# ---- the report ----

HEADINGS = ("column files", "row groups", "threads", "read", "stitched ms", "compacted ms",
            "ratio", "+-", "of processors")


def cells(row):
    return (str(row["files"]), SPOKEN[row["aligned"]], str(row["threads"]), row["what"],
            f"{row['stitched'] * 1e3:.2f}", f"{row['compacted'] * 1e3:.2f}",
            f"{row['ratio']:.3f}", f"{row['uncertainty']:.3f}", f"{row['work']:.3f}")


def print_line(texts):
    widths = (12, 10, 7, 15, 11, 12, 6, 5, 13)
    print("  ".join(text.rjust(width) for text, width in zip(texts, widths)), flush=True)


def print_markdown(rows):
    print(f"\n| {' | '.join(HEADINGS)} |\n{'|---' * len(HEADINGS)}|")
    for row in rows:
        texts = list(cells(row))
        texts[6] = f"**{texts[6]}**" if row["ratio"] > LIMIT else texts[6]
        print(f"| {' | '.join(texts)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--files", type=int, nargs="*", default=[1, 5, 50])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--as-written", action="store_true",
                        help="data files stay in the system's memory as frazil wrote them")
    parser.add_argument("--markdown", action="store_true", help="a table for docs/benchmarks.md")
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    source = WORK / "wide.parquet"
    run(BIN / "gen-wide", "--rows", options.rows, "--out", source)
    rows = []
    print_line(HEADINGS)
    for files in options.files:
        for aligned in SPOKEN:
            tables = make_table(source, files, aligned)
            for row in measure(tables, files, aligned, options):
                rows.append(row)
                print_line(cells(row))
    (WORK / "results.json").write_text(json.dumps({**machine(), "rows": rows}, indent=1))
    if options.markdown:
        print_markdown(rows)
    for path in WORK.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    over = sum(row["ratio"] > LIMIT for row in rows)
    if over:
        sys.exit(f"beyond the limit of {LIMIT}: {over} of {len(rows)}")


if __name__ == "__main__":
    main()
