"""The page index, size statistics and page counts of what the Parquet writer wrote, read by a parser
of the tests' own and compared with the values that pyarrow finds in the file."""
import decimal
import math
import os
import struct
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frazil import Warehouse
from parquet_thrift import chunks, leaves, read_footer, read_struct

GEN = Path(os.environ["FRAZIL_BUILD"]) / "bin" / "parquet_gen"
BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = range(8)
DATA_PAGE, _, DICTIONARY_PAGE, DATA_PAGE_V2 = range(4)
DECIMAL = 5
EXACT = decimal.Context(prec=80)


def generate(path, *options):
    subprocess.run([GEN, path, *map(str, options)], check=True, stdout=subprocess.DEVNULL)


def storage(type_):
    return type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_


def raw_bytes(value, type_):
    """A value as bytes, or as the number that Parquet stores."""
    if isinstance(value, str):
        return value.encode()
    if pa.types.is_decimal(type_):
        return int(value.scaleb(type_.scale, EXACT))
    return value


def leaf_array(array, path):
    """Values of a leaf that are there, lists flattened."""
    type_ = storage(array.type)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_struct(type_):
        return leaf_array(array.flatten()[type_.get_field_index(path[0])], path[1:])
    if pa.types.is_map(type_):
        entries = array.keys if path[1] == "key" else array.items  # of the array before it was cut
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return leaf_array(entries.slice(first, last - first), path[2:])
    if pa.types.is_list(type_):
        return leaf_array(array.flatten(), path[2:])
    assert path == []
    if pa.types.is_temporal(type_):
        array = array.cast(pa.int32() if type_.bit_width == 32 else pa.int64())
        type_ = array.type
    return [raw_bytes(v, type_) for v in array.drop_null().to_pylist()]


def decode_bound(leaf, bound):
    form = {BOOLEAN: "?", INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE: "<d"}.get(leaf["physical"])
    if form is not None:
        return struct.unpack(form, bound)[0]
    return int.from_bytes(bound, "big", signed=True) if DECIMAL in leaf["logical"] else bound


def is_sorted(values):
    return all(a <= b for a, b in zip(values, values[1:]))


class Chunk:
    """A chunk with its indexes, and the pages that they name."""

    def __init__(self, data, footer_start, leaf, chunk):
        self.leaf, self.metadata = leaf, chunk[3]
        self.offset_index, end = read_struct(data, chunk[4])
        assert end - chunk[4] == chunk[5] and end <= footer_start
        self.column_index = None
        if 6 in chunk:
            self.column_index, end = read_struct(data, chunk[6])
            assert end - chunk[6] == chunk[7] and end <= chunk[4]
        self.locations = self.offset_index[1]
        self.headers = []
        for location in self.locations:
            header, end = read_struct(data, location[1])
            assert header[1] in (DATA_PAGE, DATA_PAGE_V2)
            assert end - location[1] + header[3] == location[2]
            self.headers.append(header)
        assert self.locations[0][1] == self.metadata[9]
        last = self.locations[-1]
        start = self.metadata.get(11, self.metadata[9])
        assert last[1] + last[2] == start + self.metadata[7], "pages fill the chunk"

    def rows(self, group_rows):
        starts = [location[3] for location in self.locations]
        assert starts[0] == 0 and all(a < b for a, b in zip(starts, starts[1:]))
        return list(zip(starts, starts[1:] + [group_rows]))


VARIANTS = [
    ("--page-bytes", 500),
    ("--page-bytes", 500, "--page-version", 2, "--codec", "none"),
    ("--page-bytes", 4000, "--by-column", "--rows", 2000),
    ("--page-rows", 100, "--group-rows", 617),
    ("--page-bytes", 500, "--nulls", 98),
    ("--rows", 1),
    ("--nulls", 100),
    ("compacted", "--page-bytes", 500, "--group-rows", 617),
]


def compacted(folder, *options):
    """A file that compaction spliced from the generator's and a column file."""
    source = folder / "gen.parquet"
    generate(source, *options)
    warehouse = Warehouse(folder / "warehouse")
    warehouse.run("import", "db.t", str(source))
    warehouse.run("sql", "UPDATE db.t SET few = few + 1")
    before = set(folder.glob("warehouse/**/data/*.parquet"))
    warehouse.run("compact", "db.t")
    [path] = set(folder.glob("warehouse/**/data/*.parquet")) - before
    return path


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda v: " ".join(map(str, v)))
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexed")
    if request.param[0] == "compacted":
        path = compacted(folder, *request.param[1:])
    else:
        path = folder / "gen.parquet"
        generate(path, *request.param)
    data = path.read_bytes()
    footer, start = read_footer(data)
    groups = [pq.ParquetFile(path).read_row_group(g).combine_chunks()
              for g in range(len(footer[4]))]
    return groups, [(g, Chunk(data, start, leaf, chunk)) for g, leaf, chunk in chunks(footer)]


def page_values(groups, number, chunk):
    """Values of the leaf that are there, page by page."""
    table = groups[number]
    column = table.column(chunk.leaf["path"][0])
    array = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    return [leaf_array(array.slice(a, b - a), chunk.leaf["path"][1:])
            for a, b in chunk.rows(table.num_rows)]


def test_index__null_counts_and_slots_are_those_of_the_pages(written):
    groups, found = written
    for number, chunk in found:
        pages = page_values(groups, number, chunk)
        slots = [h.get(5, h.get(8))[1] for h in chunk.headers]
        assert sum(slots) == chunk.metadata[5]
        if chunk.column_index is None:
            continue
        index = chunk.column_index
        assert index[5] == [s - len(p) for s, p in zip(slots, pages)], chunk.leaf["path"]
        assert index[1] == [len(p) == 0 for p in pages]
        assert len(index[2]) == len(index[3]) == len(pages)


def test_index__bounds_hold_the_values_of_their_page(written):
    groups, found = written
    with_index = 0
    for number, chunk in found:
        if chunk.column_index is None:
            continue
        with_index += 1
        index = chunk.column_index
        for page, null, low, high in zip(page_values(groups, number, chunk), *(index[i] for i in (1, 2, 3))):
            page = [v for v in page if v == v]
            if null:
                assert low == high == b"" and page == []
                continue
            low, high = decode_bound(chunk.leaf, low), decode_bound(chunk.leaf, high)
            if isinstance(low, bytes) and max(map(len, page)) > 64:
                assert low <= min(page) and high >= max(page)
                assert len(low) <= 64 and len(high) <= 64
                continue
            assert (low, high) == (min(page), max(page)), chunk.leaf["path"]
            if low == 0 and isinstance(low, float):
                assert math.copysign(1, low) == -1
            if high == 0 and isinstance(high, float):
                assert math.copysign(1, high) == 1
    assert with_index > 20


def test_index__is_left_out_only_where_a_page_has_nothing_but_nan(written):
    groups, found = written
    for number, chunk in found:
        only_nan = any(p and all(v != v for v in p) for p in page_values(groups, number, chunk))
        assert (chunk.column_index is None) == only_nan, chunk.leaf["path"]


def test_index__boundary_order_is_right(written):
    _, found = written
    orders = set()
    for _, chunk in found:
        if chunk.column_index is None:
            continue
        index = chunk.column_index
        kept = [i for i, null in enumerate(index[1]) if not null]
        lists = [[decode_bound(chunk.leaf, index[i][k]) for k in kept] for i in (2, 3)]
        up = all(is_sorted(values) for values in lists)
        down = all(is_sorted(values[::-1]) for values in lists)
        assert index[4] == (1 if up else 2 if down else 0), chunk.leaf["path"]
        orders.add(index[4])
    assert 1 in orders


def test_index__nan_counts_are_those_of_the_pages(written):
    groups, found = written
    for number, chunk in found:
        if chunk.column_index is None:
            continue
        if chunk.leaf["physical"] not in (FLOAT, DOUBLE):
            assert 8 not in chunk.column_index
            continue
        nans = [sum(v != v for v in p) for p in page_values(groups, number, chunk)]
        assert chunk.column_index[8] == nans
        assert chunk.metadata[12][9] == sum(nans)


def test_sizes__bytes_of_byte_arrays_by_page_and_chunk(written):
    groups, found = written
    for number, chunk in found:
        sizes = chunk.metadata.get(16, {})
        if chunk.leaf["physical"] != BYTE_ARRAY:
            assert 1 not in sizes and 2 not in chunk.offset_index
            continue
        by_page = [sum(map(len, p)) for p in page_values(groups, number, chunk)]
        assert chunk.offset_index[2] == by_page
        assert sizes[1] == sum(by_page)


def test_sizes__level_counts_add_up(written):
    _, found = written
    nested = 0
    for _, chunk in found:
        sizes = chunk.metadata.get(16, {})
        index = chunk.column_index
        slots = [h.get(5, h.get(8))[1] for h in chunk.headers]
        for field, per_page, level, kept in ((2, 6, "rep", chunk.leaf["rep"] > 0),
                                             (3, 7, "def", chunk.leaf["def"] > 1)):
            assert (field in sizes) == kept
            if not kept:
                continue
            nested += 1
            width = chunk.leaf[level] + 1
            assert len(sizes[field]) == width and sum(sizes[field]) == chunk.metadata[5]
            if index is None:
                continue
            pages = [index[per_page][i : i + width] for i in range(0, len(index[per_page]), width)]
            assert list(map(sum, pages)) == slots
            assert [sum(column) for column in zip(*pages)] == sizes[field]
            if level == "rep":
                assert [p[0] for p in pages] == [b - a for a, b in chunk.rows(sum(p[0] for p in pages))]
            else:
                assert [s - p[-1] for s, p in zip(slots, pages)] == index[5]
    assert nested > 10


def test_counts__pages_by_encoding_are_those_of_the_chunk(written):
    _, found = written
    for _, chunk in found:
        wanted = {}
        if 11 in chunk.metadata:
            wanted[DICTIONARY_PAGE, 0] = 1
        for header in chunk.headers:
            body = header.get(5, header.get(8))
            key = header[1], body[2] if header[1] == DATA_PAGE else body[4]
            wanted[key] = wanted.get(key, 0) + 1
        assert {(s[1], s[2]): s[3] for s in chunk.metadata[13]} == wanted


def test_layout__indexes_lie_between_the_data_and_the_footer_by_kind(tmp_path):
    path = tmp_path / "gen.parquet"
    generate(path, "--rows", 900, "--group-rows", 300, "--codec", "none")
    data = path.read_bytes()
    footer, start = read_footer(data)
    found = list(chunks(footer))
    data_end = max(c[3].get(11, c[3][9]) + c[3][7] for _, _, c in found)
    end = data_end
    for offset, length in ((6, 7), (4, 5)):
        for _, _, chunk in found:
            if offset in chunk:
                assert chunk[offset] == end
                end += chunk[length]
    assert end == start


def test_options__without_page_index(tmp_path):
    path = tmp_path / "gen.parquet"
    generate(path, "--page-index", 0)
    footer, start = read_footer(path.read_bytes())
    for _, leaf, chunk in chunks(footer):
        assert not {4, 5, 6, 7} & set(chunk)
        assert 12 in chunk[3] and 13 in chunk[3]
        assert (16 in chunk[3]) == (leaf["physical"] == BYTE_ARRAY or leaf["rep"] > 0 or leaf["def"] > 1)
    assert pq.read_table(path).num_rows == 1200


def test_thrift__pyarrow_finds_the_same_indexes(tmp_path):
    path = tmp_path / "gen.parquet"
    generate(path)
    footer, _ = read_footer(path.read_bytes())
    group = pq.read_metadata(path).row_group(0)
    assert group.num_columns == len(leaves(footer))
    for c, (_, _, chunk) in enumerate(chunks(footer)):
        assert group.column(c).has_offset_index
        assert group.column(c).has_column_index == (6 in chunk)


def test_skipping__duckdb_answers_from_every_row_group_it_needs(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "gen.parquet"
    generate(path, "--rows", 5000, "--group-rows", 500)
    connection = duckdb.connect()
    for low, high in ((1000, 1010), (1499, 1501), (3333, 3334), (5990, 7000), (0, 5)):
        query = f"select count(*) from read_parquet('{path}') where id >= {low} and id < {high}"
        wanted = max(0, min(high, 6000) - max(low, 1000))
        assert connection.execute(query).fetchone()[0] == wanted
