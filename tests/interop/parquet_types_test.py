"""Every Arrow type that pyarrow can put into a Parquet file: what frazil cat makes of the file as an Arrow
stream is what pyarrow reads, column for column, types and nulls included. Nullable and not, empty and all
null, in pages of both versions, with dictionaries and without. Both readers go by the Parquet schema: the
Arrow schema that pyarrow leaves in a file says what the writer had, not what is in the file."""

import datetime
import decimal
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import arrow_compare
import parquet_oracles

BUILD = Path(os.environ.get("FRAZIL_BUILD", "build/release")).resolve()
ROWS = 300

# ---- one column of every type: name -> (type, values without nulls) --------------------------------------


def integers(rng, bits, signed):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return [low, high, 0] + [rng.randint(low, high) for _ in range(ROWS - 3)]


def floats(kind):
    special = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5, -2.25]
    tiny = {np.float16: 6e-8, np.float32: 1e-45, np.float64: 5e-324}[kind]
    return [kind(v) for v in (special + [tiny, 0.1, 1 / 3]) * ROWS][:ROWS]


def decimals(rng, precision, scale):
    most = 10**precision - 1
    context = decimal.Context(prec=precision)
    unscaled = [most, -most, 0, -1] + [rng.randint(-most, most) for _ in range(ROWS - 4)]
    return [decimal.Decimal(v).scaleb(-scale, context) for v in unscaled]


WORDS = ["", "a", "snow", "größer als ASCII", "氷", "long enough to lie outside of a view: " + "x" * 70]
EPOCH = datetime.date(1970, 1, 1)


def primitives(rng):
    for bits in (8, 16, 32, 64):
        yield f"int{bits}", getattr(pa, f"int{bits}")(), integers(rng, bits, True)
        yield f"uint{bits}", getattr(pa, f"uint{bits}")(), integers(rng, bits, False)
    yield "float16", pa.float16(), floats(np.float16)
    yield "float32", pa.float32(), floats(np.float32)
    yield "float64", pa.float64(), floats(np.float64)
    yield "bool", pa.bool_(), [rng.random() < 0.3 for _ in range(ROWS)]
    yield "date32", pa.date32(), [EPOCH + datetime.timedelta(days=rng.randint(-700000, 2900000)) for _ in range(ROWS)]
    yield "date64", pa.date64(), [rng.randint(-(10**5), 10**5) * 86400000 for _ in range(ROWS)]
    for unit, per_second in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        time = pa.time32(unit) if per_second <= 1000 else pa.time64(unit)
        most = 86400 * per_second - 1
        yield f"time_{unit}", time, [0, most] + [rng.randint(0, most) for _ in range(ROWS - 2)]
        wide = [v // (1001 if unit == "s" else 1) for v in integers(rng, 64, True)]  # written as milliseconds
        for zone in (None, "UTC", "Europe/Berlin", "+05:30"):
            yield f"timestamp_{unit}_{zone or 'local'}", pa.timestamp(unit, zone), wide
        yield f"duration_{unit}", pa.duration(unit), integers(rng, 64, True)
    for make, widths in ((pa.decimal32, (1, 9)), (pa.decimal64, (10, 18)), (pa.decimal128, (1, 9, 10, 18, 19, 38)),
                         (pa.decimal256, (1, 18, 38, 39, 76))):
        for precision in widths:
            for scale in {0, precision // 2, precision}:
                yield (f"{make.__name__}_{precision}_{scale}", make(precision, scale),
                       decimals(rng, precision, scale))
    texts = [rng.choice(WORDS) for _ in range(ROWS)]
    for name in ("string", "large_string", "string_view"):
        yield name, getattr(pa, name)(), texts
    raw = [rng.randbytes(rng.choice([0, 3, 40])) for _ in range(ROWS)]
    for name in ("binary", "large_binary", "binary_view"):
        yield name, getattr(pa, name)(), raw
    for width in (1, 7, 16, 100):
        yield f"fixed_{width}", pa.binary(width), [rng.randbytes(width) for _ in range(ROWS)]
    yield "uuid", pa.uuid(), [rng.randbytes(16) for _ in range(ROWS)]
    yield "json", pa.json_(), ['{"a": [%d]}' % rng.randrange(9) for _ in range(ROWS)]
    yield "null", pa.null(), [None] * ROWS


def encoded(rng):
    """Dictionaries of several types, and runs."""
    few = [rng.randrange(7) for _ in range(ROWS)]
    for name, type_, values in (
        ("string", pa.string(), [WORDS[v % 6] for v in few]),
        ("large_binary", pa.large_binary(), [WORDS[v % 6].encode() for v in few]),
        ("int64", pa.int64(), few),
        ("timestamp", pa.timestamp("ms", "UTC"), few),
        ("decimal", pa.decimal128(9, 2), [decimal.Decimal(v).scaleb(-2) for v in few]),
    ):
        yield f"dictionary_{name}", pa.dictionary(pa.int16(), type_), values


def nested(rng):
    def some(make, share=0.15):
        return None if rng.random() < share else make()

    def number():
        return rng.randint(-100, 100)

    def items():
        return [some(number) for _ in range(rng.choice([0, 1, 2, 5]))]

    def pair():
        return {"x": some(number), "y": some(lambda: rng.choice(WORDS))}

    pair_type = pa.struct([("x", pa.int16()), ("y", pa.large_string())])
    for name in ("list_", "large_list", "list_view", "large_list_view"):
        yield name.rstrip("_"), getattr(pa, name)(pa.int8()), [items() for _ in range(ROWS)]
    yield "fixed_list", pa.list_(pa.float16(), 3), [[np.float16(v / 4) for v in (i, -i, 0)] for i in range(ROWS)]
    yield "fixed_list_0", pa.list_(pa.int32(), 0), [[] for _ in range(ROWS)]
    yield "struct", pair_type, [pair() for _ in range(ROWS)]
    yield "list_struct", pa.list_(pair_type), [[some(pair) for _ in range(rng.randrange(4))] for _ in range(ROWS)]
    yield "list_list", pa.list_(pa.large_list(pa.uint16())), [
        [some(lambda: [abs(v or 0) for v in items()]) for _ in range(rng.randrange(3))] for _ in range(ROWS)]
    yield "map", pa.map_(pa.string(), pa.uint64()), [
        [(f"k{i}", some(lambda: 2**64 - 1 - abs(number()))) for i in range(rng.randrange(3))] for _ in range(ROWS)]
    yield "map_struct", pa.map_(pa.date32(), pair_type), [
        [(EPOCH + datetime.timedelta(days=i), some(pair)) for i in range(rng.randrange(3))] for _ in range(ROWS)]
    yield "list_of_required", pa.list_(pa.field("element", pa.time32("ms"), nullable=False)), [
        [abs(v or 0) for v in items()] for _ in range(ROWS)]
    yield "struct_deep", pa.struct([("a", pa.struct([("b", pa.list_(pa.decimal256(40, 1)))]))]), [
        {"a": some(lambda: {"b": [decimal.Decimal(v or 0).scaleb(-1) for v in items()]})} for _ in range(ROWS)]
    yield "dictionary_in_list", pa.list_(pa.dictionary(pa.int8(), pa.string())), [
        [rng.choice(WORDS) for _ in range(rng.randrange(3))] for _ in range(ROWS)]


def columns():
    rng = random.Random(7)
    return {name: (type_, values) for make in (primitives, encoded, nested) for name, type_, values in make(rng)}


COLUMNS = columns()

# Arrays that pyarrow has and does not write, and a part of what it says.
UNWRITTEN = {
    "interval": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "Unhandled type"),
    "runs": (pc.run_end_encode(pa.array([1, 1, 2])), "Unhandled type"),
    "union": (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), "Unhandled type"),
    "struct_empty": (pa.array([{}], pa.struct([])), "no child field"),
    "list_of_views": (pa.array([[{"x": "a"}]] * 2, pa.list_(pa.struct([("x", pa.string_view())]))), "StringView"),
}


# ---- files -----------------------------------------------------------------------------------------------


def array_of(type_, values):
    if isinstance(type_, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type_, pa.array(values, type_.storage_type))
    if pa.types.is_dictionary(type_):
        return pa.array(values, type_.value_type).dictionary_encode().cast(type_)
    return pa.array(values, type_)


NULLS = {
    "required": lambda i: False,
    "full": lambda i: False,
    "some": lambda i: i % 7 in (2, 3),
    "runs": lambda i: 40 < i < 200,
    "nothing": lambda i: True,
}


def narrow(type_, values):
    """The years 1 to 9999: what INT96 holds in every reader, and what becomes other units."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6}.get(getattr(type_, "unit", None))
    if not pa.types.is_timestamp(type_) or per_second is None:
        return values
    first, last = -62135596800 * per_second, 253402300800 * per_second
    return [first + (v - first) % (last - first) for v in values]


def table_of(nulls, years=False):
    fields, arrays = [], []
    for name, (type_, values) in COLUMNS.items():
        if name == "null" and nulls == "required":
            continue  # a column of nulls is never required
        values = narrow(type_, values) if years else values
        wanted = [None if NULLS[nulls](i) else v for i, v in enumerate(values)]
        fields.append(pa.field(name, type_, nulls != "required"))
        arrays.append(array_of(type_, wanted))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


OPTIONS = {
    "plain_1": dict(data_page_version="1.0", use_dictionary=False, compression="none"),
    "plain_2": dict(data_page_version="2.0", use_dictionary=False, compression="zstd"),
    "dictionary_1": dict(data_page_version="1.0", use_dictionary=True, compression="snappy"),
    "dictionary_2": dict(data_page_version="2.0", use_dictionary=True, compression="none"),
    "integers": dict(store_decimal_as_integer=True),
    "int96": dict(use_deprecated_int96_timestamps=True),
    "older": dict(version="1.0", use_compliant_nested_type=False, coerce_timestamps="us",
                  allow_truncated_timestamps=True),
}
NARROW = ("int96", "older")


def cat(path):
    done = subprocess.run([BUILD / "bin" / "frazil", "cat", path, "--format", "arrow"], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return ipc.open_stream(done.stdout).read_all()


def check(path):
    ours, theirs = cat(path), parquet_oracles.pyarrow_table(path)
    assert ours.schema.names == theirs.schema.names
    wrong = {}
    for name in ours.schema.names:
        text = arrow_compare.difference(ours.select([name]), theirs.select([name]))
        if text:
            wrong[name] = text
    assert wrong == {}


@pytest.mark.parametrize("nulls", NULLS)
@pytest.mark.parametrize("options", OPTIONS)
def test_every_type(tmp_path, options, nulls):
    path = tmp_path / "types.parquet"
    table = table_of(nulls, years=options in NARROW)
    pq.write_table(table, path, row_group_size=220, data_page_size=1000, **OPTIONS[options])
    check(path)


@pytest.mark.parametrize("name", UNWRITTEN)
def test_types_that_pyarrow_does_not_write(tmp_path, name):
    """When this fails, pyarrow has learned to write a type, which then belongs into COLUMNS."""
    array, part = UNWRITTEN[name]
    with pytest.raises(pa.ArrowException, match=part):
        pq.write_table(pa.table({name: array}), tmp_path / "x.parquet")
