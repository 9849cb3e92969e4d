"""Other implementations read what the Parquet writer wrote: every type, nested ones included, in all
codecs, page versions and encodings."""
import datetime
import decimal
import json
import math
import os
import struct
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

GEN = Path(os.environ["FRAZIL_BUILD"]) / "bin" / "parquet_gen"
EPOCH = datetime.datetime(1970, 1, 1)


def generate(path, *options):
    done = subprocess.run([GEN, path, *map(str, options)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def real(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def moment(count, digits, zone):
    """A timestamp as Iceberg writes it, from units since 1970."""
    whole, part = divmod(count, 10**digits)
    day = (EPOCH + datetime.timedelta(seconds=whole)).isoformat()
    return f"{day}.{part:0{digits}d}" + ("+00:00" if zone else "")


def plain(value, type_):
    """A value that pyarrow read, in the form of the generator's lines."""
    if value is None:
        return None
    if pa.types.is_struct(type_):
        return {f.name: plain(value[f.name], f.type) for f in type_}
    if pa.types.is_map(type_):
        return [{"key": plain(k, type_.key_type), "value": plain(v, type_.item_type)} for k, v in value]
    if pa.types.is_list(type_):
        return [plain(v, type_.value_type) for v in value]
    if pa.types.is_floating(type_):
        return real(value)
    if pa.types.is_decimal(type_):
        return format(value, "f")
    if pa.types.is_date(type_):
        return value.isoformat()
    if pa.types.is_time(type_):
        return value.strftime("%H:%M:%S.%f")
    if pa.types.is_timestamp(type_):
        digits = {"us": 6, "ns": 9}[type_.unit]
        return moment(value, digits, type_.tz is not None)
    if isinstance(value, bytes):
        return value.hex()
    return value


def uuid_text(text):
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def column_values(column):
    """Python values; timestamps as integers, since datetime has no nanoseconds."""
    type_ = column.type
    if pa.types.is_timestamp(type_):
        return column.cast(pa.int64()).to_pylist()
    if isinstance(type_, pa.BaseExtensionType):
        return column.chunk(0).storage.to_pylist() if column.num_chunks else []
    return column.to_pylist()


def trim_time(text):
    """Fractions without the zeros at their end."""
    if text is None or "." not in text:
        return text
    head, tail = text.split(".", 1)
    zone = "+00:00" if tail.endswith("+00:00") else ""
    digits = tail.removesuffix(zone).rstrip("0")
    return head + ("." + digits if digits else "") + zone


TIMES = ("t", "ts", "tsz", "tsn", "tszn")


def normal(row):
    """Rows of both sides in one spelling."""
    return {k: trim_time(v) if k in TIMES else v for k, v in row.items()}


def pyarrow_rows(path, columns=None):
    table = pq.read_table(path, columns=columns).combine_chunks()
    names = table.column_names
    columns = []
    for name in names:
        column = table.column(name)
        type_ = column.type.storage_type if isinstance(column.type, pa.BaseExtensionType) else column.type
        values = [plain(v, type_) for v in column_values(column)]
        if name == "u":
            values = [v and uuid_text(v) for v in values]
        columns.append(values)
    return [normal(dict(zip(names, row))) for row in zip(*columns)]


def check_pyarrow(path, expected):
    found = pyarrow_rows(path)
    assert len(found) == len(expected)
    for i, (a, b) in enumerate(zip(found, expected)):
        b = normal(b)
        for name in b:
            assert a[name] == b[name], f"row {i}, column {name}"
        assert list(a) == list(b), f"row {i}"


VARIANTS = [
    ("--codec", "none"),
    ("--codec", "snappy"),
    ("--codec", "gzip"),
    ("--codec", "zstd"),
    ("--codec", "lz4_raw"),
    ("--codec", "brotli"),
    ("--codec", "none", "--page-version", 2),
    ("--codec", "zstd", "--page-version", 2),
    ("--dictionary", "never"),
    ("--page-bytes", 500),
    ("--page-bytes", 500, "--page-version", 2),
    ("--page-bytes", 1, "--rows", 300),
    ("--page-rows", 7, "--rows", 500),
    ("--nulls", 0),
    ("--nulls", 95),
    ("--nulls", 100),
    ("--group-rows", 617),
    ("--by-column",),
    ("--by-column", "--page-bytes", 500, "--page-version", 2),
    ("--rows", 0),
    ("--rows", 1),
    ("--rows", 6000, "--page-bytes", 20000),
]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda v: " ".join(map(str, v)))
def written(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "gen.parquet"
    return path, generate(path, *request.param)


def test_written__pyarrow_reads_every_value(written):
    check_pyarrow(*written)


def test_written__pages_have_right_checksums(written):
    path, expected = written
    table = pq.read_table(path, page_checksum_verification=True)
    assert table.num_rows == len(expected)


def test_written__metadata_is_plausible(written):
    path, expected = written
    size = os.path.getsize(path)
    metadata = pq.read_metadata(path)
    assert metadata.num_rows == len(expected)
    assert metadata.created_by.startswith("frazil version ")
    end = 4
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        raw = packed = 0
        for c in range(group.num_columns):
            chunk = group.column(c)
            start = chunk.data_page_offset
            if chunk.has_dictionary_page:
                assert chunk.dictionary_page_offset < start
                start = chunk.dictionary_page_offset
            assert start == end, "chunks lie side by side"
            end = start + chunk.total_compressed_size
            raw += chunk.total_uncompressed_size
            packed += chunk.total_compressed_size
        assert group.total_byte_size == raw
    assert end < size


def test_written__statistics_hold_the_values(written):
    path, expected = written
    parquet = pq.ParquetFile(path)
    first = 0
    for g in range(parquet.num_row_groups):
        group = parquet.metadata.row_group(g)
        rows = expected[first : first + group.num_rows]
        first += group.num_rows
        for c in range(group.num_columns):
            chunk = group.column(c)
            name = chunk.path_in_schema
            stats = chunk.statistics
            if "." in name:
                assert stats is not None
                continue
            values = [row[name] for row in rows]
            present = [v for v in values if v is not None]
            assert stats.null_count == len(values) - len(present), name
            bounds = sorted(v for v in present if v != "NaN") if name in ("id", "i", "l", "few") else None
            if bounds:
                assert stats.has_min_max and (stats.min, stats.max) == (bounds[0], bounds[-1]), name
            if name in ("f", "d"):
                numbers = sorted(float(v) for v in present if v != "NaN")
                assert stats.has_min_max == bool(numbers), name
                if numbers:
                    assert (stats.min, stats.max) == (numbers[0], numbers[-1]), name
            if name in ("s", "late", "req_string") and present:
                by_bytes = sorted(present, key=str.encode)
                assert (stats.min, stats.max) == (by_bytes[0], by_bytes[-1]), name
            if name == "long_string" and present:
                by_bytes = sorted(v.encode() for v in present)
                assert stats.min.encode() <= by_bytes[0] and stats.max.encode() >= by_bytes[-1]
                assert len(stats.min.encode()) <= 64 and len(stats.max.encode()) <= 64
            if name in ("dec9", "dec18", "dec38") and present:
                numbers = sorted(map(decimal.Decimal, present))
                assert (stats.min, stats.max) == (numbers[0], numbers[-1]), name


def test_schema__has_field_ids_and_annotations(tmp_path):
    path = tmp_path / "gen.parquet"
    generate(path, "--rows", 10)
    schema = pq.read_schema(path)

    def id_of(field):
        return int(field.metadata[b"PARQUET:field_id"])

    assert id_of(schema.field("id")) == 1
    assert not schema.field("id").nullable and schema.field("s").nullable
    assert id_of(schema.field("ls").type.value_field) == 28
    assert schema.field("ls").type.value_field.name == "element"
    assert id_of(schema.field("m").type.key_field) == 38
    assert id_of(schema.field("m").type.item_field) == 39
    assert "unk" not in schema.names and "empty" not in schema.names
    assert schema.field("dec9").type == pa.decimal128(9, 2)
    assert schema.field("tsz").type == pa.timestamp("us", "UTC")
    assert schema.field("tsn").type == pa.timestamp("ns")
    parquet = pq.ParquetFile(path).schema
    by_path = {parquet.column(i).path: parquet.column(i) for i in range(len(parquet))}
    assert by_path["dec9"].physical_type == "INT32"
    assert by_path["dec18"].physical_type == "INT64"
    assert by_path["dec38"].physical_type == "FIXED_LEN_BYTE_ARRAY" and by_path["dec38"].length == 16
    assert by_path["s"].converted_type == "UTF8"
    assert by_path["tsz"].converted_type == "TIMESTAMP_MICROS"
    assert str(by_path["u"].logical_type) == "UUID"
    assert by_path["ls.list.element"].max_repetition_level == 1
    assert by_path["mm.key_value.value.q.list.element"].max_repetition_level == 2


def encodings(path, column):
    group = pq.read_metadata(path).row_group(0)
    for c in range(group.num_columns):
        if group.column(c).path_in_schema == column:
            return set(group.column(c).encodings), group.column(c)
    raise KeyError(column)


def test_encodings__follow_the_values(tmp_path):
    path = tmp_path / "gen.parquet"
    generate(path, "--rows", 5000)
    assert "RLE_DICTIONARY" in encodings(path, "few")[0]
    assert "RLE_DICTIONARY" in encodings(path, "const_string")[0]
    assert "RLE_DICTIONARY" in encodings(path, "late")[0]
    assert "DELTA_BINARY_PACKED" in encodings(path, "id")[0]
    assert "BYTE_STREAM_SPLIT" in encodings(path, "d")[0]
    assert "PLAIN" in encodings(path, "extremes")[0]
    for name in ("id", "all_null", "const_double"):
        assert encodings(path, name)[1].total_compressed_size < 300, name


def test_encodings__a_dictionary_that_grows_too_large_is_given_up(tmp_path):
    path = tmp_path / "gen.parquet"
    expected = generate(path, "--rows", 10000, "--page-bytes", 8000)
    assert {"RLE_DICTIONARY", "PLAIN"} <= encodings(path, "drifts")[0]
    check_pyarrow(path, expected)


def test_bytes__same_values_same_file(tmp_path):
    generate(tmp_path / "a.parquet", "--rows", 1500)
    generate(tmp_path / "b.parquet", "--rows", 1500)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def duck_value(value, name):
    if value is None:
        return None
    if isinstance(value, dict):
        return {k: duck_value(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [duck_value(v, name) for v in value]
    if isinstance(value, float):
        return real(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime.date, datetime.time, datetime.datetime)):
        return value.isoformat()
    return str(value) if name == "u" else value


DUCK_COLUMNS = [
    "id", "b", "i", "l", "f", "d", "dec9", "dec18", "dec38", "day", "s", "u", "fx", "bin", "st", "ls",
    "lls", "items", "const_double", "const_string", "all_null", "late", "long_string", "few",
    "extremes", "extremes32", "drifts", "req_string", "flag",
]


def test_written__duckdb_reads_the_same(written):
    duckdb = pytest.importorskip("duckdb")
    path, expected = written
    names = ", ".join(f'"{n}"' for n in DUCK_COLUMNS)
    text = ", ".join(f"epoch_us({n})" for n in ("ts", "tsz", "t"))
    connection = duckdb.connect()
    rows = connection.execute(f"select {names}, {text} from read_parquet('{path}')").fetchall()
    assert len(rows) == len(expected)
    for i, (found, row) in enumerate(zip(rows, expected)):
        for name, value in zip(DUCK_COLUMNS, found):
            assert duck_value(value, name) == row[name], f"row {i}, column {name}"
        for name, value in zip(("ts", "tsz"), found[len(DUCK_COLUMNS) :]):
            text = None if value is None else moment(value, 6, name == "tsz")
            assert trim_time(text) == trim_time(row[name]), f"row {i}, column {name}"


def test_written__duckdb_filters_by_statistics(written):
    duckdb = pytest.importorskip("duckdb")
    path, expected = written
    connection = duckdb.connect()
    for name, probe in (("i", 0), ("few", 3000009), ("l", 0)):
        wanted = sum(1 for row in expected if row[name] is not None and row[name] > probe)
        found = connection.execute(
            f"select count(*) from read_parquet('{path}') where {name} > {probe}").fetchone()[0]
        assert found == wanted, name


POLARS_COLUMNS = [n for n in DUCK_COLUMNS if n not in ("u",)] + ["ts", "tsz", "tsn", "t"]


def polars_value(value):
    return duck_value(value, "")


def test_written__polars_reads_the_same(written, request):
    polars = pytest.importorskip("polars")
    path, expected = written
    # Polars 2.1 panics on byte-stream-split pages without values inside structs, pyarrow's too
    small_pages = "--page-" in request.node.name.replace("--page-version", "")
    names = [n for n in POLARS_COLUMNS if not (small_pages and n == "st")]
    table = polars.read_parquet(path, columns=names)
    assert table.height == len(expected)
    for name in names:
        column = table[name]
        if name in TIMES:
            values = column.to_physical().to_list()
            digits = 9 if name in ("tsn", "t") else 6
            wanted = [row[name] for row in expected]
            for i, (value, text) in enumerate(zip(values, wanted)):
                found = None if value is None else moment(value, digits, name == "tsz")
                if name == "t" and found is not None:
                    found = found.split("T")[1]
                assert trim_time(found) == trim_time(text), f"row {i}, column {name}"
            continue
        for i, (value, row) in enumerate(zip(column.to_list(), expected)):
            assert polars_value(value) == row[name], f"row {i}, column {name}"


def spelled(value):
    """A value of parquet_dump, which writes NaN and Infinity without quotes."""
    if isinstance(value, dict):
        return {k: spelled(v) for k, v in value.items()}
    if isinstance(value, list):
        return [spelled(v) for v in value]
    return real(value) if isinstance(value, float) else value


def test_written__the_own_reader_reads_the_same(written):
    path, expected = written
    done = subprocess.run([GEN.with_name("parquet_dump"), path], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(expected)
    for i, (a, b) in enumerate(zip(found, expected)):
        a, b = normal(spelled(a)), normal(b)
        if isinstance(a["f"], float):
            a["f"] = struct.unpack("f", struct.pack("f", a["f"]))[0]  # the text is the shortest
        for name in b:
            assert a[name] == b[name], f"row {i}, column {name}"
