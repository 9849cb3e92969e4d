"""Changes of tables that Frazil wrote, against rows that a model in Python and the independent checker
know of every snapshot; and of broken roots."""
import json
import random
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from changes_model import ROW_ID, UPDATED, check_by_id
from frazil import BUILD, Story, Warehouse, generate
from iceberg_corpus import CORPORA, frazil, listing, rows_of

GOLDEN = CORPORA / "iceberg-v4"
METADATA = {t["dir"]: t["metadata"] for t in listing(GOLDEN / "TABLES.tsv")}
needs_corpus = pytest.mark.skipif(not METADATA, reason=f"no corpus of v4 tables at {GOLDEN}")


# ---- tables of our own ----


@pytest.fixture
def story(tmp_path):
    def tell(rows=40, columns=3, files=2):
        paths, known = [], []
        for i in range(files):
            paths.append(tmp_path / f"{i}.parquet")
            generate(paths[-1], rows=rows, columns=columns, seed=i + 1)
            known += pq.read_table(paths[-1]).to_pylist()
        return Story(Warehouse(tmp_path / "warehouse"), "db.t", paths, known)
    return tell


def feed_of(story, *arguments):
    return rows_of(story.warehouse.run("changes", story.name, "--rows", "--json", *arguments))


def kinds_of(story, *arguments):
    rows = rows_of(story.warehouse.run("changes", story.name, "--json", *arguments))
    return sorted(row["kind"] for row in rows)


def test_update_of_one_in_ten_is_these_rows_before_and_after(story):
    s = story()
    before = s.rows
    s.update({"c_1": ("c_1 + 1", lambda r: r["c_1"] + 1)}, "id % 10 = 3", lambda r: r["id"] % 10 == 3)
    feed = feed_of(s)
    ids = [row[ROW_ID] for row in before if row["id"] % 10 == 3]
    for kind, rows in (("UPDATE_BEFORE", before), ("UPDATE_AFTER", s.rows)):
        wanted = [{ROW_ID: r[ROW_ID], "c_1": r["c_1"]} for r in rows if r[ROW_ID] in ids]
        found = [{k: r[k] for k in (ROW_ID, "c_1")} for r in feed if r["_change_type"] == kind]
        assert sorted(found, key=lambda r: r[ROW_ID]) == wanted
    assert all(r["_changed_columns"] == ["c_1"] for r in feed) and len(feed) == 2 * len(ids)
    assert all(list(r)[-2:] == [ROW_ID, "c_1"] for r in feed)
    whole = feed_of(s, "--columns", "id,c_2")
    assert sorted(r["id"] for r in whole) == sorted(2 * [r["id"] for r in before if r[ROW_ID] in ids])
    assert all(r["c_2"] is not None for r in whole)
    assert kinds_of(s) == ["column_files", "column_files"]


def test_compaction_changes_no_row(story):
    s = story()
    s.update({"c_1": ("0", lambda r: 0.0)}, "id < 5", lambda r: r["id"] < 5)
    s.compact()
    assert feed_of(s) == []
    assert kinds_of(s) == ["added", "added", "removed", "removed"]


def test_an_added_column_changes_nothing_until_it_is_filled(story):
    s = story()
    s.update({"c_1": ("0", lambda r: 0.0)})
    last = (kinds_of(s), feed_of(s))
    s.add_column("word", "string")
    assert kinds_of(s) == last[0]  # there is no new snapshot
    assert [{k: v for k, v in row.items() if k != "word"} for row in feed_of(s)] == last[1]
    s.update({"word": ("'w'", lambda r: "w")}, "id = 3", lambda r: r["id"] == 3)
    assert {(r["_change_type"], r["word"]) for r in feed_of(s)} == {("UPDATE_BEFORE", None),
                                                                   ("UPDATE_AFTER", "w")}


def test_a_row_added_and_updated_in_a_range_is_told_twice(story):
    s = story(rows=5, files=1)
    first = s.table.current
    s.update({"c_1": ("1", lambda r: 1.0)}, "id = 2", lambda r: r["id"] == 2)
    s.update({"c_1": ("2", lambda r: 2.0)}, "id = 2", lambda r: r["id"] == 2)
    feed = feed_of(s, "--from", str(first), "--columns", "c_1")
    assert [(r["_change_ordinal"], r["_change_type"], r["c_1"]) for r in feed][1:] == [
        (0, "UPDATE_AFTER", 1.0), (1, "UPDATE_BEFORE", 1.0), (1, "UPDATE_AFTER", 2.0)]
    assert len({r["_commit_snapshot_id"] for r in feed}) == 2


def test_deletes_between_updates(story):
    """Rows go by vectors, a whole file goes, what is left is updated and compacted."""
    s = story(rows=20, files=2)
    for statement in ("DELETE FROM db.t WHERE _row_id < 4", "UPDATE db.t SET c_1 = 1 WHERE _row_id < 8",
                      "DELETE FROM db.t WHERE _row_id = 6 OR _row_id = 21",
                      "DELETE FROM db.t WHERE _row_id >= 20", "UPDATE db.t SET c_2 = NULL"):
        s.warehouse.sql(statement)
    s.warehouse.run("compact", "db.t")
    snapshots = json.loads(s.warehouse.run("snapshots", "db.t", "--json"))
    kinds, names = [], ["id", "c_1", "c_2", "c_3"]
    for parent, snapshot in zip(snapshots, snapshots[1:]):
        before, after = (s.scanned("--with-lineage", "--snapshot", str(x["snapshot_id"]))
                         for x in (parent, snapshot))
        to = ["--to", str(snapshot["snapshot_id"])]
        number = None if snapshot["operation"] == "replace" else snapshot["sequence_number"]
        check_by_id(before, after, feed_of(s, *to), names, number)
        kinds.append(kinds_of(s, *to))
    assert kinds == [["dv"], ["column_files"], ["dv", "dv"], ["removed"], ["column_files"],
                     ["added", "removed"]]


def expire_all_but_the_last(s):
    s.warehouse.run("expire", s.name, "--older-than", "2099-01-01", "--retain-last", "1")


def refusal_of(s, *arguments):
    command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(s.warehouse.folder), "changes", s.name]
    done = subprocess.run(command + ["--rows", "--json", *arguments], capture_output=True, text=True)
    assert done.returncode == 3 and done.stdout == "", (done.returncode, done.stdout)
    return done.stderr


def test_rows_before_the_oldest_snapshot_are_told_while_they_are_there(story):
    """A first update of a file left all that it replaced where it was, and so did a first delete."""
    s = story()
    s.update({"c_1": ("c_1 + 1", lambda r: r["c_1"] + 1)}, "id < 5", lambda r: r["id"] < 5)
    wanted = feed_of(s), kinds_of(s)
    expire_all_but_the_last(s)
    assert (feed_of(s), kinds_of(s)) == wanted and len(wanted[0]) == 2 * 2 * 5
    s.set(write__delete__mode="merge-on-read")
    s.delete("id < 3", lambda r: r["id"] < 3)
    wanted = feed_of(s), kinds_of(s)
    expire_all_but_the_last(s)
    assert (feed_of(s), kinds_of(s)) == wanted and len(wanted[0]) == 2 * 3


CHANGES_THAT_NEED_THE_PARENT = {
    "a second update": ["UPDATE db.t SET c_1 = 1", "UPDATE db.t SET c_1 = c_1 + 1 WHERE id < 5"],
    "a second delete": ["ALTER TABLE db.t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
                        "DELETE FROM db.t WHERE id = 7", "DELETE FROM db.t WHERE id < 5"],
    "a file that went": ["UPDATE db.t SET c_1 = 1", "DELETE FROM db.t WHERE _row_id < 40"],
    "copy-on-write": ["ALTER TABLE db.t SET TBLPROPERTIES ('write.update.mode' = 'copy-on-write')",
                      "UPDATE db.t SET c_1 = 1 WHERE id < 5"],
}


@pytest.mark.parametrize("statements", CHANGES_THAT_NEED_THE_PARENT.values(),
                         ids=CHANGES_THAT_NEED_THE_PARENT)
def test_rows_that_went_with_an_expired_snapshot_are_refused(story, statements):
    """Before a row is told, and with a word on what is known; files are told from the snapshot alone."""
    s = story()
    for statement in statements:
        s.warehouse.sql(statement)
    kinds, table = kinds_of(s), s.table
    expire_all_but_the_last(s)
    assert kinds_of(s) == kinds
    number = table.json["last-sequence-number"]
    for arguments in ([], ["--columns", "id"]):
        text = refusal_of(s, *arguments)
        assert f"the parent of snapshot {table.current}, has expired" in text
        assert f"changes made after snapshot {table.current} are known" in text
        assert f"_last_updated_sequence_number = {number}" in text
    oldest = next(iter(table.snapshots))  # the checkpoint of a reader that comes too late
    text = refusal_of(s, "--from", str(oldest))
    assert "the table has no snapshot" in text
    assert f"changes made after snapshot {table.current} are known" in text
    s.warehouse.sql("UPDATE db.t SET c_2 = 0 WHERE id = 9 AND _row_id >= 40")
    assert len(feed_of(s, "--from", str(table.current))) == 2


def test_rows_of_an_append_are_told_without_its_parent(story, tmp_path):
    s = story()
    s.warehouse.run("append", "db.t", str(tmp_path / "0.parquet"))
    wanted = feed_of(s)
    expire_all_but_the_last(s)
    assert feed_of(s) == wanted and len(wanted) == 40


def test_a_compaction_changes_no_row_without_its_parent(story):
    s = story()
    s.update({"c_1": ("0", lambda r: 0.0)})
    s.compact()
    expire_all_but_the_last(s)
    assert feed_of(s) == []


def as_overwrite(s, change):
    """Make of a compaction the copy-on-write of another writer: it has the operation overwrite, and
    its new data file the rows that change gives."""
    table = s.table
    rewrite = table.snapshots[table.current]
    path = s.data_files()[0]
    stored = pq.read_table(path)
    rows = change(stored.to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, stored.schema), path, store_schema=False)
    size = Path(path).stat().st_size

    def entry(entries):
        for e in entries:
            if e["tracking"]["status"] == 1:
                e.update(record_count=len(rows), file_size_in_bytes=size, content_stats=None,
                         split_offsets=None)
    edit(table.path(table.resolve(rewrite["root-manifest"])), entry)
    catalog = s.warehouse.folder / "catalog.db"
    metadata = Path(table.path(checker.metadata_location(catalog, *s.name.split("."))))
    document = json.loads(metadata.read_text())
    document["snapshots"][-1]["summary"]["operation"] = "overwrite"
    metadata.write_text(json.dumps(document))
    s.files = {}  # of which one is another now


def test_copy_on_write_is_what_changed_in_it(story):
    """Of six rows two are updated, two deleted and two only moved; two are new."""
    s = story(rows=6, files=1)
    s.update({"c_1": ("1", lambda r: 1.0)})
    before = s.rows
    s.compact()

    def change(rows):
        kept = [r for r in rows if r["id"] > 1]
        for row in kept[:2]:
            row.update({"c_2": 7.0, UPDATED: None})
        new = [{**rows[0], "id": 100 + i, ROW_ID: None, UPDATED: None} for i in range(2)]
        return new[:1] + kept + new[1:]
    as_overwrite(s, change)
    feed = feed_of(s)
    assert sorted((r["_change_type"], r["id"], r["c_2"] == 7.0) for r in feed) == [
        ("DELETE", 0, False), ("DELETE", 1, False), ("INSERT", 100, False), ("INSERT", 101, False),
        ("UPDATE_AFTER", 2, True), ("UPDATE_AFTER", 3, True),
        ("UPDATE_BEFORE", 2, False), ("UPDATE_BEFORE", 3, False)]
    after = s.table.rows()
    names = ["id", "c_1", "c_2", "c_3"]
    check_by_id(before, after, feed, names, s.sequence)


def test_rows_that_only_moved_did_not_change(story):
    """The same files as a compaction, whatever the operation is called."""
    s = story(rows=20, files=1)
    s.update({"c_1": ("1", lambda r: 1.0)}, "id < 7", lambda r: r["id"] < 7)
    s.compact()
    as_overwrite(s, lambda rows: rows[::-1])
    assert kinds_of(s) == ["added", "removed"]
    assert feed_of(s) == []


def random_step(s, rng):
    choice = rng.random()
    if choice < 0.2 and s.report.get("live_data_bytes"):
        s.compact()
        s.report = {}
    elif choice < 0.3 and sum(name.startswith("n_") for name in s.rows[0]) < 3:
        s.add_column(f"n_{rng.randrange(10 ** 6)}", "double")
    else:
        names = [n for n in s.rows[0] if n not in ("id", ROW_ID, UPDATED)]
        chosen = rng.sample(names, rng.randint(1, min(3, len(names))))
        value, divisor = rng.randrange(100), rng.choice([1, 2, 7, 40])
        rest = rng.choice(s.rows)["id"] % divisor
        s.update({name: (str(value), lambda r: float(value)) for name in chosen},
                 f"id % {divisor} = {rest}", lambda r: r["id"] % divisor == rest)


@pytest.mark.parametrize("seed", range(6))
def test_feeds_of_random_stories(story, seed):
    s, rng = story(rows=rng_rows(seed), files=1 + seed % 3), random.Random(seed)
    for _ in range(6):
        random_step(s, rng)
    table = s.table
    for snapshot in table.snapshots.values():
        parent = snapshot.get("parent-snapshot-id")
        before = s.past[parent] if parent is not None else []
        after = s.past[snapshot["snapshot-id"]]
        names = [n for n in after[0] if n in (before or after)[0] and n not in (ROW_ID, UPDATED)]
        replace = snapshot["summary"]["operation"] == "replace"
        check_by_id(before, after, feed_of(s, "--to", str(snapshot["snapshot-id"])), names,
                    None if replace else snapshot["sequence-number"])


def rng_rows(seed):
    return [3, 20, 41][seed % 3]


# ---- broken roots ----


def edit(path, change):
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path, store_schema=False)


class Copy:
    """A copy of a table of the corpus."""

    def __init__(self, folder, name):
        self.name, self.folder = name, folder / name
        shutil.copytree(GOLDEN / name, self.folder)
        self.metadata = self.folder / "metadata" / METADATA[name]
        self.json = json.loads(self.metadata.read_text())
        self.snapshots = {s["snapshot-id"]: s for s in self.json["snapshots"]}
        self.current = self.json["current-snapshot-id"]

    def edit_root(self, change):
        """Change the rows of the current root: a list of dictionaries, in place."""
        name = self.snapshots[self.current]["root-manifest"].rsplit("/", 1)[-1]
        edit(self.folder / "metadata" / name, change)

    def write_json(self):
        self.metadata.write_text(json.dumps(self.json))

    def changes(self, *arguments):
        return frazil(self.metadata, [("file:///golden/", f"{self.folder.parent}/")], "changes",
                      "--json", *arguments)

    def refusal(self, *words, code=5):
        for rows in ([], ["--rows"]):
            done = self.changes(*rows)
            assert done.returncode == code, done.stderr or done.stdout
            for word in words:
                assert word in done.stderr, done.stderr


@pytest.fixture
def copy(tmp_path):
    return lambda name: Copy(tmp_path, name)


def one(rows, **wanted):
    return next(r for r in rows if all(r["tracking"].get(k, r.get(k)) == v for k, v in wanted.items()))


@needs_corpus
def test_a_modified_entry_without_its_old_half(copy):
    table = copy("update_some_rows")
    table.edit_root(lambda rows: rows.remove(one(rows, status=3)))
    table.refusal("root-", "has a MODIFIED entry without a REPLACED entry")


@needs_corpus
def test_two_new_halves(copy):
    table = copy("update_some_rows")
    table.edit_root(lambda rows: rows.append(one(rows, status=4)))
    table.refusal("root-", "entries that change it in one snapshot")


@needs_corpus
def test_halves_of_different_lengths(copy):
    table = copy("update_some_rows")

    def change(rows):
        one(rows, status=3)["record_count"] += 1
    table.edit_root(change)
    table.refusal("root-", "record_count")


@needs_corpus
def test_an_old_half_that_an_earlier_snapshot_left_behind(copy):
    """spec: DELETED and REPLACED rows must be dropped the next time; some writers forget."""
    table = copy("update_some_rows")
    before = table.changes().stdout

    def change(rows):
        stale = json_copy(one(rows, status=3))
        stale["location"] = "data/never.parquet"
        stale["tracking"]["snapshot_id"] = 77
        rows.append(stale)
    table.edit_root(change)
    assert table.changes().stdout == before


def json_copy(row):
    return {k: dict(v) if isinstance(v, dict) else v for k, v in row.items()}


@needs_corpus
def test_rows_that_come_back(copy):
    """A vector that shrinks."""
    table = copy("update_then_vector")

    def change(rows):
        one(rows, status=4)["deletion_vector"] = None
    table.edit_root(change)
    table.refusal("is deleted in snapshot", "and not in its child")


@needs_corpus
def test_a_position_of_an_entry_that_was_not_live(copy):
    table = copy("modified_in_other_manifest")
    marked = []

    def find(rows):
        marked.extend(r for r in rows if r["tracking"]["replaced_positions"])
    table.edit_root(find)
    leaf = table.folder / "metadata" / marked[0]["location"].rsplit("/", 1)[-1]

    def change(rows):
        for row in rows:
            row["tracking"]["status"] = 2
    edit(leaf, change)
    table.refusal(leaf.name, "replaced_positions: entry", "was DELETED before")


@needs_corpus
def test_circles_of_parents(copy):
    table = copy("update_some_rows")
    ids = list(table.snapshots)
    for snapshot in table.json["snapshots"]:
        snapshot["parent-snapshot-id"] = ids[-1]
    table.write_json()
    done = table.changes("--from", str(ids[0]))
    assert done.returncode == 5 and "is an ancestor of itself" in done.stderr


@needs_corpus
def test_a_parent_that_has_expired(copy):
    """Files are known from the snapshot alone; old deletes of older manifests are not."""
    for name, code in (("update_some_rows", 0), ("vector_then_update", 0),
                       ("upgraded_vector_and_equality", 3)):
        table = copy(name)
        wanted = table.changes().stdout
        parent = table.snapshots[table.current]["parent-snapshot-id"]
        table.json["snapshots"] = [s for s in table.json["snapshots"] if s["snapshot-id"] != parent]
        for key in ("snapshot-log", "refs"):
            table.json.pop(key, None)
        table.write_json()
        done = table.changes()
        assert done.returncode == code, done.stderr
        if code == 0:
            assert done.stdout == wanted
        else:
            assert "has expired" in done.stderr
            assert f"\nhint: changes made after snapshot {table.current} are known" in done.stderr
        done = table.changes("--from", str(parent))
        assert done.returncode == 3 and "has no snapshot" in done.stderr
