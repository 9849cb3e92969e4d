"""Deletes of versions 2 and 3 in tables made for one fault each. Every table is also read column by
column, since the keys of deletes need not be in the projection."""
import json
import math

import pyarrow as pa
import pytest

from delete_tables import PATH_ID, DeleteTable, deletion_vector, field_id
from iceberg_corpus import frazil, scan_by_tasks

ID_NAME = [(1, "id", "long"), (2, "name", "string")]


def column(number, name, kind, values):
    return (pa.field(name, kind, True, field_id(number)), pa.array(values, kind))


def arrow(*columns):
    return pa.table([values for _, values in columns], pa.schema([f for f, _ in columns]))


def id_name(rows):
    return arrow(
        column(1, "id", pa.int64(), [row[0] for row in rows]),
        column(2, "name", pa.string(), [row[1] for row in rows]),
    )


def ids(values):
    return arrow(column(1, "id", pa.int64(), values))


def names(values):
    return arrow(column(2, "name", pa.string(), values))


def scan(metadata, *arguments):
    done = frazil(metadata, [], "scan", "--format", "jsonl", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(metadata, *arguments):
    done = frazil(metadata, [], "scan", "--format", "jsonl", *arguments)
    assert done.returncode == 5 and done.stdout == "", (done.returncode, done.stdout, done.stderr)
    return done.stderr


def check(metadata, expected, *arguments):
    """The rows, by tasks, too, and each of their columns alone."""
    assert scan(metadata, *arguments) == expected
    by_tasks = scan_by_tasks(metadata, [], 5, *arguments)
    assert [json.loads(line) for line in by_tasks.splitlines()] == expected
    for name in expected[0] if expected else ():
        got = scan(metadata, "--columns", name, *arguments)
        assert got == [{name: row[name]} for row in expected], name


def rows_of(pairs):
    return [{"id": a, "name": b} for a, b in pairs]


@pytest.fixture
def table(tmp_path):
    return DeleteTable(tmp_path, ID_NAME)


# ---- equality deletes ----


@pytest.mark.parametrize(
    "key,kept",
    [
        (names(["I"]), [(1, None), (2, "A")]),
        (names([None]), [(2, "A"), (3, "I")]),
        (id_name([(1, None)]), [(2, "A"), (3, "I")]),
        (id_name([(2, None)]), [(1, None), (2, "A"), (3, "I")]),
    ],
)
def test_null_matches_null_only(table, key, kept):
    table.append(id_name([(1, None), (2, "A"), (3, "I")]))
    table.commit()
    table.delete_equal(key, [2] if key.num_columns == 1 else [1, 2])
    check(table.commit(), rows_of(kept))


def test_a_null_in_one_of_two_keys_is_no_wildcard(table):
    table.append(id_name([(None, "x"), (5, None), (None, None), (5, "x")]))
    table.commit()
    table.delete_equal(id_name([(5, None), (None, "x")]), [1, 2])
    check(table.commit(), rows_of([(None, None), (5, "x")]))


def test_several_key_sets_apply_each_on_its_own_to_older_rows(table):
    data = [(1, "a"), (None, "b"), (3, "x"), (4, "c")]
    table.append(id_name(data))
    table.commit()
    table.delete_equal(ids([1]), [1])
    table.delete_equal(ids([None]), [1])
    table.delete_equal(names(["x"]), [2])
    table.append(id_name([(1, "new"), (None, "x")]))  # of the same commit: not older
    metadata = table.commit()
    check(metadata, rows_of([(4, "c"), (1, "new"), (None, "x")]))
    check(metadata, rows_of(data), "--snapshot", "1001")


def test_the_key_is_not_in_the_projection_nor_in_the_filter(table):
    table.append(id_name([(1, "a"), (2, "b"), (3, "a")]))
    table.commit()
    table.delete_equal(ids([1]), [1])
    metadata = table.commit()
    assert scan(metadata, "--columns", "name") == [{"name": "b"}, {"name": "a"}]
    assert scan(metadata, "--columns", "name", "--where", "name = 'a'") == [{"name": "a"}]


def test_a_column_that_is_read_twice_loses_its_rows_twice(table):
    table.append(id_name([(i, f"name {i}") for i in range(100)]))
    table.commit()
    table.delete_equal(ids([3, 50]), [1])
    done = frazil(table.commit(), [], "scan", "--format", "csv", "--columns", "name,id,name")
    left = [i for i in range(100) if i not in (3, 50)]
    assert done.stdout.splitlines()[1:] == [f"name {i},{i},name {i}" for i in left], done.stderr


def test_a_delete_file_may_have_more_columns_than_keys(table):
    table.append(id_name([(1, "a"), (2, "b")]))
    table.commit()
    table.delete_equal(id_name([(1, "what it had"), (7, "b")]), [1])
    check(table.commit(), rows_of([(2, "b")]))


def test_other_columns_of_a_delete_file_do_not_prune_it(table):
    """Its bounds of a column that is no key say nothing of the rows that it deletes."""
    table.append(id_name([(1, "a"), (2, "b")]))
    table.commit()
    table.delete_equal(id_name([(1, "z")]), [1], bounds=[(1, 1, 1), (2, "z", "z")])
    assert scan(table.commit(), "--where", "name = 'a'") == []


def test_deletes_before_and_after_a_promotion_of_the_key(tmp_path):
    """Two reads in one process, too: a set of keys must not keep the type of the first one."""
    table = DeleteTable(tmp_path, [(1, "id", "int")])
    table.append(arrow(column(1, "id", pa.int32(), [1, 2, 3])))
    table.commit()
    table.delete_equal(arrow(column(1, "id", pa.int32(), [2])), [1])
    table.commit()
    table.add_schema([(1, "id", "long")])
    table.append(ids([2, 3_000_000_000, 4]))
    table.commit()
    table.delete_equal(ids([3_000_000_000, 3]), [1])
    check(table.commit(), [{"id": 1}, {"id": 2}, {"id": 4}])


@pytest.mark.parametrize("expired", [False, True])
def test_a_dropped_key_still_deletes(tmp_path, expired):
    table = DeleteTable(tmp_path, ID_NAME)
    table.append(id_name([(1, "a"), (2, "b"), (3, None)]))
    table.commit()
    table.delete_equal(names(["b", None]), [2])
    table.commit()
    if expired:  # no schema has the column any more
        table.schemas = [[(1, "id", "long")]]
    else:
        table.add_schema([(1, "id", "long")])
    check(table.commit(), [{"id": 1}])


def test_a_dropped_key_added_again_is_another_one(tmp_path):
    table = DeleteTable(tmp_path, ID_NAME)
    table.append(id_name([(1, "a"), (2, "b")]))
    table.commit()
    table.delete_equal(names(["b"]), [2])
    table.commit()
    table.add_schema([(1, "id", "long"), (3, "name", "string")])
    check(table.commit(), [{"id": 1, "name": None}])


def test_a_renamed_key_is_found_by_its_id(tmp_path):
    table = DeleteTable(tmp_path, ID_NAME)
    table.append(id_name([(1, "a"), (2, "b")]))
    table.commit()
    table.delete_equal(names(["b"]), [2])
    table.commit()
    table.add_schema([(1, "name", "long"), (2, "id", "string")])
    check(table.commit(), [{"name": 1, "id": "a"}])


def test_a_key_added_later_is_null_in_older_files(tmp_path):
    table = DeleteTable(tmp_path, [(1, "id", "long")])
    table.append(ids([1, 2]))
    table.commit()
    table.add_schema(ID_NAME)
    table.append(id_name([(3, "x"), (4, None)]))
    table.commit()
    table.delete_equal(names([None]), [2])
    check(table.commit(), rows_of([(3, "x")]))


STRUCT = {
    "type": "struct",
    "fields": [
        {"id": 3, "name": "k", "required": False, "type": "int"},
        {"id": 4, "name": "s", "required": False, "type": "string"},
    ],
}
ONLY_S = {"type": "struct", "fields": [STRUCT["fields"][1]]}


def structs(values, *fields):
    parts = {"k": pa.field("k", pa.int32(), True, field_id(3))}
    parts["s"] = pa.field("s", pa.string(), True, field_id(4))
    kind = pa.struct([parts[name] for name in fields])
    return column(2, "st", kind, values)


def test_a_field_inside_of_a_struct_is_a_key(tmp_path):
    """A null struct is null in each of its fields."""
    table = DeleteTable(tmp_path, [(1, "id", "long"), (2, "st", STRUCT)])
    values = [{"k": 1, "s": "a"}, {"k": 2, "s": "b"}, None, {"k": None, "s": "c"}]
    table.append(arrow(column(1, "id", pa.int64(), [1, 2, 3, 4]), structs(values, "k", "s")))
    table.commit()
    table.delete_equal(arrow(structs([{"k": 2}], "k")), [3])
    metadata = table.commit()
    kept = [{"id": i + 1, "st": values[i]} for i in (0, 2, 3)]
    check(metadata, kept)
    table.delete_equal(arrow(structs([None], "k")), [3])
    check(table.commit(), kept[:1])


def test_a_key_dropped_out_of_a_struct_still_deletes(tmp_path):
    table = DeleteTable(tmp_path, [(1, "id", "long"), (2, "st", STRUCT)])
    values = [{"k": 1, "s": "a"}, {"k": 2, "s": "b"}, None]
    table.append(arrow(column(1, "id", pa.int64(), [1, 2, 3]), structs(values, "k", "s")))
    table.commit()
    table.delete_equal(arrow(structs([{"k": 2}], "k")), [3])
    table.commit()
    table.add_schema([(1, "id", "long"), (2, "st", ONLY_S)])
    metadata = table.commit()
    check(metadata, [{"id": 1, "st": {"s": "a"}}, {"id": 3, "st": None}])
    assert scan(metadata, "--where", "id > 1") == [{"id": 3, "st": None}]


def test_float_keys_are_equal_by_their_bits_with_one_nan(tmp_path):
    table = DeleteTable(tmp_path, [(1, "d", "double")])
    values = [0.0, -0.0, math.nan, 1.5, None]
    table.append(arrow(column(1, "d", pa.float64(), values)))
    table.commit()
    table.delete_equal(arrow(column(1, "d", pa.float64(), [-0.0, math.nan])), [1])
    got = scan(table.commit())
    assert got == [{"d": 0.0}, {"d": 1.5}, {"d": None}]
    assert math.copysign(1, got[0]["d"]) == 1


def test_bounds_that_are_apart_leave_a_delete_file_unread(table):
    table.append(id_name([(1, "a"), (2, "b")]), bounds=[(1, 1, 2)])
    table.commit()
    gone = table.delete_equal(ids([7]), [1], bounds=[(1, 7, 7)])
    metadata = table.commit()
    (table.folder / gone.removeprefix(table.location + "/")).unlink()
    check(metadata, rows_of([(1, "a"), (2, "b")]))


def test_a_missing_equality_delete_file_is_an_error(table):
    table.append(id_name([(1, "a"), (2, "b")]), bounds=[(1, 1, 2)])
    table.commit()
    gone = table.delete_equal(ids([2]), [1], bounds=[(1, 2, 2)])
    metadata = table.commit()
    path = table.folder / gone.removeprefix(table.location + "/")
    path.unlink()
    done = frazil(metadata, [], "scan", "--format", "jsonl")
    assert done.returncode == 3 and done.stdout == "" and path.name in done.stderr, done.stderr


def test_a_delete_file_without_its_key_is_an_error(table):
    table.append(id_name([(1, "a")]))
    table.commit()
    table.delete_equal(names(["b"]), [1])
    assert "by field id 1 does not store it" in refused(table.commit())


# ---- partitions ----


def partitioned(tmp_path):
    return DeleteTable(tmp_path, ID_NAME, spec=[(2, "name", "string")])


def test_equality_deletes_are_limited_to_their_partition(tmp_path):
    table = partitioned(tmp_path)
    table.append(id_name([(1, "a"), (2, "a")]), ["a"])
    table.append(id_name([(1, "b"), (2, "b")]), ["b"])
    table.append(id_name([(1, None)]), [None])
    table.commit()
    table.delete_equal(ids([1]), [1], ["a"])
    check(table.commit(), rows_of([(2, "a"), (1, "b"), (2, "b"), (1, None)]))


def test_equality_deletes_of_an_unpartitioned_spec_apply_everywhere(tmp_path):
    table = partitioned(tmp_path)
    table.append(id_name([(1, "a"), (2, "a")]), ["a"])
    table.append(id_name([(1, "b"), (2, "b")]), ["b"])
    table.commit()
    table.add_spec([])
    table.delete_equal(ids([1]), [1])
    table.append(id_name([(1, "c")]))
    check(table.commit(), rows_of([(2, "a"), (2, "b"), (1, "c")]))


def test_equality_deletes_of_another_spec_do_not_apply(tmp_path):
    """The values are equal, but not the spec: another partition."""
    table = partitioned(tmp_path)
    table.append(id_name([(1, "a"), (2, "a")]), ["a"])
    table.commit()
    table.add_spec([(2, "name", "string")])
    table.delete_equal(ids([1]), [1], ["a"])
    check(table.commit(), rows_of([(1, "a"), (2, "a")]))


# ---- position deletes ----


def test_position_deletes_apply_to_the_same_and_lower_sequence_numbers(table):
    """A rewritten delete file keeps the number of its sources; one of the same commit applies."""
    first = table.append(id_name([(i, "x") for i in range(5)]))
    table.delete_positions([(first, 1)])
    check(table.commit(), rows_of([(i, "x") for i in (0, 2, 3, 4)]))
    table.delete_positions([(first, 3), (first, 4)])
    check(table.commit(), rows_of([(0, "x"), (2, "x")]))


def test_older_position_deletes_do_not_apply_to_a_newer_file_of_the_same_name(table):
    path, location = table.path("data.parquet")
    table.delete_positions([(location, 0)])
    table.commit()
    import pyarrow.parquet as pq

    pq.write_table(id_name([(1, "a"), (2, "b")]), path)
    table.add(0, location, path.stat().st_size, 2)
    check(table.commit(), rows_of([(1, "a"), (2, "b")]))


def test_one_file_of_deletes_for_many_data_files_in_any_order(table):
    files = [table.append(id_name([(10 * k + i, "x") for i in range(4)])) for k in range(3)]
    rows = [(files[2], 3), (files[0], 1), (files[2], 0), (files[0], 1), (files[0], 0)]
    table.delete_positions(rows)
    kept = [2, 3, 10, 11, 12, 13, 21, 22]
    check(table.commit(), rows_of([(i, "x") for i in kept]))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("bounds", [False, True])
def test_paths_are_places(tmp_path, single, bounds):
    """/p, file:/p and file:///p are one; in bounds and in referenced_data_file as well."""
    table = DeleteTable(tmp_path, ID_NAME)
    files = [table.append(id_name([(3 * k + i, "x") for i in range(3)])) for k in range(3)]
    bare = [location.removeprefix("file://") for location in files]
    spelled = [bare[0], "file:" + bare[1], files[2]]
    if single:
        for k, path in enumerate(spelled):
            table.delete_positions([(path, k)], bounds=bounds, single=True)
    else:
        table.delete_positions([(path, k) for k, path in enumerate(spelled)], bounds=bounds)
    check(table.commit(), rows_of([(i, "x") for i in (1, 2, 3, 5, 6, 7)]))


@pytest.mark.parametrize(
    "table_scheme,delete_scheme,applies",
    [("s3://b", "s3a://b", True), ("s3://b", "s3n://b", True), ("s3://b", "s3://other", False),
     ("hdfs://host", "", True), ("hdfs://host", "hdfs://other", False)],
)  # fmt: skip
def test_schemes_and_authorities(tmp_path, table_scheme, delete_scheme, applies):
    table = DeleteTable(tmp_path, ID_NAME, location=f"{table_scheme}/db/t")
    data = table.append(id_name([(1, "a"), (2, "b")]))
    table.delete_positions([(data.replace(table_scheme, delete_scheme), 0)])
    metadata = table.commit()
    done = frazil(
        metadata, [(f"{table_scheme}/db/t/", f"{tmp_path}/")], "scan", "--format", "jsonl"
    )
    assert done.returncode == 0, done.stderr
    got = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert got == ([2] if applies else [1, 2])


def test_bounds_of_paths_leave_a_delete_file_unread(table):
    files = [table.append(id_name([(k, "x")])) for k in range(3)]
    gone = table.delete_positions([(files[2] + "z", 0), (files[2] + "zz", 0)])
    metadata = table.commit()
    (table.folder / gone.removeprefix(table.location + "/")).unlink()
    check(metadata, rows_of([(k, "x") for k in range(3)]))


def test_all_rows_deleted_by_position(table):
    data = table.append(id_name([(i, "x") for i in range(3)]))
    other = table.append(id_name([(9, "y")]))
    table.delete_positions([(data, i) for i in range(3)])
    check(table.commit(), rows_of([(9, "y")]))
    table.delete_positions([(other, 0)])
    check(table.commit(), [])


@pytest.mark.parametrize("bad", [-1, None])
def test_a_position_that_is_none_is_an_error(table, bad):
    data = table.append(id_name([(1, "a")]))
    location, size = table.write(
        arrow(column(PATH_ID, "file_path", pa.string(), [data]),
              column(2147483545, "pos", pa.int64(), [bad])), "deletes.parquet")  # fmt: skip
    table.add(1, location, size, 1)
    assert "column pos: expected a position" in refused(table.commit())


def test_position_deletes_without_field_ids_are_read_by_name(table):
    data = table.append(id_name([(1, "a"), (2, "b")]))
    plain = pa.table({"file_path": [data], "pos": pa.array([1], pa.int64()), "row": ["b"]})
    location, size = table.write(plain, "deletes.parquet")
    table.add(1, location, size, 1)
    check(table.commit(), rows_of([(1, "a")]))


def test_many_deleted_rows_over_row_groups_and_ranges(table):
    rows = [(i, f"n{i % 7}") for i in range(30000)]
    gone = {i for i in range(30000) if i % 97 == 0 or 5000 <= i < 14000 or i >= 29990}
    data = table.append(id_name(rows), row_group_size=4000)
    table.delete_positions([(data, i) for i in sorted(gone)], single=True)
    table.commit()
    table.delete_equal(names(["n3"]), [2])
    metadata = table.commit()
    kept = [(i, n) for i, n in rows if i not in gone and n != "n3"]
    check(metadata, rows_of(kept))
    got = scan(metadata, "--where", "id BETWEEN 4990 AND 14010")
    assert got == rows_of([(i, n) for i, n in kept if 4990 <= i <= 14010])


# ---- deletion vectors ----


@pytest.fixture
def third(tmp_path):
    return DeleteTable(tmp_path, ID_NAME, version=3)


TEN = [(i, "x") for i in range(10)]


def test_a_vector_stands_for_all_position_deletes_of_its_file(third):
    """Version 2 became 3: the vector holds the older deletes, files for other data stay."""
    first, second = third.append(id_name(TEN)), third.append(id_name(TEN))
    third.delete_positions([(first, 0), (first, 7), (second, 1)])
    third.commit()
    third.delete_vector(first, [0, 1, 2])
    kept = [i for i in range(10) if i > 2] + [i for i in range(10) if i != 1]
    check(third.commit(), rows_of([(i, "x") for i in kept]))


def test_equality_deletes_apply_beside_a_vector(third):
    data = third.append(id_name(TEN))
    third.delete_vector(data, [0])
    third.commit()
    third.delete_equal(ids([5]), [1])
    check(third.commit(), rows_of([(i, "x") for i in range(10) if i not in (0, 5)]))


def test_bare_vectors_are_read_by_offset_and_size(third):
    """Neither magic number nor footer of a Puffin file is needed; other bytes around do not matter."""
    files = [third.append(id_name(TEN)) for _ in range(2)]
    blobs = [deletion_vector([1]), deletion_vector([2, 3])]
    path, location = third.path("vectors.puffin")
    path.write_bytes(b"junk" + blobs[0] + b"junk" + blobs[1])
    offsets = [4, 8 + len(blobs[0])]
    for k in range(2):
        third.add(1, location, path.stat().st_size, k + 1, file_format="PUFFIN",
                  referenced_data_file=files[k], content_offset=offsets[k],
                  content_size_in_bytes=len(blobs[k]))  # fmt: skip
    kept = [i for i in range(10) if i != 1] + [i for i in range(10) if i not in (2, 3)]
    check(third.commit(), rows_of([(i, "x") for i in kept]))


BLOB = deletion_vector([1, 2])


@pytest.mark.parametrize(
    "blob,entry,phrase",
    [
        (BLOB[:-1] + b"\0", {}, "checksum of the deletion vector"),
        (BLOB, {"record_count": 3}, "has 2 positions, its manifest entry says 3"),
        (BLOB, {"content_size_in_bytes": len(BLOB) - 1}, "says that it has"),
        (BLOB, {"content_offset": 1}, "cannot lie in a file"),
        (b"\0" + BLOB, {"content_offset": 0}, "says that it has"),
        (BLOB[:4] + b"PFA1" + BLOB[8:], {}, "magic number 50464131"),
        (deletion_vector([1, 10]), {}, "deletes row 10 of a file of 10 rows"),
    ],
)
def test_a_vector_that_cannot_be_trusted_is_an_error(third, blob, entry, phrase):
    data = third.append(id_name(TEN))
    third.delete_vector(data, [1, 2], blob=blob, **entry)
    message = refused(third.commit())
    assert phrase in message and "vector.puffin" in message


def test_two_vectors_of_one_data_file_are_an_error(third):
    data = third.append(id_name(TEN))
    third.delete_vector(data, [1])
    third.delete_vector(data, [2])
    assert "has two deletion vectors" in refused(third.commit())


def test_vectors_of_two_snapshots_are_not_mixed_up(third):
    """Of one file, at one offset or at several."""
    data = third.append(id_name(TEN))
    kept = third.commit()
    assert kept is not None
    third.delete_vector(data, [1, 2])
    third.commit()
    first = third.manifests.pop()
    third.delete_vector(data, [1, 2, 3])
    metadata = third.commit()
    assert first is not None
    check(metadata, rows_of([(i, "x") for i in range(10) if i not in (1, 2)]), "--snapshot", "1002")
    check(metadata, rows_of([(i, "x") for i in range(10) if i not in (1, 2, 3)]))


# ---- columns about rows ----


def test_columns_about_rows(third):
    data = third.append(id_name(TEN[:4]))
    third.delete_vector(data, [1])
    metadata = third.commit()
    got = scan(metadata, "--columns", "_pos,id,_file,_spec_id,_partition")
    assert got == [
        {"_pos": i, "id": i, "_file": data, "_spec_id": 0, "_partition": None} for i in (0, 2, 3)
    ]
    assert scan(metadata, "--columns", "id", "--where", "_pos > 2 or _file = 'x'") == [{"id": 3}]
    assert scan(metadata) == rows_of(TEN[i] for i in (0, 2, 3))


def test_deleted_rows_are_shown_where_deleted_is_asked_for(third):
    data = third.append(id_name(TEN[:4]))
    third.delete_vector(data, [1])
    third.commit()
    third.delete_equal(ids([3]), [1])
    metadata = third.commit()
    assert scan(metadata, "--columns", "id,_deleted") == [
        {"id": i, "_deleted": i in (1, 3)} for i in range(4)
    ]
    assert scan(metadata, "--columns", "id", "--where", "_deleted") == [{"id": 1}, {"id": 3}]
    assert scan(metadata, "--columns", "id", "--where", "not _deleted") == [{"id": 0}, {"id": 2}]


def select(metadata, statement):
    done = frazil(metadata, [], "sql", statement, "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_statements_can_name_columns_about_rows(third):
    data = third.append(id_name(TEN[:4]))
    third.delete_vector(data, [1])
    metadata = third.commit()
    names = "_pos, id, _file, _spec_id, _partition, _row_id, _last_updated_sequence_number"
    assert select(metadata, f"SELECT {names} FROM t") == scan(metadata, "--columns", names)
    assert select(metadata, "SELECT * FROM t WHERE _pos > 2") == rows_of(TEN[3:4])
    assert select(metadata, "SELECT max(_pos) AS last FROM t WHERE _file <> 'x'") == [{"last": 3}]
    assert select(metadata, "SELECT id, _deleted FROM t") == scan(metadata, "--columns",
                                                                 "id,_deleted")
    assert select(metadata, "SELECT id FROM t WHERE _deleted") == [{"id": 1}]


def test_the_report_tells_what_was_deleted(third):
    data = third.append(id_name(TEN))
    third.delete_vector(data, [1, 2])
    third.commit()
    third.delete_equal(ids([5]), [1])
    metadata = third.commit()
    for command in ["scan", "plan"]:
        done = frazil(metadata, [], command, "--json", *(["--report"] if command == "scan" else []))
        told = (json.loads(done.stderr) if command == "scan" else json.loads(done.stdout)["report"])
        assert told["delete_files"] == 2
        assert command == "plan" or (told["rows_deleted"], told["rows_returned"]) == (3, 7)
    lines = frazil(metadata, [], "scan", "--report").stderr
    assert "delete files read: 2" in lines and "deleted 3" in lines


def test_a_column_of_the_table_hides_the_one_about_rows(tmp_path):
    table = DeleteTable(tmp_path, [(1, "_pos", "long")])
    table.append(arrow(column(1, "_pos", pa.int64(), [7, 8])))
    metadata = table.commit()
    assert scan(metadata) == [{"_pos": 7}, {"_pos": 8}]
    assert scan(metadata, "--where", "_pos = 8") == [{"_pos": 8}]


def test_the_partition_is_the_union_of_all_specs(tmp_path):
    table = partitioned(tmp_path)
    table.append(id_name([(1, "a")]), ["a"])
    table.commit()
    table.add_spec([(1, "id_part", "long")])
    table.append(id_name([(2, "b")]), [2])
    got = scan(table.commit(), "--columns", "id,_spec_id,_partition")
    assert got == [
        {"id": 1, "_spec_id": 0, "_partition": {"name": "a", "id_part": None}},
        {"id": 2, "_spec_id": 1, "_partition": {"name": None, "id_part": 2}},
    ]


# ---- filters and deletes ----


def test_a_filter_that_fails_in_a_deleted_row_only_does_not_fail(table):
    data = table.append(id_name([(0, "a"), (1, "b"), (2, "c")]))
    table.delete_positions([(data, 0)])
    metadata = table.commit()
    assert scan(metadata, "--where", "10 / id > 5") == rows_of([(1, "b")])


def test_a_limit_counts_rows_that_are_left(table):
    data = table.append(id_name(TEN))
    table.delete_positions([(data, i) for i in range(0, 10, 2)])
    metadata = table.commit()
    assert scan(metadata, "--limit", "3") == rows_of([(i, "x") for i in (1, 3, 5)])
