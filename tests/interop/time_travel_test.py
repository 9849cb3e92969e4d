"""SELECT … FOR VERSION AS OF and FOR TIMESTAMP AS OF: the rows of earlier snapshots, by id, by time and
by the name of a branch."""
import json

import pytest

from frazil import Warehouse, generate


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("travel")
    generate(folder / "wide.parquet", rows=10, columns=2)
    warehouse = Warehouse(folder / "warehouse")
    warehouse.run("import", "db.t", str(folder / "wide.parquet"))
    for value in (1, 2, 3):
        warehouse.sql(f"UPDATE db.t SET c_1 = {value} WHERE id < 5")
    warehouse.sql("ALTER TABLE db.t ADD COLUMN later int")
    return warehouse, json.loads(warehouse.run("snapshots", "db.t", "--json"))


def count(warehouse, value, clause):
    statement = f"SELECT count(*) AS n FROM db.t {clause} WHERE c_1 = {value}"
    return json.loads(warehouse.run("sql", statement, "--format", "jsonl"))["n"]


def test_by_id(place):
    warehouse, snapshots = place
    for value, snapshot in zip((1, 2, 3), snapshots[1:]):
        for words in ("FOR VERSION AS OF", "version as of", "FOR SYSTEM_VERSION AS OF"):
            assert count(warehouse, value, f"{words} {snapshot['snapshot_id']}") == 5
    assert count(warehouse, 1, f"FOR VERSION AS OF {snapshots[-1]['snapshot_id']}") == 0


def test_by_time(place):
    warehouse, snapshots = place
    for value, snapshot in zip((1, 2, 3), snapshots[1:]):
        time = snapshot["committed_at"]
        for words in ("FOR TIMESTAMP AS OF", "TIMESTAMP AS OF TIMESTAMP", "FOR SYSTEM_TIME AS OF"):
            assert count(warehouse, value, f"{words} '{time}'") == 5


def test_by_name_and_in_views(place):
    warehouse, snapshots = place
    assert count(warehouse, 3, "FOR VERSION AS OF 'main'") == 5
    first = snapshots[0]["snapshot_id"]
    statement = f"SELECT column_file_count FROM db.t.entries FOR VERSION AS OF {first}"
    assert warehouse.run("sql", statement, "--format", "csv").split() == ["column_file_count", "0"]


def test_the_schema_of_then(place):
    warehouse, snapshots = place
    text = warehouse.run("sql", f"SELECT * FROM db.t VERSION AS OF {snapshots[0]['snapshot_id']} LIMIT 1",
                         "--format", "csv")
    assert "later" not in text and "later" in warehouse.run("scan", "db.t", "--format", "csv")


@pytest.mark.parametrize("clause,status", [
    ("FOR VERSION AS OF 5", 3), ("FOR VERSION AS OF 'nobody'", 3), ("FOR VERSION AS OF -1", 2),
    ("FOR TIMESTAMP AS OF '1999-01-01'", 3), ("FOR TIMESTAMP AS OF 'soon'", 2), ("FOR NOTHING", 2),
    ("FOR VERSION OF 5", 2), ("FOR TIMESTAMP AS OF 5", 2),
])
def test_mistakes(place, clause, status):
    place[0].run("sql", f"SELECT * FROM db.t {clause}", status=status)
