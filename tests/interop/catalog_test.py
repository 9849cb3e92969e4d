"""One catalog file, two programs: PyIceberg's SqlCatalog and Frazil see each other's tables. PyIceberg
does not read format version 4, so of our tables names, namespaces and pointers are compared."""
import json
import sqlite3

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from frazil import Warehouse, generate


@pytest.fixture
def warehouse(tmp_path):
    generate(tmp_path / "wide.parquet", rows=10, columns=2)
    return Warehouse(tmp_path / "warehouse")


def pyiceberg(warehouse, name="frazil"):
    warehouse.folder.mkdir(exist_ok=True)
    return SqlCatalog(
        name,
        uri=f"sqlite:///{warehouse.folder}/catalog.db",
        warehouse=f"file://{warehouse.folder}",
    )


def rows(warehouse, query):
    connection = sqlite3.connect(warehouse.folder / "catalog.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def source(warehouse):
    return str(warehouse.folder.parent / "wide.parquet")


def test_pyiceberg_sees_our_tables(warehouse):
    warehouse.run("import", "db.wide", source(warehouse))
    warehouse.run("import", "a.b.deep", source(warehouse))
    theirs = pyiceberg(warehouse)
    assert set(theirs.list_namespaces()) >= {("db",), ("a",)}
    assert theirs.list_tables("db") == [("db", "wide")]
    assert theirs.list_tables("a.b") == [("a", "b", "deep")]
    assert theirs.load_namespace_properties("db")["exists"] == "true"


def test_we_see_pyicebergs_tables(warehouse):
    theirs = pyiceberg(warehouse)
    theirs.create_namespace("db")
    theirs.create_table("db.theirs", schema=pa.schema([("x", pa.int64())]))
    assert warehouse.run("tables").split() == ["db.theirs"]
    warehouse.run("import", "db.wide", source(warehouse))
    assert warehouse.run("tables").split() == ["db.theirs", "db.wide"]
    assert sorted(theirs.list_tables("db")) == [("db", "theirs"), ("db", "wide")]
    # one namespace, not two: it was there already
    query = "SELECT count(*) FROM iceberg_namespace_properties WHERE namespace = 'db'"
    assert rows(warehouse, query) == [(1,)]
    assert json.loads(warehouse.run("describe", "db.theirs", "--json"))["format_version"] == "2"
    assert warehouse.run("scan", "db.theirs", "--format", "jsonl") == ""
    warehouse.run("sql", "ALTER TABLE db.theirs SET TBLPROPERTIES ('a' = 'b')", status=1)


def test_the_only_catalog_name_of_a_file_is_used(warehouse):
    theirs = pyiceberg(warehouse, name="prod")
    theirs.create_namespace("db")
    warehouse.run("import", "db.wide", source(warehouse))
    query = "SELECT catalog_name, iceberg_type FROM iceberg_tables"
    assert rows(warehouse, query) == [("prod", "TABLE")]
    assert theirs.list_tables("db") == [("db", "wide")]


def test_their_drop_is_seen(warehouse):
    warehouse.run("import", "db.wide", source(warehouse))
    pyiceberg(warehouse).drop_table("db.wide")
    assert warehouse.run("tables").split() == []
    warehouse.run("describe", "db.wide", status=3)


def test_a_commit_records_the_pointer_before(warehouse):
    warehouse.run("import", "db.wide", source(warehouse))
    query = "SELECT metadata_location, previous_metadata_location FROM iceberg_tables"
    [(first, none)] = rows(warehouse, query)
    warehouse.sql("UPDATE db.wide SET c_1 = 0")
    [(second, previous)] = rows(warehouse, query)
    assert (none, previous) == (None, first) and second != first
