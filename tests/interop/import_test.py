"""Import of Parquet files that others wrote: what fits becomes a table whose files are theirs byte
for byte; what does not is refused in one line, and nothing is left behind."""
import datetime
import decimal
import os
import sqlite3
import struct
import subprocess
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from frazil import BUILD, ROW_ID, UPDATED, Story, Warehouse


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "warehouse")


def refusal(warehouse, *arguments, status):
    """The text of a command that must fail with this status."""
    command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(warehouse.folder), *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stderr}"
    assert done.stdout == ""
    return done.stderr


def refuse(warehouse, files, *phrases, status=2, options=()):
    """The import is refused with these phrases, and leaves no file of a table behind."""
    text = refusal(warehouse, "import", "db.t", *map(str, files), *options, status=status)
    for phrase in phrases:
        assert phrase in text, text
    left = [p for p in warehouse.folder.rglob("*") if p.is_file()]
    assert [p.name for p in left if not p.name.startswith("catalog.db")] == []
    if left:
        with sqlite3.connect(warehouse.folder / "catalog.db") as connection:
            assert connection.execute("SELECT count(*) FROM iceberg_tables").fetchone() == (0,)
    return text


def with_ids(schema, ids):
    """The schema with field ids for its top-level columns."""
    return pa.schema(
        field if i is None else field.with_metadata({"PARQUET:field_id": str(i)})
        for field, i in zip(schema, ids)
    )


def put(path, columns, schema=None, ids=None, **options):
    schema = schema or pa.table(columns).schema
    if ids is not None:
        schema = with_ids(schema, ids)
    pq.write_table(pa.table(columns, schema=schema), path, **options)
    return path


def ids_of(table):
    (schema,) = table.schemas.values()
    return {field["name"]: field["id"] for field in schema["fields"]}


PLAIN = {"a": [1, 2, None], "b": ["x", None, "z"]}


def plain_rows(count=3):
    return [{"a": PLAIN["a"][i % 3], "b": PLAIN["b"][i % 3]} for i in range(count)]


# ---- field ids ----------------------------------------------------------------------------------


def test_ids_of_the_files_are_the_tables(warehouse, tmp_path):
    path = put(tmp_path / "f.parquet", PLAIN, ids=[17, 4])
    story = Story(warehouse, "db.t", [path], plain_rows())
    assert ids_of(story.table) == {"a": 17, "b": 4}
    assert story.table.json["last-column-id"] == 17
    assert story.table.mapping is None
    story.add_column("c", "int")
    (fields,) = [s["fields"] for s in story.table.schemas.values() if len(s["fields"]) == 3]
    assert fields[2]["id"] == 18


def test_files_without_ids_are_read_by_name(warehouse, tmp_path):
    path = put(tmp_path / "f.parquet", PLAIN)
    story = Story(warehouse, "db.t", [path], plain_rows())
    assert ids_of(story.table) == {"a": 1, "b": 2}
    assert [(m["names"], m["field-id"]) for m in story.table.mapping] == [(["a"], 1), (["b"], 2)]
    # a column of a later name that the mapping does not have stays null in old files
    story.add_column("c", "string")


def test_files_with_and_without_ids_together(warehouse, tmp_path):
    files = [
        put(tmp_path / "1.parquet", PLAIN),
        put(tmp_path / "2.parquet", PLAIN, ids=[8, 9]),
        put(tmp_path / "3.parquet", {"b": PLAIN["b"], "a": PLAIN["a"]}),
    ]
    story = Story(warehouse, "db.t", files, plain_rows(9))
    assert ids_of(story.table) == {"a": 8, "b": 9}
    assert [m["field-id"] for m in story.table.mapping] == [8, 9]
    story.update({"a": ("a + 1", lambda row: None if row["a"] is None else row["a"] + 1)})
    story.compact()


@pytest.mark.parametrize(
    "ids, phrase",
    [
        ([1, None], 'column "a" has field id 1, but column "b" has none'),
        ([3, 3], 'columns "a" and "b" both have field id 3'),
        ([1, 2147483540], 'column "b" has field id 2147483540, which is reserved'),
        ([2147483539, 1], 'column "a" has field id 2147483539, which is reserved'),
    ],
)
def test_ids_that_no_table_can_have(ids, phrase, warehouse, tmp_path):
    path = put(tmp_path / "f.parquet", PLAIN, ids=ids)
    refuse(warehouse, [path], "f.parquet", phrase, "--rewrite")


def test_ids_that_disagree(warehouse, tmp_path):
    files = [
        put(tmp_path / "1.parquet", PLAIN, ids=[1, 2]),
        put(tmp_path / "2.parquet", PLAIN, ids=[1, 3]),
    ]
    refuse(warehouse, files, '2.parquet, column "b": expected field id 2', "found 3", "--rewrite")
    rewritten = Story(warehouse, "db.t", [*files, "--rewrite"], plain_rows(6))
    assert ids_of(rewritten.table) == {"a": 1, "b": 2}


def test_ids_inside_but_not_outside(warehouse, tmp_path):
    inner = pa.field("x", pa.int32()).with_metadata({"PARQUET:field_id": "2"})
    schema = pa.schema([pa.field("s", pa.struct([inner]))])
    rows = [{"s": {"x": 1}}, {"s": None}, {"s": {"x": None}}]
    path = tmp_path / "f.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    refuse(warehouse, [path], 'column "x" has field id 2, but column "s" has none')
    Story(warehouse, "db.t", [path, "--rewrite"], rows)


def test_lineage_of_another_table_is_not_believed(warehouse, tmp_path):
    first = Story(warehouse, "db.t", [put(tmp_path / "f.parquet", PLAIN)], plain_rows())
    first.update({"a": ("7", lambda row: 7)}, "a = 1", lambda row: row["a"] == 1)
    first.compact()
    (file,) = first.data_files()
    other = Warehouse(tmp_path / "other")
    refuse(other, [file], "which is reserved", "--rewrite")
    story = Story(other, "db.t", [file, "--rewrite"], first.plain())
    assert set(ids_of(story.table)) == {"a", "b"}
    names = put(tmp_path / "n.parquet", {"_row_id": [1]})
    refuse(Warehouse(tmp_path / "third"), [names], '"_row_id" is reserved for row lineage')


# ---- several files ------------------------------------------------------------------------------


def test_files_that_differ_in_form_only(warehouse, tmp_path):
    """Row groups, codecs, page versions, dictionaries, column order, nullability."""
    required = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())])
    one = {"a": list(range(1000)), "b": [f"t{i % 9}" for i in range(1000)]}
    files = [
        put(tmp_path / "1.parquet", one, required, row_group_size=64, compression="snappy"),
        put(tmp_path / "2.parquet", dict(reversed(one.items())), row_group_size=1000),
        put(tmp_path / "3.parquet", one, required, row_group_size=333, compression="gzip"),
        put(tmp_path / "4.parquet", one, required, compression="lz4", use_dictionary=False),
        put(tmp_path / "5.parquet", one, data_page_version="2.0", compression="zstd"),
        put(tmp_path / "6.parquet", one, write_statistics=False, compression="none"),
    ]
    rows = [{"a": a, "b": b} for a, b in zip(one["a"], one["b"])] * 6
    story = Story(warehouse, "db.t", files, rows)
    (schema,) = story.table.schemas.values()
    assert [(f["name"], f["required"]) for f in schema["fields"]] == [("a", False), ("b", False)]
    assert story.report["rows"] == 6000 and story.report["data_files"] == 6
    entries = story.table.live(story.table.current)
    stats = [checker.without_nulls(entry[checker.CONTENT_STATS]) for entry in entries]
    assert [s[10200][10201] for s in stats[:5]] == [0] * 5
    assert [s[10200][10202] for s in stats[:5]] == [999] * 5
    assert 10201 not in (stats[5] or {}).get(10200, {})
    assert not warehouse.report("compact", "db.t")["snapshot_id"]  # nothing to fold
    story.update({"a": ("a + 1", lambda row: row["a"] + 1)}, "a < 10", lambda row: row["a"] < 10)
    story.compact()


def test_all_required_stays_required(warehouse, tmp_path):
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    files = [put(tmp_path / f"{i}.parquet", {"a": [i]}, schema) for i in range(2)]
    story = Story(warehouse, "db.t", files, [{"a": 0}, {"a": 1}])
    (schema,) = story.table.schemas.values()
    assert schema["fields"][0]["required"] is True


OTHER = {
    "another type": ({"a": ["1"], "b": ["x"]}, 'column "a": expected long', "found string"),
    "narrower": (
        {"a": pa.array([1], pa.int32()), "b": ["x"]}, 'column "a": expected long', "found int"
    ),
    "missing": ({"b": ["x"]}, 'has no column "a", which is long'),
    "more": ({"a": [1], "b": ["x"], "c": [1.5]}, 'has no column "c", which is double'),
    "case": ({"A": [1], "b": ["x"]}, 'has no column "a", which is long'),
}


@pytest.mark.parametrize("what", OTHER)
def test_a_file_that_does_not_fit(what, warehouse, tmp_path):
    columns, *phrases = OTHER[what]
    files = [put(tmp_path / "1.parquet", PLAIN), put(tmp_path / "odd.parquet", columns)]
    refuse(warehouse, files, *phrases, "odd.parquet", "1.parquet")
    refuse(warehouse, files, *phrases, "odd.parquet", "1.parquet", options=["--rewrite"])


def test_a_difference_deep_inside(warehouse, tmp_path):
    def nested(kind):
        return pa.schema([("s", pa.list_(pa.struct([("x", pa.int32()), ("y", kind)])))])

    files = []
    for name, kind in ("1", pa.decimal128(9, 2)), ("2", pa.decimal128(9, 3)):
        value = [{"s": [{"x": 1, "y": decimal.Decimal("1.5")}]}]
        files.append(tmp_path / f"{name}.parquet")
        pq.write_table(pa.Table.from_pylist(value, schema=nested(kind)), files[-1])
    phrase = '2.parquet, column "s.element.y": expected decimal(9, 2)'
    refuse(warehouse, files, phrase, "found decimal(9, 3)")


# ---- bytes and metadata -------------------------------------------------------------------------


def test_the_bytes_are_kept(warehouse, tmp_path):
    path = put(tmp_path / "f.parquet", {"a": list(range(10_000))}, row_group_size=1000)
    story = Story(warehouse, "db.t", [path], [{"a": i} for i in range(10_000)])
    (copy,) = story.data_files()
    assert open(copy, "rb").read() == path.read_bytes()
    assert story.report["data_bytes"] == path.stat().st_size
    (entry,) = story.table.live(story.table.current)
    groups = pq.ParquetFile(path).metadata
    starts = [groups.row_group(i).column(0) for i in range(groups.num_row_groups)]
    starts = [c.dictionary_page_offset or c.data_page_offset for c in starts]
    assert entry[checker.SPLIT_OFFSETS] == starts


def test_properties_and_an_existing_table(warehouse, tmp_path):
    path = put(tmp_path / "f.parquet", PLAIN)
    refuse(warehouse, [path], "write.durability", options=["--property", "write.durability=x"])
    bad = ["--property", "schema.name-mapping.default=[]"]
    refuse(warehouse, [path], "schema.name-mapping.default", options=bad)
    options = ["--property", "write.durability=none", "--property", "owner=me"]
    story = Story(warehouse, "db.t", [path, *options], plain_rows())
    assert story.table.json["properties"]["owner"] == "me"
    before = sorted(warehouse.folder.rglob("*"))
    text = refusal(warehouse, "import", "db.t", str(path), status=1)
    assert "exists" in text
    assert sorted(warehouse.folder.rglob("*")) == before


def test_files_without_rows(warehouse, tmp_path):
    empty = pa.schema([("a", pa.int64()), ("b", pa.string())])
    files = [put(tmp_path / "0.parquet", {"a": [], "b": []}, empty),
             put(tmp_path / "1.parquet", PLAIN)]
    story = Story(warehouse, "db.t", files, plain_rows())
    story.update({"a": ("5", lambda row: 5)})
    story.compact()
    Story(warehouse, "db.nothing", files[:1], [])
    none = pa.table({}).select([])
    pq.write_table(none, tmp_path / "none.parquet")
    refuse(Warehouse(tmp_path / "w"), [tmp_path / "none.parquet"], "no columns")


# ---- names and types ----------------------------------------------------------------------------

NAMES = ["a.b", "with space", 'quo"te', "ü", "#/?%&", "Case", "case", "select", "1", "",
         "x" * 300, "tab\there"]


@pytest.mark.parametrize("given", [False, True], ids=["without ids", "with ids"])
def test_odd_column_names(given, warehouse, tmp_path):
    columns = {name: [i, None] for i, name in enumerate(NAMES)}
    ids = [100 + i for i in range(len(NAMES))] if given else None
    path = put(tmp_path / "f.parquet", columns, ids=ids)
    rows = [{name: i for i, name in enumerate(NAMES)}, dict.fromkeys(NAMES)]
    story = Story(warehouse, "db.t", [path], rows)
    assert list(ids_of(story.table)) == NAMES
    warehouse.sql('UPDATE db.t SET "a.b" = "Case" + "case" WHERE "with space" = 1')
    assert story.scanned()[0]["a.b"] == 11
    warehouse.report("compact", "db.t")
    assert story.scanned()[0] == {**rows[0], "a.b": 11}


def nested_schema():
    point = pa.struct([("x", pa.int32()), ("y", pa.float64())])
    return pa.schema([
        ("id", pa.int64()),
        ("p", point),
        ("l", pa.list_(pa.int32())),
        ("ll", pa.list_(pa.list_(pa.string()))),
        ("lp", pa.list_(point)),
        ("m", pa.map_(pa.string(), pa.int64())),
        ("mp", pa.map_(pa.int32(), point)),
        ("deep", pa.struct([("m", pa.map_(pa.string(), pa.list_(point)))])),
    ])


def nested_row(i):
    point = None if i % 5 == 1 else {"x": None if i % 7 == 2 else i, "y": i / 2}
    return {
        "id": i,
        "p": point,
        "l": [None, [], [i], [None, i, 3]][i % 4],
        "ll": [None, [], [[]], [None, ["a", None]], [["b"], []]][i % 5],
        "lp": [None, [], [point], [point, None, point]][i % 4],
        "m": [None, [], [("k", i)], [("k", None), ("l", i)]][i % 4],
        "mp": [None, [(i, point), (i + 1, None)]][i % 2],
        "deep": [None, {"m": None}, {"m": [("k", [point]), ("n", None)]}][i % 3],
    }


def shown_rows(path, story_schema):
    """Rows of a file as the checker shows them, by the table's types."""
    file = checker.File(path)
    names = [field["name"] for field in story_schema["fields"]]
    columns = []
    for field, node in zip(story_schema["fields"], file.nodes):
        number(node, field["id"], field["type"])
        chunks = pq.ParquetFile(path).read().column(field["name"]).chunks
        raw = [value for chunk in chunks for value in checker.values(chunk, node)]
        columns.append([checker.shown(value, field["type"]) for value in raw])
    return [dict(zip(names, row)) for row in zip(*columns)]


def number(node, field_id, kind):
    """Give the columns of a file the ids of a type."""
    node.id = field_id
    if isinstance(kind, str):
        return
    if kind["type"] == "struct":
        below = [(f["id"], f["type"]) for f in kind["fields"]]
    elif kind["type"] == "list":
        below = [(kind["element-id"], kind["element"])]
    else:
        below = [(kind["key-id"], kind["key"]), (kind["value-id"], kind["value"])]
    for child, (i, t) in zip(node.children, below):
        number(child, i, t)


@pytest.mark.parametrize("rewrite", [[], ["--rewrite"]], ids=["kept", "rewritten"])
def test_nested_columns(rewrite, warehouse, tmp_path):
    path = tmp_path / "f.parquet"
    rows = pa.Table.from_pylist([nested_row(i) for i in range(210)], schema=nested_schema())
    pq.write_table(rows, path, row_group_size=64)
    warehouse.report("import", "db.t", str(path), *rewrite)
    table = warehouse.table("db.t")
    table.check()
    (schema,) = table.schemas.values()
    wanted = shown_rows(path, schema)
    found = [{k: v for k, v in row.items() if k not in (ROW_ID, UPDATED)} for row in table.rows()]
    assert found == wanted
    warehouse.run("validate", "db.t")
    # other columns are updated and folded; the nested ones are copied
    warehouse.sql("UPDATE db.t SET id = id + 1000 WHERE id < 50")
    warehouse.report("compact", "db.t")
    table = warehouse.table("db.t")
    table.check()
    for row in wanted:
        row["id"] += 1000 if row["id"] < 50 else 0
    found = [{k: v for k, v in row.items() if k not in (ROW_ID, UPDATED)} for row in table.rows()]
    assert found == wanted
    warehouse.run("validate", "db.t")


MOMENT = datetime.datetime(2024, 2, 29, 12, 34, 56, 789_000)

# name: (values, Arrow type, Iceberg type, options of the writer)
TYPES = {
    "boolean": ([True, None, False], pa.bool_(), "boolean", {}),
    "int8": ([-128, None, 127], pa.int8(), "int", {}),
    "int16": ([-32768, None, 32767], pa.int16(), "int", {}),
    "int32": ([-(2**31), None, 2**31 - 1], pa.int32(), "int", {}),
    "int64": ([-(2**63), None, 2**63 - 1], pa.int64(), "long", {}),
    "uint8": ([0, None, 255], pa.uint8(), "int", {}),
    "uint16": ([0, None, 65535], pa.uint16(), "int", {}),
    "uint32": ([0, None, 2**32 - 1], pa.uint32(), "long", {}),
    "uint64": ([0, None, 2**63 - 1], pa.uint64(), "long", {}),
    "half": ([-1.5, None, 65504.0], pa.float16(), "float", {}),
    "float": ([-1.5, None, float("nan"), -0.0], pa.float32(), "float", {}),
    "double": ([1e300, None, float("nan"), 0.0], pa.float64(), "double", {}),
    "decimal9": ([decimal.Decimal("-9999999.99"), None], pa.decimal128(9, 2), "decimal(9, 2)", {}),
    "decimal38": ([decimal.Decimal(10) ** 37, None], pa.decimal128(38, 0), "decimal(38, 0)", {}),
    "decimal_int": ([decimal.Decimal("-1.25"), None], pa.decimal128(9, 2), "decimal(9, 2)",
                    {"store_decimal_as_integer": True}),
    "decimal_long": ([decimal.Decimal("-1.25"), None], pa.decimal128(18, 2), "decimal(18, 2)",
                     {"store_decimal_as_integer": True}),
    "date": ([MOMENT.date(), None, datetime.date(1, 1, 1)], pa.date32(), "date", {}),
    "time_ms": ([MOMENT.time(), None], pa.time32("ms"), "time", {}),
    "time_us": ([datetime.time(23, 59, 59, 999_999), None], pa.time64("us"), "time", {}),
    "ts_ms": ([MOMENT, None], pa.timestamp("ms"), "timestamp", {}),
    "ts_us": ([MOMENT, None, datetime.datetime(1, 1, 1)], pa.timestamp("us"), "timestamp", {}),
    "ts_ns": ([MOMENT, None], pa.timestamp("ns"), "timestamp_ns", {"version": "2.6"}),
    "tz_ms": ([MOMENT, None], pa.timestamp("ms", "UTC"), "timestamptz", {}),
    "tz_us": ([MOMENT, None], pa.timestamp("us", "UTC"), "timestamptz", {}),
    "int96": ([MOMENT, None], pa.timestamp("us"), "timestamp",
              {"use_deprecated_int96_timestamps": True}),
    "string": (["", None, "ü" * 40, "a"], pa.string(), "string", {}),
    "large_string": (["x", None], pa.large_string(), "string", {}),
    "binary": ([b"", None, b"\xff" * 40, b"\x00"], pa.binary(), "binary", {}),
    "fixed": ([b"abc", None, b"\xff\xfe\xfd"], pa.binary(3), "fixed[3]", {}),
    "null": ([None, None], pa.null(), "unknown", {}),
}


@pytest.mark.parametrize("name", TYPES)
def test_types(name, warehouse, tmp_path):
    """The type in the table, the values as the checker reads them from the file, and the statistics
    (checked by the checker and by validate); then compaction of a copied or an encoded chunk."""
    values, kind, wanted, options = TYPES[name]
    path = tmp_path / "f.parquet"
    columns = {"id": pa.array(range(len(values))), "v": pa.array(values, kind)}
    pq.write_table(pa.table(columns), path, **options)
    warehouse.report("import", "db.t", str(path))
    table = warehouse.table("db.t")
    (schema,) = table.schemas.values()
    assert schema["fields"][1]["type"] == wanted
    if name not in ("half", "int96"):  # the checker reads statistics of the stored type
        table.check()
    warehouse.run("validate", "db.t")
    rows = scan(warehouse)
    warehouse.sql("UPDATE db.t SET id = id + 1")
    warehouse.report("compact", "db.t")
    table = warehouse.table("db.t")
    table.check()
    warehouse.run("validate", "db.t")
    if wanted != "unknown":  # never stored
        found = [{k: v for k, v in row.items() if k in ("id", "v")} for row in table.rows()]
        assert [row["v"] for row in found] == expected(values, wanted)
    assert scan(warehouse) == [{**row, "id": row["id"] + 1} for row in rows]


def scan(warehouse):
    text = warehouse.run("scan", "db.t", "--format", "csv").splitlines()
    head = text[0].split(",")
    return [
        {k: int(v) if k == "id" else v for k, v in zip(head, line.split(","))} for line in text[1:]
    ]


def expected(values, kind):
    """The values as the checker shows them."""
    raw = []
    for value in values:
        if isinstance(value, datetime.datetime):
            delta = value - datetime.datetime(1970, 1, 1)
            value = delta // datetime.timedelta(microseconds=1)
            value *= 1000 if kind.endswith("_ns") else 1
        elif isinstance(value, datetime.date):
            value = (value - datetime.date(1970, 1, 1)).days
        elif isinstance(value, datetime.time):
            value = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6
            value += next(v for v in values if v).microsecond
        raw.append(checker.shown(value, kind))
    return raw


def test_uuid(warehouse, tmp_path):
    values = [uuid.UUID(int=1).bytes, None, uuid.UUID(int=2**128 - 1).bytes]
    path = tmp_path / "f.parquet"
    column = pa.ExtensionArray.from_storage(pa.uuid(), pa.array(values, pa.binary(16)))
    pq.write_table(pa.table({"u": column}), path)
    rows = [{"u": None if v is None else str(uuid.UUID(bytes=v))} for v in values]
    Story(warehouse, "db.t", [path], rows)


def test_types_that_cannot_be_read(warehouse, tmp_path):
    big = put(tmp_path / "big.parquet", {"v": pa.array([2**63], pa.uint64())})
    for options in [], ["--rewrite"]:
        text = refuse(warehouse, [big], "big.parquet", 'column "v"', "unsupported: unsigned 64-bit",
                      status=1, options=options)
        assert "--rewrite cannot help" in text
    span = tmp_path / "span.parquet"
    duckdb.sql(f"COPY (SELECT INTERVAL 1 DAY AS v) TO '{span}'")
    refuse(warehouse, [span], "unsupported: interval", 'column "v"', status=1)
    nanos = put(tmp_path / "nanos.parquet", {"v": pa.array([1], pa.time64("ns"))})
    refuse(warehouse, [nanos], "unsupported: time of nanoseconds", status=1)


def test_statistics_of_unsigned_and_negative_zero(warehouse, tmp_path):
    columns = {"u": pa.array([1, 2**32 - 1, 7], pa.uint32()), "z": [-0.0, 0.0, 1.0]}
    story = Story(warehouse, "db.t", [put(tmp_path / "f.parquet", columns)],
                  [{"u": 1, "z": -0.0}, {"u": 2**32 - 1, "z": 0.0}, {"u": 7, "z": 1.0}])
    (entry,) = story.table.live(story.table.current)
    stats = entry[checker.CONTENT_STATS]
    assert (stats[10200][10201], stats[10200][10202]) == (1, 2**32 - 1)


# ---- files that are no files --------------------------------------------------------------------


def broken(path, change):
    data = bytearray(path.read_bytes())
    path.write_bytes(bytes(change(data)))
    return path


def zero_footer(data):
    (size,) = struct.unpack("<I", data[-8:-4])
    return data[: -8 - size] + bytes(size) + data[-8:]


CUTS = {
    "empty": lambda data: b"",
    "one byte": lambda data: b"P",
    "magic only": lambda data: b"PAR1PAR1",
    "half": lambda data: data[: len(data) // 2],
    "last byte": lambda data: data[:-1],
    "text": lambda data: b"a,b\n1,2\n" * 10,
    "footer length above the file": lambda data: data[:-8] + struct.pack("<I", 2**31) + b"PAR1",
    "footer length zero": lambda data: data[:-8] + struct.pack("<I", 0) + b"PAR1",
    "footer of zeros": lambda data: zero_footer(data),
}


@pytest.mark.parametrize("cut", CUTS)
def test_broken_files(cut, warehouse, tmp_path):
    good = put(tmp_path / "good.parquet", PLAIN)
    bad = broken(put(tmp_path / "bad.parquet", PLAIN), CUTS[cut])
    text = refusal(warehouse, "import", "db.t", str(good), str(bad), status=5)
    assert "bad.parquet" in text
    assert len([line for line in text.splitlines() if not line.startswith(("hint", " "))]) == 1
    refuse(warehouse, [bad], "bad.parquet", status=5)


def test_no_such_file(warehouse, tmp_path):
    text = refusal(warehouse, "import", "db.t", str(tmp_path / "no.parquet"), status=3)
    assert "no.parquet" in text
