"""Root manifests, both ways: what Frazil lists of roots that others wrote equals what pyarrow reads
from them, and roots that Frazil writes have the columns and ids of the specification."""
import json
import os
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from frazil import BUILD, Warehouse, generate

GOLDEN = Path(os.environ.get("FRAZIL_CORPORA", "../shared/corpora")).resolve() / "iceberg-v4"
STATUS = ["EXISTING", "ADDED", "DELETED", "REPLACED", "MODIFIED"]
CONTENT = {0: "DATA", 3: "DATA_MANIFEST", 4: "DELETE_MANIFEST"}


def valid_tables():
    listing = GOLDEN / "TABLES.tsv"
    if not listing.is_file():
        return []
    lines = [line.split("\t") for line in listing.read_text().splitlines()[1:]]
    # packed JSON has its own test
    return [
        (folder, metadata)
        for folder, metadata, _, _, must_fail, _ in lines
        if not must_fail and folder != "gzip_metadata"
    ]


def id_of(field):
    return int((field.metadata or {}).get(b"PARQUET:field_id", b"-1"))


def named(fields):
    """Field id -> name."""
    return {id_of(field): field.name for field in fields}


class Row:
    """A row of a root, looked up by field id at the top level and inside tracking."""

    def __init__(self, top, tracking, row):
        self.row, self.tracking = row, row[top[147]]
        self.top_names, self.tracking_names = top, tracking

    def __getitem__(self, id_):
        return self.row.get(self.top_names.get(id_))

    def track(self, id_):
        return self.tracking.get(self.tracking_names.get(id_))


def root_rows(path):
    table = pq.read_table(path)
    top = named(table.schema)
    tracking = named(table.schema.field(top[147]).type)
    return [Row(top, tracking, row) for row in table.to_pylist()]


def resolve(base, location):
    scheme = location.split(":", 1)[0]
    absolute = ":" in location and scheme[:1].isalpha() and scheme.isascii() and all(
        c.isalnum() or c in "+-." for c in scheme
    )
    return location if absolute else f"{base}/{location}"


def expected(row, snapshot, base):
    status = STATUS[row.track(0)]
    fresh, changed = status == "ADDED", status in ("ADDED", "MODIFIED")

    def inherited(value, inherits, name):
        return snapshot[name] if value is None and inherits else value

    return {
        "status": status,
        "content": CONTENT[row[134]],
        "location": resolve(base, row[100]),
        "record_count": row[103],
        "file_size_in_bytes": row[104],
        "sequence_number": inherited(row.track(3), changed, "sequence-number"),
        "file_sequence_number": inherited(row.track(4), changed, "sequence-number"),
        "snapshot_id": inherited(row.track(1), fresh, "snapshot-id"),
        "modified_snapshot_id": row.track(5),
        "first_row_id": row.track(142),
        "column_file_count": len(row[158] or []),
    }


def listed(view, path, snapshot):
    """The rows of a view of a snapshot."""
    command = [BUILD / "bin" / "frazil", "--metadata", path]
    command += ["--map-location", f"file:///golden/={GOLDEN}/", view, "--json"]
    command += ["--snapshot", str(snapshot["snapshot-id"])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def pick(row, like):
    return {name: row[name] for name in like}


@pytest.mark.parametrize("folder,metadata", valid_tables())
def test_listed_entries_equal_what_pyarrow_reads(folder, metadata):
    path = GOLDEN / folder / "metadata" / metadata
    document = json.loads(path.read_text())
    base = (document.get("location") or "").rstrip("/")
    if not base:
        pytest.skip("the table has no location")
    for snapshot in document.get("snapshots", []):
        if "root-manifest" not in snapshot:
            continue
        location = resolve(base, snapshot["root-manifest"])
        root = location.replace("file:///golden", str(GOLDEN))
        if not Path(root).is_file():
            continue
        wanted = [expected(row, snapshot, base) for row in root_rows(root)]
        files = [row for row in wanted if row["content"] == "DATA"]
        entries = [row for row in listed("entries", path, snapshot) if row["manifest"] == location]
        assert [pick(row, files[0]) for row in entries] == files if files else not entries
        manifests = [row for row in wanted if row["content"] != "DATA"]
        for row in manifests:
            row["entry_count"] = row.pop("record_count")
            del row["file_sequence_number"], row["column_file_count"]
        found = [row for row in listed("manifests", path, snapshot) if row["content"] != "ROOT"]
        assert [pick(row, manifests[0]) for row in found] == manifests if manifests else not found


def ids_of(field, found):
    found[field.name] = id_of(field)
    for i in range(field.type.num_fields):
        ids_of(field.type.field(i), found)
    return found


def test_a_root_of_ours_has_ids_everywhere(tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    generate(tmp_path / "wide.parquet", rows=100, columns=3)
    warehouse.run("import", "db.wide", str(tmp_path / "wide.parquet"))
    [root] = {row["manifest"] for row in json.loads(warehouse.run("entries", "db.wide", "--json"))}
    file = pq.ParquetFile(root.removeprefix("file://"))
    keys = file.metadata.metadata
    assert (keys[b"format-version"], keys[b"schema-id"]) == (b"4", b"0")
    names = [field.name for field in file.schema_arrow]
    assert names == [
        "tracking", "content_type", "location", "file_format", "record_count", "file_size_in_bytes",
        "spec_id", "sort_order_id", "content_stats", "deletion_vector", "manifest_info",
        "key_metadata", "split_offsets", "column_files",
    ]
    for field in file.schema_arrow:
        assert -1 not in ids_of(field, {}).values(), field
    tracking = ids_of(file.schema_arrow.field("tracking"), {})
    assert tracking["status"] == 0 and tracking["modified_snapshot_id"] == 5
    stats = ids_of(file.schema_arrow.field("content_stats"), {})
    assert (stats["id"], stats["c_3"]) == (10200, 10800)
    [row] = file.read().to_pylist()
    assert row["content_stats"]["id"]["lower_bound"] == 0
    assert row["content_stats"]["id"]["upper_bound"] == 99
    assert row["content_stats"]["c_1"]["value_count"] == 100
    assert row["column_files"] is None and row["tracking"]["first_row_id"] == 0
