"""Compaction as other readers see it: which bytes are copied, which columns are encoded anew. And the
command validate, whose exit status scripts rely on."""
import json
import os
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

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


# ---- column files alone, and policies -----------------------------------------------------------


def column_files(story):
    """Of each live entry the paths of its column files."""
    table = story.table
    return [[table.path(table.resolve(file[checker.CF_LOCATION]))
             for file in entry.get(checker.COLUMN_FILES) or []]
            for entry in table.live(table.current)]


def join(story, *options):
    """Compaction of column files: a new snapshot of the same rows, of which none has changed."""
    story.report = story.warehouse.report("compact", story.name, "--columns", *options)
    story.sequence += 1
    story.verify()
    table = story.table
    assert table.snapshots[table.current]["summary"]["operation"] == "replace"
    assert story.warehouse.run("changes", story.name, "--rows", "--format", "jsonl") == ""


def test_column_files_become_one(warehouse, tmp_path):
    source = write(tmp_path / "f.parquet", ROWS, row_group_size=300, compression="snappy")
    story = Story(warehouse, "db.t", [source, write(tmp_path / "g.parquet", ROWS[:50])],
                  ROWS + ROWS[:50])
    story.update(add_one("a"))
    story.update(add_one("u"), "id % 3 = 0", lambda row: row["id"] % 3 == 0)
    story.update({"s": ("'x'", lambda row: "x")}, "id >= 500", lambda row: row["id"] >= 500)
    bases, before = story.data_files(), column_files(story)
    assert [len(files) for files in before] == [3, 2]
    stats = [checker.without_nulls(e[checker.CONTENT_STATS])
             for e in story.table.live(story.table.current)]
    dry = json.loads(warehouse.run("compact", "db.t", "--columns", "--dry-run", "--json"))
    assert dry == {"command": "compact", "dry_run": True, "rewritten": 0, "joined": 2, "combined": 0,
                   "read_bytes": sum(os.path.getsize(f) for files in before for f in files)}
    join(story)
    after = column_files(story)
    assert story.data_files() == bases and [len(files) for files in after] == [1, 1]
    assert story.report["data_files"] == 2
    assert story.report["data_bytes"] <= 1.2 * dry["read_bytes"]
    assert [checker.without_nulls(e[checker.CONTENT_STATS])
            for e in story.table.live(story.table.current)] == stats
    for path, name in zip(before[0], "aus"):
        (field,) = {"a", "u", "s"} & set(pq.read_schema(path).names)
        old, new = list(chunks(path, field)), list(chunks(after[0][0], field))
        assert len(new) == 4 and [data for data, _ in old] == [data for data, _ in new]
    assert warehouse.run("compact", "db.t", "--columns") == "db.t: nothing to do, nothing was written\n"
    story.update(add_one("a"))  # a column leaves the joined file
    join(story)
    story.compact()
    story.end()


def test_column_files_of_files_with_deleted_rows(warehouse, tmp_path):
    story = Story(warehouse, "db.t", [write(tmp_path / "f.parquet", ROWS, row_group_size=300)], ROWS)
    story.update(add_one("a"))
    warehouse.sql("DELETE FROM db.t WHERE id % 10 = 3")
    story.rows = [row for row in story.rows if row["id"] % 10 != 3]
    story.sequence += 1
    story.verify()
    story.update(add_one("u"), "id < 700", lambda row: row["id"] < 700)
    join(story)
    warehouse.sql("DELETE FROM db.t WHERE id % 10 = 4")
    story.rows = [row for row in story.rows if row["id"] % 10 != 4]
    story.sequence += 1
    story.verify()
    story.compact()
    story.end()


def test_joining_beside_updates(warehouse, tmp_path):
    files = [write(tmp_path / f"{i}.parquet", ROWS[i * 250 : i * 250 + 250]) for i in range(4)]
    story = Story(warehouse, "db.t", files, ROWS)
    program = [str(BUILD / "bin" / "frazil"), "--warehouse", str(warehouse.folder)]
    for _ in range(5):
        warehouse.sql("UPDATE db.t SET u = 7 WHERE id % 2 = 0")
        both = [
            subprocess.Popen([*program, "compact", "db.t", "--columns"], stdout=subprocess.DEVNULL),
            subprocess.Popen([*program, "sql", "UPDATE db.t SET a = a + 1 WHERE id < 600"],
                             stdout=subprocess.DEVNULL),
        ]
        assert [process.wait() for process in both] == [0, 0]
    table = story.table
    table.check()
    warehouse.run("validate", "db.t")
    rows = table.rows()
    assert [row["a"] for row in rows] == [
        row["a"] + 5 * (row["id"] < 600) for row in ROWS]
    assert [row["_row_id"] for row in rows] == list(range(1000))


def test_what_the_policy_chooses(warehouse, tmp_path):
    """Little is done to large files, more where it costs little or wins much."""
    large = [dict(row, s="".join(chr(97 + (row["id"] * 7919 + k * k) % 26) for k in range(400)))
             for row in ROWS]
    files = [write(tmp_path / "0.parquet", large[:500]), write(tmp_path / "1.parquet", large[500:])]
    story = Story(warehouse, "db.t", files, large)

    def policy():
        told = json.loads(warehouse.run("compact", "db.t", "--policy", "--dry-run", "--json"))
        return told["rewritten"], told["joined"]
    assert policy() == (0, 0)
    warehouse.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.column-file.max-per-file' = '2')")
    for column in "id", "a", "u":
        story.update(add_one(column), "id < 400", lambda row: row["id"] < 400)
    assert policy() == (0, 1)
    story.report = warehouse.report("compact", "db.t", "--policy")
    story.sequence += 1
    story.verify()
    assert [len(files) for files in column_files(story)] == [1, 0]
    assert policy() == (0, 0)
    warehouse.sql("DELETE FROM db.t WHERE id >= 600 AND id < 800")
    story.rows = [row for row in story.rows if not 600 <= row["id"] < 800]
    story.sequence += 1
    assert policy() == (1, 0)  # 200 of 500 rows
    warehouse.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.compact.max-deleted-ratio' = '0.5')")
    assert policy() == (0, 0)
    warehouse.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.column-file.max-ratio' = '0.0001')")
    assert policy() == (1, 0)
    story.report = warehouse.report("compact", "db.t", "--policy")
    story.sequence += 1
    story.verify()
    assert [len(files) for files in column_files(story)] == [0, 0]
    story.warehouse.run("validate", "db.t")
    warehouse.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES "
                  "('write.column-file.max-per-file' = 'many')", status=2)
    warehouse.run("compact", "db.t", "--columns", "--policy", status=2)


def test_small_files_become_one(warehouse, tmp_path):
    """Deleted rows go, column files are folded, rows keep their ids and numbers."""
    files = [write(tmp_path / f"{i}.parquet", ROWS[i * 50 : i * 50 + 50]) for i in range(6)]
    story = Story(warehouse, "db.t", files, ROWS[:300])
    story.update(add_one("a"), "id < 80", lambda row: row["id"] < 80)
    warehouse.sql("DELETE FROM db.t WHERE id % 10 = 3 OR id >= 250")  # of the last file nothing is left
    story.rows = [row for row in story.rows if row["id"] % 10 != 3 and row["id"] < 250]
    story.sequence += 1
    story.verify()
    dry = json.loads(warehouse.run("compact", "db.t", "--policy", "--dry-run", "--json"))
    assert (dry["rewritten"], dry["joined"]) == (0, 0) and dry["combined"] in (5, 6)
    story.report = warehouse.report("compact", "db.t", "--policy")
    story.sequence += 1
    story.verify()
    assert len(story.data_files()) == 1 and story.report["rows"] == len(story.rows)
    assert warehouse.run("changes", "db.t", "--rows", "--format", "jsonl") == ""
    assert [row["id"] for row in story.table.rows()] == [row["id"] for row in story.rows]
    story.update(add_one("u"), "id % 2 = 0", lambda row: row["id"] % 2 == 0)
    story.end()


def test_small_files_stay_in_their_partitions(warehouse, tmp_path):
    warehouse.folder.mkdir()
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{warehouse.folder}/catalog.db",
                         warehouse=f"file://{warehouse.folder}")
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "s", StringType()))
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "s"))
    table = catalog.create_table("db.t", schema, partition_spec=spec)
    for i in range(4):
        table.append(pa.table({"id": [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3],
                               "s": ["null", None, "x", "x" if i < 2 else "y"]}))
    warehouse.run("upgrade", "db.t", "--to", "4")
    warehouse.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES ('write.compact.min-small-files' = '3')")
    warehouse.run("sql", "DELETE FROM db.t WHERE id = 5")
    before = warehouse.run("scan", "db.t", "--with-lineage", "--format", "csv")
    warehouse.run("compact", "db.t", "--policy")
    after = warehouse.run("scan", "db.t", "--with-lineage", "--format", "csv")
    assert sorted(before.splitlines()) == sorted(after.splitlines())
    text = warehouse.run("scan", "db.t", "--columns", "_file,s", "--format", "jsonl")
    pairs = {(row["_file"], row["s"]) for row in map(json.loads, text.splitlines())}
    assert len({file for file, _ in pairs}) == len(pairs)  # a file has rows of one partition
    assert sorted(str(s) for _, s in pairs) == ["None", "null", "x", "y", "y"]
    where = warehouse.run("scan", "db.t", "--where", "s IS NULL", "--columns", "id", "--format", "csv")
    assert sorted(where.split()) == ["1", "13", "9", "id"]
    warehouse.run("validate", "db.t")


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
