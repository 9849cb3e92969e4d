"""db.t.snapshots, db.t.files and the like are tables: what SELECT finds there is what the commands
of these names print."""
import json
import os
import subprocess

import pytest

from frazil import BUILD, Warehouse, generate

VIEWS = ["schema", "snapshots", "history", "refs", "statistics", "files", "delete-files",
         "partitions", "manifests", "entries", "properties"]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    generate(folder / "wide.parquet", rows=100, columns=3)
    warehouse = Warehouse(folder / "warehouse")
    warehouse.run("import", "db.wide", str(folder / "wide.parquet"))
    warehouse.sql("UPDATE db.wide SET c_1 = 1 WHERE id < 30")
    warehouse.sql("UPDATE db.wide SET c_2 = 2")
    warehouse.sql("ALTER TABLE db.wide SET TBLPROPERTIES ('a' = 'b')")
    warehouse.run("import", "db.files", str(folder / "wide.parquet"))
    warehouse.run("import", "db.wide.refs", str(folder / "wide.parquet"))
    return warehouse


def select(warehouse, statement):
    text = warehouse.run("sql", statement, "--format", "jsonl")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_a_table(warehouse, view):
    name = "db.files." + view.replace("-", "_")
    printed = json.loads(warehouse.run(view, "db.files", "--json"))
    if isinstance(printed, dict):
        printed = [{"key": key, "value": value} for key, value in printed.items()]
    assert select(warehouse, f"SELECT * FROM {name}") == printed
    assert select(warehouse, f"SELECT count(*) AS n FROM {name}") == [{"n": len(printed)}]
    assert select(warehouse, f"SELECT * FROM {name} LIMIT 1") == printed[:1]


def test_conditions_and_expressions(warehouse):
    rows = select(warehouse, "SELECT snapshot_id, sequence_number * 2 AS twice FROM db.wide.snapshots "
                             "WHERE operation = 'overwrite' AND is_current")
    [current] = [s for s in json.loads(warehouse.run("snapshots", "db.wide", "--json"))
                 if s["is_current"]]
    assert rows == [{"snapshot_id": current["snapshot_id"], "twice": 6}]
    assert select(warehouse, "SELECT value FROM db.wide.properties WHERE key = 'a'") == [{"value": "b"}]
    assert select(warehouse, "SELECT sum(record_count) AS n FROM db.wide.FILES") == [{"n": 100}]


def test_a_table_of_that_name_comes_first(warehouse):
    assert select(warehouse, "SELECT count(*) AS n FROM db.wide.refs") == [{"n": 100}]
    assert select(warehouse, "SELECT count(*) AS n FROM db.files") == [{"n": 100}]


def test_mistakes(warehouse):
    for statement, status, words in [
        ("SELECT * FROM db.wid.files", 3, "there is no table db.wid.files"),
        ("SELECT * FROM db.wide.fils", 3, "there is no table db.wide.fils"),
        ("SELECT locatio FROM db.wide.files", 3, "location"),
        ("UPDATE db.wide.files SET record_count = 1", 3, "there is no table db.wide.files"),
    ]:
        command = [BUILD / "bin" / "frazil", "--warehouse", warehouse.folder, "sql", statement]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == status and words in done.stderr, done.stderr
        assert done.stdout == ""
