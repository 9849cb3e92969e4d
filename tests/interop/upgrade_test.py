"""Tables of other writers become tables of newer format versions: only the metadata changes, others
read them as long as they know the version, and rows are the same afterwards."""
import json
import sqlite3

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from frazil import Warehouse

ROWS = [{"id": i, "name": None if i == 3 else f"n{i}"} for i in range(5)]


@pytest.fixture
def warehouse(tmp_path):
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    return place


def pyiceberg(warehouse):
    return SqlCatalog(
        "frazil",
        uri=f"sqlite:///{warehouse.folder}/catalog.db",
        warehouse=f"file://{warehouse.folder}",
    )


def make(warehouse, version, location=None):
    catalog = pyiceberg(warehouse)
    catalog.create_namespace_if_not_exists("db")
    table = catalog.create_table(
        "db.t",
        schema=pa.schema([("id", pa.int64()), ("name", pa.string())]),
        location=location,
        properties={"format-version": str(version)},
    )
    data = pa.Table.from_pylist(ROWS, schema=pa.schema([("id", pa.int64()), ("name", pa.string())]))
    table.append(data.slice(0, 2))
    table.append(data.slice(2))
    return table


def rows(warehouse, *options):
    text = warehouse.run("scan", "db.t", *options, "--format", "jsonl")
    return sorted((json.loads(line) for line in text.splitlines()), key=lambda row: row["id"])


def version(warehouse):
    return json.loads(warehouse.run("describe", "db.t", "--json"))["format_version"]


@pytest.mark.parametrize("old,new", [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4)])
def test_rows_are_the_same(warehouse, old, new):
    theirs = make(warehouse, old)
    first = theirs.snapshots()[0].snapshot_id
    assert rows(warehouse) == ROWS
    report = json.loads(warehouse.run("upgrade", "db.t", "--to", str(new), "--json"))
    assert report["files_written"] == 1 and report["data_bytes"] == 0
    assert version(warehouse) == str(new)
    assert rows(warehouse) == ROWS
    assert rows(warehouse, "--snapshot", str(first)) == ROWS[:2]
    assert rows(warehouse, "--with-lineage") == [
        {**row, "_row_id": None, "_last_updated_sequence_number": None} for row in ROWS
    ]


@pytest.mark.parametrize("new", [2, 3])
def test_others_read_and_go_on(warehouse, new):
    make(warehouse, 1)
    warehouse.run("upgrade", "db.t", "--to", str(new))
    theirs = pyiceberg(warehouse).load_table("db.t")
    assert theirs.metadata.format_version == new
    assert sorted(theirs.scan().to_arrow().to_pylist(), key=lambda row: row["id"]) == ROWS
    if new == 2:
        theirs.append(theirs.scan().to_arrow().slice(0, 1))
        assert len(rows(warehouse)) == len(ROWS) + 1


def test_an_upgrade_is_one_way_and_once(warehouse):
    make(warehouse, 2)
    assert warehouse.run("upgrade", "db.t", "--to", "2") == "db.t: nothing to do, nothing was written\n"
    warehouse.run("upgrade", "db.t", "--to", "3")
    warehouse.run("upgrade", "db.t", "--to", "2", status=2)
    warehouse.run("upgrade", "db.t", "--to", "5", status=2)
    assert version(warehouse) == "3"


@pytest.mark.parametrize("old", [1, 2])
def test_changes_wait_for_version_4(warehouse, old):
    make(warehouse, old)
    warehouse.run("sql", "UPDATE db.t SET id = id + 1", status=1)
    assert rows(warehouse) == ROWS
    warehouse.run("upgrade", "db.t", "--to", "4")
    warehouse.run("sql", "UPDATE db.t SET id = id + 1")
    assert rows(warehouse) == [{**row, "id": row["id"] + 1} for row in ROWS]
    warehouse.run("compact", "db.t")
    assert rows(warehouse) == [{**row, "id": row["id"] + 1} for row in ROWS]
    warehouse.run("validate", "db.t")


@pytest.mark.parametrize("old", [1, 2])
def test_paths_without_scheme_stay_whole(warehouse, old):
    """Version 4 reads a path without a scheme as relative; older files that record one go on to mean
    the whole path."""
    theirs = make(warehouse, old, location=str(warehouse.folder / "db" / "bare"))
    assert theirs.current_snapshot().manifest_list.startswith("/")
    assert rows(warehouse) == ROWS
    warehouse.run("upgrade", "db.t", "--to", "4")
    assert rows(warehouse) == ROWS
    assert json.loads(warehouse.run("describe", "db.t", "--json"))["location"].startswith("file:///")


def test_a_pointer_without_scheme_is_swapped_as_it_is(warehouse):
    """Some writers record /p where others record file:///p; the swap compares what is recorded."""
    make(warehouse, 2)
    connection = sqlite3.connect(warehouse.folder / "catalog.db")
    with connection:
        connection.execute(
            "UPDATE iceberg_tables SET metadata_location = replace(metadata_location, 'file://', '')"
        )
    connection.close()
    warehouse.run("upgrade", "db.t", "--to", "4")
    assert version(warehouse) == "4"
    assert rows(warehouse) == ROWS
