"""Parquet files that pyarrow wrote, read by libfrazil and compared with pyarrow's own reading."""

import datetime
import decimal
import random
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parquet_rows

ROWS = 1200


# ---- tables ----------------------------------------------------------------------------------------


def primitive_columns(rng, n):
    """name -> (type, values without nulls)"""
    ints = [rng.getrandbits(64) - 2**63 for _ in range(n)]
    small = [rng.randrange(20) for _ in range(n)]
    words = ["", "a", "snow", "frazil ice", "größer als ASCII", "x" * 70]
    epoch = datetime.date(1970, 1, 1)

    def scaled(precision, scale):
        return [decimal.Decimal(rng.randrange(-(10**precision) + 1, 10**precision)).scaleb(-scale)
                for _ in range(n)]

    decimal.getcontext().prec = 60
    return {
        "bool": (pa.bool_(), [v < 7 for v in small]),
        "bool_runs": (pa.bool_(), [i // 300 % 2 == 0 for i in range(n)]),
        "int8": (pa.int8(), [v % 256 - 128 for v in ints]),
        "int16": (pa.int16(), [v % 65536 - 32768 for v in ints]),
        "int32": (pa.int32(), [v % 2**32 - 2**31 for v in ints]),
        "int64": (pa.int64(), ints),
        "int64_few": (pa.int64(), small),
        "uint8": (pa.uint8(), [v % 256 for v in ints]),
        "uint16": (pa.uint16(), [v % 65536 for v in ints]),
        "uint32": (pa.uint32(), [v % 2**32 for v in ints]),
        "uint64": (pa.uint64(), [v % 2**63 for v in ints]),
        "half": (pa.float16(), np.array([v * 0.37 for v in small], np.float16).tolist()),
        "float": (pa.float32(), np.array(ints, np.float32).tolist()),
        "double": (pa.float64(), [rng.uniform(-1e9, 1e9) if v else float("nan") for v in small]),
        "double_few": (pa.float64(), [v / 3 for v in small]),
        "date": (pa.date32(), [epoch + datetime.timedelta(days=v % 20000) for v in ints]),
        "time_ms": (pa.time32("ms"), [v % 86400000 for v in ints]),
        "time_us": (pa.time64("us"), [v % 86400000000 for v in ints]),
        "ts_ms": (pa.timestamp("ms"), [v % 2**42 - 2**41 for v in ints]),
        "ts_us": (pa.timestamp("us"), [v % 2**56 - 2**55 for v in ints]),
        "ts_us_utc": (pa.timestamp("us", "UTC"), [v % 2**56 for v in ints]),
        "ts_ns": (pa.timestamp("ns"), ints),
        "text": (pa.string(), [words[v % 6] + str(i) for i, v in enumerate(small)]),
        "text_few": (pa.string(), [words[v % 6] for v in small]),
        "binary": (pa.binary(), [rng.randbytes(v) for v in small]),
        "fixed": (pa.binary(5), [rng.randbytes(5) for _ in small]),
        "uuid": (pa.uuid(), [rng.randbytes(16) for _ in small]),
        "decimal_4": (pa.decimal128(4, 2), scaled(4, 2)),
        "decimal_15": (pa.decimal128(15, 0), scaled(15, 0)),
        "decimal_38": (pa.decimal128(38, 20), scaled(38, 20)),
        "null": (pa.null(), [None] * n),
    }


def with_nulls(rng, values, share):
    return [None if rng.random() < share else v for v in values]


def make_array(values, t):
    if isinstance(t, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(t, pa.array(values, t.storage_type))
    if t == pa.float16():
        return pa.array([None if v is None else np.float16(v) for v in values], t)
    return pa.array(values, t)


def nest(rng, values, t):
    """The column in lists, structs and maps of several depths, nulls at every level."""
    n = len(values)

    def pick():
        return None if rng.random() < 0.1 else rng.choice(values)

    def items():
        return None if rng.random() < 0.1 else [pick() for _ in range(rng.choice([0, 1, 2, 5]))]

    yield "list", pa.list_(t), [items() for _ in range(n)]
    yield "list_list", pa.list_(pa.list_(t)), [
        None if rng.random() < 0.1 else [items() for _ in range(rng.randrange(3))] for _ in range(n)]
    yield "struct", pa.struct([("a", t), ("b", pa.list_(t))]), [
        None if rng.random() < 0.1 else {"a": pick(), "b": items()} for _ in range(n)]
    yield "list_struct", pa.list_(pa.struct([("a", t), ("b", pa.struct([("c", t)]))])), [
        None if rng.random() < 0.1 else [
            None if rng.random() < 0.1 else
            {"a": pick(), "b": None if rng.random() < 0.2 else {"c": pick()}}
            for _ in range(rng.randrange(4))] for _ in range(n)]
    yield "map", pa.map_(pa.string(), pa.list_(t)), [
        None if rng.random() < 0.1 else
        [(f"k{i}", items()) for i in range(rng.randrange(3))] for _ in range(n)]


def make_table(seed, n=ROWS, nested=True):
    rng = random.Random(seed)
    fields, arrays = [], []

    def add(name, t, values, nullable=True):
        fields.append(pa.field(name, t, nullable))
        arrays.append(make_array(values, t))

    plain = primitive_columns(rng, n)
    for name, (t, values) in plain.items():
        if name == "null":
            add(name, t, values)
            continue
        add(name + "_required", t, values, nullable=False)
        add(name + "_full", t, values)
        add(name + "_some", t, with_nulls(rng, values, 0.3))
        add(name + "_rare", t, with_nulls(rng, values, 0.002))
    add("all_null", pa.int64(), [None] * n)
    if nested:
        for name in ("int64", "text", "bool", "double_few", "decimal_38", "ts_us", "int64_few"):
            t, values = plain[name]
            for kind, nt, nv in nest(rng, values, t):
                add(f"{name}_{kind}", nt, nv)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


@pytest.fixture(scope="module")
def table():
    return make_table(1)


@pytest.fixture(scope="module")
def expected(table):
    return parquet_rows.rows(table)


def check(path, expected, *args):
    ours, error = parquet_rows.dump(path, *args)
    assert error is None
    assert parquet_rows.difference(ours, expected) is None


# ---- the grid -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
def test_every_type_codec_dictionary_and_page_version(tmp_path, table, expected, codec, dictionary,
                                                      version):
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, compression=codec, use_dictionary=dictionary,
                   data_page_version=version, data_page_size=1500, write_batch_size=97,
                   row_group_size=700, write_page_checksum=version == "2.0",
                   dictionary_pagesize_limit=4000)
    check(path, expected)


@pytest.mark.parametrize("page_size", [200, 5000, 1 << 20])
@pytest.mark.parametrize("batch", ["1", "7", "1000"])
def test_batches_of_any_size_hold_the_same_rows(tmp_path, table, expected, page_size, batch):
    path = tmp_path / "t.parquet"
    pq.write_table(table.slice(0, 500), path, data_page_size=page_size, write_batch_size=50)
    check(path, expected[:500], "--batch", batch)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_row_ranges_do_not_depend_on_row_groups(tmp_path, table, expected, version):
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, data_page_size=1000, write_batch_size=64, row_group_size=331,
                   data_page_version=version)
    rng = random.Random(5)
    for _ in range(6):
        cuts = sorted(rng.sample(range(ROWS + 1), 6))
        pairs = list(zip(cuts[::2], cuts[1::2]))
        text = ",".join(f"{a}:{b}" for a, b in pairs)
        check(path, [row for a, b in pairs for row in expected[a:b]], text)


ENCODINGS = {
    "BYTE_STREAM_SPLIT": ["float", "double", "int32", "int64", "fixed", "half", "decimal_38", "ts_us"],
    "DELTA_BINARY_PACKED": ["int8", "int32", "int64", "int64_few", "date", "ts_us", "decimal_4"],
    "DELTA_LENGTH_BYTE_ARRAY": ["text", "text_few", "binary"],
    "DELTA_BYTE_ARRAY": ["text", "text_few", "binary", "fixed", "decimal_38"],
    "RLE": ["bool", "bool_runs"],
    "PLAIN": ["bool", "int64", "text", "fixed"],
}


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_every_encoding(tmp_path, table, expected, encoding, version):
    names = [f.name for f in table.schema
             if any(f.name in (n + "_required", n + "_full", n + "_some", n + "_rare")
                    for n in ENCODINGS[encoding])]
    part = table.select(names)
    path = tmp_path / "t.parquet"
    pq.write_table(part, path, use_dictionary=False, data_page_version=version,
                   column_encoding={n: encoding for n in names}, data_page_size=3000,
                   write_batch_size=111, store_decimal_as_integer=encoding == "DELTA_BINARY_PACKED")
    want = [{n: row[n] for n in names} for row in expected]
    check(path, want)
    check(path, want[277:901], "277:901")


def test_pages_of_version_2_that_say_they_are_not_compressed(tmp_path):
    """Writers leave pages that do not shrink as they are, in chunks of a codec."""
    path = tmp_path / "t.parquet"
    table = pa.table({"a": [1, None, 3] * 50, "b": [["x"], [], None] * 50})
    pq.write_table(table, path, compression="none", data_page_version="2.0", use_dictionary=False)
    data = path.read_bytes()
    for name in (b"\x01a", b"\x01b\x04list\x07element"):
        codec = name + b"\x15\x00\x16"  # behind the column's path: field 4, then field 5
        assert data.count(codec) == 1
        data = data.replace(codec, name + b"\x15\x02\x16")
    path.write_bytes(data)
    assert pq.ParquetFile(path).metadata.row_group(0).column(1).compression == "SNAPPY"
    check(path, table.to_pylist())
    check(path, table.slice(70, 40).to_pylist(), "70:110")


V2_HEADER = re.compile(rb"(\x15\x06\x15[\x80-\xff]?[\x00-\x7f]\x15[\x80-\xff]?[\x00-\x7f]\x5c\x15)"
                       rb"([\x00-\x7e])(\x15[\x00-\x7e]\x15)([\x00-\x7e])\x15", re.S)


def test_pages_of_version_2_that_call_values_rows(tmp_path):
    """Arrow before 12 wrote the number of values where that of rows belongs."""
    path = tmp_path / "t.parquet"
    rows = [{"l": [i] * (i % 4), "m": [[i, None], []][:i % 3]} for i in range(300)]
    pq.write_table(pa.Table.from_pylist(rows), path, compression="none", data_page_version="2.0",
                   use_dictionary=False, data_page_size=100, write_batch_size=10)
    data = path.read_bytes()
    headers = V2_HEADER.findall(data)  # values, then nulls, then rows
    assert sum(rows[0] // 2 for _, _, _, rows in headers) == 600
    assert any(values != rows for _, values, _, rows in headers)
    path.write_bytes(V2_HEADER.sub(lambda m: m[1] + m[2] + m[3] + m[2] + b"\x15", data))
    for first, end in ((0, 300), (100, 110), (250, 260), (37, 299)):
        check(path, rows[first:end], f"{first}:{end}")


def test_decimals_on_every_physical_type(tmp_path):
    values = [None, decimal.Decimal("-99.99"), decimal.Decimal("0.01"), decimal.Decimal("12.30")]
    for precision in (4, 9, 10, 18, 19, 38):
        t = pa.table({"d": pa.array(values, pa.decimal128(precision, 2))})
        for as_integer in (True, False):
            path = tmp_path / "d.parquet"
            pq.write_table(t, path, store_decimal_as_integer=as_integer)
            check(path, parquet_rows.rows(t))


def test_int96_is_exact_from_year_1_to_9999(tmp_path):
    moments = ["0001-01-01T00:00:00", "1582-10-04T12:34:56.789012", "1969-12-31T23:59:59.999999",
               "1970-01-01T00:00:00", "2262-04-12T00:00:00", "9999-12-31T23:59:59.999999"]
    array = pa.array(np.array(moments, "datetime64[us]"), pa.timestamp("us"))
    t = pa.table({"t": array})
    path = tmp_path / "t.parquet"
    pq.write_table(t, path, use_deprecated_int96_timestamps=True)
    ours, error = parquet_rows.dump(path)
    assert error is None
    # pyarrow writes INT96 through nanoseconds of 64 bits, so only these are its own
    assert [row["t"] for row in ours][2:4] == ["1969-12-31T23:59:59.999999", "1970-01-01T00:00:00.000000"]


def test_unsigned_values_that_do_not_fit_name_column_and_row(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"big": pa.array([None, 1, 2**63], pa.uint64())}), path)
    _, error = parquet_rows.dump(path)
    assert 'column "big"' in error and "row 2" in error and "too large for long" in error


def test_milliseconds_that_overflow_name_column_and_row(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"t": pa.array([1, 2**60], pa.timestamp("ms"))}), path)
    _, error = parquet_rows.dump(path)
    assert 'column "t"' in error and "row 1" in error


@pytest.mark.parametrize("nullable", [True, False])
def test_nested_fields_of_every_requiredness(tmp_path, nullable):
    inner = pa.struct([pa.field("a", pa.int32(), nullable),
                       pa.field("l", pa.list_(pa.field("element", pa.int64(), nullable)), nullable)])
    t = pa.table({"s": pa.array([{"a": 1, "l": [1, 2]}, {"a": 2, "l": []}], inner)},
                 schema=pa.schema([pa.field("s", inner, nullable)]))
    path = tmp_path / "t.parquet"
    pq.write_table(t, path)
    check(path, parquet_rows.rows(t))


def test_empty_files_and_files_without_columns(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(make_table(2, 3).slice(0, 0), path)
    check(path, [])
    pq.write_table(pa.table({}), path)
    check(path, [])


def test_empty_row_groups_between_others(tmp_path):
    path = tmp_path / "t.parquet"
    t = make_table(3, 40)
    with pq.ParquetWriter(path, t.schema) as writer:
        for a, b in ((0, 0), (0, 10), (10, 10), (10, 40), (40, 40)):
            writer.write_table(t.slice(a, b - a), row_group_size=100)
    check(path, parquet_rows.rows(t))
    check(path, parquet_rows.rows(t.slice(5, 20)), "5:25")


def test_large_values_cut_batches(tmp_path):
    path = tmp_path / "t.parquet"
    rng = random.Random(4)
    texts = [rng.choice("abc") * (400_000 if i % 5 == 0 else 3) for i in range(120)]
    t = pa.table({"n": list(range(120)), "t": texts, "l": [[v, v] for v in texts],
                  "s": [{"t": v, "n": i} for i, v in enumerate(texts)]})
    pq.write_table(t, path, data_page_size=1000, write_batch_size=10, use_dictionary=["t"])
    check(path, parquet_rows.rows(t))


def test_levels_of_long_rows_span_pages(tmp_path):
    path = tmp_path / "t.parquet"
    t = pa.table({"l": [list(range(5000)), [], None, list(range(12000)), [1]]})
    pq.write_table(t, path, data_page_size=2000, write_batch_size=500)
    check(path, parquet_rows.rows(t))
    check(path, parquet_rows.rows(t.slice(4, 1)), "4:5")
    check(path, parquet_rows.rows(t.slice(1, 3)), "1:4")
