"""Compaction as other readers see it: which bytes are copied, which columns are encoded anew. And the
command validate, whose exit status scripts rely on."""
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from frazil import BUILD, Story, Warehouse


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "warehouse")


ROWS = [
    {"id": i, "a": i / 4, "u": 2**32 - 1 - i, "s": None if i % 5 == 2 else f"s{i % 7}"}
    for i in range(1000)
]
SCHEMA = pa.schema([
    pa.field("id", pa.int64(), nullable=False), ("a", pa.float64()), ("u", pa.uint32()),
    ("s", pa.string()),
])


def write(path, rows, **options):
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, **options)
    return path


def chunks(path, name):
    """The bytes of a column's chunk in each row group, and the footer's words about it."""
    data = open(path, "rb").read()
    footer = pq.ParquetFile(path).metadata
    for group in range(footer.num_row_groups):
        for i in range(footer.num_columns):
            chunk = footer.row_group(group).column(i)
            if chunk.path_in_schema == name:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                yield data[start : start + chunk.total_compressed_size], chunk


def add_one(column):
    return {column: (f"{column} + 1", lambda row: row[column] + 1)}


def test_chunks_are_copied_where_they_can_be(warehouse, tmp_path):
    source = write(tmp_path / "f.parquet", ROWS, row_group_size=300, compression="snappy")
    story = Story(warehouse, "db.t", [source], ROWS)
    story.update(add_one("a"))
    (entry,) = story.table.live(story.table.current)
    (column_file,) = entry[checker.COLUMN_FILES]
    updated = story.table.path(story.table.resolve(column_file[checker.CF_LOCATION]))
    story.compact()
    (path,) = story.data_files()
    for name, origin in ("id", source), ("s", source), ("a", updated):
        before, after = list(chunks(origin, name)), list(chunks(path, name))
        assert len(after) == 4
        assert [data for data, _ in before] == [data for data, _ in after]
        for (_, old), (_, new) in zip(before, after):
            assert (old.compression, old.encodings) == (new.compression, new.encodings)
            assert old.num_values == new.num_values
            assert (old.statistics.min, old.statistics.max) == (new.statistics.min,
                                                               new.statistics.max)
    assert next(chunks(path, "id"))[1].compression == "SNAPPY"
    # stored as an unsigned integer, which Iceberg has not: encoded anew
    assert next(chunks(path, "u"))[1].compression == "ZSTD"
    assert next(chunks(path, "u"))[1].physical_type == "INT64"


def test_schema_of_a_compacted_file(warehouse, tmp_path):
    """Ids everywhere, also if the source had none; optional where the source is."""
    story = Story(warehouse, "db.t", [write(tmp_path / "f.parquet", ROWS)], ROWS)
    story.update(add_one("a"))
    story.compact()
    schema = pq.read_schema(story.data_files()[0])
    ids = [int(field.metadata[b"PARQUET:field_id"]) for field in schema]
    assert schema.names == ["id", "a", "u", "s", "_row_id", "_last_updated_sequence_number"]
    assert ids == [1, 2, 3, 4, checker.ROW_ID, checker.LAST_UPDATED]
    assert [field.nullable for field in schema] == [False, True, True, True, True, True]
    story.update(add_one("id"))
    story.compact()
    assert pq.read_schema(story.data_files()[0]).field("id").nullable


def test_files_without_column_files_stay(warehouse, tmp_path):
    files = [write(tmp_path / f"{i}.parquet", ROWS[i * 100 : i * 100 + 100]) for i in range(4)]
    story = Story(warehouse, "db.t", files, ROWS[:400])
    before = story.data_files()
    story.update(add_one("a"), "id >= 150 AND id < 160", lambda row: 150 <= row["id"] < 160)
    story.compact()
    after = story.data_files()
    assert [old == new for old, new in zip(before, after)] == [True, False, True, True]
    assert story.report["data_files"] == 1
    # the counts of live rows and the order of the files are what they were
    assert [row["id"] for row in story.table.rows()] == list(range(400))


def test_statistics_survive(warehouse, tmp_path):
    rows = [dict(row, a=float("nan") if row["id"] % 9 == 4 else row["a"]) for row in ROWS]
    source = write(tmp_path / "f.parquet", rows, write_statistics=["id", "a", "s"])
    warehouse.report("import", "db.t", str(source))
    warehouse.sql("UPDATE db.t SET a = a + 1")
    warehouse.report("compact", "db.t")
    table = warehouse.table("db.t")
    table.check()
    (entry,) = table.live(table.current)
    stats = checker.without_nulls(entry[checker.CONTENT_STATS])
    nans = sum(1 for row in rows if row["a"] != row["a"])
    assert stats[10400][10406] == nans  # a: counted when the column file was written
    assert (stats[10200][10201], stats[10200][10202]) == (0, 999)
    assert (stats[10800][10801], stats[10800][10805]) == ("s0", 200)


def test_compaction_beside_updates(warehouse, tmp_path):
    """Whoever comes second starts again from the other's version."""
    files = [write(tmp_path / f"{i}.parquet", ROWS[i * 250 : i * 250 + 250]) for i in range(4)]
    story = Story(warehouse, "db.t", files, ROWS)
    program = [str(BUILD / "bin" / "frazil"), "--warehouse", str(warehouse.folder)]
    for _ in range(5):
        warehouse.sql("UPDATE db.t SET a = a + 1")
        both = [
            subprocess.Popen([*program, "compact", "db.t"], stdout=subprocess.DEVNULL),
            subprocess.Popen([*program, "sql", "UPDATE db.t SET id = id + 1000 WHERE id < 2000"],
                             stdout=subprocess.DEVNULL),
        ]
        assert [process.wait() for process in both] == [0, 0]
    table = story.table
    table.check()
    warehouse.run("validate", "db.t")
    rows = table.rows()
    assert [row["a"] for row in rows] == [row["a"] + 5 for row in ROWS]
    assert [row["id"] for row in rows] == [row["id"] + 2000 for row in ROWS]
    assert [row["_row_id"] for row in rows] == list(range(1000))
    assert {row["_last_updated_sequence_number"] for row in rows} <= set(range(2, 20))


# ---- validate -----------------------------------------------------------------------------------


def test_validate_says_what_is_broken(warehouse, tmp_path):
    story = Story(warehouse, "db.t", [write(tmp_path / "f.parquet", ROWS)], ROWS)
    story.update(add_one("a"))
    assert warehouse.run("validate", "db.t").count("\n") == 1
    assert warehouse.run("validate", "db.t", "--json").strip() == "[]"
    (entry,) = story.table.live(story.table.current)
    (column_file,) = entry[checker.COLUMN_FILES]
    path = story.table.path(story.table.resolve(column_file[checker.CF_LOCATION]))
    data = bytearray(open(path, "rb").read())

    data[len(data) // 3] ^= 0xFF  # inside a page
    open(path, "wb").write(data)
    (line,) = warehouse.run("validate", "db.t", status=5).splitlines()
    assert path in line

    write(path, ROWS[:10])  # another file, and a shorter one
    lines = warehouse.run("validate", "db.t", status=5).splitlines()
    assert any("bytes as recorded" in line and path in line for line in lines)
    assert any("expected 1000 rows" in line and "found 10" in line for line in lines)

    subprocess.run(["rm", path], check=True)
    (line,) = warehouse.run("validate", "db.t", status=5).splitlines()
    assert path in line
