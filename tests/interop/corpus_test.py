"""Tables of version 4 that another generator wrote: every snapshot, every single column and every row
by its values equal the expected rows. Broken tables are refused."""
import json

import pytest

from iceberg_corpus import CORPORA, difference, listing, rows_of, scan

GOLDEN = CORPORA / "iceberg-v4"
MAPS = [("file:///golden/", f"{GOLDEN}/")]
TABLES = listing(GOLDEN / "TABLES.tsv")
VALID = [table for table in TABLES if not table["must_fail"]]
BROKEN = [table for table in TABLES if table["must_fail"] == "scan"]
LINEAGE = ["_row_id", "_last_updated_sequence_number"]


def read(table, *arguments):
    metadata = GOLDEN / table["dir"] / "metadata" / table["metadata"]
    return scan(metadata, MAPS, "--with-lineage", *arguments)


def check(table, wanted, *arguments):
    done = read(table, *arguments)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    ids = [row["_row_id"] for row in wanted]
    found = difference(rows_of(done.stdout), wanted, None if None in ids else "_row_id")
    assert found is None, f"{arguments}: {found}"


def expected(table, snapshot=""):
    name = f"expected-{snapshot}.jsonl" if snapshot else "expected.jsonl"
    return rows_of((GOLDEN / table["dir"] / name).read_text())


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("table", VALID, ids=lambda t: t["dir"])
def test_every_snapshot(table):
    check(table, expected(table))
    for path in sorted((GOLDEN / table["dir"]).glob("expected-*.jsonl")):
        snapshot = path.stem.partition("-")[2]
        check(table, expected(table, snapshot), "--snapshot", snapshot)


@pytest.mark.parametrize("table", VALID, ids=lambda t: t["dir"])
def test_every_column(table):
    rows = expected(table)
    names = [name for name in (rows[0] if rows else []) if name not in LINEAGE]
    for name in names[:20]:
        wanted = [{key: row[key] for key in [name, *LINEAGE]} for row in rows]
        check(table, wanted, "--columns", quoted(name))


@pytest.mark.parametrize("table", VALID, ids=lambda t: t["dir"])
def test_conditions(table):
    """Whole numbers and null-ness of every column, and the lineage of each row."""
    rows = expected(table)
    for name in [name for name in (rows[0] if rows else []) if name not in LINEAGE][:12]:
        values = [row[name] for row in rows]
        if all(isinstance(v, (int, type(None))) and not isinstance(v, bool) for v in values):
            for value in sorted({v for v in values if v is not None})[:5]:
                check(table, [r for r in rows if r[name] == value],
                      "--where", f"{quoted(name)} = {value}")
                check(table, [r for r in rows if r[name] is not None and r[name] > value],
                      "--where", f"{quoted(name)} > {value}")
        check(table, [r for r in rows if r[name] is None], "--where", f"{quoted(name)} IS NULL")
        check(table, [r for r in rows if r[name] is not None],
              "--where", f"{quoted(name)} IS NOT NULL")
    for row in rows[:10]:
        if row["_row_id"] is not None:
            check(table, [row], "--where", f"_row_id = {row['_row_id']}")


@pytest.mark.parametrize("table", BROKEN, ids=lambda t: t["dir"])
def test_broken_tables_are_refused(table):
    done = read(table)
    assert done.returncode not in (0, 2, 4), done.stdout
    assert done.returncode > 0, "killed by a signal"
    line = done.stderr.splitlines()[0]
    assert line.startswith("frazil: ") and done.stdout == "", done.stderr
    assert any(part in line for part in
               (".metadata.json", ".parquet", ".puffin", "encrypted root")), line


def test_the_corpus_is_here():
    if not TABLES:
        pytest.skip(f"no corpus of v4 tables at {GOLDEN}")
    assert len(VALID) == 81 and len(BROKEN) >= 40
