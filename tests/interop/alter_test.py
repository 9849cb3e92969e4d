"""ALTER TABLE: columns renamed, dropped, added again, of a larger type, before and after column updates
and a compaction. Every step is read by the independent checker, compacted files by pyarrow and DuckDB."""
import datetime
import decimal
import json
import os
import subprocess

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from frazil import BUILD, Story, Warehouse

USAGE, NOT_FOUND, OTHER = 2, 3, 1
ROWS = 12


def flat_rows():
    return [{"id": i, "a": i * 10, "b": f"b{i}", "f": i / 4} for i in range(ROWS)]


def flat(rows):
    return pa.table({
        "id": pa.array([r["id"] for r in rows], pa.int64()),
        "a": pa.array([r["a"] for r in rows], pa.int32()),
        "b": pa.array([r["b"] for r in rows], pa.string()),
        "f": pa.array([r["f"] for r in rows], pa.float32()),
    })


@pytest.fixture
def story(tmp_path):
    """Two imported files without field ids: the name mapping tells their columns."""
    rows = flat_rows()
    paths = []
    for i, part in enumerate((rows[:7], rows[7:])):
        paths.append(tmp_path / f"part{i}.parquet")
        pq.write_table(flat(part), paths[-1])
    return Story(Warehouse(tmp_path / "warehouse"), "db.t", paths, rows)


def metadata(story):
    return story.table.json


def scanned_alike(story):
    """Frazil's own rows are those that the checker has confirmed."""
    assert story.scanned() == story.plain()


def read_elsewhere(story):
    """Compacted files as others read them: names of today, and nothing of what was dropped."""
    rows = story.plain()
    names = list(rows[0])
    paths = [str(path) for path in story.data_files()]
    tables = [pq.ParquetFile(path).read() for path in paths]
    for table in tables:
        assert table.column_names[:len(names)] == names
    assert pa.concat_tables(tables).select(names).to_pylist() == rows
    quoted = ", ".join(f'"{name}"' for name in names)
    found = duckdb.sql(f"SELECT {quoted} FROM read_parquet({paths}) ORDER BY id").fetchall()
    assert found == [tuple(row.values()) for row in rows]


def finish(story):
    """Compact all files (each has a column file after the update) and look from all sides."""
    scanned_alike(story)
    story.update({"id": ("id", lambda row: row["id"])})
    story.compact()
    scanned_alike(story)
    read_elsewhere(story)
    story.end()


def test_a_renamed_column_keeps_its_values(story):
    mapping = metadata(story)["properties"]["schema.name-mapping.default"]
    story.rename_column("a", "n")
    story.update({"n": ("n + 1", lambda row: row["n"] + 1)}, "id < 5", lambda row: row["id"] < 5)
    story.rename_column("n", "m")
    story.rename_column("b", "a")  # the name of another column of the files
    story.update({"a": ("a || '!'", lambda row: row["a"] + "!")}, "m > 60", lambda row: row["m"] > 60)
    scanned_alike(story)
    assert metadata(story)["properties"]["schema.name-mapping.default"] == mapping
    assert len(story.table.snapshots) == 3
    finish(story)


def test_names_change_places(story):
    story.rename_column("a", "tmp")
    story.rename_column("f", "a")
    story.rename_column("tmp", "f")
    story.update({"a": ("f", lambda row: float(row["f"])), "f": ("a * 4", lambda row: int(row["a"] * 4))},
                 "id % 2 = 0", lambda row: row["id"] % 2 == 0)
    finish(story)


def test_values_of_a_dropped_column_do_not_come_back(story):
    story.update({"a": ("a + 5", lambda row: row["a"] + 5)})
    story.drop_column("a")
    scanned_alike(story)
    story.add_column("a", "int")
    scanned_alike(story)
    assert all(row["a"] is None for row in story.scanned())
    assert metadata(story)["last-column-id"] == 5
    story.update({"a": ("id", lambda row: row["id"])}, "id > 8", lambda row: row["id"] > 8)
    story.drop_column("a")
    story.add_column("a", "string")
    assert metadata(story)["last-column-id"] == 6
    story.update({"a": ("'x'", lambda row: "x")}, "id % 5 = 3", lambda row: row["id"] % 5 == 3)
    finish(story)


def test_a_column_of_an_old_name_on_every_path(story):
    """Conditions, deletes, updates and feeds find the new column, earlier snapshots the old one."""
    first = story.table.current
    story.update({"a": ("a + 5", lambda row: row["a"] + 5)})
    second = story.table.current
    story.drop_column("a")
    story.add_column("a", "int")
    count = lambda condition, when="": int(story.warehouse.run(
        "sql", f"SELECT count(*) FROM db.t {when} WHERE {condition}", "--format", "csv").split()[1])
    assert (count("a IS NULL"), count("a IS NOT NULL"), count("a >= 0")) == (ROWS, 0, 0)
    assert count("a = 30", f"VERSION AS OF {first}") == count("a = 35", f"VERSION AS OF {second}") == 1
    assert json.loads(story.warehouse.run("sql", "DELETE FROM db.t WHERE a >= 0", "--json"))["rows"] == 0
    assert story.warehouse.sql("UPDATE db.t SET b = 'never' WHERE a >= 0")["rows"] == 0
    story.update({"a": ("COALESCE(a, -1)", lambda row: -1)}, "id = 4", lambda row: row["id"] == 4)
    lines = story.warehouse.run("changes", "db.t", "--rows", "--format", "jsonl").splitlines()
    assert [json.loads(line)["a"] for line in lines] == [None, -1]
    story.update({"a": ("0", lambda row: 0)}, "a IS NULL", lambda row: row["a"] is None)
    finish(story)


def test_dropped_columns_stay_listed_when_their_schema_is_gone(story):
    """Another writer may expire schemas that no snapshot uses."""
    story.update({"a": ("a + 5", lambda row: row["a"] + 5), "b": ("'b'", lambda row: "b")})
    story.drop_column("a")

    def edit(document, schema):
        document["schemas"] = [schema]
        document["snapshots"] = document["snapshots"][-1:]
        del document["snapshots"][0]["parent-snapshot-id"]
        document["snapshots"][0]["schema-id"] = schema["schema-id"]
        document["snapshot-log"] = document["snapshot-log"][-1:]

    edit_metadata(story, edit)
    scanned_alike(story)
    story.warehouse.run("validate", "db.t")
    story.warehouse.sql("ALTER TABLE db.t ADD COLUMN a int")
    rows = [{**row, "a": None} for row in story.plain()]
    assert story.scanned() == rows
    assert [field["id"] for field in story.table.schema(story.table.current)["fields"]] == [1, 3, 4, 5]
    story.warehouse.sql("UPDATE db.t SET a = 1 WHERE id < 3")
    story.warehouse.run("compact", "db.t")
    assert story.scanned() == [{**row, "a": 1 if row["id"] < 3 else None} for row in rows]


def test_an_id_is_not_given_again_when_the_last_column_went(story):
    story.drop_column("f")
    story.add_column("g", "double")
    fields = story.table.schema(story.table.current)["fields"]
    assert [field["id"] for field in fields] == [1, 2, 3, 5]
    story.update({"g": ("id", lambda row: float(row["id"]))})
    finish(story)


def test_column_files_lose_dropped_columns_when_an_entry_is_written(story):
    story.update({"a": ("a + 1", lambda row: row["a"] + 1), "b": ("'b'", lambda row: "b")})
    story.drop_column("a")
    listed = lambda: sorted({i for entry in story.table.live(story.table.current)
                             for cf in entry[158] or [] for i in cf[161]})
    assert listed() == [2, 3, 2147483539]
    story.update({"f": ("1", lambda row: 1.0)})
    assert listed() == [3, 4, 2147483539]
    story.drop_column("b")
    story.update({"f": ("2", lambda row: 2.0)})
    assert listed() == [4, 2147483539]
    assert all(len(entry[158]) == 1 for entry in story.table.live(story.table.current))
    finish(story)


def test_types_grow_before_and_after_updates(story):
    story.update({"a": ("a + 1", lambda row: row["a"] + 1)}, "id < 4", lambda row: row["id"] < 4)
    story.alter("ALTER COLUMN a TYPE long")
    story.alter("ALTER COLUMN f SET DATA TYPE double")
    scanned_alike(story)
    big = 2**40
    story.update({"a": (f"a + {big}", lambda row: row["a"] + big),
                  "f": ("f + 1e300", lambda row: row["f"] + 1e300)}, "id >= 9", lambda row: row["id"] >= 9)
    found = story.warehouse.run("sql", f"SELECT id FROM db.t WHERE a >= {big}", "--format", "csv")
    assert found.split() == ["id", "9", "10", "11"]
    found = story.warehouse.run("sql", "SELECT id FROM db.t WHERE a = 11 AND f = 0.25", "--format", "csv")
    assert found.split() == ["id", "1"]
    finish(story)


def test_decimals_and_dates_grow(tmp_path):
    days = [datetime.date(1969, 12, 31), datetime.date(2026, 11, 1), None]
    sums = [decimal.Decimal("-1.25"), None, decimal.Decimal("999.99")]
    pq.write_table(pa.table({"id": pa.array([0, 1, 2], pa.int64()), "day": pa.array(days, pa.date32()),
                             "sum": pa.array(sums, pa.decimal128(5, 2))}), tmp_path / "d.parquet")
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.run("import", "db.t", str(tmp_path / "d.parquet"))
    warehouse.sql("UPDATE db.t SET day = DATE '2000-01-01', sum = 1.5 WHERE id = 1")
    warehouse.sql("ALTER TABLE db.t ALTER COLUMN day TYPE timestamp")
    warehouse.sql("ALTER TABLE db.t ALTER COLUMN sum TYPE decimal(20, 2)")
    wanted = [{"id": 0, "day": "1969-12-31T00:00:00.000000", "sum": "-1.25"},
              {"id": 1, "day": "2000-01-01T00:00:00.000000", "sum": "1.50"},
              {"id": 2, "day": None, "sum": "999.99"}]

    def check():
        lines = warehouse.run("scan", "db.t", "--format", "jsonl").splitlines()
        assert [json.loads(line) for line in lines] == wanted
        plain = [{k: row[k] for k in ("id", "day", "sum")} for row in warehouse.table("db.t").rows()]
        assert plain == wanted
        warehouse.run("validate", "db.t")

    check()
    warehouse.sql("UPDATE db.t SET sum = 123456789012345.67, day = TIMESTAMP '2026-11-30 12:00:00' WHERE id = 2")
    wanted[2].update(day="2026-11-30T12:00:00.000000", sum="123456789012345.67")
    check()
    for condition, ids in [("day < '2000-01-01'", [0]), ("day = '2000-01-01'", [1]), ("sum > 1000000", [2])]:
        text = warehouse.run("sql", f"SELECT id FROM db.t WHERE {condition}", "--format", "csv")
        assert [int(line) for line in text.split()[1:]] == ids, condition
    warehouse.run("compact", "db.t")
    check()


def test_each_snapshot_is_read_with_its_own_schema(story):
    first = story.table.current
    story.rename_column("a", "n")
    story.drop_column("b")
    story.update({"n": ("0", lambda row: 0)})
    text = story.warehouse.run("scan", "db.t", "--snapshot", str(first), "--format", "jsonl")
    assert [json.loads(line) for line in text.splitlines()] == flat_rows()
    text = story.warehouse.run("sql", f"SELECT b FROM db.t VERSION AS OF {first} WHERE a = 30",
                               "--format", "csv")
    assert text.split() == ["b", "b3"]
    finish(story)


def test_a_default_grows_with_its_column(story):
    story.alter("ADD COLUMN n int DEFAULT 7", lambda row: {**row, "n": 7})
    story.alter("ALTER COLUMN n TYPE long")
    story.update({"n": (f"n + {2**33}", lambda row: row["n"] + 2**33)}, "id % 5 = 2",
                 lambda row: row["id"] % 5 == 2)
    field = story.table.schema(story.table.current)["fields"][-1]
    assert (field["type"], field["initial-default"], field["write-default"]) == ("long", 7, 7)
    story.rename_column("n", "m")
    finish(story)


def test_leaf_manifests_of_before_are_read_and_skipped_by(tmp_path):
    """Leaves are not written again: their statistics are of the old types, and of dropped columns."""
    paths = [tmp_path / f"p{i}.parquet" for i in range(6)]
    for i, path in enumerate(paths):
        values = range(10 * i, 10 * i + 10)
        pq.write_table(pa.table({"id": pa.array(values, pa.int64()), "a": pa.array(values, pa.int32()),
                                 "b": [f"b{v}" for v in values]}), path)
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.run("import", "db.t", *map(str, paths), "--property", "write.root-manifest.max-entries=2")
    manifests = json.loads(warehouse.run("manifests", "db.t", "--json"))
    assert [m["content"] for m in manifests] == ["ROOT", "DATA_MANIFEST"]
    rows = [{"id": i, "a": i, "b": f"b{i}"} for i in range(60)]

    def check():
        lines = warehouse.run("scan", "db.t", "--format", "jsonl").splitlines()
        assert sorted((json.loads(line) for line in lines), key=lambda row: row["id"]) == rows
        warehouse.run("validate", "db.t")

    def matched(condition):
        text = warehouse.run("scan", "db.t", "--where", condition, "--columns", "id",
                             "--format", "csv")
        return sorted(int(line) for line in text.split()[1:])

    warehouse.sql("UPDATE db.t SET a = a + 1 WHERE id < 5")
    warehouse.sql("ALTER TABLE db.t ALTER COLUMN a TYPE long")
    warehouse.sql("ALTER TABLE db.t DROP COLUMN b")
    rows = [{"id": r["id"], "a": r["a"] + (r["id"] < 5)} for r in rows]
    check()
    assert matched("a >= 45") == list(range(45, 60))
    plan = warehouse.run("plan", "db.t", "--where", "a >= 45")
    assert "by bounds 4" in plan, plan
    warehouse.sql("ALTER TABLE db.t ADD COLUMN b int")
    warehouse.sql("UPDATE db.t SET b = 1, a = 5000000000 WHERE id > 55")
    rows = [{**r, "b": 1, "a": 5 * 10**9} if r["id"] > 55 else {**r, "b": None} for r in rows]
    check()
    assert matched("a > 4000000000") == matched("b = 1") == [56, 57, 58, 59]
    warehouse.run("compact", "db.t")
    check()
    assert matched("a > 4000000000") == matched("b = 1") == [56, 57, 58, 59]


def test_changes_are_told_by_the_names_of_today(story):
    story.rename_column("a", "n")
    story.update({"n": ("n + 1", lambda row: row["n"] + 1)}, "id = 2", lambda row: row["id"] == 2)
    story.rename_column("n", "m")
    story.drop_column("b")
    lines = story.warehouse.run("changes", "db.t", "--rows", "--format", "jsonl").splitlines()
    changes = [json.loads(line) for line in lines]
    assert [(c["_change_type"], c["_changed_columns"], c["m"]) for c in changes] == [
        ("UPDATE_BEFORE", ["m"], 20), ("UPDATE_AFTER", ["m"], 21)]
    assert all("b" not in c for c in changes)


# ---- fields inside of columns ----

@pytest.fixture
def nested(tmp_path):
    kind = pa.struct([("x", pa.int32()), ("y", pa.string())])
    rows = [{"id": i, "s": None if i == 3 else {"x": i, "y": f"y{i}"},
             "l": [{"x": i, "y": "l"}] * (i % 3), "m": [(f"k{i}", {"x": i, "y": "m"})]} for i in range(6)]
    table = pa.table({
        "id": pa.array([r["id"] for r in rows], pa.int64()), "s": pa.array([r["s"] for r in rows], kind),
        "l": pa.array([r["l"] for r in rows], pa.list_(kind)),
        "m": pa.array([r["m"] for r in rows], pa.map_(pa.string(), kind))})
    pq.write_table(table, tmp_path / "n.parquet")
    for row in rows:
        row["m"] = [{"key": key, "value": value} for key, value in row["m"]]
    return Story(Warehouse(tmp_path / "warehouse"), "db.t", [tmp_path / "n.parquet"], rows)


def inside(column, edit):
    """edit of every struct of a column."""
    def of(row):
        value = row[column]
        if value is None:
            return row
        if column == "l":
            value = [edit(item) for item in value]
        elif column == "m":
            value = [{"key": item["key"], "value": edit(item["value"])} for item in value]
        else:
            value = edit(value)
        return {**row, column: value}
    return of


PATHS = {"s": "s", "l": "l.element", "m": "m.value"}


@pytest.mark.parametrize("grow", [False, True])
@pytest.mark.parametrize("column", PATHS)
def test_fields_of_structs(nested, column, grow):
    path = PATHS[column]
    nested.update({column: ("NULL", lambda row: None)}, "id = 5", lambda row: row["id"] == 5)
    nested.alter(f"RENAME COLUMN {path}.x TO z",
                 inside(column, lambda s: {"z" if k == "x" else k: v for k, v in s.items()}))
    if grow:
        nested.alter(f"ALTER COLUMN {path}.z TYPE bigint")
    scanned_alike(nested)
    nested.alter(f"DROP COLUMN {path}.y", inside(column, lambda s: {"z": s["z"]}))
    scanned_alike(nested)
    nested.update({"id": ("id + 0", lambda row: row["id"])}, "id < 2", lambda row: row["id"] < 2)
    nested.compact()
    scanned_alike(nested)
    nested.end()
    stored = pq.ParquetFile(nested.data_files()[0]).schema_arrow.field(column).type
    kind = {"s": lambda: stored, "l": lambda: stored.value_type, "m": lambda: stored.item_type}[column]()
    assert [(kind.field(i).name, kind.field(i).type) for i in range(kind.num_fields)] == \
        [("z", pa.int64() if grow else pa.int32())]


@pytest.mark.parametrize("change,status,says", [
    ("DROP COLUMN m.key", OTHER, "unsupported: dropping column \"m.key\", in the key of a map"),
    ("ALTER COLUMN m.key TYPE string", OTHER, "in the key of a map"),
    ("RENAME COLUMN l.element TO e", OTHER, 'unsupported: renaming "l.element"'),
    ("DROP COLUMN m.value", OTHER, 'unsupported: dropping "m.value"'),
    ("RENAME COLUMN s.x TO y", OTHER, 'column "s.y" exists already'),
    ('RENAME COLUMN id TO "s.y"', OTHER, 'column "s.y" exists already'),
    ('ADD COLUMN "l.element.x" int', OTHER, 'column "l.element.x" exists already'),
    ("DROP COLUMN s.q", NOT_FOUND, 'there is no column "q"'),
    ("DROP COLUMN s.x.q", NOT_FOUND, 'column "s.x" has no field "q"'),
    ("ALTER COLUMN s TYPE string", USAGE, "cannot become string"),
    ("ALTER COLUMN s.x TYPE double", USAGE, 'column "s.x" of type int cannot become double'),
])
def test_fields_that_cannot_change(nested, change, status, says):
    refuses(nested, change, status, says)


def test_the_last_field_stays(nested):
    nested.alter("DROP COLUMN s.x", inside("s", lambda s: {"y": s["y"]}))
    refuses(nested, "DROP COLUMN s.y", USAGE, "it is the only one there")
    nested.drop_column("s")
    nested.update({"id": ("id", lambda row: row["id"])})
    nested.compact()
    nested.end()


# ---- what is refused ----

def refuses(story, change, status, says):
    """The statement fails with a message, and the table is what it was."""
    before = metadata(story)
    command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(story.warehouse.folder), "sql",
               f"ALTER TABLE db.t {change}"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.startswith("frazil: ") and says in done.stderr, done.stderr
    assert metadata(story) == before


@pytest.mark.parametrize("change,status,says", [
    ("RENAME COLUMN q TO r", NOT_FOUND, 'there is no column "q"'),
    ("RENAME COLUMN a TO b", OTHER, 'column "b" exists already'),
    ("RENAME COLUMN a TO _row_id", USAGE, "reserved"),
    ("RENAME COLUMN a TO _FILE", USAGE, "reserved"),
    ("ADD COLUMN _pos long", USAGE, "reserved"),
    ('RENAME COLUMN a TO ""', USAGE, "empty"),
    ("RENAME COLUMN a TO b.c", USAGE, "expected the end of the statement"),
    ("RENAME TO other", OTHER, "unsupported: ALTER TABLE ... RENAME TO"),
    ("DROP COLUMN q", NOT_FOUND, 'there is no column "q"'),
    ("DROP COLUMN a, b", USAGE, "expected the end of the statement"),
    ("ALTER COLUMN a TYPE string", USAGE, 'column "a" of type int cannot become string'),
    ("ALTER COLUMN id TYPE int", USAGE, 'column "id" of type long cannot become int'),
    ("ALTER COLUMN a TYPE double", USAGE, 'column "a" of type int cannot become double'),
    ("ALTER COLUMN f TYPE decimal(9, 2)", USAGE, "of type float cannot become decimal(9, 2)"),
    ("ALTER COLUMN b TYPE binary", USAGE, "of type string cannot become binary"),
    ("ALTER COLUMN a TYPE nothing", USAGE, "expected a type"),
    ("ALTER COLUMN a SET NOT NULL", OTHER, "unsupported: ALTER COLUMN ... SET of anything but DATA TYPE"),
    ("ALTER COLUMN a", USAGE, "expected TYPE"),
    ("UNSET TBLPROPERTIES ('nothing')", NOT_FOUND, "the table has no property nothing"),
    ("UNSET TBLPROPERTIES ('format-version')", USAGE, "format-version"),
    ("UNSET TBLPROPERTIES ('schema.name-mapping.default')", USAGE, "must stay"),
    ("UNSET TBLPROPERTIES ()", USAGE, "expected a property name"),
    ("REPLACE COLUMNS (a int)", OTHER, "unsupported: ALTER TABLE ... REPLACE"),
])
def test_mistakes(story, change, status, says):
    refuses(story, change, status, says)


@pytest.mark.parametrize("change", [
    "DROP COLUMN IF EXISTS q", "RENAME COLUMN a TO a", "ALTER COLUMN a TYPE integer", "ALTER COLUMN b DROP NOT NULL",
    "UNSET TBLPROPERTIES IF EXISTS ('nothing')",
])
def test_nothing_to_do(story, change):
    before = metadata(story)
    story.alter(change)
    assert metadata(story) == before


def edit_metadata(story, edit):
    """Give the table what Frazil cannot make: partition specs, sort orders, identifier fields."""
    table = story.table
    location = checker.metadata_location(story.warehouse.folder / "catalog.db", "db", "t")
    document = table.json
    edit(document, document["schemas"][-1])
    with open(table.path(location), "w") as file:
        json.dump(document, file)


def spec(number, transform, source, field=1000):
    return {"spec-id": number, "fields": [{"source-id": source, "field-id": field, "name": "part",
                                           "transform": transform}]}


def test_sources_of_partitions_stay(story):
    def edit(document, schema):
        document["partition-specs"] += [spec(1, "bucket[4]", 2), spec(2, "void", 4, 1001)]
        document["last-partition-id"] = 1001

    edit_metadata(story, edit)
    refuses(story, "DROP COLUMN a", USAGE,
            'column "a" cannot be dropped: it is used by field "part" of partition spec 1')
    story.alter("ALTER COLUMN a TYPE long")  # the bucket of a number is that of either type
    story.drop_column("f")
    story.rename_column("a", "n")
    finish(story)


@pytest.mark.parametrize("transform,refused", [("identity", True), ("bucket[4]", True), ("day", False),
                                               ("void", False), ("something", True)])
def test_partitions_keep_their_values_when_a_type_grows(tmp_path, transform, refused):
    pq.write_table(pa.table({"id": [1], "day": pa.array([20000], pa.date32())}), tmp_path / "d.parquet")
    rows = [{"id": 1, "day": "2024-10-04"}]
    story = Story(Warehouse(tmp_path / "warehouse"), "db.t", [tmp_path / "d.parquet"], rows)

    def edit(document, schema):
        document["partition-specs"].append(spec(1, transform, 2))
        document["last-partition-id"] = 1000

    edit_metadata(story, edit)
    if refused:
        refuses(story, "ALTER COLUMN day TYPE timestamp", USAGE, "partition spec 1 would change")
    else:
        story.warehouse.sql("ALTER TABLE db.t ALTER COLUMN day TYPE timestamp")
        assert story.scanned() == [{"id": 1, "day": "2024-10-04T00:00:00.000000"}]


def test_columns_of_the_sort_order_stay(story):
    def edit(document, schema):
        document["sort-orders"] += [{"order-id": i, "fields": [
            {"source-id": source, "transform": "identity", "direction": "asc",
             "null-order": "nulls-first"}]} for i, source in ((1, 2), (2, 3))]
        document["default-sort-order-id"] = 1

    edit_metadata(story, edit)
    refuses(story, "DROP COLUMN a", USAGE, 'column "a" cannot be dropped: it is used by sort order 1')
    story.drop_column("b")  # of an order that is not written any more
    finish(story)


def test_identifier_fields_stay(tmp_path):
    table = flat(flat_rows())
    fields = [field.with_nullable(field.name not in ("id", "a")) for field in table.schema]
    pq.write_table(table.cast(pa.schema(fields)), tmp_path / "r.parquet")
    story = Story(Warehouse(tmp_path / "warehouse"), "db.t", [tmp_path / "r.parquet"], flat_rows())

    def edit(document, schema):
        assert [field["required"] for field in schema["fields"]] == [True, True, False, False]
        schema["identifier-field-ids"] = [1]

    edit_metadata(story, edit)
    refuses(story, "DROP COLUMN id", USAGE, "it is used by the table's identifier fields")
    refuses(story, "ALTER COLUMN id DROP NOT NULL", USAGE, "must stay NOT NULL")
    story.warehouse.run("sql", "UPDATE db.t SET a = NULL WHERE id = 1", status=USAGE)
    story.alter("ALTER COLUMN a DROP NOT NULL")
    story.update({"a": ("NULL", lambda row: None)}, "id = 1", lambda row: row["id"] == 1)
    schema = story.table.schema(story.table.current)
    assert [field["required"] for field in schema["fields"]] == [True, False, False, False]
    assert schema["identifier-field-ids"] == [1]
    finish(story)


def test_properties_follow_their_columns(story):
    prefix = "write.metadata.metrics.column."
    story.alter(f"SET TBLPROPERTIES ('{prefix}a' = 'counts', '{prefix}b' = 'none', 'owner' = 'me', "
                f"'{prefix}ab' = 'full')")
    own = lambda: {k: v for k, v in metadata(story)["properties"].items() if not k.startswith("schema.")}
    kept = {k: v for k, v in own().items() if not k.startswith(prefix) and k != "owner"}
    story.rename_column("a", "n")
    story.drop_column("b")
    assert own() == {**kept, prefix + "n": "counts", prefix + "ab": "full", "owner": "me"}
    story.alter(f"UNSET TBLPROPERTIES ('owner', '{prefix}ab')")
    assert own() == {**kept, prefix + "n": "counts"}
    finish(story)
