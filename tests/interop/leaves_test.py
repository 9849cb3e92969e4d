"""Tables whose entries are in leaf manifests, as the independent checker reads them: after each step
the rows, their lineage, and the rules of leaves and of the masks over them."""
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from frazil import ROW_ID, UPDATED, Story, Warehouse


@pytest.fixture
def story(tmp_path):
    """Nine files of four rows, of which a root may hold two."""
    paths, rows = [], []
    for i in range(9):
        some = [{"a": 4 * i + k, "b": k, "c": None if k == 1 else f"c{i}"} for k in range(4)]
        paths.append(tmp_path / f"{i}.parquet")
        pq.write_table(pa.Table.from_pylist(some), paths[-1])
        rows += some
    place = tmp_path / "warehouse"
    place.mkdir()
    story = Story(Warehouse(place), "db.t", paths, rows)
    story.alter("SET TBLPROPERTIES ('write.root-manifest.max-entries' = '2', "
                "'write.update.mode' = 'column-file', 'write.delete.mode' = 'merge-on-read')")
    return story


def leaves(story):
    table = story.table
    return table.manifests(table.current)


def delete(story, where, matches):
    story.warehouse.sql(f"DELETE FROM db.t WHERE {where}")
    story.sequence += 1
    story.rows = [row for row in story.rows if not matches(row)]
    story.verify()


def append(story, path, rows):
    first = story.table.json["next-row-id"]
    pq.write_table(pa.Table.from_pylist(rows), path)
    story.warehouse.run("append", "db.t", str(path))
    story.sequence += 1
    story.rows = story.rows + [{**row, ROW_ID: first + i, UPDATED: story.sequence}
                               for i, row in enumerate(rows)]
    story.verify()


def test_every_step_over_leaves(story, tmp_path):
    story.update({"b": ("b + 10", lambda row: row["b"] + 10)}, "a < 9", lambda row: row["a"] < 9)
    assert leaves(story)
    story.update({"c": ("'x'", lambda row: "x")}, "a % 8 = 3", lambda row: row["a"] % 8 == 3)
    delete(story, "a >= 30", lambda row: row["a"] >= 30)
    append(story, tmp_path / "more.parquet", [{"a": 100 + i, "b": 0, "c": "new"} for i in range(3)])
    story.update({"b": ("a", lambda row: row["a"])})
    delete(story, "b = 17", lambda row: row["b"] == 17)
    story.warehouse.run("compact", "db.t")
    story.sequence += 1
    story.verify()
    append(story, tmp_path / "last.parquet", [{"a": 200, "b": 1, "c": None}])
    story.end()


def test_a_mask_grows_and_is_told_once(story):
    story.update({"b": ("0", lambda row: 0)}, "a = 0", lambda row: row["a"] == 0)
    story.update({"b": ("1", lambda row: 1)}, "a = 35", lambda row: row["a"] == 35)
    story.update({"b": ("2", lambda row: 2)}, "a = 20", lambda row: row["a"] == 20)
    table = story.table
    masked = [checker.checker_leaves.masks(entry) for entry in leaves(story)]
    changed = [replaced for _, _, replaced in masked if replaced]
    assert len(changed) <= 1, "one file was updated"
    live = table.live(table.current)
    assert len(live) == 9 and len({entry[checker.LOCATION] for entry in live}) == 9
    story.end()
