"""Incremental reads: rows by their last updated sequence number and by their row id, in tables of
every writer, and the files that are not opened for them."""
import json
import subprocess

import pytest

from frazil import BUILD, Warehouse, generate
from iceberg_corpus import CORPORA, ENGINES, ENGINE_MAPS, listing, rows_of, scan

GOLDEN = CORPORA / "iceberg-v4"
GOLDEN_MAPS = [("file:///golden/", f"{GOLDEN}/")]
ROW_ID, UPDATED = "_row_id", "_last_updated_sequence_number"
TABLES = [(GOLDEN, t, GOLDEN_MAPS) for t in listing(GOLDEN / "TABLES.tsv") if not t["must_fail"]]
TABLES += [(ENGINES, t, ENGINE_MAPS) for t in listing(ENGINES / "TABLES.tsv")]


def conditions(column, numbers):
    """Each with what it says of a number that is not null."""
    for n in numbers:
        yield f"{column} > {n}", lambda v, n=n: v > n
        yield f"{column} <= {n}", lambda v, n=n: v <= n
        yield f"{column} = {n}", lambda v, n=n: v == n
        yield f"NOT ({column} > {n})", lambda v, n=n: v <= n
        yield f"{column} BETWEEN {n} AND {n + 1}", lambda v, n=n: n <= v <= n + 1
        yield f"{column} IN ({n}, {n + 3})", lambda v, n=n: v in (n, n + 3)


@pytest.mark.parametrize("column", [ROW_ID, UPDATED])
@pytest.mark.parametrize("root,table,maps", TABLES, ids=lambda t: t["dir"] if isinstance(t, dict) else "")
def test_what_is_skipped_has_no_such_row(root, table, maps, column):
    path = root / table["dir"] / "metadata" / table["metadata"]
    every = scan(path, maps, "--columns", f"{ROW_ID},{UPDATED}")
    if every.returncode != 0 and "no reader for format" in every.stderr:
        pytest.skip("its files have a format that there is no reader for")
    rows = rows_of(every.stdout)
    numbers = sorted({row[column] for row in rows if row[column] is not None})
    asked = numbers[-4:] if column == UPDATED else numbers[1::len(numbers) // 2 + 1]
    for where, is_true in conditions(column, [0, *asked]):
        done = scan(path, maps, "--columns", f"{ROW_ID},{UPDATED}", "--where", where)
        assert done.returncode == 0, done.stderr
        wanted = [row for row in rows if row[column] is not None and is_true(row[column])]
        assert rows_of(done.stdout) == wanted, where
    done = scan(path, maps, "--columns", f"{ROW_ID},{UPDATED}", "--where", f"{column} IS NULL")
    assert rows_of(done.stdout) == [row for row in rows if row[column] is None]


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


# ---- row ids ----


def files_read(warehouse, where):
    plan = json.loads(warehouse.run("plan", "db.t", "--json", "--where", where))
    return plan["report"]["files_planned"]


@pytest.fixture
def four_files(tmp_path):
    """Row ids 0 to 39 in two files of an import, 40 to 59 and 60 to 79 in one file of an append each."""
    warehouse = Warehouse(tmp_path / "warehouse")
    paths = [tmp_path / f"{i}.parquet" for i in range(4)]
    for i, path in enumerate(paths):
        generate(path, rows=20, columns=2, seed=i)
    warehouse.run("import", "db.t", *map(str, paths[:2]))
    for path in paths[2:]:
        warehouse.run("append", "db.t", str(path))
    return warehouse


def test_files_whose_row_ids_end_earlier_are_not_opened(four_files):
    for where, opened in [("= 0", 4), ("= 19", 4), ("= 20", 3), ("= 45", 2), ("= 79", 1), ("= 80", 0),
                          ("> 59", 1), (">= 59", 2), ("< 21", 4), ("IN (21, 45)", 3), ("IS NULL", 0),
                          ("BETWEEN 59 AND 60", 2), ("IS NOT NULL", 4), ("<> 5", 4)]:
        assert files_read(four_files, f"{ROW_ID} {where}") == opened, where
    explained = four_files.run("sql", f"EXPLAIN SELECT id FROM db.t WHERE {ROW_ID} = 45", "--format", "csv")
    assert "files,skipped by bounds,2" in explained, explained


@pytest.mark.parametrize("mode,opened", [("column-file", 3), ("copy-on-write", 4), ("merge-on-read", 3)])
def test_rows_that_moved_are_found_by_their_row_ids(four_files, mode, opened):
    """They keep their ids in files whose own come later; of such a file only the end is known."""
    for kind in ("update", "delete"):
        value = "copy-on-write" if mode == "column-file" and kind == "delete" else mode
        four_files.sql(f"ALTER TABLE db.t SET TBLPROPERTIES ('write.{kind}.mode' = '{value}')")
    four_files.sql(f"UPDATE db.t SET c_1 = 7 WHERE {ROW_ID} IN (3, 25)")
    four_files.sql(f"DELETE FROM db.t WHERE {ROW_ID} BETWEEN 26 AND 28 OR {ROW_ID} = 79")

    def check():
        rows = [json.loads(line) for line in four_files.run(
            "scan", "db.t", "--format", "jsonl", "--with-lineage").splitlines()]
        assert sorted(r[ROW_ID] for r in rows) == [i for i in range(79) if i not in (26, 27, 28)]
        assert all((r["c_1"] == 7) == (r[ROW_ID] in (3, 25)) for r in rows)
        for n in (0, 3, 24, 25, 26, 29, 40, 60, 78, 79, 80):
            text = four_files.run("scan", "db.t", "--format", "jsonl", "--with-lineage", "--where",
                                  f"{ROW_ID} = {n}")
            assert [json.loads(line) for line in text.splitlines()] == [
                r for r in rows if r[ROW_ID] == n], n

    check()
    assert files_read(four_files, f"{ROW_ID} = 45") == opened  # files that were not rewritten are ruled out
    four_files.run("compact", "db.t", "--rewrite")
    check()
    assert files_read(four_files, f"{ROW_ID} = 1000") == 0
    assert four_files.sql(f"UPDATE db.t SET c_1 = 7 WHERE {ROW_ID} = 45")["rows"] == 1
    four_files.table("db.t").check()
    four_files.run("validate", "db.t")
