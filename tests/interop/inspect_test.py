"""frazil inspect --json against what pyarrow reads from the same footers."""

import datetime
import decimal
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parquet_read_test

BUILD = Path(os.environ.get("FRAZIL_BUILD", "build/release")).resolve()
ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("FRAZIL_CORPORA", ROOT / "../shared/corpora"))


def inspect(path, *args):
    command = [BUILD / "bin" / "frazil", "inspect", path, "--json", *args]
    done = subprocess.run(command, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def text_of(value, chunk):
    """A statistic of pyarrow as frazil writes it; None where pyarrow has no such value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, float):
        return None if value != value else json.dumps(value) if abs(value) < 1e15 else None
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, datetime.datetime):
        zone = "+00:00" if value.tzinfo else ""
        return value.replace(tzinfo=None).isoformat(timespec="microseconds") + zone
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, bytes) and chunk["column_type"]["logical_type"] is None:
        return value.hex()
    return None


def compare_bounds(ours, statistics):
    if statistics is None or not statistics.has_min_max:
        return 0
    compared = 0
    for name in ("min", "max"):
        try:
            wanted = text_of(getattr(statistics, name), ours)
        except (pa.ArrowException, ValueError, OverflowError, NotImplementedError):
            continue
        if wanted is None or ours[name] is None:
            continue
        found = ours[name]["text"]
        if ours["column_type"]["physical_type"] == "FLOAT":
            assert np.float32(found) == np.float32(wanted), (ours["column"], name)
        else:
            assert found == wanted, (ours["column"], name)
        compared += 1
    return compared


def compare_chunk(ours, theirs):
    assert ours["column"] == theirs.path_in_schema
    assert ours["values"] == theirs.num_values
    assert ours["compressed_size"] == theirs.total_compressed_size
    assert ours["uncompressed_size"] == theirs.total_uncompressed_size
    assert (ours["column_index"] is not None) == theirs.has_column_index
    assert (ours["offset_index"] is not None) == theirs.has_offset_index
    if ours["codec"] is not None and theirs.compression != "UNKNOWN":
        assert ours["codec"].replace("LZ4_RAW", "LZ4") == theirs.compression
    names = [e for e in ours["encodings"] if e]
    assert sorted(set(names)) == sorted({e for e in theirs.encodings if e != "UNKNOWN"})
    statistics = theirs.statistics
    if statistics is not None and statistics.has_null_count:
        assert ours["nulls"] == statistics.null_count
    return compare_bounds(ours, statistics)


def compare(found, path):
    """The number of bounds that were compared."""
    metadata = pq.ParquetFile(path).metadata
    compared = 0
    leaves = [n for n in found["schema"] if n["physical_type"] is not None]
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert found["rows"] == sum(groups)  # an old writer leaves 0 for the file
    assert found["footer_size"] == metadata.serialized_size
    assert len(leaves) == metadata.num_columns
    assert len(found["row_groups"]) == metadata.num_row_groups
    for leaf, column in zip(leaves, metadata.schema):
        assert leaf["path"] == column.path
        assert leaf["physical_type"] == column.physical_type
        assert leaf["max_definition_level"] == column.max_definition_level
        assert leaf["max_repetition_level"] == column.max_repetition_level
    for i, group in enumerate(found["row_groups"]):
        theirs = metadata.row_group(i)
        assert group["rows"] == theirs.num_rows
        assert len(group["columns"]) == theirs.num_columns
        for k, chunk in enumerate(group["columns"]):
            chunk["column_type"] = leaves[k]
            compared += compare_chunk(chunk, theirs.column(k))
    keys = {pair["key"]: pair["value"] for pair in found["key_value_metadata"]}
    theirs = {k.decode(): v.decode() for k, v in (metadata.metadata or {}).items()}
    assert keys == theirs
    return compared


def check_page_bounds(chunk, data):
    """The outermost bounds of the pages are those of the chunk, where bytes show the order."""
    kind = chunk["column_type"]["physical_type"]
    for name, outermost in (("min", min), ("max", max)):
        bounds = [p[name]["text"] for p in data if p[name] is not None]
        if chunk[name] is not None and chunk["column_type"]["logical_type"] is None and bounds:
            if kind in ("INT32", "INT64"):
                assert outermost(map(int, bounds)) == int(chunk[name]["text"])
            if kind in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"):
                assert outermost(bounds) == chunk[name]["text"]


def check_pages(found):
    """Pages fill their chunks and hold all values and rows."""
    for group in found["row_groups"]:
        for chunk in group["columns"]:
            pages = chunk["pages"]
            data = [p for p in pages if p["type"].startswith("DATA")]
            assert sum(p["values"] for p in data) == chunk["values"]
            at = chunk["offset"]
            for page in pages:
                assert page["offset"] == at
                at += page["header_size"] + page["compressed_size"]
            if chunk["column_index"] is not None:
                assert all(p["nulls"] is not None for p in data)
                assert sum(p["nulls"] for p in data) == chunk["nulls"]
                check_page_bounds(chunk, data)
            if data and None not in (data[-1]["first_row"], data[-1]["rows"]):
                end = data[-1]["first_row"] + data[-1]["rows"]
                assert end == group["first_row"] + group["rows"]


@pytest.mark.parametrize("options", [
    {"compression": "zstd", "write_page_index": True},
    {"compression": "none", "data_page_version": "2.0", "write_page_checksum": True},
    {"compression": "snappy", "use_dictionary": False, "data_page_size": 1000, "max_rows_per_page": 100},
    {"compression": "gzip", "write_statistics": False},
], ids=str)
def test_the_grid(tmp_path, options):
    path = tmp_path / "grid.parquet"
    table = parquet_read_test.make_table(7, 700)
    try:
        pq.write_table(table, path, row_group_size=300, **options)
    except TypeError as unknown:
        pytest.skip(str(unknown))
    status, out, err = inspect(path, "--pages")
    assert status == 0, err
    found = json.loads(out)
    compared = compare(found, path)
    assert compared > 300 or options.get("write_statistics") is False
    check_pages(found)
    for chunk in found["row_groups"][0]["columns"]:
        assert all(p["checksum"] == ("write_page_checksum" in options) for p in chunk["pages"])


def test_sorting_columns_are_told(tmp_path):
    path = tmp_path / "sorted.parquet"
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    order = [pq.SortingColumn(1, descending=True, nulls_first=True), pq.SortingColumn(0)]
    pq.write_table(table, path, sorting_columns=order)
    status, out, err = inspect(path)
    assert status == 0, err
    assert json.loads(out)["row_groups"][0]["sorting"] == [
        {"column": "b", "descending": True, "nulls_first": True},
        {"column": "a", "descending": False, "nulls_first": False}]


def test_text_that_is_no_utf8_is_hexadecimal(tmp_path):
    path = tmp_path / "bytes.parquet"
    schema = pa.schema([pa.field("a", pa.int32())], metadata={b"plain": b"\xff\x00"})
    pq.write_table(schema.empty_table(), path)
    status, out, err = inspect(path)
    assert status == 0, err
    assert {"key": "plain", "value": {"hex": "ff00"}} in json.loads(out)["key_value_metadata"]


@pytest.mark.parametrize("version, told", [(b"11.0.0", False), (b"12.0.0", True), (b"other", True)])
def test_rows_of_pages_are_told_where_the_writer_knew_them(tmp_path, version, told):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"l": [[1, 2], [3]], "i": [1, 2]}), path, data_page_version="2.0",
                   use_dictionary=False)
    data = path.read_bytes()
    writer = b"parquet-cpp-arrow version " + pa.__version__.encode()
    by = b"parquet-cpp-arrow version " + version if version[:1].isdigit() else version
    assert data.count(writer) == 1
    path.write_bytes(data.replace(writer, by.ljust(len(writer))))
    status, out, err = inspect(path, "--pages")
    assert status == 0, err
    pages = [column["pages"][0] for column in json.loads(out)["row_groups"][0]["columns"]]
    assert [page["rows"] for page in pages] == [2 if told else None, 2]
    assert [page["first_row"] for page in pages] == [0, 0]


def test_names_do_not_steer_the_terminal(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"odd\x1b[31m\x9bname": [1], "b": [2]}), path)
    path.write_bytes(path.read_bytes().replace(b"parquet-cpp-arrow", b"\x1b[2J\xc2\x9bcpp-arrow..", 1))
    command = [BUILD / "bin" / "frazil"]
    texts = [["inspect", path, "--groups", "--pages"], ["cat", path], ["cat", path, "--columns", "c"]]
    for args in texts:
        done = subprocess.run(command + args, capture_output=True, timeout=120)
        text = (done.stdout + done.stderr).decode()
        assert "odd" in text
        assert not any(c < " " and c != "\n" or "\x7f" <= c < "\xa0" for c in text), ascii(text)


# Footers that pyarrow reads and frazil refuses, or the other way round, are the business of
# parquet_corpora_test.py.
def corpus_files():
    return sorted(CORPORA.glob("parquet-testing/data/*.parquet")) if CORPORA.is_dir() else []


@pytest.mark.skipif(not corpus_files(), reason=f"no corpora in {CORPORA}")
def test_files_of_the_corpora():
    done = compared = 0
    for path in corpus_files():
        status, out, err = inspect(path)
        assert status in (0, 1, 5), (path.name, err)
        if status != 0:
            assert err.startswith("frazil: "), path.name
            continue
        found = json.loads(out)
        try:
            pq.ParquetFile(path).metadata
        except Exception:  # files that pyarrow cannot open
            continue
        try:
            compared += compare(found, path)
        except AssertionError as difference:
            raise AssertionError(f"{path.name}: {difference}") from difference
        done += 1
    assert done > 50 and compared > 300
