"""Parquet files of other writers become tables: import and scan equal pyarrow's rows or are refused
in one clear line; an update of one column, compaction and validation follow.

FRAZIL_ALL_FILES=1 takes every file of the corpora instead of a sample."""

import json
import math
import os
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import parquet_rows
from frazil import BUILD, Warehouse

HERE = Path(__file__).resolve().parent
CORPORA = Path(os.environ.get("FRAZIL_CORPORA", HERE.parents[1] / "../shared/corpora")).resolve()
FOLDERS = ["parquet-testing/data", "parquet-testing/bad_data", "hyparquet", "duckdb-parquet",
           "parquet-java"]
SAMPLE = 60

# Here our rows are right, or the file is not: name -> reason.
DIFFERENT = {
    "int96_from_spark.parquet": "pyarrow's timestamps overflow in the year 290000",
    "corrupt_stats.parquet": "validate finds its wrong statistics",
}


def corpus_files():
    found = [path for folder in FOLDERS for path in sorted((CORPORA / folder).rglob("*.parquet"))]
    found = [path for path in found if path.name not in DIFFERENT]
    if os.environ.get("FRAZIL_ALL_FILES"):
        return found
    return found[::max(1, len(found) // SAMPLE)]


def shown(value):
    """A value as JSON lines show it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: shown(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shown(inner) for inner in value]
    return value


class Table(Warehouse):
    """db.t of a file."""

    def attempt(self, *arguments):
        """(output, None), or (None, the line that refuses)."""
        command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True)
        if done.returncode == 0:
            return done.stdout.decode("utf-8"), None
        line = done.stderr.decode("utf-8", "replace")
        assert done.returncode in (1, 2, 5), f"{arguments}: {done.returncode}\n{line}"
        assert line.startswith("frazil: ") and line.count("frazil: ") == 1, line
        return None, line

    def rows(self):
        text, refused = self.attempt("scan", "db.t", "--format", "jsonl")
        return (None, refused) if refused else ([json.loads(x) for x in text.splitlines()], None)

    def same_as(self, expected):
        rows, refused = self.rows()
        assert refused is None, refused
        same(rows, shown(expected))


def same(ours, expected):
    difference = parquet_rows.difference(ours, expected)
    assert difference is None, difference


def theirs(path):
    try:
        return parquet_rows.read(path)
    except Exception:  # whatever pyarrow makes of damaged files
        return None


@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: path.name)
def test_a_foreign_file_is_read_updated_and_folded(path, tmp_path):
    table = Table(tmp_path / "w")
    # rows stay where they are
    _, refused = table.attempt("import", "db.t", str(path), "--property",
                               "write.update.mode=column-file")
    if refused:
        assert not list((tmp_path / "w").rglob("*.parquet"))
        return
    rows, refused = table.rows()
    expected = theirs(path)
    if refused or expected is None:
        return
    same(rows, shown(expected))
    names = [name for name in expected[0] if name] if expected else []
    changed = False
    for name in names[:4] + names[4::20]:
        quoted = '"' + name.replace('"', '""') + '"'
        _, refused = table.attempt("sql", f"UPDATE db.t SET {quoted} = NULL WHERE _row_id % 3 = 1")
        if refused:
            assert "required" in refused or "unsupported" in refused, refused
            continue
        changed = True
        expected = [{**row, name: None} if i % 3 == 1 else row for i, row in enumerate(expected)]
        table.same_as(expected)
    if changed:
        table.run("compact", "db.t")
        table.same_as(expected)
        described = json.loads(table.run("files", "db.t", "--json"))
        assert all(not file["column_files"] for file in described)
        # the folded file as pyarrow reads it
        location = described[0]["location"].removeprefix("file://")
        again = [{name: row[name] for name in expected[0]}
                 for row in parquet_rows.rows(pq.ParquetFile(location).read())]
        same(again, expected)
    table.run("validate", "db.t")
