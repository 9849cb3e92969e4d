"""Faults that other readers of Iceberg tables had, by their kind: those that no other test shows with
the input that was reported. docs/internals/known-faults.md lists all and where each is tested."""
import decimal
import json
import struct
import uuid
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

import parquet_make as make
from delete_tables import DeleteTable, field_id
from iceberg_corpus import frazil
from pyiceberg_test import arrow_transform

OPT, REP = make.OPTIONAL, make.REPEATED


class Table(DeleteTable):
    """A table of files that were made by hand."""

    def add_made(self, root, rows, columns, **options):
        path, location = self.path("made.parquet")
        make.write(path, root, rows, columns, **{k: v for k, v in options.items() if k != "bounds"})
        return self.add(0, location, path.stat().st_size, rows, bounds=options.get("bounds", ()))


def with_mapping(metadata, *fields):
    """The metadata with a name mapping."""
    document = json.loads(metadata.read_text())
    document["properties"]["schema.name-mapping.default"] = json.dumps(list(fields))
    metadata.write_text(json.dumps(document))
    return metadata


def run(metadata, *arguments):
    return frazil(metadata, [], "scan", "--format", "jsonl", *arguments)


def scan(metadata, *arguments):
    done = run(metadata, *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def column(metadata, name, *arguments):
    return [row[name] for row in scan(metadata, *arguments)]


def struct_of(*fields):
    return {"type": "struct", "fields": [
        {"id": number, "name": name, "required": False, "type": kind} for number, name, kind in fields]}


def list_of(number, kind):
    return {"type": "list", "element-id": number, "element-required": False, "element": kind}


# ---- 2: ids at some depths only ----

S_OF_X = [(1, "s", struct_of((2, "x", "int")))]
MAPPED = {"names": ["s"], "field-id": 1, "fields": [{"names": ["x"], "field-id": 2}]}


def partly_numbered(folder, outer, inner):
    table = Table(folder, S_OF_X)
    root = make.group("root", make.group("s", make.leaf("x", make.INT32, number=inner), number=outer))
    table.add_made(root, 3, {"s.x": [(0, 2, 7), (0, 1, None), (0, 0, None)]})
    return table.commit()


@pytest.mark.parametrize("outer,inner", [(1, None), (None, 2), (None, None)])
def test_ids_at_some_depths_only_are_filled_in_by_the_mapping(tmp_path, outer, inner):
    metadata = partly_numbered(tmp_path, outer, inner)
    done = run(metadata)
    assert done.returncode == 5 and done.stdout == "", done.stdout  # no nulls in place of values
    assert "made.parquet" in done.stderr
    with_mapping(metadata, MAPPED)
    assert column(metadata, "s") == [{"x": 7}, {"x": None}, None]
    assert scan(metadata, "--where", "s.x = 7") == [{"s": {"x": 7}}]


# ---- 3: INT96 ----


def int96(text):
    """spec of old Hive files: nanoseconds of the day, Julian day"""
    moment = datetime.fromisoformat(text)
    days = moment.toordinal() - datetime(1970, 1, 1).toordinal()
    of_day = (moment.hour * 60 + moment.minute) * 60 + moment.second
    return struct.pack("<qi", (of_day * 10**6 + moment.microsecond) * 1000, days + 2440588)


@pytest.mark.parametrize("how", ["plain", "dictionary", "both"])
def test_int96_beyond_64_bits_of_nanoseconds(tmp_path, how):
    moments = ["0001-01-01T00:00:00.000000", None, "3332-12-14T11:33:10.965000", None, None,
               "9999-12-31T23:59:59.999999", "1677-09-21T00:12:43.145224", "3332-12-14T11:33:10.965000"]
    table = Table(tmp_path, [(1, "t", "timestamp")])
    root = make.group("root", make.leaf("t", make.INT96, number=1))
    table.add_made(root, len(moments), {"t": make.flat([m and int96(m) for m in moments])}, how=how)
    metadata = table.commit()
    assert column(metadata, "t") == moments
    assert len(scan(metadata, "--where", "t = TIMESTAMP '3332-12-14T11:33:10.965'")) == 2
    assert len(scan(metadata, "--where", "t < TIMESTAMP '1900-01-01T00:00:00'")) == 2


# ---- 4: lists of the old forms ----

FLAT = [(0, 0, None), (0, 1, 1), (1, 1, 2)]  # bare: what is null and what is empty are one
LISTED = [(0, 1, None), (0, 0, None), (0, 2, 1), (1, 2, 2)]  # [], null, [1, 2]
THREE = [(0, 1, None), (0, 0, None), (0, 3, 1), (1, 2, None), (1, 3, 2)]  # [], null, [1, null, 2]


def old_list(name, *children, number=1, **more):
    return make.group(name, *children, number=number, converted=make.LIST_OF, **more)


@pytest.mark.parametrize("root,levels,expected", [
    (make.leaf("l", make.INT32, REP, number=1), FLAT, [[], [1, 2]]),
    (old_list("l", make.leaf("array", make.INT32, REP, number=2)), LISTED, [[], None, [1, 2]]),
    (old_list("l", make.leaf("l_tuple", make.INT32, REP, number=2)), LISTED, [[], None, [1, 2]]),
    (old_list("l", make.group("bag", make.leaf("array_element", make.INT32, number=2), repetition=REP)),
     THREE, [[], None, [1, None, 2]]),
    (old_list("l", make.group("list", make.leaf("element", make.INT32, number=2), repetition=REP)),
     THREE, [[], None, [1, None, 2]]),
])
def test_lists_of_old_writers(tmp_path, root, levels, expected):
    table = Table(tmp_path, [(1, "l", list_of(2, "int"))])
    path = ".".join(name for name in names_of(root))
    table.add_made(make.group("root", root), len(expected), {path: levels})
    assert column(table.commit(), "l") == expected


def names_of(node):
    yield node["name"]
    for child in node.get("children", ()):
        yield from names_of(child)


@pytest.mark.parametrize("name", ["array", "l_tuple"])
def test_old_lists_of_structs_with_one_field(tmp_path, name):
    """Only these names of the repeated group say that it is the element itself."""
    table = Table(tmp_path, [(1, "l", list_of(2, struct_of((3, "x", "int"))))])
    root = old_list("l", make.group(name, make.leaf("x", make.INT32, number=3), repetition=REP, number=2))
    table.add_made(make.group("root", root), 3, {f"l.{name}.x": THREE})
    assert column(table.commit(), "l") == [[], None, [{"x": 1}, {"x": None}, {"x": 2}]]


def test_old_lists_of_lists(tmp_path):
    table = Table(tmp_path, [(1, "l", list_of(2, list_of(3, "int")))])
    inner = old_list("array", make.leaf("array", make.INT32, REP, number=3), number=2, repetition=REP)
    # [[1, 2], [], [3]], null, []
    levels = [(0, 3, 1), (2, 3, 2), (1, 2, None), (1, 3, 3), (0, 0, None), (0, 1, None)]
    table.add_made(make.group("root", old_list("l", inner)), 3, {"l.array.array": levels})
    assert column(table.commit(), "l") == [[[1, 2], [], [3]], None, []]


# ---- 5 to 7: decimals of every physical type ----


def big_endian(number, size):
    return number.to_bytes(size, "big", signed=True)


def decimal_leaf(physical, length, precision=9, scale=2):
    return make.group("root", make.leaf("d", physical, number=1, length=length,
                                        converted=make.DECIMAL, scale=scale, precision=precision))


PHYSICAL = {
    "int32": (make.INT32, None, lambda n: n),
    "int64": (make.INT64, None, lambda n: n),
    "binary": (make.BYTE_ARRAY, None, lambda n: big_endian(n, max(1, (n.bit_length() + 8) // 8))),
    "binary of 5": (make.BYTE_ARRAY, None, lambda n: big_endian(n, 5)),
    "fixed of 4": (make.FIXED, 4, lambda n: big_endian(n, 4)),
    "fixed of 16": (make.FIXED, 16, lambda n: big_endian(n, 16)),
}


@pytest.mark.parametrize("how", ["plain", "dictionary", "both"])
@pytest.mark.parametrize("name", PHYSICAL)
def test_decimals_wider_than_their_precision(tmp_path, name, how):
    physical, length, encode = PHYSICAL[name]
    numbers = [659, None, -999999999, 0, 999999999, 659, -1, None]
    table = Table(tmp_path, [(1, "d", "decimal(9, 2)")])
    table.add_made(decimal_leaf(physical, length), len(numbers),
                   {"d": make.flat([None if n is None else encode(n) for n in numbers])}, how=how)
    metadata = table.commit()
    assert column(metadata, "d") == [
        None if n is None else f"{decimal.Decimal(n).scaleb(-2):.2f}" for n in numbers]
    assert column(metadata, "d", "--where", "d = 6.59") == ["6.59", "6.59"]


@pytest.mark.parametrize("name", ["int32", "int64", "binary of 5", "fixed of 16"])
def test_a_decimal_beyond_its_precision_is_read_or_refused(tmp_path, name):
    physical, length, encode = PHYSICAL[name]
    table = Table(tmp_path, [(1, "d", "decimal(9, 2)")])
    table.add_made(decimal_leaf(physical, length), 2, {"d": make.flat([encode(659), encode(2000000000)])})
    done = run(table.commit())
    if done.returncode == 0:
        assert [json.loads(line)["d"] for line in done.stdout.splitlines()] == ["6.59", "20000000.00"]
    else:
        assert done.returncode == 5 and '"d"' in done.stderr and "row 1" in done.stderr, done.stderr


@pytest.mark.parametrize("lower", [True, False])
def test_statistics_of_decimals_in_integers_are_little_endian(tmp_path, lower):
    """The file's are, those of the manifest are not."""
    table = Table(tmp_path, [(1, "d", "decimal(9, 2)")])
    for number in (659, 660, -659):
        bounds = (1, big_endian(number, 2), big_endian(number, 2))
        little = struct.pack("<i", number)
        table.add_made(decimal_leaf(make.INT32, None), 1, {"d": make.flat([number])},
                       statistics={"d": (little, little)}, bounds=[bounds] if lower else ())
    metadata = table.commit()
    for text in ("6.59", "6.60", "-6.59"):
        assert column(metadata, "d", "--where", f"d = {text}") == [text]
    assert column(metadata, "d", "--where", "d > 6.59") == ["6.60"]
    done = run(metadata, "--where", "d = 6.59", "--report")
    assert ("skipped by statistics 2" in done.stderr) == lower, done.stderr


def test_a_decimal_of_38_digits_in_four_bytes(tmp_path):
    table = Table(tmp_path, [(1, "d", "decimal(38, 0)")])
    little = [struct.pack("<i", n) for n in (-7, 100)]
    table.add_made(decimal_leaf(make.INT32, None, 3, 0), 3, {"d": make.flat([100, None, -7])},
                   statistics={"d": tuple(little)})
    metadata = table.commit()
    assert column(metadata, "d") == ["100", None, "-7"]
    assert column(metadata, "d", "--where", "d = 100") == ["100"]


# ---- 8: DELTA_BINARY_PACKED ----


def delta(first, blocks, count):
    """blocks: (least delta, four widths, packed bytes)"""
    out = make.varint(128) + make.varint(4) + make.varint(count) + make.zigzag(first)
    for least, widths, packed in blocks:
        out += make.zigzag(least) + bytes(widths) + packed
    return out


def test_widths_of_miniblocks_that_are_not_there(tmp_path):
    """65 values: two miniblocks are used, the widths of the others are junk."""
    values = [(i * 7919 + 1) % 2**31 for i in range(65)]
    steps = [b - a for a, b in zip(values, values[1:])]
    least = min(steps)
    packed = struct.pack("<64I", *(s - least for s in steps))
    table = Table(tmp_path, [(1, "v", "long")])
    root = make.group("root", make.leaf("v", make.INT64, make.REQUIRED, number=1))
    table.add_made(root, 65, {"v": make.flat(values, 0)},
                   how=(make.DELTA, delta(values[0], [(least, (32, 32, 165, 165), packed)], 65)))
    assert column(table.commit(), "v") == values


def test_deltas_that_wrap_around(tmp_path):
    values = [-2**63, 2**63 - 1, -2**63, 0, 2**63 - 1]
    steps = [(b - a + 2**63) % 2**64 - 2**63 for a, b in zip(values, values[1:])]
    least = min(steps)
    packed = struct.pack("<32Q", *([(s - least) % 2**64 for s in steps] + [0] * 28))
    table = Table(tmp_path, [(1, "v", "long")])
    root = make.group("root", make.leaf("v", make.INT64, make.REQUIRED, number=1))
    table.add_made(root, 5, {"v": make.flat(values, 0)},
                   how=(make.DELTA, delta(values[0], [(least, (64, 0, 0, 0), packed)], 5)))
    assert column(table.commit(), "v") == values


# ---- 10: nothing to read ----


@pytest.mark.parametrize("groups", [[0], [0, 3], [3, 0, 2], [2, 0], [0, 0, 1, 0]])
def test_row_groups_without_rows(tmp_path, groups):
    table = Table(tmp_path, [(1, "id", "long"), (2, "name", "string")])
    schema = pa.schema([pa.field("id", pa.int64(), True, field_id(1)),
                        pa.field("name", pa.string(), True, field_id(2))])
    path, location = table.path("data.parquet")
    first = 0
    with pq.ParquetWriter(path, schema) as writer:
        for count in groups:
            ids = list(range(first, first + count))
            writer.write_table(pa.table([ids, [f"n{i}" for i in ids]], schema), row_group_size=100)
            first += count
    assert pq.ParquetFile(path).num_row_groups == len(groups)
    table.add(0, location, path.stat().st_size, first)
    table.append(pa.table([[99], ["z"]], schema))
    metadata = table.commit()
    assert column(metadata, "id") == [*range(first), 99]
    assert column(metadata, "id", "--where", "name = 'z'") == [99]


# ---- 22, 31, 32: partition values ----


@pytest.fixture
def catalog(tmp_path):
    made = SqlCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    made.create_namespace("db")
    return made


def location_of(table):
    return table.metadata_location.removeprefix("file://")


def view(metadata, name):
    done = frazil(metadata, [], name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Voided(DeleteTable):
    TRANSFORM = "void"


@pytest.mark.parametrize("kind", ["int", "string"])
def test_no_value_comes_out_of_a_void_partition_field(tmp_path, kind):
    """The type of its nulls is that of the source, or int."""
    table = Voided(tmp_path, [(1, "id", "long"), (2, "p", "string")], spec=[(2, "p", kind)])
    schema = pa.schema([pa.field("id", pa.int64(), True, field_id(1)),
                        pa.field("p", pa.string(), True, field_id(2))])
    table.append(pa.table([[1, 2], ["a", None]], schema), partition=[None])
    table.append(pa.table([[3]], schema.remove(1)), partition=[None])
    metadata = table.commit()
    assert scan(metadata) == [{"id": 1, "p": "a"}, {"id": 2, "p": None}, {"id": 3, "p": None}]
    assert column(metadata, "id", "--where", "p = 'a'") == [1]


def test_a_dropped_partition_field_of_version_1(catalog, monkeypatch):
    """What is left of it is void, and its type hides nothing."""
    monkeypatch.setattr(BucketTransform, "pyarrow_transform", arrow_transform)
    table = catalog.create_table(
        "db.t", Schema(NestedField(1, "id", LongType()), NestedField(2, "s", StringType())),
        partition_spec=PartitionSpec(PartitionField(2, 1000, BucketTransform(2), "s_bucket"),
                                     PartitionField(1, 1001, IdentityTransform(), "id")),
        properties={"format-version": "1"})
    table.append(pa.table({"id": [1, 2], "s": ["a", "b"]}))
    with table.update_spec() as update:
        update.remove_field("s_bucket")
    table.append(pa.table({"id": [3, 4], "s": ["a", None]}))
    metadata = location_of(table)
    assert sorted(column(metadata, "id")) == [1, 2, 3, 4]
    assert sorted(column(metadata, "id", "--where", "s = 'a'")) == [1, 3]
    assert column(metadata, "id", "--where", "s IS NULL") == [4]
    assert sorted(column(metadata, "id", "--where", "id > 1 AND s IS NOT NULL")) == [2, 3]
    assert len(view(metadata, "files")) == 4 and len(view(metadata, "entries")) == 4
    assert sum(row["record_count"] for row in view(metadata, "partitions")) == 4


class Bucketed(DeleteTable):
    TRANSFORM = "bucket[16]"


KNOWN_UUID = "f79c3e09-677c-4bbd-a479-3f349cb785e7"  # of the specification: bucket 12


@pytest.mark.parametrize("kind,bucket,skipped", [("int", 12, 1), ("int", 11, 2), ("string", "12", 0)])
def test_buckets_of_uuids_are_numbers_of_their_sixteen_bytes(tmp_path, kind, bucket, skipped):
    """A faulty writer recorded the number as text: it proves nothing, and rows are still read."""
    table = Bucketed(tmp_path, [(1, "u", "uuid")], spec=[(1, "u_bucket", kind)])
    schema = pa.schema([pa.field("u", pa.uuid(), True, field_id(1))])
    for value, part in ((KNOWN_UUID, bucket), ("00000000-0000-0000-0000-000000000000", 5 if kind == "int" else "5")):
        array = pa.array([uuid.UUID(value).bytes], pa.uuid())
        table.append(pa.table([array], schema), partition=[part])
    metadata = table.commit()
    assert sorted(column(metadata, "u")) == ["00000000-0000-0000-0000-000000000000", KNOWN_UUID]
    done = run(metadata, "--where", f"u = '{KNOWN_UUID}'", "--report")
    assert done.returncode == 0, done.stderr
    assert f"data files: 2, skipped by statistics {skipped}" in done.stderr, done.stderr
    assert (KNOWN_UUID in done.stdout) == (bucket != 11)


# ---- 52, 53: paths ----

ODD = ["a b", "50%", "x/y", "\u00fc", "", None, "a#b?c&d", "%3A", "'\"", "a+b", "a=b", "C:\\d"]


def test_odd_names_and_values_of_partitions(catalog):
    table = catalog.create_table(
        "db.t", Schema(NestedField(1, "id", IntegerType()), NestedField(2, "data#1", StringType())),
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "data#1")))
    table.append(pa.table({"id": pa.array(range(len(ODD)), pa.int32()),
                           "data#1": pa.array(ODD, pa.string())}))
    metadata = location_of(table)
    wanted = [{"id": i, "data#1": value} for i, value in enumerate(ODD)]
    assert sorted(scan(metadata), key=lambda row: row["id"]) == wanted
    for i, value in enumerate(ODD):
        where = '"data#1" IS NULL' if value is None else \
            "\"data#1\" = '" + value.replace("'", "''") + "'"
        assert column(metadata, "id", "--where", where) == [i], where


@pytest.mark.parametrize("name", ["a b", "50%", "a%20b", "%3A", "%253A", "d=x%2Fy/f", "\u00fc", "#?&", "a+b",
                                  "'\"", "back\\slash"])
def test_recorded_paths_are_taken_byte_for_byte(tmp_path, name):
    """Nothing is encoded nor decoded: not what looks encoded, and not what would need to be."""
    table = DeleteTable(tmp_path / "w%20h ouse", [(1, "id", "long")])
    schema = pa.schema([pa.field("id", pa.int64(), True, field_id(1))])
    path = table.folder / "data" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table([[1, 2, 3]], schema), path)
    location = f"{table.location}/data/{name}.parquet"
    table.add(0, location, path.stat().st_size, 3)
    table.commit()
    table.delete_positions([(location, 1)])
    assert column(table.commit(), "id") == [1, 3]


# ---- positions that no row has ----


def test_positions_behind_the_end_delete_nothing(tmp_path):
    """No rule of the specification forbids them, and other readers pass over them."""
    table = DeleteTable(tmp_path, [(1, "id", "long")])
    schema = pa.schema([pa.field("id", pa.int64(), True, field_id(1))])
    first = table.append(pa.table([[1, 2, 3]], schema))
    second = table.append(pa.table([[4, 5]], schema))
    table.commit()
    table.delete_positions([(first, 1), (first, 3), (first, 2**40), (second, 2**63 - 1)])
    metadata = table.commit()
    assert column(metadata, "id") == [1, 3, 4, 5]
    assert column(metadata, "id", "--where", "id > 2") == [3, 4, 5]
