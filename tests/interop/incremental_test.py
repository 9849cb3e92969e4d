"""Incremental reads: rows by their last updated sequence number, in tables of every writer, and the
files that are not opened for them."""
import json
import subprocess

import pytest

from frazil import BUILD, Warehouse, generate
from iceberg_corpus import CORPORA, ENGINES, ENGINE_MAPS, listing, rows_of, scan

GOLDEN = CORPORA / "iceberg-v4"
GOLDEN_MAPS = [("file:///golden/", f"{GOLDEN}/")]
UPDATED = "_last_updated_sequence_number"
TABLES = [(GOLDEN, t, GOLDEN_MAPS) for t in listing(GOLDEN / "TABLES.tsv") if not t["must_fail"]]
TABLES += [(ENGINES, t, ENGINE_MAPS) for t in listing(ENGINES / "TABLES.tsv")]


def conditions(numbers):
    """Each with what it says of a number that is not null."""
    for n in numbers:
        yield f"{UPDATED} > {n}", lambda v, n=n: v > n
        yield f"{UPDATED} <= {n}", lambda v, n=n: v <= n
        yield f"{UPDATED} = {n}", lambda v, n=n: v == n
        yield f"NOT ({UPDATED} > {n})", lambda v, n=n: v <= n
        yield f"{UPDATED} BETWEEN {n} AND {n + 1}", lambda v, n=n: n <= v <= n + 1


@pytest.mark.parametrize("root,table,maps", TABLES, ids=lambda t: t["dir"] if isinstance(t, dict) else "")
def test_what_is_skipped_has_no_such_row(root, table, maps):
    path = root / table["dir"] / "metadata" / table["metadata"]
    every = scan(path, maps, "--columns", f"_row_id,{UPDATED}")
    if every.returncode != 0 and "no reader for format" in every.stderr:
        pytest.skip("its files have a format that there is no reader for")
    rows = rows_of(every.stdout)
    numbers = sorted({row[UPDATED] for row in rows if row[UPDATED] is not None})
    for where, is_true in conditions([0, *numbers[-4:]]):
        done = scan(path, maps, "--columns", f"_row_id,{UPDATED}", "--where", where)
        assert done.returncode == 0, done.stderr
        wanted = [row for row in rows if row[UPDATED] is not None and is_true(row[UPDATED])]
        assert rows_of(done.stdout) == wanted, where
    done = scan(path, maps, "--columns", f"_row_id,{UPDATED}", "--where", f"{UPDATED} IS NULL")
    assert rows_of(done.stdout) == [row for row in rows if row[UPDATED] is None]


def report(warehouse, where):
    command = [BUILD / "bin" / "frazil", "--warehouse", warehouse.folder, "scan", "db.t", "--json",
               "--report", "--columns", "id", "--where", where]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), json.loads(done.stderr)


def test_files_that_did_not_change_are_not_opened(tmp_path):
    for i in range(4):
        generate(tmp_path / f"{i}.parquet", rows=20, columns=2, seed=i)
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.run("import", "db.t", *(str(tmp_path / f"{i}.parquet") for i in range(4)))
    first, second, third = (f"_row_id >= {n} AND _row_id < {n + 5}" for n in (0, 3, 25))
    for where in (first, second, third):
        warehouse.sql(f"UPDATE db.t SET c_1 = 0 WHERE {where}")
    for n, opened, rows in [(0, 4, 80), (1, 2, 13), (2, 2, 10), (3, 1, 5), (4, 0, 0)]:
        found, figures = report(warehouse, f"{UPDATED} > {n}")
        assert len(found) == rows, n
        assert figures["files"] - figures["files_skipped"] == opened, figures
    statement = f"UPDATE db.t SET c_2 = 1 WHERE {UPDATED} > 3"  # which is one file of the four
    assert warehouse.sql(statement)["rows"] == 5
    warehouse.run("compact", "db.t")
    for n, opened, rows in [(1, 2, 13), (3, 2, 5), (4, 2, 5)]:  # the new files have the compaction's number
        found, figures = report(warehouse, f"{UPDATED} > {n}")
        assert len(found) == rows and figures["files"] - figures["files_skipped"] == opened


def test_rows_since_a_snapshot_that_has_expired(tmp_path):
    """Live rows tell themselves when they were written last: no old snapshot is asked."""
    generate(tmp_path / "rows.parquet", rows=20, columns=2, seed=1)
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.run("import", "db.t", str(tmp_path / "rows.parquet"))
    for statement in ("UPDATE db.t SET c_1 = 1 WHERE id < 8", "DELETE FROM db.t WHERE id = 2",
                      "UPDATE db.t SET c_1 = c_1 + 1 WHERE id < 5", "UPDATE db.t SET c_2 = 1 WHERE id = 6"):
        warehouse.sql(statement)
    wanted = [report(warehouse, f"{UPDATED} > {n}")[0] for n in range(6)]
    assert [len(rows) for rows in wanted] == [19, 7, 5, 5, 1, 0]
    warehouse.run("expire", "db.t", "--older-than", "2099-01-01", "--retain-last", "1")
    assert [report(warehouse, f"{UPDATED} > {n}")[0] for n in range(6)] == wanted
