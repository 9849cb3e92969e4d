"""Manifest lists and manifests of versions 1 to 3 as other writers made them, and as they must not
be: each test writes a table and then edits the Avro files below its metadata."""
import json
import struct
import uuid

import fastavro
import pyarrow as pa
import pytest

from delete_tables import DeleteTable, field_id
from iceberg_corpus import frazil

ID_NAME = [(1, "id", "long"), (2, "name", "string")]


def rows(*values):
    schema = pa.schema([pa.field("id", pa.int64(), True, field_id(1)),
                        pa.field("name", pa.string(), True, field_id(2))])
    return pa.table([pa.array([v[0] for v in values], pa.int64()),
                     pa.array([v[1] for v in values], pa.string())], schema)


# ---- editing ----


def walk(node, change):
    """Call change for every field of a schema, parents first; fields for which it is false go."""
    if isinstance(node, list):
        for branch in node:
            walk(branch, change)
    elif isinstance(node, dict):
        if isinstance(node.get("fields"), list):
            node["fields"] = [f for f in node["fields"] if change(f)]
            for field in node["fields"]:
                walk(field["type"], change)
        for key in ("items", "type"):
            if isinstance(node.get(key), (dict, list)):
                walk(node[key], change)


def edit(path, field=None, record=None, key=None):
    """Rewrite an Avro file. field: called with each field of the schema, false drops it; record:
    with each record, the place of it; key: with the file's own metadata."""
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        schema = json.loads(reader.metadata["avro.schema"])
        metadata = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
        records = list(reader)
    if field:
        walk(schema, field)
    for i, entry in enumerate(records if record else []):
        record(i, entry)
    if key:
        key(metadata)
    with open(path, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(schema), records, metadata=metadata)


def dropping(*names):
    return lambda field: field["name"] not in names


def newest(table, pattern):
    return sorted((table.folder / "metadata").glob(pattern))[-1]


def list_of(table):
    return newest(table, "snap-*.avro")


# ---- asking ----


def scan(metadata, *arguments):
    done = frazil(metadata, [], "scan", "--format", "jsonl", *arguments)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def ids(metadata, *arguments):
    return sorted(json.loads(line)["id"] for line in scan(metadata, *arguments))


def view(metadata, name):
    done = frazil(metadata, [], name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(metadata, *words):
    """A scan fails and says these words."""
    done = frazil(metadata, [], "scan", "--format", "jsonl")
    assert done.returncode in (1, 3, 5) and done.stdout == "", done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    return done.returncode


@pytest.fixture
def table(tmp_path):
    return DeleteTable(tmp_path, ID_NAME)


# ---- which version wrote it ----


def test_a_list_without_format_version_keeps_its_deletes(table):
    table.append(rows((1, "a"), (2, "b")))
    table.commit()
    table.delete_equal(rows((1, "a")), [1])
    metadata = table.commit()
    expected = scan(metadata)
    edit(list_of(table), key=lambda m: m.pop("format-version"))
    assert len(expected) == 1 and scan(metadata) == expected
    assert {row["sequence_number"] for row in view(metadata, "entries")} == {1, 2}


def test_manifests_of_version_1_in_a_table_of_version_2(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    edit(newest(table, "m*.avro"), key=lambda m: [m.pop(k) for k in ("format-version", "content")],
         field=dropping("sequence_number", "file_sequence_number", "content", "equality_ids",
                        "referenced_data_file"))
    edit(list_of(table), record=lambda i, e: e.update(sequence_number=0))
    table.delete_equal(rows((1, "a")), [1])
    after = table.commit()
    edit(list_of(table), record=lambda i, e: e.update(sequence_number=0) if i == 0 else None)
    assert [(e["sequence_number"], e["file_sequence_number"])
            for e in view(metadata, "entries")] == [(0, 0)]
    assert ids(metadata) == [1] and ids(after) == []


def test_a_list_of_version_1(table):
    table.append(rows((1, "a")))
    metadata = table.commit()

    def old(name):
        return name.replace("_files_count", "_data_files_count")

    def old_field(field):
        field["name"] = old(field["name"])
        return field["name"] not in ("content", "sequence_number", "min_sequence_number")

    def old_record(i, entry):
        for name in [n for n in entry if n != old(n)]:
            entry[old(name)] = entry.pop(name)
    edit(list_of(table), field=old_field, record=old_record)
    edit(newest(table, "m*.avro"), record=lambda i, e: e.update(sequence_number=None))
    assert ids(metadata) == [1]
    assert view(metadata, "entries")[0]["sequence_number"] == 0


@pytest.mark.parametrize("gone", ["added_files_count", "existing_rows_count", "manifest_length",
                                  "partition_spec_id"])
def test_fields_of_a_list_may_be_missing(table, gone):
    table.append(rows((1, "a")))
    metadata = table.commit()
    edit(list_of(table), field=dropping(gone))
    assert ids(metadata) == [1]


def test_keys_of_a_manifest_may_be_missing(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    edit(newest(table, "m*.avro"), key=lambda m: m.clear())
    assert ids(metadata) == [1]
    assert view(metadata, "entries")[0]["sequence_number"] == 1


def test_names_do_not_count(table):
    table.append(rows((1, "a")), bounds=[(1, 1, 1)])
    table.append(rows((5, "e")), bounds=[(1, 5, 5)])
    metadata = table.commit()

    # names of the same length, changed where the schema stands in the file
    for path in (list_of(table), newest(table, "m*.avro")):
        data = path.read_bytes()
        for name in (b"file_path", b"manifest_path", b"record_count", b"snapshot_id",
                     b"lower_bounds"):
            data = data.replace(b'"' + name + b'"', b'"' + name[:-1] + b'x"')
        path.write_bytes(data)
    assert ids(metadata) == [1, 5] and ids(metadata, "--where", "id > 2") == [5]


# ---- what is inherited ----


def test_data_and_file_sequence_numbers_are_told_apart(table):
    table.append(rows((1, "a"), (2, "b")))
    table.commit()
    for _ in range(3):
        table.append(rows((9, "z")))
        table.commit()
    table.delete_equal(rows((2, "b")), [1])
    metadata = table.commit()
    first = sorted((table.folder / "metadata").glob("m1001*.avro"))[0]
    edit(first, record=lambda i, e: e.update(status=0, sequence_number=3, file_sequence_number=7))
    numbers = [(e["sequence_number"], e["file_sequence_number"]) for e in view(metadata, "entries")]
    assert sorted(numbers) == [(2, 2), (3, 3), (3, 7), (4, 4), (5, 5)]
    assert ids(metadata) == [1, 9, 9, 9]  # the delete is of 5: newer than 3, older than 7


def test_an_old_entry_without_sequence_number_is_refused(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    edit(newest(table, "m*.avro"), record=lambda i, e: e.update(status=0, sequence_number=None))
    assert refusal(metadata, "m1001-0.avro", "entry 0", "sequence_number") == 5


def test_an_old_entry_may_lack_the_file_sequence_number(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    edit(newest(table, "m*.avro"), field=dropping("file_sequence_number"),
         record=lambda i, e: e.update(status=0, sequence_number=1))
    assert ids(metadata) == [1]
    assert view(metadata, "entries")[0]["file_sequence_number"] is None


def lineage(metadata):
    return [(r["id"], r["_row_id"], r["_last_updated_sequence_number"])
            for r in map(json.loads, scan(metadata, "--with-lineage"))]


@pytest.mark.parametrize("assigned", [True, False])
def test_row_ids_are_counted_over_live_entries_without_one(tmp_path, assigned):
    table = DeleteTable(tmp_path, ID_NAME, version=3)
    for i in range(4):
        table.append(rows((10 * i, "x"), (10 * i + 1, "y")))
    metadata = table.commit()

    def change(i, entry):
        entry["data_file"]["first_row_id"] = 500 if i == 1 else None
        entry.update(status=2 if i == 0 else 0 if i == 2 else 1, sequence_number=1)
    edit(newest(table, "m*.avro"), record=change)
    edit(list_of(table), record=lambda i, e: e.update(first_row_id=100 if assigned else None))
    expected = [(10, 500), (11, 501), (20, 100), (21, 101), (30, 102), (31, 103)]
    assert lineage(metadata) == [(i, r if assigned else None, 1 if assigned else None)
                                 for i, r in expected]


def test_removed_entries_are_not_read(table):
    table.append(rows((1, "a")))
    gone = table.append(rows((2, "b")))
    metadata = table.commit()
    edit(newest(table, "m*.avro"),
         record=lambda i, e: e.update(status=2, sequence_number=1) if i == 1 else None)
    (table.folder / gone.removeprefix(f"{table.location}/")).unlink()
    assert ids(metadata) == [1]


@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_plan_that_ends_early_reads_few_manifests(table, threads):
    """All manifests but the first are gone, which shows only when they are wanted."""
    for i in range(6):
        table.append(rows((i, "x"), (i + 10, "y")))
        metadata = table.commit()
    for path in sorted((table.folder / "metadata").glob("m*.avro"))[1:]:
        path.unlink()
    assert len(ids(metadata, "--limit", "1", "--threads", threads)) == 1
    done = frazil(metadata, [], "scan", "--threads", threads)
    assert done.returncode == 3 and "m1002-1.avro" in done.stderr


# ---- bounds ----


def with_bounds(table, bounds):
    """Put these bounds, as bytes by field id, into the first entry."""
    def change(i, entry):
        if i == 0:
            file = entry["data_file"]
            file["lower_bounds"] = [{"key": k, "value": low} for k, (low, _) in bounds.items()]
            file["upper_bounds"] = [{"key": k, "value": high} for k, (_, high) in bounds.items()]
    edit(newest(table, "m*.avro"), record=change)


def report(metadata, where):
    done = frazil(metadata, [], "scan", "--format", "jsonl", "--report", "--where", where)
    assert done.returncode == 0, done.stderr
    return len(done.stdout.splitlines()), done.stderr


def test_bounds_from_before_a_promotion(table):
    table.append(rows((-5, "a"), (7, "b")))
    metadata = table.commit()
    with_bounds(table, {1: (struct.pack("<i", -5), struct.pack("<i", 7))})
    assert ids(metadata, "--where", "id = 7") == [7]
    count, text = report(metadata, "id > 7")
    assert count == 0 and "data files: 1, skipped by statistics 1" in text


@pytest.mark.parametrize("low,high", [(b"", b""), (b"\1", b"\2"), (b"\0" * 9, b"\1" * 9),
                                      (struct.pack("<q", 9), struct.pack("<q", -9))])
def test_bounds_that_are_none_prove_nothing(table, low, high):
    table.append(rows((1, "a")))
    metadata = table.commit()
    with_bounds(table, {1: (low, high)})
    assert ids(metadata, "--where", "id = 1") == [1]
    assert len(view(metadata, "files")) == 1


def test_a_text_bound_may_be_cut_inside_of_a_character(table):
    table.append(rows((1, "a\u2014z"), (2, "b\u00ed")))
    metadata = table.commit()
    with_bounds(table, {2: ("a\u2014".encode()[:2], "b\u00ed".encode()[:2] + b"\xff")})
    assert ids(metadata, "--where", "name = 'a\u2014z'") == [1]
    assert ids(metadata, "--where", "name >= 'b'") == [2]
    assert ids(metadata, "--where", "name < 'a'") == []
    assert len(view(metadata, "entries")) == 1


UUIDS = ["00000000-0000-4000-8000-000000000001", "7fffffff-0000-4000-0000-000000000001",
         "80000000-0000-4000-8000-000000000001", "ffffffff-0000-4000-8000-000000000001",
         "00000000-0000-4000-0000-000000000001"]


def signed(value):
    """The order in which some writers compare."""
    return struct.unpack(">qq", uuid.UUID(value).bytes)


def test_bounds_of_uuids_in_the_order_of_signed_halves(tmp_path):
    for chosen in [UUIDS[:4], UUIDS, UUIDS[2:4], [UUIDS[0], UUIDS[1], UUIDS[4]]]:
        table = DeleteTable(tmp_path / str(len(list(tmp_path.iterdir()))),
                            [(1, "u", "uuid")])
        field = pa.field("u", pa.uuid(), True, field_id(1))
        array = pa.array([uuid.UUID(u).bytes for u in chosen], pa.uuid())
        table.append(pa.table([array], pa.schema([field])))
        metadata = table.commit()
        low, high = min(chosen, key=signed), max(chosen, key=signed)
        with_bounds(table, {1: (uuid.UUID(low).bytes, uuid.UUID(high).bytes)})
        for u in chosen:
            assert len(scan(metadata, "--where", f"u = '{u}'")) == 1, (chosen, u)


# ---- refused ----


def test_a_manifest_without_field_ids(table):
    table.append(rows((1, "a")))
    metadata = table.commit()

    def without_id(field):
        field.pop("field-id", None)
        return True
    edit(newest(table, "m*.avro"), field=without_id)
    assert refusal(metadata, "m1001-0.avro", "(status) is missing") == 5


def test_a_list_that_lists_itself(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    path = list_of(table)
    edit(path, record=lambda i, e: e.update(manifest_path=f"{table.location}/metadata/{path.name}"))
    assert refusal(metadata, path.name, "(status) is missing") == 5


def test_a_manifest_that_is_gone(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    newest(table, "m*.avro").unlink()
    assert refusal(metadata, "m1001-0.avro") == 3


@pytest.mark.parametrize("change,words", [
    ({"status": 3}, "status: expected 0 to 2, found 3"),
    ({"content": 1}, "content: expected 0 in a data manifest, found 1"),
    ({"content": 7}, "content: expected 0 in a data manifest, found 7"),
    ({"record_count": -1}, "record_count: expected no negative number"),
    ({"file_size_in_bytes": -1}, "file_size_in_bytes: expected no negative number"),
    ({"file_path": ""}, "file_path: expected text"),
    ({"file_format": "csv"}, "file_format"),
    ({"sequence_number": -4}, "sequence_number"),
])
def test_entries_that_break_a_rule(table, change, words):
    table.append(rows((1, "a")))
    metadata = table.commit()

    def apply(i, entry):
        for name, value in change.items():
            (entry if name in entry else entry["data_file"])[name] = value
    edit(newest(table, "m*.avro"), record=apply)
    assert refusal(metadata, "m1001-0.avro", "entry 0", words) == 5


@pytest.mark.parametrize("change,words", [
    ({"content": 2}, "content: expected 0 (data) or 1 (deletes), found 2"),
    ({"sequence_number": -1}, "sequence_number"),
    ({"manifest_path": ""}, "manifest_path: expected text"),
])
def test_lists_that_break_a_rule(table, change, words):
    table.append(rows((1, "a")))
    metadata = table.commit()
    edit(list_of(table), record=lambda i, e: e.update(change))
    assert refusal(metadata, "snap-1001.avro", "entry 0", words) == 5


def test_a_list_of_more_manifests_than_bytes(table):
    table.append(rows((1, "a")))
    metadata = table.commit()
    with open(list_of(table), "rb") as file:
        reader = fastavro.reader(file)
        schema, entry = reader.writer_schema, next(reader)
    with open(list_of(table), "wb") as file:
        fastavro.writer(file, schema, (entry for _ in range(100_000)), codec="deflate",
                        sync_interval=1 << 26)
    assert refusal(metadata, "snap-1001.avro", "100000 manifests cannot be in") == 5


def test_deletes_without_keys(table):
    table.append(rows((1, "a")))
    table.delete_equal(rows((1, "a")), [1])
    metadata = table.commit()
    edit(newest(table, "m*.avro"), record=lambda i, e: e["data_file"].update(equality_ids=[]))
    assert refusal(metadata, "equality_ids: expected at least one, found none") == 5


def test_a_vector_that_names_no_file(tmp_path):
    table = DeleteTable(tmp_path, ID_NAME, version=3)
    data = table.append(rows((1, "a")))
    table.delete_vector(data, [0])
    metadata = table.commit()
    edit(newest(table, "m*.avro"),
         record=lambda i, e: e["data_file"].update(referenced_data_file=None))
    assert refusal(metadata, "referenced_data_file") == 5
