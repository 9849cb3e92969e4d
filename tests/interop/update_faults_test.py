"""Faults that others had when columns were updated and tables rewritten, by their kind, each with
the input that was reported. docs/internals/known-faults.md lists all and where each is tested."""
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frazil import ROW_ID, UPDATED, Story, Warehouse


@pytest.fixture
def story(tmp_path):
    """Rows with numbers 0 to 9 in two files, columns a, b, c."""
    rows = [{"a": i, "b": i * 10, "c": i + 1} for i in range(10)]
    return start(tmp_path, rows[:6], rows[6:])


def start(tmp_path, *files):
    paths = [tmp_path / f"{i}.parquet" for i in range(len(files))]
    for path, rows in zip(paths, files):
        pq.write_table(pa.Table.from_pylist(rows), path)
    place = tmp_path / "warehouse"
    place.mkdir()
    return Story(Warehouse(place), "db.t", paths, [row for rows in files for row in rows])


def updated(story):
    """Number of a row -> sequence number of its last update, as Frazil reads them."""
    return {row["a"]: row[UPDATED] for row in story.scanned("--with-lineage")}


def test_exactly_the_updated_rows_carry_the_new_number(story):
    story.update({"c": ("c + 100", lambda row: row["c"] + 100)}, "a IN (1, 4, 7)",
                 lambda row: row["a"] in (1, 4, 7))
    wanted = {a: 2 if a in (1, 4, 7) else 1 for a in range(10)}
    assert updated(story) == wanted
    story.update({"b": ("0", lambda row: 0)}, "a = 4", lambda row: row["a"] == 4)
    wanted[4] = 3
    assert updated(story) == wanted
    story.compact()
    assert updated(story) == wanted
    story.end()


def test_each_field_has_the_newest_of_its_files(story):
    story.update({"b": ("1", lambda row: 1), "c": ("2", lambda row: 2)})
    story.update({"c": ("3", lambda row: 3)})
    assert story.scanned("--columns", "c,b") == [{"c": 3, "b": 1}] * 10
    assert story.scanned("--columns", "b") == [{"b": 1}] * 10
    assert story.scanned("--columns", "c") == [{"c": 3}] * 10
    story.end()


def test_a_new_column_filled_for_one_row_is_read_for_all(story):
    story.add_column("d", "bigint")
    story.update({"d": ("5", lambda row: 5)}, "a = 8", lambda row: row["a"] == 8)
    assert story.scanned("--columns", "d") == [{"d": 5 if a == 8 else None} for a in range(10)]
    story.end()


def test_null_is_a_value(story):
    story.update({"b": ("NULL", lambda row: None)}, "a = 2", lambda row: row["a"] == 2)
    assert story.scanned("--columns", "b", "--where", "a IN (1, 2)") == [{"b": 10}, {"b": None}]
    story.compact()
    assert story.scanned("--columns", "b", "--where", "b IS NULL") == [{"b": None}]
    story.end()


def test_bounds_are_those_of_the_new_values(story):
    story.update({"c": ("c + 99", lambda row: row["c"] + 99)})
    assert len(story.scanned("--where", "c > 50")) == 10
    assert story.scanned("--where", "c <= 10") == []
    assert story.warehouse.run("plan", "db.t", "--where", "c <= 10", "--tasks") == ""
    story.end()


def test_columns_keep_their_order(story):
    story.update({"b": ("7", lambda row: 7)}, "a < 3", lambda row: row["a"] < 3)
    assert list(story.scanned()[0]) == ["a", "b", "c"]
    assert list(story.scanned("--columns", "c,b")[0]) == ["c", "b"]
    assert story.scanned("--columns", "b")[2:4] == [{"b": 7}, {"b": 30}]
    story.end()


def test_compacting_twice_keeps_ids_and_numbers(tmp_path):
    story = start(tmp_path, [{"a": 1, "b": 1}, {"a": 2, "b": 2}], [{"a": 3, "b": 3}])
    story.update({"b": ("0", lambda row: 0)}, "a = 2", lambda row: row["a"] == 2)
    story.compact()
    story.update({"b": ("9", lambda row: 9)}, "a = 3", lambda row: row["a"] == 3)
    story.compact()
    assert [(row["a"], row[ROW_ID], row[UPDATED]) for row in story.scanned("--with-lineage")] == [
        (1, 0, 1), (2, 1, 2), (3, 2, 4)]
    story.end()


def test_a_deleted_row_stays_deleted_when_a_compaction_is_late(story):
    """That the compaction was planned before the delete: column_update_race_test and model_test,
    in which other writers come first; here one after the other."""
    story.update({"b": ("0", lambda row: 0)})
    story.warehouse.sql("DELETE FROM db.t WHERE a = 2")
    story.warehouse.run("compact", "db.t")
    assert [row["a"] for row in story.scanned()] == [0, 1, 3, 4, 5, 6, 7, 8, 9]


def test_a_row_added_and_removed_in_a_range_is_not_there_at_its_end(story, tmp_path):
    first = story.table.current
    path = tmp_path / "more.parquet"
    pq.write_table(pa.table({"a": [50, 51], "b": [1, 1], "c": [1, 1]}), path)
    story.warehouse.run("append", "db.t", str(path))
    story.warehouse.sql("DELETE FROM db.t WHERE a = 50")
    story.warehouse.run("compact", "db.t")
    text = story.warehouse.run("changes", "db.t", "--rows", "--from", str(first), "--columns", "a",
                               "--json")
    changes = [json.loads(line) for line in text.splitlines()]
    there = set()
    for change in changes:
        (there.add if change["_change_type"] == "INSERT" else there.remove)(change["a"])
    assert there == {51} and len(changes) == 3


# What must be there inside a column, and how many of its rows 0, 1, 2 lack it.
REQUIRED_INSIDE = {
    "struct": (pa.struct([pa.field("x", pa.int64(), nullable=False)]),
               pa.struct([("x", pa.int64())]), [{"x": 1}, None, {"x": None}]),
    "list": (pa.list_(pa.field("element", pa.int64(), nullable=False)),
             pa.list_(pa.int64()), [[1, 2], None, [1, None]]),
    "map": (pa.map_(pa.string(), pa.field("value", pa.int64(), nullable=False)),
            pa.map_(pa.string(), pa.int64()), [[("k", 1)], None, [("k", 1), ("l", None)]]),
    "deep": (pa.list_(pa.struct([pa.field("x", pa.int64(), nullable=False)])),
             pa.list_(pa.struct([("x", pa.int64())])), [[{"x": 1}, None], [], [None, {"x": None}]]),
}


@pytest.mark.parametrize("mode", ["column-file", "copy-on-write", "merge-on-read"])
@pytest.mark.parametrize("kind", REQUIRED_INSIDE)
def test_no_null_gets_into_what_is_required_inside_a_column(tmp_path, kind, mode):
    """A null is fine where what is around it is null, and so is one of a row that is not updated."""
    required, optional, values = REQUIRED_INSIDE[kind]
    path = tmp_path / "a.parquet"
    schema = pa.schema([("id", pa.int64()), ("c", required), ("o", optional)])
    pq.write_table(pa.Table.from_arrays([pa.array([0, 1, 2]), pa.array([None] * 3, required),
                                         pa.array(values, optional)], schema=schema), path)
    source = tmp_path / "s.parquet"
    pq.write_table(pa.table({"id": [0, 1, 2], "o": pa.array(values, optional)}), source)
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    place.run("import", "db.t", str(path))
    place.sql(f"ALTER TABLE db.t SET TBLPROPERTIES ('write.update.mode' = '{mode}')")
    read = lambda: [json.loads(line) for line in
                    place.run("scan", "db.t", "--format", "jsonl").splitlines()]
    before = read()
    place.run("sql", "UPDATE db.t SET c = o", status=2)
    place.run("sql", f"UPDATE db.t SET c = s.o FROM '{source}' s WHERE t.id = s.id", status=2)
    assert read() == before
    place.sql("UPDATE db.t SET c = o WHERE id < 2")
    assert sorted((r["id"], r["c"]) for r in read() if r["id"] < 2) == [
        (r["id"], r["o"]) for r in before if r["id"] < 2]
    assert [r["c"] for r in read() if r["id"] == 2] == [None]
    place.run("validate", "db.t")
