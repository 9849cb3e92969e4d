"""Rows of files in tables that are there: values, defaults and types, lineage, partitions of every
transform, and what is refused without a trace."""
import datetime
import decimal
import json
import os
import subprocess
import uuid

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from pyiceberg import transforms
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg import types

from frazil import BUILD, Warehouse

NAME = "db.t"


@pytest.fixture
def warehouse(tmp_path):
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    return place


def write(folder, name, table, **options):
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(table, path, **options)
    else:
        pyarrow.feather.write_feather(table, str(path), compression="zstd")
    return str(path)


def scan(warehouse, *arguments):
    text = warehouse.run("scan", NAME, "--format", "jsonl", *arguments)
    return [json.loads(line) for line in text.splitlines()]


def data_files(warehouse):
    folder = warehouse.folder / "db" / "t" / "data"
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def refused(warehouse, *arguments, status=2):
    """The message of a command that must fail and leave nothing behind."""
    before = data_files(warehouse), scan(warehouse)
    command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(warehouse.folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert (data_files(warehouse), scan(warehouse)) == before
    return done.stderr


def numbers(first, end, **more):
    count = end - first
    return pa.table({
        "id": pa.array(range(first, end), pa.int64()),
        "name": [None if i % 7 == 0 else f"n{i}" for i in range(first, end)],
        "x": pa.array([i * 0.5 for i in range(first, end)], pa.float64()),
        **{key: pa.array([value] * count) for key, value in more.items()},
    })


@pytest.fixture
def table(warehouse, tmp_path):
    warehouse.run("import", NAME, write(tmp_path, "first.parquet", numbers(0, 10)))
    return warehouse


# ---- values and lineage ----


@pytest.mark.parametrize("name", ["new.parquet", "new.arrow"])
def test_rows_come_behind_with_new_ids(table, tmp_path, name):
    path = write(tmp_path, name, numbers(10, 15).select(["x", "id", "name"]))
    report = table.report("append", NAME, path, write(tmp_path, "more.parquet", numbers(15, 18)))
    assert (report["rows"], report["data_files"], report["attempts"]) == (8, 1, 1)
    wanted = [{**row, "_row_id": i, "_last_updated_sequence_number": 1 if i < 10 else 2}
              for i, row in enumerate(numbers(0, 18).to_pylist())]
    assert scan(table, "--with-lineage") == wanted
    checked = table.table(NAME)
    checked.check()
    assert checked.rows() == wanted
    assert checked.snapshots[checked.current]["summary"]["operation"] == "append"
    table.run("validate", NAME)


def test_missing_columns_get_defaults_else_null(table, tmp_path):
    table.sql(f"ALTER TABLE {NAME} ADD COLUMN kind string DEFAULT 'old'")
    table.run("append", NAME, write(tmp_path, "a.parquet", numbers(10, 12).select(["id"])))
    assert scan(table)[10:] == [{"id": i, "name": None, "x": None, "kind": "old"} for i in (10, 11)]
    assert scan(table, "--where", "kind = 'old'") == scan(table)


def test_types_are_promoted_and_layouts_do_not_matter(table, tmp_path):
    new = pa.table({
        "ID": pa.array([20, 21, 22], pa.uint8()),
        "name": pa.array(["a", "b", "a"]).dictionary_encode(),
        "x": pa.array([0.5, None, 1.5], pa.float32()),
    })
    table.run("append", NAME, write(tmp_path, "a.arrow", new))
    table.run("append", NAME, write(tmp_path, "b.arrow", new.slice(1, 1).combine_chunks()))
    assert scan(table)[10:] == [{"id": 20, "name": "a", "x": 0.5}, {"id": 21, "name": "b", "x": None},
                                {"id": 22, "name": "a", "x": 1.5}, {"id": 21, "name": "b", "x": None}]
    table.run("validate", NAME)


def test_nested_columns(warehouse, tmp_path):
    rows = pa.table({
        "id": pa.array([1, 2, 3], pa.int64()),
        "place": [{"x": 1, "tags": ["a", None]}, None, {"x": None, "tags": []}],
        "vector": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32())),
        "counts": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int32())),
    })
    warehouse.run("import", NAME, write(tmp_path, "a.parquet", rows))
    warehouse.run("append", NAME, write(tmp_path, "b.parquet", rows))
    read = scan(warehouse)
    assert read[3:] == read[:3] and read[0]["place"] == {"x": 1, "tags": ["a", None]}
    large = rows.set_column(2, "vector", rows["vector"].cast(pa.large_list(pa.float32())))
    warehouse.run("append", NAME, write(tmp_path, "c.arrow", large))
    assert scan(warehouse)[6:] == read[:3]
    warehouse.run("validate", NAME)


def test_nested_columns_that_differ(warehouse, tmp_path):
    rows = pa.table({
        "place": [{"x": 1, "at": {"lat": 1.5, "long": 2.5}}, None],
        "list": [[{"a": 1}], []],
        "map": pa.array([[("k", [1])], None], pa.map_(pa.string(), pa.list_(pa.int64()))),
    })
    warehouse.run("import", NAME, write(tmp_path, "a.parquet", rows))
    at = pa.struct([("long", pa.float32())])
    other = pa.table({
        "map": pa.array([[("k", [7, None]), ("l", None)], [], None],
                        pa.map_(pa.large_string(), pa.list_(pa.int32()))),
        "list": pa.array([[{"a": 3}, None], None, [{"a": None}]],
                         pa.list_(pa.struct([("a", pa.int32())]))),
        "place": pa.array([{"at": {"long": 0.5}, "x": 2}, {"at": None, "x": 3}, None],
                          pa.struct([("at", at), ("x", pa.int32())])),
    })
    for name in ("b.parquet", "b.arrow"):
        warehouse.run("append", NAME, write(tmp_path, name, other))
    pairs = [[{"key": "k", "value": [7, None]}, {"key": "l", "value": None}], [], None]
    lists = [[{"a": 3}, None], None, [{"a": None}]]
    places = [{"x": 2, "at": {"lat": None, "long": 0.5}}, {"x": 3, "at": None}, None]
    wanted = [{"place": p, "list": l, "map": m} for p, l, m in zip(places, lists, pairs)]
    assert scan(warehouse)[2:] == 2 * wanted
    warehouse.run("validate", NAME)
    bad = pa.table({"place": [{"x": 1, "y": 2}]})
    assert 'the table has no field "y" there' in refused(
        warehouse, "append", NAME, write(tmp_path, "c.parquet", bad))
    bad = pa.table({"list": [[{"a": "text"}]]})
    error = refused(warehouse, "append", NAME, write(tmp_path, "d.parquet", bad))
    assert 'column "list"' in error and "expected long, found string" in error


def test_no_rows_make_no_snapshot(table, tmp_path):
    before = table.table(NAME).current
    empty = write(tmp_path, "empty.parquet", numbers(0, 0))
    assert table.run("append", NAME, empty) == f"{NAME}: no rows to append, nothing was written\n"
    table.sql(f"INSERT INTO {NAME} SELECT * FROM '{empty}'")
    assert table.table(NAME).current == before and len(data_files(table)) == 1


def test_files_end_at_the_target_size(table, tmp_path):
    table.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ('write.target-file-size-bytes' = '400000')")
    report = table.report("append", NAME, write(tmp_path, "big.parquet", numbers(10, 300000)))
    assert report["rows"] == 299990 and report["data_files"] > 2
    assert scan(table, "--columns", "id") == [{"id": i} for i in range(300000)]
    table.run("validate", NAME)


def test_a_target_size_that_makes_no_sense_is_not_set(table):
    for value in ("0", "-1", "many"):
        error = refused(table, "sql", f"ALTER TABLE {NAME} SET TBLPROPERTIES "
                                      f"('write.target-file-size-bytes' = '{value}')")
        assert "write.target-file-size-bytes" in error


# ---- columns of type unknown, which no file stores ----


@pytest.fixture
def untyped(warehouse, tmp_path):
    """A table with a column and a field of type unknown."""
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "n": pa.nulls(2),
                     "s": pa.array([{"a": 1, "n": None}, None],
                                   pa.struct([("a", pa.int64()), ("n", pa.null())]))})
    warehouse.run("import", NAME, write(tmp_path, "first.parquet", rows))
    return warehouse


NULLS = [pa.null(), pa.int64(), pa.string(), pa.list_(pa.int64()), pa.struct([("x", pa.int64())])]


@pytest.mark.parametrize("name", ["new.parquet", "new.arrow"])
@pytest.mark.parametrize("kind", NULLS, ids=str)
def test_nulls_of_any_type_go_into_a_column_of_type_unknown(untyped, tmp_path, name, kind):
    rows = pa.table({"id": [3, 4], "n": pa.nulls(2, kind), "s": pa.array(
        [None, {"a": 5, "n": None}], pa.struct([("a", pa.int64()), ("n", kind)]))})
    path = write(tmp_path, name, rows)
    untyped.run("append", NAME, path)
    untyped.sql(f"INSERT INTO {NAME} (id, n) SELECT id + 2, n FROM '{path}'")
    untyped.sql(f"INSERT INTO {NAME} VALUES (7, NULL, NULL), (8, DEFAULT, NULL)")
    wanted = [(1, 1), (2, None), (3, None), (4, 5), *((i, None) for i in range(5, 9))]
    wanted = [{"id": i, "n": None, "s": a and {"a": a, "n": None}} for i, a in wanted]
    for column in ("", "n", "s.n"):
        if column:
            untyped.sql(f"ALTER TABLE {NAME} ALTER COLUMN {column} TYPE long")
        assert scan(untyped) == wanted
        untyped.table(NAME).check()
        untyped.run("validate", NAME)


@pytest.mark.parametrize("values,kind,found,hint", [
    ([None, 7], pa.int64(), "7", "long"),
    ([None, "x"], pa.string(), "'x'", "string"),
    ([None, datetime.date(2026, 1, 2)], pa.date32(), "2026-01-02", "date"),
    ([None, [7]], pa.list_(pa.int64()), "a list", None),
    ([None, {"x": None}], pa.struct([("x", pa.int64())]), "a struct", None),
])
def test_a_value_for_a_column_of_type_unknown(untyped, tmp_path, values, kind, found, hint):
    path = write(tmp_path, "new.parquet", pa.table({"id": [3, 4], "n": pa.array(values, kind)}))
    message = (f'column "n": a value does not fit at row 1: expected NULL for type unknown, '
               f'found {found}\n')
    hint = f'hint: ALTER TABLE ... ALTER COLUMN "n" TYPE {hint}\n' if hint else ""
    for more, statement in [
            (f"appending {path}: ", ("append", NAME, path)),
            ("", ("sql", f"INSERT INTO {NAME} (id, n) SELECT * FROM '{path}'"))]:
        assert refused(untyped, *statement) == f"frazil: {more}{message}{hint}"
    assert 'column "n": 1 does not fit unknown: only NULL does' in refused(
        untyped, "sql", f"INSERT INTO {NAME} (id, n) VALUES (3, NULL), (4, 1)")


def test_a_value_for_a_field_of_type_unknown(untyped, tmp_path):
    rows = pa.table({"id": [3, 4], "s": [{"a": 1, "n": None}, {"a": 2, "n": "x"}]})
    error = refused(untyped, "append", NAME, write(tmp_path, "new.arrow", rows))
    assert 'column "s": field "n": expected null for type unknown, found a value' in error


# ---- INSERT ----


def test_insert_from_a_file(table, tmp_path):
    path = write(tmp_path, "new.parquet", numbers(100, 110))
    report = table.sql(f"INSERT INTO {NAME} SELECT id * 2 AS id, x FROM '{path}' WHERE id > 106")
    assert (report["command"], report["table"], report["rows"]) == ("insert", NAME, 3)
    assert scan(table)[10:] == [{"id": 2 * i, "name": None, "x": i * 0.5} for i in (107, 108, 109)]
    table.sql(f"INSERT INTO {NAME} (x, id) SELECT 7, 1.0 FROM '{path}' LIMIT 1")
    assert scan(table)[13:] == [{"id": 1, "name": None, "x": 7.0}]
    table.sql(f"INSERT INTO {NAME} SELECT * FROM {NAME} WHERE id = 3")
    assert scan(table)[14:] == [{"id": 3, "name": "n3", "x": 1.5}]
    table.run("validate", NAME)


def test_a_file_can_be_selected_from(table, tmp_path):
    path = write(tmp_path, "new.arrow", numbers(100, 110))
    text = table.run("sql", f"SELECT count(*), min(id), max(name) FROM '{path}' WHERE x > 51",
                     "--format", "csv")
    assert text.splitlines()[1] == "7,103,n109"


# ---- what is refused ----


BAD = [
    ({"id": [1], "other": [2]}, 'the table has no column "other"'),
    ({"id": ["1"]}, 'column "id": expected long, found string'),
    ({"id": [1.5]}, 'column "id": expected long, found double'),
    ({"id": [1], "ID": [2]}, 'column "id" is given twice'),
    ({"x": [[1.5]]}, 'column "x": expected double, found list'),
]


@pytest.mark.parametrize("columns,message", BAD)
def test_a_file_that_does_not_fit(table, tmp_path, columns, message):
    good = write(tmp_path, "good.parquet", numbers(10, 20))
    bad = write(tmp_path, "bad.parquet", pa.table(columns))
    error = refused(table, "append", NAME, good, bad)
    assert message in error and "bad.parquet" in error


def test_a_damaged_file(table, tmp_path):
    good = write(tmp_path, "good.parquet", numbers(10, 2000))
    bad = tmp_path / "bad.parquet"
    data = bytearray(open(good, "rb").read())
    data[100:400] = bytes(300)
    bad.write_bytes(data)
    assert "bad.parquet" in refused(table, "append", NAME, good, str(bad), status=5)
    bad.write_text("no rows here")
    assert "neither a Parquet" in refused(table, "append", NAME, str(bad), status=5)
    refused(table, "append", NAME, str(tmp_path / "absent.parquet"), status=3)
    refused(table, "append", NAME, status=2)


def test_nulls_of_required_columns(warehouse, tmp_path):
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string())])
    warehouse.run("import", NAME, write(tmp_path, "a.parquet", pa.table(
        {"id": pa.array([1, 2], pa.int64()), "name": ["a", "b"]}, schema)))
    rows = pa.table({"id": pa.array([None if i == 70000 else i for i in range(80000)], pa.int64())})
    error = refused(warehouse, "append", NAME, write(tmp_path, "b.parquet", rows))
    assert 'column "id": null at row 70000' in error and "b.parquet" in error
    error = refused(warehouse, "append", NAME,
                    write(tmp_path, "c.parquet", pa.table({"name": ["c"]})))
    assert 'column "id" is required and has no default' in error


def test_an_insert_that_does_not_fit(table, tmp_path):
    path = write(tmp_path, "new.parquet", numbers(100, 110))
    assert "no column" in refused(table, "sql", f"INSERT INTO {NAME} SELECT id + 1 FROM '{path}'")
    assert "expected values for 2 columns" in refused(
        table, "sql", f"INSERT INTO {NAME} (id, x) SELECT id FROM '{path}'")
    refused(table, "sql", f"INSERT INTO {NAME} (id) SELECT x + 0.25 FROM '{path}'")


# ---- VALUES ----


def test_values(table):
    table.sql(f"ALTER TABLE {NAME} ADD COLUMN kind string DEFAULT 'old'")
    report = table.sql(f"INSERT INTO {NAME} VALUES (10, 'a' || 'b', 1.5, 'new'), "
                       f"(5 * 3, NULL, -2, DEFAULT)")
    assert (report["command"], report["rows"], report["data_files"]) == ("insert", 2, 1)
    table.sql(f"INSERT INTO {NAME} (kind, id) VALUES (upper('x'), 1e1)")
    assert scan(table)[10:] == [{"id": 10, "name": "ab", "x": 1.5, "kind": "new"},
                                {"id": 15, "name": None, "x": -2.0, "kind": "old"},
                                {"id": 10, "name": None, "x": None, "kind": "X"}]
    table.run("validate", NAME)


@pytest.mark.parametrize("values,message", [
    ("(id, x) VALUES (1)", "expected values for 2 columns, found 1"),
    ("VALUES (1, 'a', 1.5, 2)", "expected values for 3 columns, found 4"),
    ("VALUES (1, 'a', 1.5), (2, 'b')", "expected 3 values in each row, found 2"),
    ("(id, nope) VALUES (1, 2)", 'no column "nope"'),
    ("(id, id) VALUES (1, 2)", 'column "id" is given twice'),
    ("(id) VALUES (1.5)", "does not fit"),
    ("(id) VALUES (1), (name)", 'no column "name"'),
    ("VALUES", "expected (, found the end of the text"),
])
def test_values_that_do_not_fit(table, values, message):
    status = 3 if message.startswith("no column") else 2
    assert message in refused(table, "sql", f"INSERT INTO {NAME} {values}", status=status)


# ---- two writers ----


def test_two_appenders_at_once(table, tmp_path):
    writers = 4
    rounds = 5
    paths = [write(tmp_path, f"w{i}.parquet", numbers(1000 * i, 1000 * i + 50))
             for i in range(1, writers + 1)]
    for _ in range(rounds):
        running = [subprocess.Popen([str(BUILD / "bin" / "frazil"), "--warehouse",
                                     str(table.folder), "append", NAME, path],
                                    stdout=subprocess.DEVNULL) for path in paths]
        assert [process.wait() for process in running] == [0] * writers
    ids = [row["_row_id"] for row in scan(table, "--with-lineage")]
    assert sorted(ids) == list(range(10 + rounds * writers * 50))
    wanted = sorted([i for i in range(10)] + rounds * [1000 * w + i for w in range(1, writers + 1)
                                                       for i in range(50)])
    assert sorted(row["id"] for row in scan(table)) == wanted
    assert len(data_files(table)) == 1 + rounds * writers
    table.run("validate", NAME)


def test_columns_that_change_while_rows_come(warehouse, tmp_path):
    """A file that was written before a column was renamed, widened or added is committed behind it."""
    rows = pa.table({"id": pa.array(range(50), pa.int64()), "n": pa.array(range(50), pa.int32())})
    path = write(tmp_path, "rows.parquet", rows)
    warehouse.run("import", NAME, path)
    changes = ["ALTER COLUMN n TYPE long", "ADD COLUMN extra string DEFAULT 'x'",
               "ADD COLUMN more double", "ALTER COLUMN more TYPE double"]
    frazil = [str(BUILD / "bin" / "frazil"), "--warehouse", str(warehouse.folder)]
    appended = 1
    for change in changes:
        running = [subprocess.Popen([*frazil, "append", NAME, path], stdout=subprocess.DEVNULL)
                   for _ in range(4)]
        warehouse.run("sql", f"ALTER TABLE {NAME} {change}")
        assert [process.wait() for process in running] == [0] * 4
        appended += 4
    read = scan(warehouse, "--where", "n >= 0 AND extra = 'x'")
    assert sorted(row["n"] for row in read) == sorted(appended * list(range(50)))
    assert sorted(row["id"] for row in read) == sorted(row["n"] for row in read)
    warehouse.run("validate", NAME)


# ---- partitions ----

EPOCH = datetime.datetime(1970, 1, 1)


def moments(i):
    return EPOCH + datetime.timedelta(days=i * 37 - 400, hours=i * 5, microseconds=i)


COLUMNS = {
    "id": (types.LongType(), pa.int64(), lambda i: i),
    "n": (types.IntegerType(), pa.int32(), lambda i: i * 7 - 40),
    "s": (types.StringType(), pa.string(), lambda i: "äb\u4e16xyz"[i % 4:] + str(i % 3)),
    "b": (types.BinaryType(), pa.binary(), lambda i: bytes([i % 5] * (i % 4))),
    "f": (types.BooleanType(), pa.bool_(), lambda i: i % 2 == 0),
    "d": (types.DecimalType(9, 2), pa.decimal128(9, 2), lambda i: decimal.Decimal(i * 33 - 700).scaleb(-2)),
    "day": (types.DateType(), pa.date32(), lambda i: moments(i).date()),
    "at": (types.TimestampType(), pa.timestamp("us"), moments),
    "utc": (types.TimestamptzType(), pa.timestamp("us", "UTC"),
            lambda i: moments(i).replace(tzinfo=datetime.timezone.utc)),
    "u": (types.UUIDType(), pa.binary(16), lambda i: uuid.UUID(int=i % 6).bytes),
}
SPECS = [
    ("n", "identity"), ("s", "identity"), ("f", "identity"), ("d", "identity"), ("day", "identity"),
    ("n", "bucket[4]"), ("s", "bucket[5]"), ("b", "bucket[3]"), ("d", "bucket[4]"), ("day", "bucket[4]"),
    ("at", "bucket[4]"), ("u", "bucket[3]"), ("id", "truncate[10]"), ("n", "truncate[10]"),
    ("s", "truncate[2]"), ("b", "truncate[1]"), ("d", "truncate[50]"), ("day", "year"), ("day", "month"),
    ("day", "day"), ("at", "year"), ("at", "month"), ("at", "day"), ("at", "hour"), ("utc", "year"),
    ("utc", "month"), ("utc", "day"), ("utc", "hour"), ("n", "void"),
]


def partitioned(warehouse, fields, version=2):
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{warehouse.folder}/catalog.db",
                         warehouse=f"file://{warehouse.folder}")
    catalog.create_namespace_if_not_exists("db")
    schema = Schema(*[types.NestedField(i + 1, name, kind, required=False)
                      for i, (name, (kind, _, _)) in enumerate(COLUMNS.items())])
    spec = PartitionSpec(*[
        PartitionField(schema.find_field(name).field_id, 1000 + i, transforms.parse_transform(text), f"p{i}")
        for i, (name, text) in enumerate(fields)])
    location = f"file://{warehouse.folder}/db/t"
    catalog.create_table(NAME, schema=schema, partition_spec=spec, location=location,
                         properties={"format-version": str(version)})
    warehouse.run("upgrade", NAME, "--to", "4")
    return schema


def some_rows(count):
    return pa.table({name: pa.array([None if (i + k) % 11 == 0 and name != "id" else make(i)
                                     for i in range(count)], kind)
                     for k, (name, (_, kind, make)) in enumerate(COLUMNS.items())})


def tuples(warehouse, fields, rows):
    """What PyIceberg's transforms make of the rows: tuple -> ids."""
    out = {}
    for row in rows.to_pylist():
        key = []
        for name, text in fields:
            kind = COLUMNS[name][0]
            value = row[name]
            if value is not None:
                if isinstance(value, datetime.datetime):
                    value = value.replace(tzinfo=None) - EPOCH
                    value = value.days * 86400 * 10**6 + value.seconds * 10**6 + value.microseconds
                elif isinstance(value, datetime.date):
                    value = (value - EPOCH.date()).days
                value = transforms.parse_transform(text).transform(kind)(value)
            key.append(value)
        out.setdefault(tuple(key), []).append(row["id"])
    return out


def check_partitions(warehouse, fields, rows):
    wanted = sorted(tuples(warehouse, fields, rows).values())
    found = {}
    for row in scan(warehouse, "--columns", "_file,id"):
        found.setdefault(row["_file"], []).append(row["id"])
    assert sorted(found.values()) == wanted
    entries = json.loads(warehouse.run("partitions", NAME, "--json"))
    return entries


@pytest.mark.parametrize("column,transform", SPECS)
def test_partitions(warehouse, tmp_path, column, transform):
    fields = [(column, transform)]
    partitioned(warehouse, fields)
    rows = some_rows(60)
    warehouse.run("append", NAME, write(tmp_path, "a.parquet", rows))
    check_partitions(warehouse, fields, rows)
    warehouse.run("validate", NAME)
    whole = {row["id"]: row for row in scan(warehouse)}
    assert sorted(whole) == list(range(60))
    for i in (0, 7, 23, 44):  # pruning by the tuples finds each row
        literal = whole[i][column]
        if column in ("n", "id", "s") and literal is not None:
            text = f"'{literal}'" if isinstance(literal, str) else str(literal)
            ids = [row["id"] for row in scan(warehouse, "--where", f"{column} = {text}")]
            assert sorted(ids) == [k for k, row in whole.items() if row[column] == literal]


def test_tuples_of_several_fields(warehouse, tmp_path):
    fields = [("s", "truncate[1]"), ("at", "year"), ("n", "bucket[2]")]
    partitioned(warehouse, fields)
    rows = some_rows(300)
    warehouse.run("append", NAME, write(tmp_path, "a.parquet", rows))
    check_partitions(warehouse, fields, rows)
    warehouse.run("validate", NAME)


def test_more_partitions_than_open_files(warehouse, tmp_path):
    partitioned(warehouse, [("id", "identity")])
    count = 600
    rows = pa.concat_tables([some_rows(count)] * 3)
    report = warehouse.report("append", NAME, write(tmp_path, "a.parquet", rows, row_group_size=count))
    assert report["rows"] == 3 * count and count < report["data_files"] < 2 * count
    assert sorted(row["id"] for row in scan(warehouse)) == sorted(3 * list(range(count)))
    assert [row["id"] for row in scan(warehouse, "--where", "id = 77")] == [77, 77, 77]
    warehouse.run("validate", NAME)


def test_appended_then_changed(warehouse, tmp_path):
    partitioned(warehouse, [("n", "bucket[3]"), ("day", "month")])
    rows = some_rows(80)
    warehouse.run("append", NAME, write(tmp_path, "a.parquet", rows))
    warehouse.sql(f"UPDATE {NAME} SET s = 'new' WHERE id % 10 = 3")
    warehouse.sql(f"DELETE FROM {NAME} WHERE id % 4 = 0")
    warehouse.run("append", NAME, write(tmp_path, "b.parquet", rows.slice(0, 5)))
    warehouse.run("compact", NAME)
    warehouse.run("validate", NAME)
    wanted = {i: "new" if i % 10 == 3 else row["s"] for i, row in enumerate(rows.to_pylist()) if i % 4 != 0}
    got = sorted((row["_row_id"], row["id"], row["s"]) for row in scan(warehouse, "--with-lineage"))
    assert len({row_id for row_id, _, _ in got}) == len(got)
    fresh = [(i, text) for row_id, i, text in got if row_id >= 80]
    assert sorted((i, text) for row_id, i, text in got if row_id < 80) == sorted(wanted.items())
    assert sorted(i for i, _ in fresh) == [0, 1, 2, 3, 4]


def test_a_transform_that_is_not_known(warehouse, tmp_path):
    partitioned(warehouse, [("n", "bucket[3]")])
    listing = json.loads(warehouse.run("describe", NAME, "--json"))
    place = listing["metadata_location"].removeprefix("file://")
    text = open(place).read()
    assert text.count('"bucket[3]"') == 1
    open(place, "w").write(text.replace('"bucket[3]"', '"zorder"'))
    error = refused(warehouse, "append", NAME, write(tmp_path, "a.parquet", some_rows(5)), status=1)
    assert "unsupported" in error and "zorder" in error and "p0" in error
