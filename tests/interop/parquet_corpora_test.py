"""Parquet files of other writers, damaged ones among them: equal to what pyarrow reads, or a clear
error. What is not equal is listed with its reason in parquet_corpora.tsv."""

import os
from pathlib import Path

import pytest

import parquet_rows

HERE = Path(__file__).resolve().parent
CORPORA = Path(os.environ.get("FRAZIL_CORPORA", HERE.parents[1] / "../shared/corpora"))
FOLDERS = ["parquet-testing/data", "parquet-testing/bad_data", "hyparquet", "duckdb-parquet",
           "parquet-java", "arrow-testing/data/parquet"]


def corpus_files():
    found = []
    for folder in FOLDERS:
        for root, _, names in os.walk(CORPORA / folder):
            found += [Path(root) / n for n in names if n.lower().endswith((".parquet", ".parq"))
                      or "fuzz" in root and not n.endswith((".md", ".txt"))]
    return sorted(found)


def known_differences():
    """file -> (kind, reason); see parquet_corpora.tsv."""
    table = {}
    for line in (HERE / "parquet_corpora.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, kind, reason = line.split("\t")
            table[name] = (kind, reason)
    return table


def verdict(path):
    """(kind, text): equal, unsupported, ours-fails, theirs-fails, both-fail, differs."""
    ours, error = parquet_rows.dump(path)
    try:
        theirs = parquet_rows.read(path)
    except Exception as e:  # whatever pyarrow makes of damaged files
        return ("both-fail", error) if ours is None else ("theirs-fails", str(e))
    if ours is None:
        return ("unsupported" if error.startswith("unsupported") else "ours-fails"), error
    difference = parquet_rows.difference(ours, theirs)
    return ("equal", "") if difference is None else ("differs", difference)


def test_corpora():
    files = corpus_files()
    if not files:
        pytest.skip(f"no corpora in {CORPORA}")
    known = known_differences()
    wrong = []
    for path in files:
        name = str(path.relative_to(CORPORA))
        kind, text = verdict(path)
        wanted, reason = known.get(name, ("equal", ""))
        ok = kind == wanted and (kind in ("equal", "differs", "theirs-fails") or reason in text)
        if not ok and not (name not in known and kind == "both-fail"):
            wrong.append(f"{name}\t{kind}\t{text}")
    assert not wrong, "\n".join(wrong)
