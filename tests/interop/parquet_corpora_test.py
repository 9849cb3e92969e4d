"""Every Parquet file of other writers, damaged ones among them: what frazil cat makes of it as an Arrow
stream is what pyarrow reads, types and nulls included. Files of which that is not so are listed in
parquet_corpora.tsv with what comes instead and why; the table and the files must agree in both directions.

Run as a program it prints how many files of each folder end how; with --lines, a line of the table for each
file that is not equal, all readers asked, its reason and section empty where the table has none."""

import collections
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import arrow_compare
import parquet_oracles

HERE = Path(__file__).resolve().parent
TABLE = HERE / "parquet_corpora.tsv"
CORPORA = Path(os.environ.get("FRAZIL_CORPORA", HERE.parents[1] / "../shared/corpora")).resolve()
FRAZIL = Path(os.environ.get("FRAZIL_BUILD", "build/release")).resolve() / "bin" / "frazil"

EQUAL = "equal"
REFUSALS = ("refused", "unread")
# Outcomes that are listed:
#   duckdb     we have the values that DuckDB has; pyarrow refuses the file or has others
#   alone      we read what pyarrow and DuckDB both refuse
#   differs    we have other values than both
#   refused    we refuse what pyarrow or DuckDB reads
#   unread     none of the three reads it


def corpus_files():
    """By name, by the first bytes, and whatever lies in a folder of fuzzers' findings."""
    found = []
    for root, _, names in os.walk(CORPORA):
        for name in names:
            path = Path(root) / name
            by_name = name.lower().endswith((".parquet", ".parq"))
            if by_name or "fuzzing" in Path(root).name and name != "README.md" or has_magic(path):
                found.append(path)
    return sorted(found)


def has_magic(path):
    with open(path, "rb") as file:
        return file.read(4) in (b"PAR1", b"PARE")


def known_outcomes():
    """name -> (kind, part of the message, reason, section of the specification)"""
    table = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            name, *rest = line.split("\t")
            assert len(rest) == 4 and all(rest) and name not in table, line
            table[name] = tuple(rest)
    return table


def our_table(path):
    """(table, None) or (None, the message). Anything but a table or one clear line fails."""
    done = subprocess.run([FRAZIL, "cat", path, "--format", "arrow"], capture_output=True, timeout=60)
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return pa.ipc.open_stream(done.stdout).read_all(), None
    assert done.returncode in (1, 5) and said.startswith("frazil: "), f"{path}: {done.returncode} {said[-3000:]}"
    return None, said.replace(str(CORPORA) + "/", "")


def their_table(path):
    try:
        return parquet_oracles.pyarrow_table(path), None
    except Exception as e:  # whatever pyarrow makes of damaged files
        return None, " ".join(str(e).split())


def fault(table):
    """What Arrow holds against a table, or None."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as e:
        return str(e)
    return None


def outcome(path, ours, error, duckdb, listed):
    """(kind, what tells more). Where we refuse a file that is listed as such, the others are not asked
    again: to some of them damaged files are dear."""
    if ours is None and listed in REFUSALS:
        return listed, error
    theirs, refusal = their_table(path)
    if ours is not None and theirs is not None:
        refusal = arrow_compare.difference(ours, theirs)
        # a file may hold decimals of more digits than it says; then both have them
        refusal = refusal or (fault(ours) if fault(theirs) is None else None)
        if refusal is None:
            return EQUAL, ""
    other, other_refusal = duckdb.table(path)
    if ours is None:
        return "unread" if theirs is None and other is None else "refused", error
    if other is not None:
        text = arrow_compare.difference(ours, other, loose=True) or fault(ours)
        if text is None:
            return "duckdb", f"pyarrow: {refusal}"
        return "differs", f"pyarrow: {refusal}; DuckDB: {text}"
    kind = "alone" if theirs is None else "differs"
    return kind, f"pyarrow: {refusal}; DuckDB: {' '.join(other_refusal.split())}"


def outcomes(files, known):
    """(name, kind, text) of each file; two files at a time."""
    with ThreadPoolExecutor(2) as pool, parquet_oracles.DuckDB() as duckdb:
        for path, (ours, error) in zip(files, pool.map(our_table, files)):
            name = str(path.relative_to(CORPORA))
            listed = known[name][0] if name in known else EQUAL
            yield name, *outcome(path, ours, error, duckdb, listed)


def test_every_file_ends_as_the_table_says():
    files = corpus_files()
    if not files:
        pytest.skip(f"no corpora in {CORPORA}")
    known = known_outcomes()
    wrong = []
    for name, kind, text in outcomes(files, known):
        wanted, part, *_ = known.get(name, (EQUAL, "", "", ""))
        if kind != wanted or part not in text:
            wrong.append(f"{name}: {kind}, not {wanted}: {text}")
    there = {str(path.relative_to(CORPORA)) for path in files}
    wrong += [f"{name}: listed, but not there" for name in known if name not in there]
    assert not wrong, "\n".join(wrong)


# ---- as a program ----


def show_lines():
    known = known_outcomes()
    for name, kind, text in outcomes(corpus_files(), {}):
        if kind != EQUAL:
            wanted, part, reason, section = known.get(name, ("", "", "", ""))
            part = part if kind == wanted and part in text else text
            print(name, kind, part, reason, section, sep="\t")


def show_counts():
    counts = collections.defaultdict(collections.Counter)
    for name, kind, _ in outcomes(corpus_files(), known_outcomes()):
        for folder in (name.split("/")[0], "all"):
            counts[folder][kind] += 1
    kinds = [EQUAL, "duckdb", "alone", "differs", "refused", "unread"]
    print(f"{'':20}{'files':>8}", *(f"{kind:>8}" for kind in kinds), sep="")
    for folder in sorted(counts, key=lambda folder: (folder == "all", folder)):
        row = counts[folder]
        print(f"{folder:20}{sum(row.values()):8}", *(f"{row[kind]:8}" for kind in kinds), sep="")


if __name__ == "__main__":
    show_lines() if "--lines" in sys.argv else show_counts()
