"""Leaves of which many entries change are written anew: rows move into a new leaf, whose encoded chunks are
copied from the old one as far as values stay; the old one is masked whole and left out by the next version."""
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import checker
from frazil import Warehouse

FILES, EACH, WIDE = 200, 4, 12


class Table:
    def __init__(self, folder):
        self.warehouse = Warehouse(folder / "w")
        self.rows = [{"id": i, "n": i % 1000, **{f"c{k}": i * 1.25 + k for k in range(WIDE)}}
                     for i in range(FILES * EACH)]
        schema = pa.schema([("id", pa.int64()), ("n", pa.int32()),
                            *((f"c{k}", pa.float64()) for k in range(WIDE))])
        files = []
        for i in range(FILES):
            files.append(str(folder / f"{i:03}.parquet"))
            part = pa.Table.from_pylist(self.rows[i * EACH:(i + 1) * EACH], schema)
            pq.write_table(part, files[-1])
        self.run("import", "db.t", *files, "--property", "write.root-manifest.max-entries=100",
                 "--property", "write.durability=none")

    def run(self, *arguments, status=0):
        return self.warehouse.run(*arguments, status=status)

    def update(self, text, change, where=None, matches=lambda row: True):
        self.run("-q", "sql", f"UPDATE db.t SET {text}" + (f" WHERE {where}" if where else ""))
        self.rows = [dict(row, **change(row)) if matches(row) else row for row in self.rows]

    def delete(self, where, matches):
        self.run("-q", "sql", f"DELETE FROM db.t WHERE {where}")
        self.rows = [row for row in self.rows if not matches(row)]

    def root(self):
        """The rows of the current root manifest."""
        location = checker.metadata_location(self.warehouse.folder / "catalog.db", "db", "t")
        metadata = json.loads(open(location.removeprefix("file://")).read())
        snapshot = next(s for s in metadata["snapshots"]
                        if s["snapshot-id"] == metadata["current-snapshot-id"])
        return pq.read_table(self.path(snapshot["root-manifest"])).to_pylist()

    def path(self, location):
        return self.warehouse.folder / "db" / "t" / location

    def leaves(self):
        """Leaves of the root that have live entries, then those that are masked whole."""
        live, masked = [], []
        for row in self.root():
            if row["content_type"] == 3:
                dv = row["manifest_info"]["dv"]
                count = int.from_bytes(dv[1:4], "little") if dv else 0
                (masked if count == row["record_count"] else live).append(row)
        return live, masked

    def check(self):
        """Values, statistics (validate), the rules of the format (the independent reader)."""
        text = self.run("scan", "db.t", "--format", "jsonl")
        found = sorted((json.loads(line) for line in text.splitlines()), key=lambda row: row["id"])
        assert found == self.rows
        self.run("validate", "db.t")
        self.warehouse.table("db.t")

    def changed_files(self):
        lines = [json.loads(line) for line in self.run("changes", "db.t", "--json").splitlines()]
        return sorted({line["location"] for line in lines})


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def chunks(path):
    """The bytes of each column chunk, by row group and column."""
    content, found = path.read_bytes(), {}
    footer = pq.ParquetFile(path).metadata
    for g in range(footer.num_row_groups):
        for i in range(footer.num_columns):
            chunk = footer.row_group(g).column(i)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            found[g, chunk.path_in_schema] = content[start:start + chunk.total_compressed_size]
    return found


def copied(old, new):
    """Columns of the new leaf whose chunks are those of the old one."""
    before, after = chunks(old), chunks(new)
    return {key[1] for key in after if before.get(key) == after[key]}


def test_chunks_of_what_stays_are_copied(table):
    (first,), _ = table.leaves()
    table.update("c3 = c3 + id", lambda row: {"c3": row["c3"] + row["id"]})
    table.check()
    (second,), (old,) = table.leaves()
    assert old["location"] == first["location"] and second["location"] != first["location"]
    assert old["tracking"]["status"] == 4 and second["tracking"]["status"] == 1
    assert second["manifest_info"]["modified_files_count"] == FILES == second["record_count"]
    same = copied(table.path(first["location"]), table.path(second["location"]))
    for name in ("location", "file_size_in_bytes", "record_count", "content_stats.id.lower_bound",
                 "content_stats.c2.upper_bound", "content_stats.c11.null_value_count"):
        assert name in same, name
    changed = {name for _, name in chunks(table.path(second["location"]))} - same
    assert {"tracking.status", "content_stats.c3.upper_bound"} <= changed
    assert not [name for name in changed if name.startswith("content_stats.") and ".c3." not in name]
    assert len(table.changed_files()) == FILES
    # the next version leaves the old one out
    table.update("c4 = 0", lambda row: {"c4": 0.0})
    table.check()
    _, masked = table.leaves()
    assert [row["location"] for row in masked] == [second["location"]]


def test_entries_that_only_move_are_no_change(table):
    table.update("c0 = 7", lambda row: {"c0": 7.0}, "id < 400", lambda row: row["id"] < 400)
    table.check()
    (leaf,), (old,) = table.leaves()
    info = leaf["manifest_info"]
    assert (info["modified_files_count"], info["existing_files_count"]) == (100, FILES - 100)
    replaced = old["tracking"]["replaced_positions"]
    assert int.from_bytes(replaced[1:4], "little") == 100
    assert old["tracking"]["deleted_positions"] is None
    assert len(table.changed_files()) == 100


def test_few_changes_are_rows_of_the_root(table):
    (first,), _ = table.leaves()
    table.update("c0 = 7", lambda row: {"c0": 7.0}, "id < 8", lambda row: row["id"] < 8)
    table.check()
    (leaf,), masked = table.leaves()
    assert leaf["location"] == first["location"] and masked == []
    data = [row for row in table.root() if row["content_type"] == 0]
    assert len(data) == 2 and all(row["tracking"]["status"] == 4 for row in data)
    for row in data:  # all statistics came along
        assert row["content_stats"]["c0"]["lower_bound"] == 7.0
        assert row["content_stats"]["c5"]["lower_bound"] is not None
        assert row["content_stats"]["id"]["upper_bound"] is not None


def test_files_that_went_are_not_in_the_new_leaf(table):
    table.delete("id < 40", lambda row: row["id"] < 40)  # ten whole files
    table.delete("id = 101", lambda row: row["id"] == 101)  # a vector
    table.check()
    table.update("c1 = c1 * 2", lambda row: {"c1": row["c1"] * 2})
    table.check()
    live, _ = table.leaves()
    assert live[0]["record_count"] == FILES - 10 - 1  # one more is in the root, for its vector
    table.update("c2 = c1", lambda row: {"c2": row["c1"]})
    table.check()


def test_whole_files_go_and_the_rest_is_copied_or_decoded(table):
    table.delete("id < 640", lambda row: row["id"] < 640)
    table.check()
    live, masked = table.leaves()
    assert [row["record_count"] for row in live] == [FILES - 160]  # sparse: moved
    assert masked[0]["record_count"] == FILES
    assert len(table.changed_files()) == 160
    table.update("c1 = 1", lambda row: {"c1": 1.0})
    table.check()


def test_columns_come_change_and_go(table):
    table.run("-q", "sql", "ALTER TABLE db.t ADD COLUMN more double")
    for row in table.rows:
        row["more"] = None
    table.update("more = id / 4", lambda row: {"more": row["id"] / 4})
    table.check()
    table.run("-q", "sql", "ALTER TABLE db.t ALTER COLUMN n TYPE long")  # bounds are promoted
    table.update("c2 = n", lambda row: {"c2": float(row["n"])})
    table.check()
    table.run("-q", "sql", "ALTER TABLE db.t DROP COLUMN c5")
    for row in table.rows:
        del row["c5"]
    table.update("n = n + 3000000000", lambda row: {"n": row["n"] + 3_000_000_000})
    table.check()
    (leaf,), _ = table.leaves()
    stats = pq.ParquetFile(table.path(leaf["location"])).schema_arrow.field("content_stats").type
    names = [stats.field(i).name for i in range(stats.num_fields)]
    assert "c5" not in names and {"n", "more", "c2"} <= set(names)
    table.run("-q", "sql", "ALTER TABLE db.t RENAME COLUMN c6 TO six")
    for row in table.rows:
        row["six"] = row.pop("c6")
    table.update("c7 = six", lambda row: {"c7": row["six"]})
    table.check()


def test_fields_without_statistics_lose_them(table):
    table.run("-q", "sql", "ALTER TABLE db.t SET TBLPROPERTIES "
                           "('write.metadata.metrics.column.c3' = 'none')")
    table.update("c3 = -1", lambda row: {"c3": -1.0})
    table.check()
    (leaf,), _ = table.leaves()
    stats = pq.ParquetFile(table.path(leaf["location"])).schema_arrow.field("content_stats").type
    assert "c3" not in [stats.field(i).name for i in range(stats.num_fields)]


def test_earlier_versions_are_as_they_were(table):
    before, first = list(table.rows), json.loads(
        table.run("snapshots", "db.t", "--json"))[0]["snapshot_id"]
    for k in range(3):
        table.update(f"c{k} = -id", lambda row, k=k: {f"c{k}": -float(row["id"])})
    table.check()
    text = table.run("scan", "db.t", "--snapshot", str(first), "--format", "jsonl")
    assert sorted((json.loads(line) for line in text.splitlines()), key=lambda r: r["id"]) == before
