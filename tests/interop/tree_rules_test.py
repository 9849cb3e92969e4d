"""Rules of root and leaf manifests: tables of the v4 corpus, of which one thing is changed."""
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iceberg_corpus import CORPORA, frazil, listing

GOLDEN = CORPORA / "iceberg-v4"
METADATA = {t["dir"]: t["metadata"] for t in listing(GOLDEN / "TABLES.tsv")}

pytestmark = pytest.mark.skipif(not METADATA, reason=f"no corpus of v4 tables at {GOLDEN}")

FIVE = bytes.fromhex("01010000010000000105")  # the set of position 5


class Copy:
    """A copy of a table."""

    def __init__(self, folder, name):
        self.name, self.folder = name, folder / name
        shutil.copytree(GOLDEN / name, self.folder)
        self.root = self.folder.parent

    def edit(self, pattern, change):
        """Change the rows of the newest manifest of a name: a list of dictionaries, in place."""
        path = sorted((self.folder / "metadata").glob(pattern))[-1]
        table = pq.read_table(path)
        rows = table.to_pylist()
        change(rows)
        pq.write_table(pa.Table.from_pylist(rows, table.schema), path, store_schema=False)
        return path

    def run(self, *arguments):
        metadata = self.folder / "metadata" / METADATA[self.name]
        return frazil(metadata, [("file:///golden/", f"{self.root}/")], *arguments)

    def ids(self, *arguments):
        done = self.run("scan", "--format", "jsonl", *arguments)
        assert done.returncode == 0, done.stderr
        return sorted(json.loads(line)["id"] for line in done.stdout.splitlines())

    def refusal(self, *words, code=5):
        done = self.run("scan", "--format", "jsonl")
        assert done.returncode == code and done.stdout == "", done.stderr
        for word in words:
            assert word in done.stderr, done.stderr


@pytest.fixture
def copy(tmp_path):
    return lambda name: Copy(tmp_path, name)


def manifest_of(rows):
    return next(row for row in rows if row["content_type"] in (3, 4))


def data_of(rows):
    return next(row for row in rows
                if row["content_type"] == 0 and row["tracking"]["status"] in (0, 1, 4))


def test_a_leaf_holds_as_many_entries_as_its_root_says(copy):
    table = copy("worked_examples")

    def change(rows):
        entry = manifest_of(rows)
        entry["record_count"] += 1
        entry["manifest_info"]["added_files_count"] += 1
    table.edit("root-*.parquet", change)
    table.refusal("leaf-1.parquet", "holds 2 entries, its record_count is 3")


def test_files_counts_sum_to_the_entries(copy):
    table = copy("worked_examples")
    table.edit("root-*.parquet",
               lambda rows: manifest_of(rows)["manifest_info"].update(added_files_count=7))
    table.refusal("leaf-1.parquet", "files counts sum to 7, record_count is 2")


@pytest.mark.parametrize("counts,words", [
    ({"deleted_rows_count": 4}, "4 rows in no files"),
    ({"replaced_files_count": -1}, "expected no negative number, found -1"),
    ({"min_sequence_number": -1}, "min_sequence_number"),
    ({"format_version": 3}, "format_version: expected 0, or 4 or more, found 3"),
])
def test_impossible_counts(copy, counts, words):
    table = copy("worked_examples")
    table.edit("root-*.parquet", lambda rows: manifest_of(rows)["manifest_info"].update(counts))
    table.refusal("root-", "leaf-1.parquet", words)


@pytest.mark.parametrize("name", ["dv", "deleted_positions", "replaced_positions"])
def test_a_position_that_is_not_in_the_manifest(copy, name):
    table = copy("worked_examples")

    def change(rows):
        entry = manifest_of(rows)
        entry["manifest_info" if name == "dv" else "tracking"][name] = FIVE
    table.edit("root-*.parquet", change)
    table.refusal("root-", "leaf-1.parquet", f"{name}: position 5 is not among the 2 entries")


@pytest.mark.parametrize("location", ["data/f-004.parquet",
                                      "file:///golden/worked_examples/data/f-004.parquet"])
def test_one_live_entry_for_a_location(copy, location):
    """One in the root, one in the leaf."""
    table = copy("worked_examples")
    size = (table.folder / "data" / "f-004.parquet").stat().st_size

    def change(rows):
        data_of(rows).update(location=location, file_size_in_bytes=size, record_count=7)
    table.edit("root-*.parquet", change)
    done = table.run("scan", "--format", "jsonl")
    assert done.returncode == 5 and "f-004.parquet has two live entries" in done.stderr


@pytest.mark.parametrize("change,words", [
    ({"first_row_id": None}, "first_row_id: expected a row id, found null"),
    ({"snapshot_id": None}, "snapshot_id: expected a number, found null"),
    ({"sequence_number": None}, "sequence_number: expected a number, found null"),
    ({"file_sequence_number": -2}, "expected no negative numbers"),
])
def test_old_entries_of_a_root_are_explicit(copy, change, words):
    table = copy("worked_examples")

    def apply(rows):
        entry = data_of(rows)
        assert entry["tracking"]["status"] == 0
        entry["tracking"].update(change)
    table.edit("root-*.parquet", apply)
    table.refusal("root-", "entry 0", "f-001.parquet", words)


def test_old_entries_of_a_leaf_have_numbers(copy):
    table = copy("worked_examples")
    table.edit("leaf-1.parquet", lambda rows: rows[1]["tracking"].update(status=0))
    table.refusal("leaf-1.parquet", "entry 1", "sequence_number: expected a number, found null")


def test_a_vector_of_more_rows_than_the_file(copy):
    table = copy("born_with_vector")

    def change(rows):
        entry = next(row for row in rows if row["deletion_vector"])
        entry["deletion_vector"]["cardinality"] = entry["record_count"] + 1
    table.edit("root-*.parquet", change)
    table.refusal("root-", "deletion_vector: cardinality")


def test_a_spec_that_nobody_knows_proves_nothing(copy):
    table = copy("partition_union")
    before = table.ids("--where", "cat = 'y'")

    def change(rows):
        for row in rows:
            row["spec_id"] = 99
    table.edit("leaf-2.parquet", change)
    assert table.ids("--where", "cat = 'y'") == before == [7, 7]


def test_leaves_are_skipped_by_statistics_of_their_own(copy):
    """The leaf is gone, which shows as soon as it is wanted."""
    table = copy("worked_examples")

    def change(rows):
        stats = data_of(rows)["content_stats"]["id"]
        entry = manifest_of(rows)
        entry["content_stats"] = {"id": {**stats, "lower_bound": 300, "upper_bound": 306,
                                         "value_count": 11, "tight_bounds": False}, "name": None}
    table.edit("root-*.parquet", change)
    (table.folder / "metadata" / "leaf-1.parquet").unlink()
    assert table.ids("--where", "id < 10") == list(range(10))
    done = table.run("scan", "--where", "id = 303")
    assert done.returncode == 3 and "leaf-1.parquet" in done.stderr


def test_a_leaf_without_live_entries_is_not_opened(copy):
    table = copy("leaf_fully_masked")
    expected = table.ids()
    (table.folder / "metadata" / "leaf-1.parquet").unlink()
    assert table.ids() == expected


def test_a_legacy_manifest_holds_as_many_entries_as_its_root_says(copy):
    table = copy("upgraded_append")

    def change(rows):
        manifest_of(rows)["record_count"] += 1
    table.edit("root-*.parquet", change)
    done = table.run("scan", "--format", "jsonl")
    assert done.returncode == 5 and "entries, its record_count is" in done.stderr


def test_an_unknown_count_of_a_legacy_manifest(copy):
    table = copy("upgraded_append")
    expected = table.ids()
    table.edit("root-*.parquet", lambda rows: manifest_of(rows).update(record_count=-1))
    assert table.ids() == expected
