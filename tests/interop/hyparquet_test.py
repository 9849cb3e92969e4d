"""hyparquet, a reader of its own in JavaScript, reads what the Parquet writer wrote: every type, nested ones
included, with and without nulls, in all codecs, encodings and both page versions. One start of node reads all
files of a test."""

import json
import math
import shutil
import struct
import subprocess
from decimal import Context, Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parquet_java_test as java
import parquet_write_test as write

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / ".hyparquet"
WIDE = Context(prec=80)
DIGITS = {"ms": 3, "us": 6, "ns": 9}
PROGRAM = Path(__file__).with_name("hyparquet_rows.mjs")
CODECS = (*java.CODECS, "brotli")

NUMBERS = ("id", "i", "l", "dec9", "dec18", "day", "t", "ts", "tsz", "tsn", "tszn", "ls.element", "lls.element.element",
           "m.value", "extremes", "extremes32", "drifts", "few")
REALS = ("f", "d", "const_double", "st.deep.x", "items.element.v.element")
TEXTS = ("s", "bin", "m.key", "items.element.k", "mm.value.q.element", "late", "long_string", "req_string")
FIXED = ("dec38", "u", "fx")
ENCODINGS = {
    "plain": (*NUMBERS, *REALS, *TEXTS, *FIXED, "b", "flag"),
    "rle": ("b", "flag"),
    "dictionary": (*NUMBERS, *REALS, *TEXTS, *FIXED),
    "delta": NUMBERS,
    "delta_length": TEXTS,
    "delta_bytes": (*TEXTS, *FIXED),
    "split": (*NUMBERS, *REALS, *FIXED),
}


@pytest.fixture(scope="module")
def hyparquet():
    if not shutil.which("node"):
        pytest.skip("no node")
    if not (PACKAGES / "fetched.json").exists():
        pytest.skip("no hyparquet; tools/hyparquet fetches it")
    return in_node


def in_node(files, **options):
    """The rows of each file, or the text of its error."""
    command = ["node", PROGRAM, PACKAGES, json.dumps(options), *files]
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(files)
    return [one["rows"] if "rows" in one else one["error"] for one in found]


def micros(text):
    hours, minutes, seconds = text.split(":")
    whole, _, part = seconds.partition(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 10**6 + int(part.ljust(6, "0"))


def as_in_javascript(value, type_):
    """A value of the generator as hyparquet has it: decimals are doubles, maps are objects, whose keys are text
    and each there once; a time of the day is its number, a timestamp has no zone."""
    if value is None:
        return None
    if pa.types.is_struct(type_):
        return {f.name: as_in_javascript(value[f.name], f.type) for f in type_}
    if pa.types.is_map(type_):
        return {str(entry["key"]): as_in_javascript(entry["value"], type_.item_type) for entry in value}
    if pa.types.is_list(type_):
        return [as_in_javascript(v, type_.value_type) for v in value]
    if pa.types.is_decimal(type_):
        return float(int(Decimal(value).scaleb(type_.scale, WIDE))) / float(10**type_.scale)
    if pa.types.is_float32(type_) and not isinstance(value, str):
        return struct.unpack("f", struct.pack("f", value))[0]
    if pa.types.is_time(type_):
        return micros(value)
    if pa.types.is_timestamp(type_):
        whole, _, part = value.removesuffix("+00:00").partition(".")
        return f"{whole}.{part.ljust(DIGITS[type_.unit], '0')}"
    return value


def same(a, b):
    """Zeros of both signs differ; whole doubles have come as integers."""
    if isinstance(b, dict):
        return isinstance(a, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in b)
    if isinstance(b, list):
        return isinstance(a, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(b, float):
        return isinstance(a, (int, float)) and a == b and math.copysign(1, a) == math.copysign(1, b)
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def check(path, found, wanted, what):
    schema = pq.read_schema(path)
    assert not isinstance(found, str), f"{what}: {found}"
    assert len(found) == len(wanted), what
    for i, (ours, row) in enumerate(zip(found, wanted)):
        row = {name: as_in_javascript(value, schema.field(name).type) for name, value in row.items()}
        assert list(ours) == list(row), what
        for name in row:
            where = f"{what}: row {i}, column {name}"
            assert same(ours[name], row[name]), f"{where}: {ours[name]!r}, not {row[name]!r}"


def encodings():
    for version in (1, 2):
        for nulls in java.NULLS:
            for encoding, columns in ENCODINGS.items():
                chosen = [option for column in columns for option in ("--encoding", f"{column}={encoding}")]
                yield "--page-version", version, "--nulls", nulls, *chosen


@pytest.mark.parametrize("variants", [java.variants(CODECS), encodings()], ids=["codecs", "encodings"])
def test_hyparquet_reads_every_value(hyparquet, tmp_path, variants):
    options = list(variants)
    files = [tmp_path / f"{i}.parquet" for i in range(len(options))]
    wanted = [write.generate(path, "--rows", 200, *option) for path, option in zip(files, options)]
    for path, found, rows, option in zip(files, hyparquet(files), wanted, options):
        check(path, found, rows, option)


FILTERS = [
    {"id": {"$eq": 1037}},
    {"id": {"$gte": 1190}},
    {"id": {"$in": [1001, 999, 1100]}},
    {"id": {"$eq": 5}},
    {"$and": [{"id": {"$lt": 1100}}, {"flag": {"$eq": True}}]},
    {"few": {"$gt": 1}},
]


@pytest.mark.parametrize("filter_", FILTERS, ids=json.dumps)
def test_hyparquet_finds_rows_by_our_indexes(hyparquet, tmp_path, filter_):
    options = [("--page-rows", 7, "--bloom", "id"), ("--group-rows", 61, "--page-version", 2, "--bloom", "id")]
    files = [tmp_path / f"{i}.parquet" for i in range(len(options))]
    wanted = [write.generate(path, "--rows", 200, *option) for path, option in zip(files, options)]
    by_index = dict(usePageIndex=True, useOffsetIndex=True, useBloomFilters=True, filterStrict=False)
    found = hyparquet(files, filter=filter_, **by_index)
    for path, ours, rows, option in zip(files, found, wanted, options):
        check(path, ours, [row for row in rows if matches(row, filter_)], option)


def matches(row, filter_):
    compare = {
        "$eq": lambda a, b: a == b,
        "$in": lambda a, b: a in b,
        "$gt": lambda a, b: a is not None and a > b,
        "$gte": lambda a, b: a is not None and a >= b,
        "$lt": lambda a, b: a is not None and a < b,
    }
    if "$and" in filter_:
        return all(matches(row, part) for part in filter_["$and"])
    return all(compare[how](row[name], value) for name, wanted in filter_.items() for how, value in wanted.items())


# ---- types that Iceberg lacks, through the command ---------------------------------------------------------

# Where hyparquet shows other values than Java does.
SHOWN = {
    "time_ms": [0, 86399999],
    "time_ns": [1, 86399999999999],
    "tsz_ms": ["1969-12-31T23:59:59.999", "1970-01-01T00:00:00.000"],
    "decimal": [-1e46, 0.001],
}

# column -> (what hyparquet says of it, why)
UNREAD = {
    "interval": ("parquet interval not supported", "it has no type for intervals"),
    "bson": ("parquet bson not supported", "it has no reader of BSON"),
}


def annotated(name, type_, logical):
    return pa.field(name, type_, metadata={"PARQUET:logical_type": logical})


def native_columns():
    """name -> (field, two values, the same as hyparquet shows them)"""
    columns = {name: (pa.field(name, type_), values, SHOWN.get(name, shown))
               for name, (type_, values, shown) in java.NATIVE.items()}
    texts = ['{"a": [1]}', "null"]
    columns["json"] = (annotated("json", pa.string(), "JSON"), texts, texts)
    columns["enum"] = (annotated("enum", pa.string(), "ENUM"), ["RED", ""], [b"RED".hex(), ""])
    columns["bson"] = (annotated("bson", pa.binary(), "BSON"), [b"\5\0\0\0\0"] * 2, None)
    return columns


def in_shapes(field, a, b, shown):
    """(field, values, shown) of the two values in a column of its own, in a required one and nested ones."""
    x, y = shown
    inner = field.with_name("x")
    yield field, [a, None, b], [x, None, y]
    yield field.with_name(field.name + "_required").with_nullable(False), [a, b, a], [x, y, x]
    yield (pa.field(field.name + "_list", pa.list_(field.with_name("element"))),
           [[a, None, b], None, []], [[x, None, y], None, []])
    yield (pa.field(field.name + "_struct", pa.struct([inner])),
           [{"x": a}, None, {"x": None}], [{"x": x}, None, {"x": None}])
    yield (pa.field(field.name + "_map", pa.map_(pa.string(), field.with_name("value"))),
           [[("p", a), ("q", None)], None, [("r", b)]], [{"p": x, "q": None}, None, {"r": y}])


def write_with_frazil(path, fields, values):
    arrays = [pa.array(column, field.type) for field, column in zip(fields, values)]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    source = path.with_suffix(".arrow")
    with pa.ipc.new_file(str(source), table.schema) as writer:
        writer.write_table(table)
    subprocess.run([write.GEN.with_name("frazil"), "cat", source, "-o", path], check=True)


def test_hyparquet_reads_types_that_iceberg_lacks(hyparquet, tmp_path):
    readable = {name: column for name, column in native_columns().items() if name not in UNREAD}
    columns = [shape for field, (a, b), shown in readable.values() for shape in in_shapes(field, a, b, shown)]
    path = tmp_path / "native.parquet"
    write_with_frazil(path, [field for field, _, _ in columns], [values for _, values, _ in columns])
    [found] = hyparquet([path])
    assert not isinstance(found, str), found
    for i, row in enumerate(found):
        assert list(row) == [field.name for field, _, _ in columns]
        for field, _, shown in columns:
            assert same(row[field.name], shown[i]), f"row {i}, {field}: {row[field.name]!r}, not {shown[i]!r}"
    assert len(found) == 3


@pytest.mark.parametrize("name", UNREAD)
def test_types_that_hyparquet_does_not_read(hyparquet, tmp_path, name):
    """When this fails, hyparquet has learned to read a type, whose values then belong above."""
    field, values, _ = native_columns()[name]
    path = tmp_path / "unread.parquet"
    write_with_frazil(path, [field], [values])
    [found] = hyparquet([path])
    assert found == UNREAD[name][0]
