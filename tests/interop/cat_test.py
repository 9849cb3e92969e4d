"""frazil cat against pyarrow: the rows of Parquet and Arrow files, parts and choices of them, through
the Arrow IPC stream, so that types and nulls count."""

import decimal
import json
import os
import random
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import parquet_read_test

BUILD = Path(os.environ.get("FRAZIL_BUILD", "build/release")).resolve()
ROWS = 500


def cat(path, *args):
    """Standard output of frazil cat, which must succeed."""
    done = subprocess.run([BUILD / "bin" / "frazil", "cat", path, *args], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def cat_fails(path, *args):
    done = subprocess.run([BUILD / "bin" / "frazil", "cat", path, *args], capture_output=True)
    assert done.returncode != 0
    return done.stderr.decode()


def arrow(path, *args):
    return ipc.open_stream(cat(path, "--format", "arrow", *args)).read_all()


def same(found, wanted, rows=None):
    """Equal column by column, NaN being NaN, so that a difference names its column. rows: of wanted."""
    rows = range(wanted.num_rows) if rows is None else rows
    assert found.num_rows == len(rows)
    assert found.schema.names == wanted.schema.names
    for name in wanted.schema.names:
        ours, theirs = found[name], wanted[name]
        assert ours.type == theirs.type, name
        values = rows_of(theirs)
        assert rows_of(ours) == [values[i] for i in rows], name


def rows_of(column):
    """Python values that compare; the text of floats, since NaN is not itself."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())  # Python has no nanoseconds
    return [repr(v) for v in column.to_pylist()]


# ---- Arrow files: every type ---------------------------------------------------------------------------


def some(rng, values, share=0.2):
    return [None if rng.random() < share else v for v in values]


def arrow_columns(rng, n):
    ints = [rng.randrange(-100, 100) for _ in range(n)]
    texts = [rng.choice(["", "a", "größer", "longer than twelve bytes " + str(v)]) for v in ints]
    yield "int8", pa.array(some(rng, ints), pa.int8())
    yield "uint64", pa.array(some(rng, [2**64 - 1 - abs(v) for v in ints]), pa.uint64())
    yield "half", pa.array(some(rng, [v / 8 for v in ints]), pa.float16())
    yield "decimal32", pa.array(some(rng, [decimal.Decimal(v).scaleb(-2) for v in ints]),
                                pa.decimal32(9, 2))
    yield "decimal256", pa.array(some(rng, [decimal.Decimal(v * 10**50) for v in ints]),
                                 pa.decimal256(76, 0))
    yield "time32", pa.array(some(rng, [abs(v) for v in ints]), pa.time32("s"))
    yield "time64", pa.array(some(rng, [abs(v) * 1000 for v in ints]), pa.time64("ns"))
    yield "date64", pa.array(some(rng, [v * 86400000 for v in ints]), pa.date64())
    yield "stamp_s", pa.array(some(rng, ints), pa.timestamp("s", "Europe/Berlin"))
    yield "duration", pa.array(some(rng, ints), pa.duration("ms"))
    yield "interval", pa.array(some(rng, [(v, -v, v * 1000) for v in ints]), pa.month_day_nano_interval())
    yield "large_text", pa.array(some(rng, texts), pa.large_string())
    yield "text_view", pa.array(some(rng, texts), pa.string_view())
    yield "bytes_view", pa.array(some(rng, [t.encode() for t in texts]), pa.binary_view())
    yield "fixed", pa.array(some(rng, [t.encode()[:1].ljust(3) for t in texts]), pa.binary(3))
    yield "flag", pa.array(some(rng, [v > 0 for v in ints]), pa.bool_())
    yield "null", pa.nulls(n)
    yield "words", pa.array(some(rng, texts)).dictionary_encode()
    yield "large_list", pa.array(some(rng, [[v] * (v % 4) for v in ints]), pa.large_list(pa.int16()))
    yield "list_view", pa.array(some(rng, [[v] * (v % 4) for v in ints]), pa.list_view(pa.int16()))
    yield "fixed_list", pa.array(some(rng, [[v, None] for v in ints]), pa.list_(pa.int32(), 2))
    yield "struct", pa.array(
        some(rng, [{"x": v, "y": {"z": t}} for v, t in zip(ints, texts)]),
        pa.struct([("x", pa.uint8()), ("y", pa.struct([("z", pa.string())]))])
        if min(ints) >= 0 else pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))]))
    yield "list_struct", pa.array(
        some(rng, [[{"x": v, "y": t}] * (v % 3) for v, t in zip(ints, texts)]),
        pa.list_(pa.struct([("x", pa.int64()), ("y", pa.string_view())])))
    yield "map", pa.array(some(rng, [[(t, v)] * (v % 3) for v, t in zip(ints, texts)]),
                          pa.map_(pa.string(), pa.int8()))
    yield "runs", pc.run_end_encode(pa.array([None if v // 10 % 3 == 0 else v // 40 for v in ints]))
    codes = pa.array([v % 2 for v in ints], pa.int8())
    yield "sparse", pa.UnionArray.from_sparse(codes, [pa.array(ints), pa.array(texts)])
    offsets = [sum(1 for k in ints[:i] if k % 2 == v % 2) for i, v in enumerate(ints)]
    parts = [[v for v in ints if v % 2 == p] for p in (0, 1)]
    yield "dense", pa.UnionArray.from_dense(codes, pa.array(offsets, pa.int32()),
                                            [pa.array(parts[0]), pa.array([str(v) for v in parts[1]])])


def arrow_table(seed=3, n=ROWS):
    rng = random.Random(seed)
    columns = dict(arrow_columns(rng, n))
    return pa.table({"id": pa.array(range(n), pa.int64()), **columns})


@pytest.fixture(scope="module", params=["file", "stream"])
def arrow_file(tmp_path_factory, request):
    path = tmp_path_factory.mktemp("arrow") / f"all.{request.param}"
    table = arrow_table()
    make = ipc.new_file if request.param == "file" else ipc.new_stream
    with make(path, table.schema) as out:
        out.write_table(table, max_chunksize=90)
    return path, table


def test_arrow_whole(arrow_file):
    path, table = arrow_file
    same(arrow(path), table)


def test_arrow_rows(arrow_file):
    path, table = arrow_file
    for rows, wanted in {"85:200": table[85:200], ":10": table[:10], "490:": table[490:],
                         "-7:": table[-7:], ":-490": table[:10], "700:800": table[:0]}.items():
        same(arrow(path, "--rows", rows), wanted)


def test_arrow_columns(arrow_file):
    path, table = arrow_file
    same(arrow(path, "--columns", "words,id,map"), table.select(["words", "id", "map"]))
    found = arrow(path, "--columns", "struct.y.z,list_struct.element.y,id,list_struct.item.x")
    assert found.schema.names == ["struct", "list_struct", "id"]
    assert found["struct"].to_pylist() == [
        v and {"y": {"z": v["y"]["z"]}} for v in table["struct"].to_pylist()]
    assert found["list_struct"].to_pylist() == [
        v if v is None else [{"y": e["y"], "x": e["x"]} for e in v]
        for v in table["list_struct"].to_pylist()]


def test_arrow_where(arrow_file):
    path, table = arrow_file
    ids = range(table.num_rows)
    same(arrow(path, "--where", "id % 4 = 1"), table, [i for i in ids if i % 4 == 1])
    flags = table["flag"].to_pylist()
    names = ["runs", "dense", "sparse", "text_view", "map"]
    same(arrow(path, "--where", "flag", "--rows", "80:400", "--columns", ",".join(names)),
         table.select(names), [i for i in ids if flags[i] and 80 <= i < 400])
    same(arrow(path, "--where", "id < 0"), table, [])


OTHER_TYPES = {
    "int8 > 50": lambda row: row["int8"] is not None and row["int8"] > 50,
    "half >= 2.5": lambda row: row["half"] is not None and row["half"] >= 2.5,
    "large_text = 'größer'": lambda row: row["large_text"] == "größer",
    "text_view LIKE 'longer%'": lambda row: (row["text_view"] or "").startswith("longer"),
    "words IN ('', 'a')": lambda row: row["words"] in ("", "a"),
    "runs IS NULL OR runs < 0": lambda row: row["runs"] is None or row["runs"] < 0,
    "decimal32 < 0.05": lambda row: row["decimal32"] is not None
    and row["decimal32"] < decimal.Decimal("0.05"),
    "date64 >= DATE '1970-01-01'": lambda row: row["date64"] is not None and row["date64"].year >= 1970,
    "time32 = TIME '00:01:10'": lambda row: str(row["time32"]) == "00:01:10",
    "large_list IS NOT NULL AND map IS NULL":
        lambda row: row["large_list"] is not None and row["map"] is None,
    "struct.y.z = 'a'": lambda row: (row["struct"] or {"y": {"z": None}})["y"]["z"] == "a",
}


@pytest.mark.parametrize("condition", OTHER_TYPES)
def test_arrow_where_of_other_types(arrow_file, condition):
    path, table = arrow_file
    names = [name for name in table.schema.names if name in condition]
    rows = table.select(names).to_pylist()
    wanted = [i for i, row in enumerate(rows) if OTHER_TYPES[condition](row)]
    same(arrow(path, "--where", condition, "--columns", "id,half"), table.select(["id", "half"]), wanted)


def test_arrow_where_of_types_without_conditions(arrow_file):
    path, _ = arrow_file
    for name in ("decimal256", "interval", "dense"):
        error = cat_fails(path, "--where", f"{name} IS NOT NULL")
        assert "unsupported" in error and name in error
    assert "too large for long" in cat_fails(path, "--where", "uint64 > 5")


def test_arrow_as_text(arrow_file):
    path, table = arrow_file
    rows = [json.loads(line) for line in cat(path, "--format", "jsonl").decode().splitlines()]
    for name in ("id", "int8", "uint64", "large_text", "text_view", "flag", "null", "words", "large_list",
                 "list_view", "fixed_list", "struct", "list_struct", "runs", "sparse", "dense"):
        assert [row[name] for row in rows] == table[name].to_pylist(), name
    assert [row["decimal256"] for row in rows] == [
        None if v is None else f"{v:f}" for v in table["decimal256"].to_pylist()]
    assert [row["bytes_view"] for row in rows] == [
        None if v is None else v.hex() for v in table["bytes_view"].to_pylist()]
    assert [row["map"] for row in rows] == [
        None if v is None else [{"key": k, "value": x} for k, x in v] for v in table["map"].to_pylist()]


def test_arrow_to_arrow_files(arrow_file, tmp_path):
    path, table = arrow_file
    cat(path, "-o", tmp_path / "x.arrow")
    same(ipc.open_file(tmp_path / "x.arrow").read_all(), table)
    cat(path, "-o", tmp_path / "x.arrows")
    same(ipc.open_stream(tmp_path / "x.arrows").read_all(), table)


# ---- Parquet files ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["pages_1", "pages_2"])
def parquet_file(tmp_path_factory, request):
    path = tmp_path_factory.mktemp("parquet") / "grid.parquet"
    options = {"pages_1": {"compression": "snappy", "data_page_size": 2000},
               "pages_2": {"compression": "zstd", "data_page_version": "2.0", "use_dictionary": False,
                           "write_page_index": True}}[request.param]
    table = parquet_read_test.make_table(11, 900)
    # Without the writer's Arrow schema, types are what the file says.
    pq.write_table(table, path, row_group_size=400, store_schema=False, **options)
    return path, pq.read_table(path)


def test_parquet_whole(parquet_file):
    path, table = parquet_file
    same(arrow(path), table)


def test_parquet_rows(parquet_file):
    path, table = parquet_file
    for rows, (first, end) in {"395:405": (395, 405), ":3": (0, 3), "-2:": (898, 900),
                               "100:800": (100, 800), "5:5": (5, 5)}.items():
        same(arrow(path, "--rows", rows), table, range(first, end))


def test_parquet_columns(parquet_file):
    path, table = parquet_file
    names = ["uuid_some", "half_full", "int64_map", "uint8_required"]
    same(arrow(path, "--columns", ",".join(names)), table.select(names))
    found = arrow(path, "--columns", "text_struct.b,int64_list_struct.element.b.c,int8_full")
    assert found["text_struct"].to_pylist() == [
        v and {"b": v["b"]} for v in table["text_struct"].to_pylist()]
    assert found["int64_list_struct"].to_pylist() == [
        v if v is None else [e and {"b": e["b"]} for e in v]
        for v in table["int64_list_struct"].to_pylist()]


CONDITIONS = {
    "int64_few_full < 3": lambda row: row["int64_few_full"] < 3,
    "int8_some >= 100 OR text_few_some = 'snow'":
        lambda row: (row["int8_some"] is not None and row["int8_some"] >= 100)
        or row["text_few_some"] == "snow",
    "double_full IS NOT NULL AND double_full > 0":
        lambda row: row["double_full"] != row["double_full"] or row["double_full"] > 0,
    "uint32_some > 3000000000": lambda row: (row["uint32_some"] or 0) > 3000000000,
    "date_full >= DATE '2000-01-01'": lambda row: row["date_full"].year >= 2000,
    "text_struct.a = 'a'": lambda row: (row["text_struct"] or {}).get("a") == "a",
    "decimal_4_rare = 12.34": lambda row: row["decimal_4_rare"] == decimal.Decimal("12.34"),
    "all_null IS NOT NULL": lambda row: False,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_parquet_where(parquet_file, condition):
    path, table = parquet_file
    needed = [name for name in table.schema.names if name in condition]
    rows = table.select(needed).to_pylist()
    wanted = [i for i, row in enumerate(rows) if CONDITIONS[condition](row)]
    # the condition's columns are not asked for, and read natively when they are
    names = ["int64_rare", "half_some", "text_list", "int8_some", "uint32_some"]
    same(arrow(path, "--where", condition, "--columns", ",".join(names)), table.select(names), wanted)
    rows = ["--rows", "350:650"]
    same(arrow(path, "--where", condition, "--columns", "int64_full", *rows),
         table.select(["int64_full"]), [i for i in wanted if 350 <= i < 650])


def test_parquet_field_ids_stay(tmp_path):
    path = tmp_path / "ids.parquet"
    schema = pa.schema([
        pa.field("a", pa.int8(), metadata={"PARQUET:field_id": "7"}),
        pa.field("b", pa.list_(pa.field("element", pa.int64(), metadata={"PARQUET:field_id": "9"})),
                 metadata={"PARQUET:field_id": "8"})])
    pq.write_table(pa.table({"a": [1], "b": [[2]]}, schema), path, store_schema=False)
    found = arrow(path).schema
    assert found.field("a").metadata[b"PARQUET:field_id"] == b"7"
    assert found.field("b").metadata[b"PARQUET:field_id"] == b"8"
    assert found.field("b").type.value_field.metadata[b"PARQUET:field_id"] == b"9"


def test_parquet_to_parquet(parquet_file, tmp_path):
    path, table = parquet_file
    cat(path, "--columns", "int64_some,text_list,double_full", "--rows", "100:500", "-o",
        tmp_path / "x.parquet")
    same(pq.read_table(tmp_path / "x.parquet"),
         table.select(["int64_some", "text_list", "double_full"]), range(100, 500))
