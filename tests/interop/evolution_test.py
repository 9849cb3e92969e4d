"""Schemas and partitions that changed: tables that PyIceberg wrote step by step, and what Frazil reads
of them. Each test is a kind of fault that readers of such tables had."""
import json
import os
import subprocess
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (BucketTransform, DayTransform, IdentityTransform, TruncateTransform,
                                  VoidTransform)
from pyiceberg.types import (DecimalType, DoubleType, FloatType, IntegerType, ListType, LongType,
                             MapType, NestedField, StringType, StructType, TimestampType)

from frazil import BUILD
from pyiceberg_test import arrow_transform


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    for transform in (BucketTransform, DayTransform, TruncateTransform):
        monkeypatch.setattr(transform, "pyarrow_transform", arrow_transform)
    made = SqlCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    made.create_namespace("db")
    return made


def frazil(metadata, *arguments, zone=None):
    path = str(metadata).removeprefix("file://")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    if zone:
        environment["TZ"] = zone
    return subprocess.run([BUILD / "bin" / "frazil", "--metadata", path, "scan", "--format", "jsonl",
                           *arguments], capture_output=True, text=True, env=environment)


def rows(table, *arguments, **options):
    metadata = getattr(table, "metadata_location", table)
    done = frazil(metadata, *arguments, **options)
    assert done.returncode == 0, done.stderr
    return sorted((json.loads(line) for line in done.stdout.splitlines()), key=json.dumps)


def append(table, *records):
    table.append(pa.Table.from_pylist(list(records), schema=table.schema().as_arrow()))


def edit(table, change):
    """The table's newest metadata with a change of hand, as another file beside it."""
    old = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(old.read_text())
    change(metadata)
    new = old.with_name("99999-edited.metadata.json")
    new.write_text(json.dumps(metadata))
    return new


def data_files(table):
    return [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]


LONG_ID = NestedField(1, "id", LongType(), required=False)

# ---- schemas ----


def test_columns_are_found_by_id_on_every_path(catalog):
    table = catalog.create_table(
        "db.t", Schema(LONG_ID, NestedField(2, "a", StringType(), required=False)))
    append(table, {"id": 1, "a": "x"})
    with table.update_schema() as update:
        update.rename_column("a", "b")
    append(table, {"id": 2, "b": "y"})
    with table.update_schema() as update:
        update.delete_column("b")
    append(table, {"id": 3})
    with table.update_schema() as update:
        update.add_column("a", StringType())
    append(table, {"id": 4, "a": "z"})
    assert rows(table) == [{"id": i, "a": None} for i in (1, 2, 3)] + [{"id": 4, "a": "z"}]
    assert rows(table, "--where", "a IS NULL") == [{"id": i, "a": None} for i in (1, 2, 3)]
    assert rows(table, "--where", "a = 'x'") == []
    assert rows(table, "--columns", "a", "--where", "id = 1") == [{"a": None}]
    snapshots = [s.snapshot_id for s in table.snapshots()]
    assert rows(table, "--snapshot", str(snapshots[1]), "--where", "b = 'x'") == [{"id": 1, "b": "x"}]


def test_ids_of_columns_that_no_schema_has_are_ignored(catalog):
    table = catalog.create_table(
        "db.t", Schema(LONG_ID, NestedField(2, "gone", StringType(), required=False)))
    append(table, {"id": 1, "gone": "x"})
    with table.update_schema() as update:
        update.delete_column("gone")

    def expire(metadata):
        current = metadata["current-schema-id"]
        metadata["schemas"] = [s for s in metadata["schemas"] if s["schema-id"] == current]
        for snapshot in metadata["snapshots"]:
            snapshot["schema-id"] = current

    assert rows(edit(table, expire)) == [{"id": 1}]


def test_members_are_found_by_id_at_every_depth(catalog):
    pair = StructType(NestedField(11, "a", IntegerType(), required=False),
                      NestedField(12, "c", IntegerType(), required=False))
    table = catalog.create_table("db.t", Schema(
        LONG_ID, NestedField(2, "s", pair, required=False),
        NestedField(3, "l", ListType(13, pair, False), required=False),
        NestedField(4, "m", MapType(14, StringType(), 15, pair, False), required=False)))
    value = {"a": 1, "c": 3}
    append(table, {"id": 1, "s": value, "l": [value, None], "m": [("k", value)]},
           {"id": 2, "s": None, "l": [], "m": []})
    with table.update_schema() as update:
        for parent in ("s", "l.element", "m.value"):
            update.add_column((*parent.split("."), "b"), IntegerType())
            update.move_after(f"{parent}.b", f"{parent}.a")
            update.rename_column(f"{parent}.c", "d")
    new = {"a": 1, "b": None, "d": 3}
    assert rows(table) == [
        {"id": 1, "s": new, "l": [new, None], "m": [{"key": "k", "value": new}]},
        {"id": 2, "s": None, "l": [], "m": []}]
    assert rows(table, "--where", "s.d = 3", "--columns", "id") == [{"id": 1}]
    assert rows(table, "--where", "s.b IS NULL", "--columns", "id") == [{"id": 1}, {"id": 2}]


def test_defaults_of_members(catalog):
    point = StructType(NestedField(3, "x", IntegerType(), required=False))
    table = catalog.create_table("db.t", Schema(
        LONG_ID, NestedField(2, "p", point, required=False),
        NestedField(4, "l", ListType(5, point, False), required=False)))
    append(table, {"id": 1, "p": {"x": 3}, "l": [{"x": 4}, None]}, {"id": 2, "p": None, "l": []})

    def add(metadata):
        metadata["format-version"] = 3
        metadata["next-row-id"] = 0
        metadata["last-column-id"] = 20
        fields = metadata["schemas"][0]["fields"]
        for i, holder in enumerate((fields[1]["type"], fields[2]["type"]["element"])):
            holder["fields"].append({"id": 10 + i, "name": "y", "required": False, "type": "int",
                                     "initial-default": i, "write-default": 7})
        fields.append({"id": 12, "name": "n", "required": True, "type": "decimal(9, 2)",
                       "initial-default": "1.50", "write-default": "2.50"})

    assert rows(edit(table, add)) == [
        {"id": 1, "p": {"x": 3, "y": 0}, "l": [{"x": 4, "y": 1}, None], "n": "1.50"},
        {"id": 2, "p": None, "l": [], "n": "1.50"}]
    edited = edit(table, add)
    assert rows(edited, "--where", "n > 1.4 AND p.y = 0", "--columns", "id") == [{"id": 1}]
    assert rows(edited, "--where", "n > 1.5") == []


def test_bounds_of_promoted_types(catalog):
    table = catalog.create_table("db.t", Schema(
        LONG_ID, NestedField(2, "i", IntegerType(), required=False),
        NestedField(3, "f", FloatType(), required=False),
        NestedField(4, "d", DecimalType(9, 2), required=False)))
    append(table, {"id": 1, "i": -5, "f": 1.5, "d": Decimal("6.59")})
    append(table, {"id": 2, "i": 2**31 - 1, "f": -0.5, "d": Decimal("-1.00")})
    with table.update_schema() as update:
        update.update_column("i", LongType())
        update.update_column("f", DoubleType())
        update.update_column("d", DecimalType(18, 2))
    append(table, {"id": 3, "i": 2**40, "f": 0.1, "d": Decimal("12345678901.00")})
    for where, ids in [("i < 0", [1]), ("i = 2147483647", [2]), ("i > 2147483647", [3]), ("f > 1", [1]),
                       ("f < 0", [2]), ("f = 0.1", [3]), ("d = 6.59", [1]), ("d < 0", [2]),
                       ("d > 10000000000", [3])]:
        assert [r["id"] for r in rows(table, "--where", where)] == ids, where


def test_filters_are_bound_to_each_file(catalog):
    table = catalog.create_table("db.t", Schema(LONG_ID))
    append(table, {"id": 1}, {"id": 2})
    with table.update_schema() as update:
        update.add_column("new", StringType())
    append(table, {"id": 3, "new": None}, {"id": 4, "new": "x"})
    assert [r["id"] for r in rows(table, "--where", "new IS NULL AND id > 1")] == [2, 3]
    assert [r["id"] for r in rows(table, "--where", "new = 'x'")] == [4]
    assert [r["id"] for r in rows(table, "--where", "NOT (new = 'x')")] == []
    assert rows(table, "--columns", "id", "--where", "new IS NOT NULL") == [{"id": 4}]


def test_names_in_another_case(catalog):
    table = catalog.create_table("db.t", Schema(
        LONG_ID, NestedField(2, "Name", StringType(), required=False),
        NestedField(3, "s", StructType(NestedField(5, "X", IntegerType(), required=False)), required=False),
        NestedField(4, "S2", StringType(), required=False), NestedField(6, "s2", StringType(), required=False)))
    append(table, {"id": 1, "Name": "x", "s": {"X": 5}, "S2": "A", "s2": "a"})
    assert rows(table, "--columns", "ID,NAME", "--where", "name = 'x' AND S.x = 5") == [{"id": 1, "Name": "x"}]
    assert rows(table, "--columns", "s2", "--where", "S2 = 'A'") == [{"s2": "a"}]  # exactly that name
    assert frazil(table.metadata_location, "--where", "names = 'x'").returncode != 0


# ---- files without ids ----


def without_ids(tmp_path, name="plain.parquet"):
    path = tmp_path / name
    pq.write_table(pa.table({
        "id": pa.array([1, 2], pa.int64()),
        "s": pa.array([{"x": 1, "l": [{"y": 2}]}, None],
                      pa.struct([("x", pa.int32()), ("l", pa.list_(pa.struct([("y", pa.int32())])))])),
        "m": pa.array([[("k", {"z": 3})], []], pa.map_(pa.string(), pa.struct([("z", pa.int32())])))}),
        path)
    return f"file://{path}"


def imported(catalog, tmp_path):
    table = catalog.create_table("db.t", pq.read_schema(without_ids(tmp_path)[7:]))
    table.add_files([without_ids(tmp_path)])
    return table


def test_names_reach_every_depth(catalog, tmp_path):
    table = imported(catalog, tmp_path)
    wanted = [{"id": 1, "s": {"x": 1, "l": [{"y": 2}]}, "m": [{"key": "k", "value": {"z": 3}}]},
              {"id": 2, "s": None, "m": []}]
    assert rows(table) == wanted
    with table.update_schema() as update:
        update.rename_column("s.l.element.y", "yy")
        update.rename_column("m", "mm")
    found = rows(table)
    assert found[0] == {"id": 1, "s": {"x": 1, "l": [{"yy": 2}]},
                        "mm": [{"key": "k", "value": {"z": 3}}]}
    assert rows(table, "--where", "s.x = 1", "--columns", "id") == [{"id": 1}]


def test_without_ids_and_names_there_are_no_nulls_but_an_error(catalog, tmp_path):
    table = imported(catalog, tmp_path)
    with table.transaction() as transaction:
        transaction.remove_properties("schema.name-mapping.default")
    done = frazil(table.metadata_location)
    assert done.returncode == 5 and done.stdout == ""
    assert "plain.parquet" in done.stderr and "no name mapping gives them any" in done.stderr


# ---- partitions ----


def partitioned(catalog, version, *fields, **properties):
    schema = Schema(LONG_ID, NestedField(2, "p", StringType(), required=False),
                    NestedField(3, "n", IntegerType(), required=False),
                    NestedField(4, "ts", TimestampType(), required=False))
    return catalog.create_table("db.t", schema, partition_spec=PartitionSpec(*fields),
                                properties={"format-version": str(version), **properties})


RECORDS = [{"id": i, "p": p, "n": n, "ts": ts} for i, (p, n, ts) in enumerate([
    ("a", 5, datetime(1969, 12, 31, 23, 59, 59, 999999)), ("b", -5, datetime(1970, 1, 1)),
    (None, None, None), ("a", 2**31 - 1, datetime(2026, 11, 1, 12)), ("ä b", 0, datetime(1968, 2, 29))])]


@pytest.mark.parametrize("version", ["1", "2"])
def test_partitions_that_changed(catalog, version):
    table = partitioned(catalog, version, PartitionField(2, 1000, IdentityTransform(), "p"),
                        PartitionField(3, 1001, BucketTransform(4), "n_bucket"))
    append(table, *RECORDS)
    with table.update_spec() as update:
        update.remove_field("p")
        update.remove_field("n_bucket")
        update.add_field("ts", DayTransform(), "ts_day")
    append(table, *({**r, "id": r["id"] + 10} for r in RECORDS))
    if version == "1":  # what was dropped there stays, and says nothing
        assert any(isinstance(f.transform, VoidTransform) for f in table.spec().fields)
    conditions = [
        ("p = 'a'", lambda r: r["p"] == "a"), ("p IS NULL", lambda r: r["p"] is None),
        ("p <> 'a'", lambda r: r["p"] not in (None, "a")), ("n = -5", lambda r: r["n"] == -5),
        ("n IN (0, 7)", lambda r: r["n"] in (0, 7)),
        ("ts < TIMESTAMP '1970-01-01T00:00:00'", lambda r: r["ts"] and r["ts"] < datetime(1970, 1, 1)),
        ("ts >= TIMESTAMP '2026-01-01T00:00:00'", lambda r: r["ts"] and r["ts"] > datetime(2026, 1, 1))]
    for where, matches in conditions:
        wanted = sorted(r["id"] + k for r in RECORDS for k in (0, 10) if matches(r))
        for zone in (None, "Asia/Kolkata"):
            found = rows(table, "--where", where, "--columns", "id", zone=zone)
            assert sorted(r["id"] for r in found) == wanted, where
    # nothing of the partition is read, neither as a column nor in a filter
    assert sorted(r["n"] or 0 for r in rows(table, "--columns", "n")) == \
        sorted((r["n"] or 0) for r in RECORDS for _ in range(2))


def test_identity_values_that_are_not_in_the_files(catalog):
    table = partitioned(catalog, "2", PartitionField(2, 1000, IdentityTransform(), "p"),
                        PartitionField(3, 1001, TruncateTransform(10), "n_trunc"))
    append(table, *RECORDS)
    for path in data_files(table):
        whole = pq.read_table(path, partitioning=None)
        pq.write_table(whole.drop_columns(["p", "n"]), path)
    assert [(r["id"], r["p"], r["n"]) for r in rows(table)] == \
        [(r["id"], r["p"], None) for r in RECORDS]
    assert [r["id"] for r in rows(table, "--where", "p = 'a'")] == [0, 3]
    assert [r["id"] for r in rows(table, "--where", "p IS NULL")] == [2]


def test_files_are_skipped_by_their_partition(catalog):
    table = partitioned(catalog, "2", PartitionField(4, 1000, DayTransform(), "ts_day"),
                        PartitionField(2, 1001, TruncateTransform(1), "p_trunc"),
                        **{"write.metadata.metrics.default": "none"})  # but for the partition
    append(table, *RECORDS)
    for where in ("ts = TIMESTAMP '2026-11-01T12:00:00'", "p LIKE 'b%'", "p = 'ä b'"):
        done = frazil(table.metadata_location, "--where", where, "--report")
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 1, done.stderr
        assert "data files: 5, skipped by statistics 4\n" in done.stderr


def test_unknown_transforms_are_ignored(catalog):
    table = partitioned(catalog, "2", PartitionField(3, 1000, BucketTransform(4), "n_bucket"))
    append(table, *RECORDS)

    def rename(metadata):
        metadata["partition-specs"][0]["fields"][0]["transform"] = "zorder[4]"

    assert [r["id"] for r in rows(edit(table, rename), "--where", "n = 5")] == [0]

