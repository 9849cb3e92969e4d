"""Column updates, read back by the checker, which knows nothing of Frazil's code: after every
statement each value, row id and sequence number is where it must be, in every snapshot so far."""
import datetime
import decimal

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from frazil import Story, Warehouse, generate


def rows_of(count, first=0):
    """id, two doubles, a text and a whole number, nulls among them."""
    return [
        {
            "id": i,
            "a": None if i % 7 == 3 else i / 8 - 20,
            "b": float(i * i % 1013) / 4,
            "name": None if i % 11 == 5 else f"näme {i % 17}",
            "n": i % 100 - 50,
        }
        for i in range(first, first + count)
    ]


SCHEMA = [("id", pa.int64()), ("a", pa.float64()), ("b", pa.float64())]
SCHEMA += [("name", pa.string()), ("n", pa.int32())]


def write(path, rows, with_ids=False, **options):
    fields = [
        pa.field(name, kind, metadata={"PARQUET:field_id": str(i + 1)} if with_ids else None)
        for i, (name, kind) in enumerate(SCHEMA)
    ]
    table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
    pq.write_table(table, path, compression="zstd", **options)
    return path


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "warehouse")


def one_file(tmp_path):
    rows = rows_of(1000)
    return [write(tmp_path / "one.parquet", rows, row_group_size=300)], rows


def one_file_with_ids(tmp_path):
    rows = rows_of(1000)
    return [write(tmp_path / "one.parquet", rows, True, use_dictionary=False)], rows


def small_pages(tmp_path):
    rows = rows_of(2000)
    options = {"data_page_size": 512, "data_page_version": "2.0", "row_group_size": 999}
    return [write(tmp_path / "pages.parquet", rows, **options)], rows


def three_files(tmp_path):
    """Different numbers of rows, row groups of different sizes."""
    rows = rows_of(1600)
    return [
        write(tmp_path / "x.parquet", rows[:700], row_group_size=64),
        write(tmp_path / "y.parquet", rows[700:1000], row_group_size=1000),
        write(tmp_path / "z.parquet", rows[1000:], row_group_size=333),
    ], rows


def three_files_with_ids(tmp_path):
    rows = rows_of(900)
    return [
        write(tmp_path / f"{i}.parquet", rows[300 * i : 300 * i + 300], True, row_group_size=70 + i)
        for i in range(3)
    ], rows


def add(column, amount):
    """column + amount, null if the column is."""
    return (
        f"{column} + {amount}",
        lambda row: None if row[column] is None else row[column] + amount,
    )


SOURCES = [one_file, one_file_with_ids, small_pages, three_files, three_files_with_ids]


@pytest.mark.parametrize("source", SOURCES)
def test_every_update_is_found(source, warehouse, tmp_path):
    files, rows = source(tmp_path)
    story = Story(warehouse, "db.t", files, rows)

    # all rows; some rows; the same column again
    story.update({"a": add("a", 1)})
    assert story.report["rows"] == len(rows)
    story.update({"a": add("a", 10)}, "id % 10 = 0", lambda row: row["id"] % 10 == 0)
    assert story.report["rows"] == len(rows) // 10
    story.update({"a": ("b * 2", lambda row: row["b"] * 2)})

    # two columns in one statement: right sides see the old values
    swap = {"a": ("b", lambda row: row["b"]), "b": ("a", lambda row: row["a"])}
    story.update(swap, "n < 0", lambda row: row["n"] < 0)

    # some rows of one file only
    story.update({"b": ("-1.5", lambda row: -1.5)}, "id = 17", lambda row: row["id"] == 17)
    assert story.report["data_files"] == 1

    # text, to null and from null
    story.update(
        {"name": ("CASE WHEN name IS NULL THEN 'new' ELSE NULL END",
                  lambda row: "new" if row["name"] is None else None)},
        "n >= 40", lambda row: row["n"] >= 40,
    )

    # a column that no file has yet: filled for some rows, then for all
    story.add_column("c", "double")
    story.update({"c": ("b / 2", lambda row: None if row["b"] is None else row["b"] / 2)},
                 "id < 500", lambda row: row["id"] < 500)
    story.update({"c": ("id * 0.5", lambda row: row["id"] * 0.5), "n": add("n", 1)})

    assert story.scanned() == story.plain()
    before = story.rows
    story.compact()
    assert story.scanned() == story.plain(before)

    # and on
    story.update({"c": add("c", 1)}, "id >= 100", lambda row: row["id"] >= 100)
    for snapshot, old in story.past.items():
        assert story.scanned("--snapshot", str(snapshot)) == story.plain(old)
    story.end()


def test_generated_table(warehouse, tmp_path):
    path = tmp_path / "wide.parquet"
    generate(path, 3000, 12)
    rows = pq.read_table(path).to_pylist()
    assert [row["id"] for row in rows] == list(range(3000))
    assert all(0 <= row[f"c_{i}"] < 1 for row in rows for i in range(1, 13))
    story = Story(warehouse, "db.wide", [path], rows)
    story.update({"c_1": add("c_1", 1)})
    story.update({"c_2": add("c_2", 1)}, "id % 10 = 0", lambda row: row["id"] % 10 == 0)
    story.add_column("c_13", "double")
    story.update({"c_13": ("c_1 * 2", lambda row: row["c_1"] * 2)})
    story.compact()
    assert story.scanned() == story.plain()
    story.end()


@pytest.mark.parametrize("source", [one_file, three_files])
def test_others_read_the_compacted_files(source, warehouse, tmp_path):
    files, rows = source(tmp_path)
    story = Story(warehouse, "db.t", files, rows)
    story.update({"a": add("a", 1), "n": add("n", 1)})
    story.add_column("c", "double")
    story.update({"c": ("b + id", lambda row: row["b"] + row["id"])}, "n > 0", lambda r: r["n"] > 0)
    story.compact()
    wanted = story.plain()
    paths = story.data_files()
    names = ", ".join(wanted[0])

    by_pyarrow = [row for path in paths for row in pq.read_table(path).to_pylist()]
    assert sorted_by_id(by_pyarrow, wanted) == wanted
    relation = duckdb.sql(f"SELECT {names} FROM read_parquet({paths!r}) ORDER BY id")
    assert relation.to_arrow_table().to_pylist() == wanted
    by_polars = polars.concat([polars.read_parquet(path) for path in paths])
    assert by_polars.select(list(wanted[0])).sort("id").to_dicts() == wanted


def sorted_by_id(rows, wanted):
    return sorted(({k: row[k] for k in wanted[0]} for row in rows), key=lambda row: row["id"])


def test_others_read_column_files(warehouse, tmp_path):
    """A column file is an ordinary Parquet file."""
    files, rows = one_file(tmp_path)
    story = Story(warehouse, "db.t", files, rows)
    story.update({"a": add("a", 1)}, "n < 0", lambda row: row["n"] < 0)
    table = story.table
    (entry,) = table.live(table.current)
    (column_file,) = entry[checker.COLUMN_FILES]
    path = table.path(table.resolve(column_file[checker.CF_LOCATION]))
    values = [row["a"] for row in story.plain()]
    assert pq.read_table(path).column("a").to_pylist() == values
    assert duckdb.sql(f"SELECT a FROM '{path}'").to_arrow_table().column(0).to_pylist() == values
    assert polars.read_parquet(path)["a"].to_list() == values


TYPES = {
    "b": pa.bool_(),
    "i": pa.int32(),
    "l": pa.int64(),
    "f": pa.float32(),
    "d": pa.float64(),
    "dec": pa.decimal128(12, 3),
    "dt": pa.date32(),
    "tm": pa.time64("us"),
    "ts": pa.timestamp("us"),
    "tz": pa.timestamp("us", "UTC"),
    "s": pa.string(),
    "bin": pa.binary(),
}


def typed_row(i):
    if i % 5 == 4:
        return dict.fromkeys(TYPES)
    moment = datetime.datetime(1999, 12, 31, 23, 59, 59, 999_999) + datetime.timedelta(hours=i)
    return {
        "b": i % 2 == 0,
        "i": i * 1001 - 7,
        "l": (i << 40) - 1,
        "f": i / 4,
        "d": i / 3,
        "dec": decimal.Decimal(i * 17 - 3).scaleb(-3),
        "dt": moment.date(),
        "tm": moment.time(),
        "ts": moment,
        "tz": moment.replace(tzinfo=datetime.timezone.utc),
        "s": "x" * (i % 9),
        "bin": bytes([i, 255 - i]),
    }


ASSIGNMENTS = {
    "b": "NOT b",
    "i": "i + 1",
    "l": "l - 1",
    "f": "f * 2",
    "d": "d / 2",
    "dec": "dec + 1",
    "dt": "DATE '2024-02-29'",
    "tm": "TIME '01:02:03.000004'",
    "ts": "TIMESTAMP '2024-02-29 01:02:03.000004'",
    "tz": "TIMESTAMPTZ '2024-02-29 01:02:03.000004+00:00'",
    "s": "upper(s)",
    "bin": "X'00FF'",
}

CHANGES = {
    "b": lambda v: not v,
    "i": lambda v: v + 1,
    "l": lambda v: v - 1,
    "f": lambda v: v * 2,
    "d": lambda v: v / 2,
    "dec": lambda v: str(decimal.Decimal(v) + 1),
    "dt": lambda v: "2024-02-29",
    "tm": lambda v: "01:02:03.000004",
    "ts": lambda v: "2024-02-29T01:02:03.000004",
    "tz": lambda v: "2024-02-29T01:02:03.000004+00:00",
    "s": str.upper,
    "bin": lambda v: "00ff",
}


@pytest.mark.parametrize("column", TYPES)
def test_every_type_is_updated(column, warehouse, tmp_path):
    """One column of each type, every other row; then nulls for some."""
    raw = [{"id": i, **typed_row(i)} for i in range(60)]
    schema = pa.schema([("id", pa.int64()), *TYPES.items()])
    path = tmp_path / "types.parquet"
    pq.write_table(pa.Table.from_pylist(raw, schema=schema), path, compression="zstd")
    kinds = {"bool": "boolean", "int32": "int", "int64": "long"}
    file = checker.File(path)
    shown = []
    for node, name in zip(file.nodes, schema.names):
        chunk = pq.read_table(path).column(name).combine_chunks()
        kind = iceberg_type(node.type, kinds)
        shown.append([checker.shown(v, kind) for v in checker.values(chunk, node)])
    rows = [dict(zip(schema.names, row)) for row in zip(*shown)]

    story = Story(warehouse, "db.types", [path], rows)
    keeps_null = column not in ("dt", "tm", "ts", "tz", "bin")
    change = CHANGES[column]

    def new(row):
        return None if row[column] is None and keeps_null else change(row[column])

    assignment = {column: (ASSIGNMENTS[column], new)}
    story.update(assignment, "id % 2 = 1", lambda row: row["id"] % 2 == 1)
    story.update({column: ("NULL", lambda row: None)}, "id < 7", lambda row: row["id"] < 7)
    story.compact()
    story.end()


def iceberg_type(kind, names):
    text = str(kind)
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    named = {"date32[day]": "date", "time64[us]": "time"}
    return {**named, **names}.get(text, text)
