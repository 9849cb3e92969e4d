"""What an update of one column costs a table of very many data files and columns: 10 000 by 1000,
of a few rows each. `make bench-scale`; docs/benchmarks.md has a run.

The data files are one file under many names, their statistics in the manifests are made up, so that
manifests have the size that they have in practice; no bound is used. The update is run as one
statement, and in three steps, of which the last, the commit of all results, has all that is not
reading data files and writing column files. Which bytes of the new manifests were copied is told by
comparing their column chunks with those of the manifests before."""

import argparse
import json
import os
import random
import shutil
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import harness
from harness import BIN, machine, run

WORK = harness.WORK / "scale"
ROWS = 4  # of a data file
LIMIT_SECONDS, LIMIT_GROWTH, LIMIT_FRESH, LIMIT_MEMORY = 2.0, 1.1, 0.03, 512 << 20


class Table:
    def __init__(self, folder):
        self.folder = folder
        self.place = folder / "w" / "db" / "t"

    def run(self, *arguments, **how):
        return run(BIN / "frazil", "--warehouse", self.folder / "w", *arguments, **how)

    def document(self):
        described = json.loads(self.run("describe", "db.t", "--json")[2])
        return described["metadata_location"].removeprefix("file://")

    def root(self):
        """Its path, and the metadata document."""
        document = json.loads(open(self.document()).read())
        snapshot = next(s for s in document["snapshots"]
                        if s["snapshot-id"] == document["current-snapshot-id"])
        return self.place / snapshot["root-manifest"], document

    def manifests(self):
        """Live ones of the current snapshot, the root first."""
        root, _ = self.root()
        entries = pq.read_table(root, columns=["content_type", "location", "record_count",
                                               "manifest_info"]).to_pylist()
        leaves = [e for e in entries if e["content_type"] == 3]
        masked = {e["location"] for e in leaves if e["manifest_info"]["dv"] and int.from_bytes(
            e["manifest_info"]["dv"][1:4], "little") == e["record_count"]}
        return [root] + [self.place / e["location"] for e in leaves if e["location"] not in masked]


# ---- the table ----

def random_stats(kind, count, seed):
    """As many rows of content_stats: bounds that differ from file to file."""
    fields = []
    for i in range(kind.num_fields):
        stats = kind.field(i).type
        lower = np.random.default_rng(seed + i).normal(size=count)
        members = []
        for k in range(stats.num_fields):
            field = stats.field(k)
            if field.name in ("lower_bound", "upper_bound"):
                values = lower if field.name == "lower_bound" else lower + 1
                members.append(pa.array(values).cast(field.type, safe=False))
            elif field.name == "tight_bounds":
                members.append(pa.array([True] * count))
            else:
                members.append(pa.array([ROWS if field.name == "value_count" else 0] * count,
                                        field.type))
        fields.append(pa.StructArray.from_arrays(members, fields=list(stats)))
    return pa.StructArray.from_arrays(fields, fields=list(kind))


def many_entries(root, count):
    """The root manifest of one data file becomes that of many."""
    one = pq.read_table(root).combine_chunks()
    (entry,) = one.to_pylist()
    columns = []
    for field in one.schema:
        if field.name == "content_stats":
            columns.append(random_stats(field.type, count, seed=1))
        elif field.name == "tracking":
            rows = [entry["tracking"] | {"first_row_id": i * ROWS} for i in range(count)]
            columns.append(pa.array(rows, field.type))
        elif field.name == "location":
            columns.append(pa.array([f"data/f-{i:06}.parquet" for i in range(count)]))
        else:
            columns.append(pa.array([entry[field.name]] * count, field.type))
    pq.write_table(pa.Table.from_arrays(columns, schema=one.schema), root, store_schema=False,
                   write_statistics=False)
    return entry["location"]


def make(folder, files, columns, statistics):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    table = Table(folder)
    generator = random.Random(1)
    data = {"id": list(range(ROWS))} | {
        f"c_{k}": [generator.random() for _ in range(ROWS)] for k in range(1, columns)}
    pq.write_table(pa.table(data), folder / "one.parquet")
    options = ["--property", "write.durability=full"]
    if statistics > 100:
        options += ["--property",
                    f"write.metadata.metrics.max-inferred-column-defaults={statistics}"]
    table.run("import", "db.t", folder / "one.parquet", *options)
    root, document = table.root()
    first = table.place / many_entries(root, files)
    for i in range(files):
        os.link(first, table.place / "data" / f"f-{i:06}.parquet")
    document["next-row-id"] = files * ROWS
    path = table.document()
    open(path, "w").write(json.dumps(document))
    table.run("append", "db.t", folder / "one.parquet")  # now entries are in leaves
    return table


# ---- what is copied ----

def chunks(path):
    """Column chunks of a manifest, by the column's name, and how many bytes are around them."""
    content, found = path.read_bytes(), []
    footer = pq.ParquetFile(path).metadata
    for g in range(footer.num_row_groups):
        for i in range(footer.num_columns):
            chunk = footer.row_group(g).column(i)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            found.append((chunk.path_in_schema, content[start:start + chunk.total_compressed_size]))
    return found, len(content) - sum(len(chunk) for _, chunk in found)


def compare(before, after):
    """Bytes of new manifests, of those that are copied chunks, and of footers."""
    known = {chunk for path in before for chunk in chunks(path)[0]}
    total = copied = footers = 0
    for path in set(after) - set(before):
        found, around = chunks(path)
        total += path.stat().st_size
        footers += around
        copied += sum(len(chunk) for name, chunk in found if (name, chunk) in known)
    return {"bytes": total, "copied": copied, "footers": footers}


# ---- updates ----

def measure(table, work):
    before = table.manifests()
    result = work()
    after = table.manifests()
    sizes = sum(path.stat().st_size for path in before)
    figures = compare(before, after)
    fresh = figures["bytes"] - figures["copied"] - figures["footers"]
    return result | figures | {"before": sizes, "growth": figures["bytes"] / sizes,
                               "fresh": fresh / figures["bytes"]}


def statement(table, text="UPDATE db.t SET c_1 = c_1 + 1"):
    seconds, peak, _ = table.run("sql", text)
    return {"seconds": seconds, "peak": peak}


# In other modes: one row of each file, and one row of all.
MODES = [
    ("DELETE a row of each file", "delete", "merge-on-read", "DELETE FROM db.t WHERE id = 1"),
    ("DELETE one row", "delete", "merge-on-read", "DELETE FROM db.t WHERE _row_id = 6"),
    ("UPDATE one row, merge-on-read", "update", "merge-on-read", "UPDATE db.t SET c_3 = 0 WHERE _row_id = 7"),
    ("DELETE one row, copy-on-write", "delete", "copy-on-write", "DELETE FROM db.t WHERE _row_id = 10"),
    ("UPDATE one row, copy-on-write", "update", "copy-on-write", "UPDATE db.t SET c_3 = 0 WHERE _row_id = 12"),
]


def other_modes(table, name):
    for what, verb, mode, text in MODES:
        table.run("sql", f"ALTER TABLE db.t SET TBLPROPERTIES ('write.{verb}.mode' = '{mode}')")
        show(f"{name}, {what}", measure(table, lambda: statement(table, text)))


def steps(table, processes):
    """Plan, tasks by xargs, commit."""
    work = table.folder / "tasks"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    planned, _, tasks = table.run("update-plan", "db.t", "--set", "c_2=c_2 + 1")
    for i, line in enumerate(tasks.splitlines()):
        (work / f"{i:06}").write_text(line)
    command = f'"{BIN / "frazil"}" update-task TASK >TASK.result'
    listing = "\n".join(str(work / name) for name in sorted(os.listdir(work)))
    run("xargs", "-P", processes, "-I", "TASK", "sh", "-c", command, input=listing.encode())
    results = work / "results"
    results.write_text("".join((work / f"{i:06}.result").read_text()
                               for i in range(len(tasks.splitlines()))))
    seconds, peak, _ = table.run("update-commit", "db.t", results)
    return {"seconds": seconds, "peak": peak, "planned": planned, "tasks": len(tasks.splitlines())}


def show(name, figures):
    print(f"| {name} | {figures['seconds']:.2f} s | {figures['peak'] / 1e6:.0f} MB | "
          f"{figures['before'] / 1e6:.1f} MB | {figures['bytes'] / 1e6:.1f} MB | "
          f"{100 * figures['fresh']:.2f} % | {100 * figures['footers'] / figures['bytes']:.2f} % |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[2000, 10_000])
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--statistics", type=int, nargs="+", default=[100],
                        help="columns that have statistics in manifests")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--modes", action="store_true", help="also statements in other modes")
    options = parser.parse_args()
    print(machine())
    print("| data files, columns with statistics, step | time | peak memory | manifests before | "
          "written | encoded afresh | footers |\n|---|---|---|---|---|---|---|")
    kept = True
    for statistics in options.statistics:
        for files in options.files:
            table = make(WORK / f"{files}-{statistics}", files, options.columns, statistics)
            name = f"{files}, {statistics}"
            commit = measure(table, lambda: steps(table, options.processes))
            show(f"{name}, commit of all results", commit)
            whole = measure(table, lambda: statement(table))
            show(f"{name}, whole statement", whole)
            if options.modes:
                other_modes(table, name)
            for figures in (commit, whole):
                kept = kept and figures["growth"] <= LIMIT_GROWTH and \
                    figures["fresh"] < LIMIT_FRESH and figures["peak"] < LIMIT_MEMORY
            kept = kept and commit["seconds"] < LIMIT_SECONDS
            shutil.rmtree(table.folder)
    subprocess.run(["sync"], check=False)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
