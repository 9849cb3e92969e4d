"""Column updates against everything else that updates columns of tables: Lance, Paimon, delta-rs,
PyIceberg, DuckDB and DuckLake, pyarrow that rewrites the file, and Spark with Iceberg if asked for.
`make bench-rivals`; docs/benchmarks.md has a run.

Each operation is a process of its own on the table as it was loaded, its files in the page cache.
Frazil's time is that of whole processes; the others' begins when everything is imported. Those that
take long are run less often. All values are compared, once for each rival and operation. Nothing is
synced that a rival does not sync by itself."""

import argparse
import json
import os
import pathlib
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import BIN, ROOT, Failed, machine, run  # noqa: E402
from operations import OPERATIONS  # noqa: E402

WORK = harness.WORK / "rivals"
HERE = pathlib.Path(__file__).resolve().parent

# module -> what it is called if it is absent, and the environment that it runs in
PEERS = {
    "peer_frazil": ("Frazil", ".venv"),
    "peer_lance": ("Lance", ".rivals/lake"),
    "peer_paimon": ("Paimon", ".rivals/paimon"),
    "peer_duckdb": ("DuckDB", ".rivals/lake"),
    "peer_delta": ("delta-rs", ".rivals/lake"),
    "peer_pyiceberg": ("PyIceberg", ".venv"),
    "peer_pyarrow": ("pyarrow, rewriting", ".venv"),
}
ON_REQUEST = {"peer_spark": ("Spark", ".spark")}

OURS = ("Frazil", "Frazil, not synced")
SHORT, SHORT_RUNS = 1, 3  # seconds; those below are disturbed more easily and run so often a turn
LONG = 5  # seconds; those above are run once
MOST_SECONDS = 1200  # of one process
FIGURES = ("seconds", "bytes", "column", "other", "all")


# ---- the table and who takes part ----

def make_source(rows):
    """The table as a Parquet file, and a file of new values of c_1 with keys in random order."""
    source, keyed = WORK / f"wide-{rows}.parquet", WORK / f"keyed-{rows}.parquet"
    if not keyed.exists():
        run(BIN / "gen-wide", "--rows", rows, "--out", source)
        rng = np.random.default_rng(42)
        pq.write_table(pa.table([rng.permutation(rows), rng.random(rows)], ["id", "c_1"]), keyed)
    return source, keyed


def child(environment, *args):
    """What a process of one rival prints."""
    python = ROOT / environment / "bin" / "python"
    if not python.exists():
        raise Failed([str(python)], 127, f"there is no {environment}")
    out = run(python, HERE / "child.py", *args, around=["timeout", MOST_SECONDS])[2]
    return json.loads(out.splitlines()[-1]) if out.strip() else {}


def present(peers):
    """The rivals, name -> (module, environment, what it lacks); versions; reasons of the others."""
    rivals, versions, absent = {}, [], {}
    for module, (title, environment) in peers.items():
        try:
            found = child(environment, module)
        except Failed as failure:
            absent[title] = failure.reason
            continue
        versions.append(found["version"])
        for name, lacks in found["rivals"].items():
            rivals[name] = (module, environment, lacks)
    if "DuckDB" in rivals and "DuckLake" not in rivals:
        absent["DuckLake"] = "its extension is not installed"
    return rivals, versions, absent


def copy(source, target):
    """A table goes back to where it was made, and the system is through with writing it."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    os.sync()


def load(rivals, source):
    """Everybody's table, kept beside the folder that it is used in."""
    for name, (module, environment, _) in rivals.items():
        table = WORK / name.replace(", ", "-").replace(" ", "-")
        shutil.rmtree(table, ignore_errors=True)
        (table / "table").mkdir(parents=True)
        print(f"loading {name} ...", file=sys.stderr)
        child(environment, module, name, table / "table", "load", source)
        (table / "table").rename(table / "loaded")
        rivals[name] = (*rivals[name], table)


# ---- measuring ----

def take(figures, new):
    """Keep the least of each figure; an error stays."""
    for key, value in new.items():
        figures[key] = min(figures.get(key, value), value)


def repeat(rival, name, what, source, keyed, figures):
    """A turn of one rival."""
    module, environment, _, table = rival
    for _ in range(SHORT_RUNS):
        copy(table / "loaded", table / "table")
        check = [] if figures else ["check"]
        try:
            take(figures, child(environment, module, name, table / "table", what, source, keyed,
                                *check))
        except Failed as failure:
            figures["error"] = failure.reason
        if "error" in figures or figures["seconds"] > SHORT:
            return


def measure(rivals, chosen, source, keyed, turns):
    """Operation -> rival -> figures. All take turns, so that a machine whose speed varies is the
    same for all."""
    results = {what: {name: {} for name, rival in rivals.items() if what not in rival[2]}
               for what in chosen}
    for turn in range(turns):
        for what in chosen:
            for name, figures in results[what].items():
                if "error" in figures or (turn > 0 and figures["seconds"] > LONG):
                    continue
                repeat(rivals[name], name, what, source, keyed, figures)
                told = figures.get("error") or f"{figures['seconds'] * 1e3:.1f} ms"
                print(f"turn {turn + 1}, {what}, {name}: {told}", file=sys.stderr)
    return results


# ---- the report ----

HEADINGS = ("", "ms", "/ synced", "/ not synced", "bytes", "/ Frazil", "read it", "another", "all")


def spaced(number):
    return f"{number:,}".replace(",", " ")


def milliseconds(seconds):
    return f"{seconds * 1e3:.1f}" if seconds < 1 else spaced(round(seconds * 1e3))


def ratio(value, base):
    """As text, and whether Frazil loses."""
    if base is None:
        return "", False
    found = value / base
    return f"{found:.2f}" if found < 10 else f"{found:.0f}", found < 1


def cells(name, figures, ours):
    """(text, does Frazil lose) of each column; ours: the figures of OURS, as far as there are any."""
    is_ours = name in OURS
    base = {key: min((each[key] for each in ours if key in each), default=None) for key in FIGURES}
    times = [(each or {}).get("seconds") for each in ours]
    row = [(name, False), (milliseconds(figures["seconds"]), False)]
    row += [("", False) if is_ours else ratio(figures["seconds"], time) for time in times]
    row += [(spaced(figures["bytes"]), False)]
    row += [("", False) if is_ours else ratio(figures["bytes"], base["bytes"])]
    for key in ("column", "other", "all"):
        lost = not is_ours and base[key] is not None and figures[key] < base[key]
        row.append((milliseconds(figures[key]), lost))
    return row


def table_of(found):
    """Rows of cells; a rival that failed has one that says why."""
    ours = [found.get(name) or {} for name in OURS]
    ours = [{} if "error" in each else each for each in ours]
    rows = []
    for name, figures in found.items():
        if "error" in figures:
            rows.append([(name, False), (f"failed: {figures['error']}", False)])
        else:
            rows.append(cells(name, figures, ours))
    return rows


def print_table(title, found):
    rows = [[f"{text}*" if lost else text for text, lost in row] for row in table_of(found)]
    whole = [row for row in rows if len(row) == len(HEADINGS)]
    widths = [max(len(row[i]) for row in [HEADINGS, *whole]) for i in range(len(HEADINGS))]
    print(f"\n{title}")
    for row in [HEADINGS, *rows]:
        if len(row) < len(HEADINGS):
            print("  " + "  ".join(row))
            continue
        print("  " + "  ".join([row[0].ljust(widths[0])] + [
            text.rjust(width) for text, width in zip(row[1:], widths[1:])]).rstrip())


def print_markdown(title, found):
    print(f"\n{title}:\n\n| {' | '.join(HEADINGS)} |\n{'|---' * len(HEADINGS)}|")
    for row in table_of(found):
        texts = [f"**{text}**" if lost else text for text, lost in row]
        texts += [""] * (len(HEADINGS) - len(texts))
        print(f"| {' | '.join(texts)} |")


def losses(results):
    """Cells in which Frazil loses, as text."""
    return [f"{OPERATIONS[what].title}: {row[0][0]}, {HEADINGS[i]}: {text}"
            for what, found in results.items() for row in table_of(found)
            for i, (text, lost) in enumerate(row) if lost]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--operations", nargs="*", default=list(OPERATIONS), choices=OPERATIONS)
    parser.add_argument("--peers", nargs="*", default=None, help="only these of Lance, Paimon …")
    parser.add_argument("--spark", action="store_true", help="Spark with Iceberg, too")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/benchmarks.md")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    source, keyed = make_source(options.rows)
    peers = PEERS | (ON_REQUEST if options.spark else {})
    if options.peers is not None:
        peers = {module: peer for module, peer in peers.items()
                 if peer[0] in ("Frazil", *options.peers)}
    rivals, versions, absent = present(peers)
    load(rivals, source)
    results = measure(rivals, options.operations, source, keyed, options.turns)
    report = {**machine(), "rows": options.rows, "versions": versions, "absent": absent,
              "results": results}
    (WORK / "results.json").write_text(json.dumps(report, indent=1))
    print(f"{report['machine']}, {report['cores']} CPUs; {options.rows} rows of an id and 200 "
          f"doubles; {'; '.join(versions)}")
    for title, reason in absent.items():
        print(f"absent: {title}: {reason}")
    for what, found in results.items():
        (print_markdown if options.markdown else print_table)(OPERATIONS[what].title, found)
    print(f"\nFrazil loses in {len(losses(results))} places")
    for text in losses(results):
        print(f"  {text}")
    for name, rival in rivals.items():
        shutil.rmtree(rival[3])
    if any("error" in figures for found in results.values() for figures in found.values()):
        sys.exit("some rivals failed")


if __name__ == "__main__":
    main()
