"""UPDATE, MERGE and DELETE in each mode, read back by the checker, which knows nothing of Frazil's code: rows,
lineage, the feed of changes, and which files were written."""
import decimal
import json
import random
import shutil
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DecimalType, DoubleType, LongType, NestedField, StringType

import checker
from changes_model import check_by_id
from frazil import ROW_ID, UPDATED, Story, Warehouse, generate, sorted_rows
from iceberg_corpus import rows_of

UPDATES = ["column-file", "copy-on-write", "merge-on-read"]
DELETES = ["copy-on-write", "merge-on-read"]
COUNT = 90


def row(i):
    return {"id": i, "n": i % 10, "x": i / 4, "s": None if i % 7 == 3 else f"text {i % 5}",
            "l": None if i % 9 == 2 else [i, None][: i % 3]}


@pytest.fixture
def story(tmp_path):
    """90 rows in two files, with row groups of 20."""
    rows = [row(i) for i in range(COUNT)]
    schema = pa.schema([("id", pa.int64()), ("n", pa.int32()), ("x", pa.float64()),
                        ("s", pa.string()), ("l", pa.list_(pa.int64()))])
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, part in zip(paths, (rows[:50], rows[50:])):
        pq.write_table(pa.Table.from_pylist(part, schema=schema), path, row_group_size=20)
    return Story(Warehouse(tmp_path / "warehouse"), "db.t", paths, rows)


def feed_is_right(story):
    """The changes of the newest snapshot make of the parent's rows its own."""
    snapshots = json.loads(story.warehouse.run("snapshots", "db.t", "--json"))
    parent, newest = snapshots[-2:]
    before, after = (story.scanned("--with-lineage", "--snapshot", str(s["snapshot_id"]))
                     for s in (parent, newest))
    feed = rows_of(story.warehouse.run("changes", "db.t", "--rows", "--json"))
    names = [n for n in after[0] if n in before[0] and n not in (ROW_ID, UPDATED)]
    check_by_id(before, after, feed, names, newest["sequence_number"])
    return feed


def kinds(story):
    return sorted({r["kind"] for r in rows_of(story.warehouse.run("changes", "db.t", "--json"))})


def entries(story):
    table = story.table
    return table.live(table.current)


PLUS = {"x": ("x + 1", lambda r: r["x"] + 1)}


@pytest.mark.parametrize("mode", UPDATES)
@pytest.mark.parametrize("where, matches, count", [
    (None, lambda r: True, COUNT),
    ("n = 3", lambda r: r["n"] == 3, 9),
    ("id = 17", lambda r: r["id"] == 17, 1),
    ("id >= 45", lambda r: r["id"] >= 45, 45),
])
def test_an_update_means_the_same_in_each_mode(story, mode, where, matches, count):
    story.set(write__update__mode=mode)
    story.update(PLUS, where, matches)
    assert story.report["rows"] == count
    feed = feed_is_right(story)
    assert sum(r["_change_type"] == "UPDATE_AFTER" for r in feed) == count
    assert sum(r["_change_type"] == "UPDATE_BEFORE" for r in feed) == count
    assert len(feed) == 2 * count
    story.end()


def test_the_files_of_each_mode(story):
    where, matches = "n = 3", lambda r: r["n"] == 3
    story.set(write__update__mode="column-file")
    story.update(PLUS, where, matches)
    assert kinds(story) == ["column_files"]
    story.set(write__update__mode="merge-on-read")
    story.update(PLUS, where, matches)
    assert kinds(story) == ["added", "dv"]
    assert len(entries(story)) == 3  # one new file for the rows of both
    assert sum(e.get(checker.DELETION_VECTOR) is not None for e in entries(story)) == 2
    story.set(write__update__mode="copy-on-write")
    story.update(PLUS, where, matches)
    assert kinds(story) == ["added", "removed"]
    assert not any(e.get(checker.COLUMN_FILES) for e in entries(story)[-1:])
    story.end()


def test_copy_on_write_leaves_nothing_else_behind(story):
    """The new values pass through a column file, which is gone afterwards."""
    folder = story.warehouse.folder / "db" / "t" / "data"
    before = set(folder.iterdir())
    story.set(write__update__mode="copy-on-write")
    story.update(PLUS, "id < 10", lambda r: r["id"] < 10)
    new = set(folder.iterdir()) - before
    assert len(new) == 1 and story.report["files_written"] == 3
    assert story.report["data_bytes"] == next(iter(new)).stat().st_size


def test_copy_on_write_copies_the_chunks_of_other_columns(story):
    folder = story.warehouse.folder / "db" / "t" / "data"
    before = set(folder.iterdir())
    old = {tuple(chunk_of(path, name, group)) for path in before for name in ("id", "s")
           for group in range(pq.ParquetFile(path).num_row_groups)}
    story.set(write__update__mode="copy-on-write")
    story.update(PLUS)
    for path in set(folder.iterdir()) - before:
        for group in range(pq.ParquetFile(path).num_row_groups):
            for name in ("id", "s"):
                assert tuple(chunk_of(path, name, group)) in old


def chunk_of(path, name, group):
    meta = pq.ParquetFile(path).metadata.row_group(group)
    column = next(meta.column(i) for i in range(meta.num_columns)
                  if meta.column(i).path_in_schema == name)
    start = column.data_page_offset
    if column.has_dictionary_page:
        start = min(start, column.dictionary_page_offset)
    yield path.read_bytes()[start : start + column.total_compressed_size]


def test_copy_on_write_splits_no_row_group_without_deleted_rows(story):
    story.set(write__update__mode="copy-on-write", write__delete__mode="merge-on-read")
    story.delete("id = 3 OR id = 41", lambda r: r["id"] in (3, 41))
    story.update(PLUS)
    assert not any(e.get(checker.DELETION_VECTOR) for e in entries(story))
    groups = sorted(pq.ParquetFile(path).metadata.row_group(g).num_rows
                    for path in story.data_files()
                    for g in range(pq.ParquetFile(path).num_row_groups))
    assert groups == [9, 19, 20, 20, 20]
    story.end()


@pytest.mark.parametrize("mode", UPDATES)
@pytest.mark.parametrize("deletes", DELETES)
def test_modes_follow_each_other(story, mode, deletes):
    """Rows, lineage and feeds through updates and deletes of all kinds and a compaction."""
    story.set(write__delete__mode=deletes)
    story.delete("id % 8 = 1", lambda r: r["id"] % 8 == 1)
    feed_is_right(story)
    story.set(write__update__mode=mode)
    story.update(PLUS, "n < 5", lambda r: r["n"] < 5)
    feed_is_right(story)
    for other in UPDATES:
        story.set(write__update__mode=other)
        story.update({"s": ("'new'", lambda r: "new"), "n": ("n + 1", lambda r: r["n"] + 1)},
                     "id % 4 = 2", lambda r: r["id"] % 4 == 2)
        feed_is_right(story)
    story.delete("id < 5 OR n = 4", lambda r: r["id"] < 5 or r["n"] == 4)
    feed_is_right(story)
    story.update({"x": ("NULL", lambda r: None)}, "id % 3 = 0", lambda r: r["id"] % 3 == 0)
    story.end()


@pytest.mark.parametrize("mode", UPDATES)
def test_columns_that_no_file_stores_yet(story, mode):
    story.set(write__update__mode=mode)
    story.add_column("added", "double")
    story.update({"added": ("x * 2", lambda r: r["x"] * 2)}, "id < 30", lambda r: r["id"] < 30)
    feed_is_right(story)
    story.update({"added": ("0.5", lambda r: 0.5)})
    story.end()


@pytest.mark.parametrize("mode", UPDATES)
def test_an_update_of_all_rows_of_one_file(story, mode):
    story.set(write__update__mode=mode)
    story.update(PLUS, "id < 50", lambda r: r["id"] < 50)
    feed_is_right(story)
    if mode == "merge-on-read":  # nothing is left of the old file
        assert kinds(story) == ["added", "removed"]
    story.end()


UNKNOWN = pa.schema([("id", pa.int64()), ("n", pa.null()),
                     ("s", pa.struct([("a", pa.int64()), ("n", pa.null()),
                                      ("t", pa.struct([("n", pa.null())]))]))])


def unknown_row(i):
    return {"id": i, "n": None, "s": None if i % 7 == 3 else {"a": i, "n": None, "t": None}}


@pytest.fixture
def unknown(tmp_path):
    """30 rows with columns and members of type unknown, which no file stores."""
    rows, path = [unknown_row(i) for i in range(30)], tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=UNKNOWN), path, row_group_size=7)
    return Story(Warehouse(tmp_path / "warehouse"), "db.t", [path], rows)


def unknown_becomes_long(story, mode):
    """What no file stores is null, whatever its type is by now."""
    story.alter("ALTER COLUMN n TYPE long")
    story.alter("ALTER COLUMN s.n TYPE long")
    assert sorted_rows(story.scanned("--with-lineage")) == sorted_rows(story.rows)
    story.update({"n": ("id * 2", lambda r: r["id"] * 2)}, "id % 4 = 1", lambda r: r["id"] % 4 == 1)
    feed_is_right(story)
    if mode == "column-file":  # the others leave nothing to compact
        story.compact()
    story.end()


@pytest.mark.parametrize("mode", UPDATES)
@pytest.mark.parametrize("where", [None, "id % 3 = 0"])
def test_a_column_of_type_unknown_is_set(unknown, mode, where):
    """Nothing becomes another value, but the rows are updated: their numbers say so."""
    unknown.set(write__update__mode=mode, write__delete__mode="merge-on-read")
    unknown.delete("id % 5 = 3", lambda r: r["id"] % 5 == 3)
    matches = lambda r: where is None or r["id"] % 3 == 0
    unknown.update({"n": ("NULL", lambda r: None)}, where, matches)
    feed_is_right(unknown)
    if mode == "column-file":
        (file,) = entries(unknown)[0][checker.COLUMN_FILES]
        assert file[checker.CF_FIELD_IDS] == [checker.LAST_UPDATED]
    unknown_becomes_long(unknown, mode)


@pytest.mark.parametrize("mode", UPDATES)
def test_a_struct_with_members_of_type_unknown_is_set(unknown, mode):
    unknown.set(write__update__mode=mode, write__delete__mode="merge-on-read")
    unknown.delete("id % 5 = 3", lambda r: r["id"] % 5 == 3)
    for where, matches in (("id % 3 = 0", lambda r: r["id"] % 3 == 0), (None, lambda r: True)):
        unknown.update({"s": ("s", lambda r: r["s"]), "n": ("NULL", lambda r: None)}, where, matches)
        feed_is_right(unknown)
    if mode == "column-file":
        (file,) = entries(unknown)[0][checker.COLUMN_FILES]
        assert file[checker.CF_FIELD_IDS] == [3, 4, checker.LAST_UPDATED]  # s and s.a
    unknown_becomes_long(unknown, mode)


def test_joined_column_files_list_no_members_of_type_unknown(unknown):
    unknown.set(write__update__mode="column-file", write__column_file__max_per_file="1")
    unknown.update({"s": ("s", lambda r: r["s"])}, "id < 9", lambda r: r["id"] < 9)
    unknown.update({"id": ("id + 100", lambda r: r["id"] + 100)}, "id < 5", lambda r: r["id"] < 5)
    unknown.warehouse.run("compact", "db.t", "--columns")
    (file,) = entries(unknown)[0][checker.COLUMN_FILES]
    assert file[checker.CF_FIELD_IDS] == [1, 3, 4, checker.LAST_UPDATED]
    for column in ("n", "s.n"):
        unknown.warehouse.sql(f"ALTER TABLE db.t ALTER COLUMN {column} TYPE long")
    assert sorted_rows(unknown.scanned("--with-lineage")) == sorted_rows(unknown.rows)
    unknown.warehouse.run("validate", "db.t")


def test_a_delete_by_copy_on_write(story):
    story.set(write__delete__mode="copy-on-write")
    story.delete("id % 10 = 3", lambda r: r["id"] % 10 == 3)
    assert story.report["rows"] == 9 and kinds(story) == ["added", "removed"]
    feed = feed_is_right(story)
    assert {r["_change_type"] for r in feed} == {"DELETE"} and len(feed) == 9
    assert not any(e.get(checker.DELETION_VECTOR) for e in entries(story))
    story.end()


@pytest.mark.parametrize("mode", DELETES)
def test_a_delete_of_whole_files_writes_no_data(story, mode):
    story.set(write__delete__mode=mode)
    story.delete("id < 50", lambda r: r["id"] < 50)
    assert story.report["data_bytes"] == 0 and kinds(story) == ["removed"]
    story.delete("id >= 0", lambda r: True)
    assert story.report["data_bytes"] == 0 and entries(story) == []
    story.end()


def partitioned(tmp_path, mode):
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{place.folder}/catalog.db",
                         warehouse=f"file://{place.folder}")
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "p", StringType()),
                    NestedField(3, "x", DoubleType()))
    table = catalog.create_table("db.t", schema, partition_spec=PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "p")))
    table.append(pa.table({"id": range(40), "p": ["abcd"[i % 4] for i in range(40)],
                           "x": [i / 2 for i in range(40)]}))
    place.run("upgrade", "db.t", "--to", "4")
    place.sql(f"ALTER TABLE db.t SET TBLPROPERTIES ('write.update.mode' = '{mode}')")
    return place


@pytest.mark.parametrize("mode", UPDATES)
def test_rows_that_leave_their_partition(tmp_path, mode):
    """Merge-on-read writes them to the files of their new partitions; elsewhere the tuple goes."""
    place = partitioned(tmp_path, mode)
    place.sql("UPDATE db.t SET p = 'z', x = 0 WHERE id % 8 = 1")
    rows = [json.loads(line) for line in place.run("scan", "db.t", "--format", "jsonl").splitlines()]
    assert sorted((r["id"], r["p"]) for r in rows) == [
        (i, "z" if i % 8 == 1 else "abcd"[i % 4]) for i in range(40)]
    found = [json.loads(line) for line in
             place.run("scan", "db.t", "--where", "p = 'z'", "--format", "jsonl").splitlines()]
    assert sorted(r["id"] for r in found) == [1, 9, 17, 25, 33]
    specs = sorted(f["spec_id"] is None for f in json.loads(place.run("files", "db.t", "--json")))
    assert specs == ([False] * 5 if mode == "merge-on-read" else [False] * 3 + [True])
    place.run("validate", "db.t")


def leave_out(path, columns):
    """Write a file again without columns, and as long as it was."""
    size, pad = path.stat().st_size, 1
    table = pq.read_table(path, partitioning=None).drop_columns(columns).replace_schema_metadata()
    for _ in range(4):
        with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"pad": "x" * pad})
        pad += size - path.stat().st_size
    assert path.stat().st_size == size


def hive(tmp_path, mode, count):
    """Columns q and r are in no data file, as in tables of Hive; r is required."""
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{place.folder}/catalog.db",
                         warehouse=f"file://{place.folder}")
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "r", StringType(), required=True),
                    NestedField(3, "p", StringType()), NestedField(4, "q", StringType()),
                    NestedField(5, "x", DoubleType()))
    table = catalog.create_table("db.t", schema, partition_spec=PartitionSpec(*(
        PartitionField(i, 998 + i, IdentityTransform(), name) for i, name in ((2, "r"), (3, "p"), (4, "q")))))
    rows = [{"id": i, "r": "rs"[i % 2], "p": "ab"[i % 2], "q": [None, "y"][i % 4 // 2], "x": i / 7}
            for i in range(count)]
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
    for path in sorted((place.folder / "db" / "t").rglob("*.parquet")):
        leave_out(path, ["q", "r"])
    place.run("upgrade", "db.t", "--to", "4")
    place.sql(f"ALTER TABLE db.t SET TBLPROPERTIES ('write.update.mode' = '{mode}')")
    return place, rows


@pytest.mark.parametrize("mode", UPDATES)
@pytest.mark.parametrize("where", ["", "WHERE id % 8 = 1"])
def test_a_tuple_that_goes_leaves_the_values_that_only_it_had(tmp_path, mode, where):
    place, rows = hive(tmp_path, mode, 40)
    read = lambda *more: sorted((json.loads(line) for line in place.run(
        "scan", "db.t", "--format", "jsonl", *more).splitlines()), key=lambda r: r["id"])
    assert read() == rows
    place.run("validate", "db.t")
    place.sql(f"UPDATE db.t SET p = 'z' {where}")
    rows = [{**r, "p": "z" if where == "" or r["id"] % 8 == 1 else r["p"]} for r in rows]
    assert read() == rows
    assert read("--where", "q = 'y'") == [r for r in rows if r["q"] == "y"]
    place.sql("UPDATE db.t SET q = 'x' WHERE id % 8 = 1")
    rows = [{**r, "q": "x" if r["id"] % 8 == 1 else r["q"]} for r in rows]
    assert read() == rows
    place.run("validate", "db.t")
    place.run("compact", "db.t")
    assert read() == rows
    place.run("validate", "db.t")
    assert "nothing to remove" in place.run("remove-orphans", "db.t", "--older-than", "0s", "--force")


@pytest.mark.parametrize("mode", UPDATES)
def test_tuples_of_decimals_outlive_their_manifest(tmp_path, mode):
    """Their types are made for the part of an old manifest that is being read."""
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{place.folder}/catalog.db",
                         warehouse=f"file://{place.folder}")
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "p", DecimalType(9, 2)))
    table = catalog.create_table("db.t", schema, partition_spec=PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "p")))
    values = [decimal.Decimal(i % 4) + decimal.Decimal("0.25") for i in range(40)]
    table.append(pa.table({"id": range(40), "p": pa.array(values, pa.decimal128(9, 2))}))
    place.run("upgrade", "db.t", "--to", "4")
    place.sql(f"ALTER TABLE db.t SET TBLPROPERTIES ('write.update.mode' = '{mode}')")
    for statement in ("UPDATE db.t SET p = p WHERE id % 3 = 1", "UPDATE db.t SET p = p + 1.5 WHERE id % 8 = 1"):
        place.sql(statement)
    rows = [json.loads(line) for line in place.run("scan", "db.t", "--format", "jsonl").splitlines()]
    assert sorted((r["id"], decimal.Decimal(str(r["p"]))) for r in rows) == [
        (i, v + decimal.Decimal("1.5") * (i % 8 == 1)) for i, v in enumerate(values)]
    place.run("validate", "db.t")


def test_the_estimate_counts_a_file_for_each_partition(tmp_path):
    place = partitioned(tmp_path, "merge-on-read")
    estimate = explain(place, "UPDATE db.t SET x = x + 1 WHERE id < 3")["merge-on-read"]
    report = place.sql("UPDATE db.t SET x = x + 1 WHERE id < 3")
    assert estimate["files_written"] == report["files_written"] - 2 == 4  # and the vectors


@pytest.mark.parametrize("mode", UPDATES)
def test_a_value_that_cannot_be_computed_leaves_nothing_behind(story, mode):
    story.set(write__update__mode=mode)
    files = set(story.warehouse.folder.rglob("*"))
    story.warehouse.run("sql", "UPDATE db.t SET x = 1 / (id - 60)", status=2)
    assert set(story.warehouse.folder.rglob("*")) == files
    story.verify(same_snapshot=True)


@pytest.mark.parametrize("mode", UPDATES)
def test_two_writers_at_once(story, mode):
    """Other columns of the same rows, and other rows, at the same time: nothing is lost."""
    story.set(write__update__mode=mode, write__delete__mode="merge-on-read")
    statements = [f"UPDATE db.t SET {c} = {c} + 1 WHERE id % 3 <> {k}"
                  for k, c in enumerate(["n", "x", "x"])] + ["DELETE FROM db.t WHERE id % 30 = 7"]
    threads = [threading.Thread(target=story.warehouse.run, args=("sql", s)) for s in statements]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {}
    for i in range(COUNT):
        if i % 30 != 7:
            wanted[i] = (i % 10 + (i % 3 != 0), i / 4 + (i % 3 != 1) + (i % 3 != 2))
    assert {r["id"]: (r["n"], r["x"]) for r in story.scanned()} == wanted
    by_id = {r["id"]: r[ROW_ID] for r in story.scanned("--with-lineage")}
    assert by_id == {i: i for i in wanted}
    story.warehouse.run("validate", "db.t")


def test_values_of_the_properties(story):
    place = story.warehouse
    for key, value in (("update", "lazy"), ("delete", "column-file"), ("merge", "")):
        place.run("sql", f"ALTER TABLE db.t SET TBLPROPERTIES ('write.{key}.mode' = '{value}')",
                  status=2)
    for value in ("AUTO", "Copy-On-Write"):
        story.set(write__delete__mode=value)
    story.delete("id = 0", lambda r: r["id"] == 0)
    assert kinds(story) == ["added", "removed"]


def test_rows_that_merge_on_read_moved_are_moved_again(story):
    story.set(write__update__mode="merge-on-read")
    for n in range(4):
        story.update(PLUS, f"id % {n + 2} = 0", lambda r, n=n: r["id"] % (n + 2) == 0)
        feed_is_right(story)
    ids = [r[ROW_ID] for r in sorted_rows(story.rows)]
    assert [r[ROW_ID] for r in sorted_rows(story.scanned("--with-lineage"))] == ids
    story.end()


# ---- estimates ----


def explain(place, statement, told_of_all=True):
    rows = json.loads(place.run("sql", f"EXPLAIN {statement}", "--format", "json"))
    assert sum(r["auto"] for r in rows) == 1
    assert not told_of_all or min(rows, key=lambda r: r["cost"])["auto"]
    return {r["mode"]: r for r in rows}


def in_each_mode(place, statement, validates=True):
    """The estimate, and what each mode really writes: the table is put back in between."""
    kind = statement.split()[0].lower()
    estimates = explain(place, statement)
    assert set(estimates) == set(DELETES if kind == "delete" else UPDATES)
    kept = place.folder.with_name("kept")
    for mode, estimate in estimates.items():
        shutil.copytree(place.folder, kept)
        place.sql(f"ALTER TABLE db.t SET TBLPROPERTIES ('write.{kind}.mode' = '{mode}')")
        report = place.sql(statement)
        if validates:
            place.run("validate", "db.t")
        shutil.rmtree(place.folder)
        kept.rename(place.folder)
        yield mode, estimate, report


def check_estimates(place, statement):
    for mode, estimate, report in in_each_mode(place, statement):
        told, real = estimate["bytes_written"], report["data_bytes"]
        assert abs(told - real) <= real / 10, (statement, mode, told, real)
        assert estimate["rows"] == report["rows"], (statement, mode)
        assert estimate["files_written"] == report["files_written"] - 2, (statement, mode)


def import_doubles(tmp_path):
    generate(tmp_path / "wide.parquet", rows=20000, columns=10, seed=4)
    place = Warehouse(tmp_path / "warehouse")
    place.run("import", "db.t", str(tmp_path / "wide.parquet"))
    return place


def import_mixed(tmp_path):
    """Numbers, texts of few and of many values, lists; in three files with several row groups."""
    paths, rows = [], random.Random(5)
    for i in range(3):
        ids = range(15000 * i, 15000 * i + 15000)
        table = pa.table({
            "id": pa.array(ids, pa.int64()), "c_1": pa.array([rows.random() for _ in ids]),
            "c_2": pa.array([rows.randrange(10**9) for _ in ids], pa.int64()),
            "word": pa.array([rows.choice(["red", "green", "blue"]) for _ in ids]),
            "text": pa.array([rows.randbytes(12).hex() for _ in ids]),
            "list": pa.array([[rows.random()] * rows.randrange(4) for _ in ids])})
        paths.append(str(tmp_path / f"{i}.parquet"))
        pq.write_table(table, paths[-1], row_group_size=6000, compression="zstd")
    place = Warehouse(tmp_path / "warehouse")
    place.run("import", "db.t", *paths, "--rewrite")
    return place


def import_changed(tmp_path):
    """With deleted rows, column files and rows that moved."""
    place = import_doubles(tmp_path)
    for statement in ("DELETE FROM db.t WHERE id % 7 = 3", "UPDATE db.t SET c_3 = c_4 WHERE c_2 > 0.5"):
        place.sql(statement)
    return place


STATEMENTS = [
    "UPDATE db.t SET c_1 = c_1 + 1",
    "UPDATE db.t SET c_2 = c_2 + 1 WHERE id % 10 = 0",
    "UPDATE db.t SET c_2 = c_2 + 1 WHERE c_1 < 0.2",
    "UPDATE db.t SET c_1 = c_1 * 2, c_2 = c_2 + 7 WHERE id < 4000",
    "UPDATE db.t SET c_1 = 0 WHERE c_1 < 0.3",
    "DELETE FROM db.t WHERE id % 10 = 0",
    "DELETE FROM db.t WHERE c_1 < 0.3",
    "DELETE FROM db.t WHERE id < 4000",
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("make", [import_doubles, import_mixed, import_changed])
def test_what_is_written_is_within_a_tenth_of_the_estimate(tmp_path, make, statement):
    check_estimates(make(tmp_path), statement)


FROM_STATEMENTS = [
    "UPDATE db.t SET c_1 = s.c_1 FROM '{0}' s WHERE db.t.id = s.id",
    "UPDATE db.t SET c_1 = s.c_2, c_2 = t.c_2 + 1 FROM '{0}' s WHERE t.id = s.id AND t.id < 9000",
    "MERGE INTO db.t t USING '{0}' s ON t.id = s.id WHEN MATCHED THEN UPDATE SET c_1 = s.c_1 "
    "WHEN NOT MATCHED THEN INSERT *",
    "MERGE INTO db.t t USING '{0}' s ON t.id = s.id WHEN MATCHED AND s.id % 3 = 0 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET c_2 = s.c_2",
    "MERGE INTO db.t t USING '{0}' s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "MERGE INTO db.t t USING '{0}' s ON t.id = s.id WHEN NOT MATCHED AND s.id % 2 = 0 THEN INSERT *",
    "MERGE INTO db.t t USING '{0}' s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND t.c_1 < 0.2 THEN "
    "DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT (id, c_1) VALUES (s.id, s.c_1)",
    # constants, under conditions
    "MERGE INTO db.t t USING '{0}' s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND t.id < 9000 THEN "
    "UPDATE SET c_1 = 0, c_2 = 7 WHEN NOT MATCHED AND s.id % 4 = 0 THEN INSERT (id, c_1) VALUES (s.id, 1)",
]


def news(place, folder):
    """A file of every tenth id, with values of other rows, and of as many new ones."""
    place.run("scan", "db.t", "--format", "parquet", "-o", str(folder / "scan.parquet"), "--force")
    rows, rng = pq.read_table(folder / "scan.parquet"), random.Random(8)
    old = sorted({i for i in rows["id"].to_pylist() if i % 10 == 0})
    others = rows.take([rng.randrange(rows.num_rows) for _ in old])
    parts = [others.set_column(0, "id", pa.array(ids, pa.int64()))
             for ids in (old, range(10**6, 10**6 + len(old)))]
    pq.write_table(pa.concat_tables(parts), folder / "news.parquet")
    return str(folder / "news.parquet")


@pytest.mark.parametrize("spill", [False, True])
@pytest.mark.parametrize("number", range(len(FROM_STATEMENTS)))
@pytest.mark.parametrize("make", [import_doubles, import_mixed, import_changed])
def test_the_same_with_rows_from_outside(tmp_path, monkeypatch, make, number, spill):
    if spill:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", "20000")
    place = make(tmp_path)
    check_estimates(place, FROM_STATEMENTS[number].format(news(place, tmp_path)))


def test_the_estimate_counts_partitions_of_new_rows(tmp_path):
    place = partitioned(tmp_path, "auto")
    rows = pa.table({"id": range(50), "p": ["abcdefgh"[i % 8] for i in range(50)]})
    pq.write_table(rows, tmp_path / "s.parquet")
    merge = (f"MERGE INTO db.t USING '{tmp_path}/s.parquet' s ON t.id = s.id AND t.p = s.p "
             "WHEN MATCHED AND s.id > 3 THEN UPDATE SET x = 0 "
             "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, s.p)")
    for mode, estimate, report in in_each_mode(place, merge):
        assert estimate["rows"] == report["rows"] == 46
        assert estimate["files_written"] == report["files_written"] - 2, mode


def test_the_estimate_counts_values_that_only_a_tuple_had(tmp_path):
    place, _ = hive(tmp_path, "auto", 400)
    for statement in ("UPDATE db.t SET p = 'z'", "UPDATE db.t SET p = 'z', x = x + 1 WHERE id % 8 = 1",
                      "UPDATE db.t SET p = p WHERE id < 200"):
        for mode, estimate, report in in_each_mode(place, statement, validates=False):
            assert estimate["files_written"] == report["files_written"] - 2, (statement, mode)
            if mode == "column-file" and "WHERE" not in statement:  # elsewhere it is a small part
                told, real = estimate["bytes_written"], report["data_bytes"]
                assert abs(told - real) <= real / 10, (statement, mode, told, real)


def many_files(tmp_path):
    paths = []
    for i in range(40):
        paths.append(str(tmp_path / f"{i}.parquet"))
        generate(paths[-1], rows=1000 + 40 * i, columns=6, seed=i + 1)
    place = Warehouse(tmp_path / "warehouse")
    place.run("import", "db.t", *paths)
    return place


def test_some_files_stand_for_many(tmp_path):
    place = many_files(tmp_path)
    for mode, estimate, report in in_each_mode(place, "UPDATE db.t SET c_1 = c_1 + 1 WHERE c_2 < 0.4"):
        told, real = estimate["bytes_written"], report["data_bytes"]
        assert abs(told - real) <= real / 10, (mode, told, real)
        assert abs(estimate["rows"] - report["rows"]) <= report["rows"] / 10


def test_a_source_may_have_rows_in_a_few_of_many_files(tmp_path):
    """Ids from 2500 on are in the last two of 40 data files alone."""
    place = many_files(tmp_path)
    rows = pq.read_table(tmp_path / "39.parquet").slice(2500)
    assert rows["id"][0].as_py() == 2500
    pq.write_table(rows, tmp_path / "s.parquet")
    for statement in (FROM_STATEMENTS[0], FROM_STATEMENTS[3]):
        check_estimates(place, statement.format(tmp_path / "s.parquet"))


def chosen(place, statement, told_of_all=True):
    """The mode that auto takes, by what the changes say; EXPLAIN told it before."""
    told = next(m for m, row in explain(place, statement, told_of_all).items() if row["auto"])
    place.sql(statement)
    kinds = {r["kind"] for r in rows_of(place.run("changes", "db.t", "--json"))}
    is_delete = statement.startswith("DELETE")
    took = ("column-file" if "column_files" in kinds else
            "copy-on-write" if kinds == {"added", "removed"} else "merge-on-read")
    assert took == told and (kinds == {"dv"}) == (is_delete and took == "merge-on-read")
    return took


def test_auto_takes_what_explain_told(tmp_path):
    place = import_doubles(tmp_path)
    assert chosen(place, "UPDATE db.t SET c_1 = c_1 + 1") == "column-file"
    source = news(place, tmp_path)
    assert chosen(place, "DELETE FROM db.t WHERE id % 10 = 7") == "merge-on-read"
    assert chosen(place, FROM_STATEMENTS[0].format(source)) == "column-file"
    assert chosen(place, FROM_STATEMENTS[3].format(source)) == "column-file"
    place.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.auto.reads-per-write' = '100000')")
    assert chosen(place, "DELETE FROM db.t WHERE id % 10 = 1") == "copy-on-write"
    assert chosen(place, "UPDATE db.t SET c_1 = c_1 + 1") == "copy-on-write"
    assert chosen(place, FROM_STATEMENTS[0].format(source)) == "copy-on-write"
    assert chosen(place, FROM_STATEMENTS[3].format(source)) == "copy-on-write"


def wide_files(tmp_path, counts):
    """Data files of ids 100,000 apart."""
    paths, rows = [], random.Random(6)
    for i, count in enumerate(counts):
        columns = {f"c_{c}": [rows.random() for _ in range(count)] for c in range(4)}
        paths.append(str(tmp_path / f"f{i}.parquet"))
        pq.write_table(pa.table({"id": range(100000 * i, 100000 * i + count), **columns}), paths[-1])
    place = Warehouse(tmp_path / "warehouse")
    place.run("import", "db.t", *paths)
    return place


def test_auto_looks_at_each_file_for_itself(tmp_path):
    """Column files are the cheapest over all files, but not where most rows are deleted."""
    place = wide_files(tmp_path, [10000, 100000])
    place.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', "
              "'write.auto.reads-per-write' = '8')")
    place.sql("DELETE FROM db.t WHERE id < 10000 AND id % 10 <> 0")
    assert chosen(place, "UPDATE db.t SET c_1 = c_1 + 1 WHERE id + 0 >= 10000") == "column-file"
    assert chosen(place, "UPDATE db.t SET c_1 = c_1 + 1 WHERE id + 0 < 10000") == "copy-on-write"


def test_auto_takes_what_explain_told_of_more_files_than_it_looks_at(tmp_path):
    place = wide_files(tmp_path, [1000] * 18)
    place.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', "
              "'write.auto.reads-per-write' = '1000')")
    place.sql("DELETE FROM db.t WHERE id % 20 <> 0")
    took = set()
    for i in range(18):
        ids = range(100000 * i, 100000 * i + 1000, 20)
        pq.write_table(pa.table({"id": ids, "c_1": [0.5] * len(ids)}), tmp_path / "s.parquet")
        merge = (f"MERGE INTO db.t t USING '{tmp_path}/s.parquet' s ON t.id = s.id "
                 "WHEN MATCHED AND s.c_1 < 0 THEN DELETE WHEN MATCHED THEN UPDATE SET c_1 = s.c_1")
        took.add(chosen(place, merge, told_of_all=False))
    assert took == {"column-file", "copy-on-write"}, "no file was left out"


def test_auto_moves_few_rows_of_large_columns(tmp_path):
    rows = random.Random(3)
    big = pa.array([rows.randbytes(2000) for _ in range(6000)], pa.binary())
    pq.write_table(pa.table({"id": range(6000), "big": big}), tmp_path / "big.parquet",
                   row_group_size=500)
    place = Warehouse(tmp_path / "warehouse")
    place.run("import", "db.t", str(tmp_path / "big.parquet"))
    assert chosen(place, "UPDATE db.t SET big = big WHERE id = 700") == "merge-on-read"
    place.run("validate", "db.t")


def test_explain_writes_nothing_and_reads_metadata_files(story):
    files = {p: p.stat().st_mtime_ns for p in story.warehouse.folder.rglob("*") if p.is_file()}
    explain(story.warehouse, "UPDATE db.t SET x = 1 WHERE n = 3")
    nothing = explain(story.warehouse, "DELETE FROM db.t WHERE id < 0")
    assert all(r["bytes_written"] == r["rows"] == r["files_written"] == 0 for r in nothing.values())
    assert files == {p: p.stat().st_mtime_ns
                     for p in story.warehouse.folder.rglob("*") if p.is_file()}
    story.warehouse.run("sql", "EXPLAIN UPDATE db.t SET nothing = 1", status=3)
    story.warehouse.run("sql", "EXPLAIN INSERT INTO db.t SELECT * FROM db.t", status=1)
    location = checker.metadata_location(story.warehouse.folder / "catalog.db", "db", "t")
    text = story.warehouse.run("sql", "EXPLAIN DELETE FROM t WHERE n = 3", "--metadata", location)
    assert "merge-on-read | true" in text
