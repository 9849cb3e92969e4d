"""Changes of snapshots: files as other generators know them, rows as a model that takes the parent's
rows, applies the feed and must arrive at the snapshot's rows."""
import gzip
import json
from collections import Counter

import pytest

from changes_model import ROW_ID, Model, check_by_id, check_by_value, differing
from iceberg_corpus import CORPORA, ENGINES, ENGINE_MAPS, frazil, listing, rows_of, scan

GOLDEN = CORPORA / "iceberg-v4"
GOLDEN_MAPS = [("file:///golden/", f"{GOLDEN}/")]
V4 = listing(GOLDEN / "TABLES.tsv")
VALID = [table for table in V4 if not table["must_fail"]]
BROKEN = [table for table in V4 if table["must_fail"] == "changes"]
ENGINE_TABLES = listing(ENGINES / "TABLES.tsv")

# Formats of data and delete files that there is no reader for.
UNREAD = "no reader for format "


# Tables of which files that the last snapshot's parent needs are gone.
FILES_GONE = ["upgraded_delete_manifest_masked"]


class Table:
    def __init__(self, folder, metadata, maps, recorded=None):
        """recorded: the location that a table which does not say its own has."""
        self.file, self.maps = folder / "metadata" / metadata, maps
        self.path = f"{recorded}/metadata/{metadata}" if recorded else self.file

    @property
    def json(self):
        raw = self.file.read_bytes()
        return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)

    def changes(self, *arguments):
        return frazil(self.path, self.maps, "changes", *arguments)

    def rows(self, snapshot):
        done = scan(self.path, self.maps, "--with-lineage", "--snapshot", str(snapshot))
        if done.returncode != 0 and UNREAD in done.stderr:
            pytest.skip("its files have a format that there is no reader for")
        return rows_of(done.stdout) if done.returncode == 0 else None

    def feed(self, snapshot, *arguments):
        done = self.changes("--rows", "--json", "--to", str(snapshot), *arguments)
        assert done.returncode == 0, done.stderr
        return rows_of(done.stdout)


def golden(table):
    recorded = "file:///golden/" + table["dir"]
    return Table(GOLDEN / table["dir"], table["metadata"], GOLDEN_MAPS, recorded)


def engine(table):
    return Table(ENGINES / table["dir"], table["metadata"], ENGINE_MAPS)


# ---- files ----


def as_set(rows):
    keys = [(row["location"], row["kind"]) for row in rows]
    assert len(set(keys)) == len(keys), "a line stands twice"
    return set(keys)


@pytest.mark.parametrize("table", VALID, ids=lambda t: t["dir"])
def test_files_of_the_last_snapshot(table):
    done = golden(table).changes("--json")
    if table["dir"] in FILES_GONE:
        assert done.returncode == 3 and "No such file" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    assert all(list(row) == ["location", "kind"] for row in rows)
    path = GOLDEN / table["dir"] / "changes.jsonl"
    if path.is_file():
        assert as_set(rows) == as_set(rows_of(path.read_text()))


@pytest.mark.parametrize("table", BROKEN, ids=lambda t: t["dir"])
def test_broken_changes_are_refused(table):
    assert scan(golden(table).path, GOLDEN_MAPS).returncode == 0
    for rows in ([], ["--rows"]):
        done = golden(table).changes("--json", *rows)
        line = done.stderr.splitlines()[0]
        assert done.returncode == 5 and done.stdout == "", line
        assert ".parquet" in line and ("REPLACED" in line or "deleted_positions" in line), line


def test_the_corpora_are_here():
    if not V4:
        pytest.skip(f"no corpus of v4 tables at {GOLDEN}")
    assert len(VALID) == 81 and len(BROKEN) == 2
    assert sum((GOLDEN / t["dir"] / "changes.jsonl").is_file() for t in VALID) >= 76


# ---- rows ----


def common_columns(metadata, parent, snapshot):
    """Columns that both schemas have under one name and type."""
    schemas = {s["schema-id"]: s for s in metadata.get("schemas", [metadata.get("schema")])}
    current = metadata.get("current-schema-id", 0)
    ours, theirs = (
        {f["id"]: f for f in schemas[s.get("schema-id", current)]["fields"]}
        for s in (snapshot, parent)
    )
    return [f["name"] for i, f in ours.items()
            if i in theirs and (f["name"], f["type"]) == (theirs[i]["name"], theirs[i]["type"])]


def check_snapshot(table, metadata, parent, snapshot):
    before = table.rows(parent["snapshot-id"]) if parent else []
    after = table.rows(snapshot["snapshot-id"])
    if before is None or after is None:
        return False  # files have expired
    feed = table.feed(snapshot["snapshot-id"])
    assert all(c["_commit_snapshot_id"] == snapshot["snapshot-id"] for c in feed)
    common = common_columns(metadata, parent or snapshot, snapshot)
    if snapshot["summary"]["operation"] == "replace":
        assert feed == []
    if any(row[ROW_ID] is None for row in before + after):
        names = ",".join('"' + name.replace('"', '""') + '"' for name in common)
        if names:
            feed = table.feed(snapshot["snapshot-id"], "--columns", names)
        check_by_value(before, after, feed, common)
    else:
        is_replace = snapshot["summary"]["operation"] == "replace"
        check_by_id(before, after, feed, common, None if is_replace else snapshot["sequence-number"])
    return True


def check_every_snapshot(table):
    metadata = table.json
    snapshots = {s["snapshot-id"]: s for s in metadata.get("snapshots", [])}
    for snapshot in snapshots.values():
        parent = snapshots.get(snapshot.get("parent-snapshot-id"))
        if parent is None and snapshot.get("parent-snapshot-id") is not None:
            continue
        check_snapshot(table, metadata, parent, snapshot)


@pytest.mark.parametrize("table", VALID, ids=lambda t: t["dir"])
def test_rows_of_every_snapshot(table):
    check_every_snapshot(golden(table))


@pytest.mark.parametrize("table", ENGINE_TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_rows_of_other_engines(table):
    check_every_snapshot(engine(table))


# ---- ranges ----


def ancestors(metadata):
    """The current snapshot and its parents, as far as they are there, oldest first."""
    snapshots = {s["snapshot-id"]: s for s in metadata.get("snapshots", [])}
    at, chain = snapshots.get(metadata.get("current-snapshot-id")), []
    while at:
        chain.append(at)
        at = snapshots.get(at.get("parent-snapshot-id"))
    return chain[::-1]


def check_range(table):
    """All changes since the oldest ancestor, one ordinal after the other: a row that came and went
    in between is told both times."""
    metadata = table.json
    chain = ancestors(metadata)
    if len(chain) < 2:
        return 0
    before, after = (table.rows(chain[i]["snapshot-id"]) for i in (0, -1))
    done = table.changes("--rows", "--json", "--from", str(chain[0]["snapshot-id"]))
    if before is None or (done.returncode == 3 and "No such file" in done.stderr):
        return 0
    assert done.returncode == 0, done.stderr
    feed = rows_of(done.stdout)
    numbers = [c["_change_ordinal"] for c in feed]
    assert numbers == sorted(numbers)
    assert all(c["_commit_snapshot_id"] == chain[c["_change_ordinal"] + 1]["snapshot-id"]
               for c in feed)
    if any(row[ROW_ID] is None for row in before + after + feed):
        return 0
    model = Model(before, common_columns(metadata, chain[0], chain[-1]))
    for number in range(len(chain)):
        model.apply([c for c in feed if c["_change_ordinal"] == number])
    assert set(model.rows) == {row[ROW_ID] for row in after}
    for row in after:
        names = [n for n in model.common if n in model.rows[row[ROW_ID]]]
        assert not differing(model.rows[row[ROW_ID]], row, names)
    return len(feed)


@pytest.mark.parametrize("table", VALID, ids=lambda t: t["dir"])
def test_a_range_of_snapshots(table):
    check_range(golden(table))


@pytest.mark.parametrize("table", ENGINE_TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_a_range_of_snapshots_of_other_engines(table):
    check_range(engine(table))


@pytest.mark.parametrize("table", [t for t in ENGINE_TABLES if "/eq_" in t["dir"]],
                         ids=lambda t: t["dir"].replace("/db/", "."))
def test_upserts_delete_no_row_that_was_not_there(table):
    """Equality deletes name keys, not rows: also such that no row has."""
    table = engine(table)
    chain, deleted = ancestors(table.json), 0
    table.rows(chain[-1]["snapshot-id"])  # which skips what cannot be read
    for parent, snapshot in zip(chain, chain[1:]):
        before = table.rows(parent["snapshot-id"])
        feed = table.feed(snapshot["snapshot-id"])
        gone = [c for c in feed if c["_change_type"] in ("DELETE", "UPDATE_BEFORE")]
        assert len(gone) <= len(before)
        deleted += len(gone)
    assert deleted > 0


@pytest.mark.parametrize("table", ENGINE_TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_files_of_other_engines(table):
    """Counts against what the engine's own summaries say of each snapshot."""
    table = engine(table)
    metadata = table.json
    for snapshot in metadata.get("snapshots", []):
        done = table.changes("--json", "--to", str(snapshot["snapshot-id"]))
        if done.returncode != 0:
            assert "No such file" in done.stderr or "not found" in done.stderr, done.stderr
            continue
        kinds = Counter(row["kind"] for row in rows_of(done.stdout))
        summary = snapshot["summary"]
        assert kinds["added"] == int(summary.get("added-data-files", 0)), summary
        assert kinds["removed"] == int(summary.get("deleted-data-files", 0)), summary
        added = kinds["position_deletes_added"] + kinds["equality_deletes_added"] + kinds["dv"]
        if "added-dvs" not in summary:
            assert added == int(summary.get("added-delete-files", 0)), summary
