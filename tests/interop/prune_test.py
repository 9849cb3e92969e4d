"""Pruning inside Parquet files that pyarrow and DuckDB wrote: what is skipped, and that no row that a
condition lets through ever is. parquet_prune finds the rows of each condition twice, with pruning and
without, and compares."""

import datetime
import decimal
import os
import random
import struct
import subprocess
import uuid

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parquet_rows

PRUNE = os.path.join(parquet_rows.BUILD, "bin", "parquet_prune")
ROWS = 3000
# conditions per file; PRUNE_CONDITIONS and PRUNE_FILES make a long run
CONDITIONS = int(os.environ.get("PRUNE_CONDITIONS", "250"))
FILES = int(os.environ.get("PRUNE_FILES", "6"))
EPOCH = datetime.datetime(1970, 1, 1)


class Answer:
    def __init__(self, line):
        self.error = line[6:] if line.startswith("error ") else None
        if self.error is None:
            numbers, self.verdict = line.split(" ")[:8], line.split(" ", 8)[8]
            (self.matches, self.left, self.rows, self.by_statistics, self.by_dictionary, self.by_bloom,
             self.pages, self.groups) = map(int, numbers)


def prune(path, conditions, may_fail=False):
    """An Answer per condition; none may have lost a row. No answers if the file cannot be opened."""
    done = subprocess.run([PRUNE, str(path)], input="\n".join(conditions) + "\n",
                          capture_output=True, text=True)
    if may_fail and done.returncode == 1 and not done.stdout:
        return []
    answers = [Answer(line) for line in done.stdout.splitlines()]
    lost = [f"{c}: {a.verdict}" for c, a in zip(conditions, answers)
            if a.error is None and a.verdict != "ok"]
    assert not lost, lost[:5]
    assert done.returncode == 0 and len(answers) == len(conditions), done.stderr
    return answers


def prune_one(path, condition):
    answer = prune(path, [condition])[0]
    assert answer.error is None, answer.error
    return answer


# ---- columns ---------------------------------------------------------------------------------------


def float_values(rng, n, width):
    special = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e-40 if width == 32 else 5e-324]
    raw = [rng.choice(special) if rng.random() < 0.05 else rng.uniform(-50, 50) for _ in range(n)]
    return np.array(raw, {16: np.float16, 32: np.float32, 64: np.float64}[width])


def bits(values):
    """NaN of any sign and payload."""
    return np.array([struct.unpack("<d", struct.pack("<Q", v))[0] for v in values])


def make_columns(rng, n):
    """name -> (type, values without nulls)"""
    def ints(least, most):
        few = rng.random() < 0.5
        span = [least, most, 0, 1, most - 1, least + 1]
        return [rng.choice(span) if rng.random() < 0.02 else
                min(most, max(least, rng.randrange(-40, 40))) if few else rng.randint(least, most)
                for _ in range(n)]

    def scaled(precision, scale):
        top = 10**precision
        return [decimal.Decimal(rng.choice([rng.randrange(1 - top, top), rng.randrange(-99, 99)]))
                .scaleb(-scale) for _ in range(n)]

    words = ["", "a", "snow", "frazil ice", "größer als ASCII", "x" * 70, "\U0001F9CA", "\uffff", "zz"]
    texts = [rng.choice(words) + rng.choice(["", str(rng.randrange(200))]) for _ in range(n)]
    blobs = [rng.randbytes(rng.randrange(1, 4)) + rng.choice([b"", b"\xff" * 70, b"\x80", b"\x7f"])
             for _ in range(n)]
    decimal.getcontext().prec = 60
    return {
        "b": (pa.bool_(), [v % 3 == 0 for v in ints(0, 99)]),
        "i8": (pa.int8(), ints(-128, 127)),
        "i16": (pa.int16(), ints(-2**15, 2**15 - 1)),
        "i32": (pa.int32(), ints(-2**31, 2**31 - 1)),
        "i64": (pa.int64(), ints(-2**63, 2**63 - 1)),
        "u8": (pa.uint8(), ints(0, 255)),
        "u16": (pa.uint16(), ints(0, 2**16 - 1)),
        "u32": (pa.uint32(), ints(0, 2**32 - 1)),
        "u64": (pa.uint64(), ints(0, 2**63 - 1)),
        "f16": (pa.float16(), float_values(rng, n, 16)),
        "f32": (pa.float32(), float_values(rng, n, 32)),
        "f64": (pa.float64(), float_values(rng, n, 64)),
        "nan": (pa.float64(), bits([rng.choice([0x7ff8000000000001, 0xfff8000000000000, 0,
                                                0x8000000000000000, 0x3ff0000000000000])
                                    for _ in range(n)])),
        "d4": (pa.decimal128(4, 2), scaled(4, 2)),
        "d15": (pa.decimal128(15, 3), scaled(15, 3)),
        "d38": (pa.decimal128(38, 9), scaled(38, 9)),
        "day": (pa.date32(), [EPOCH.date() + datetime.timedelta(days=v) for v in ints(-30000, 30000)]),
        "tm": (pa.time32("ms"), ints(0, 86399999)),
        "tu": (pa.time64("us"), ints(0, 86399999999)),
        "tss": (pa.timestamp("s"), ints(-2**31, 2**31)),
        "tsm": (pa.timestamp("ms"), ints(-2**41, 2**41)),
        "tsu": (pa.timestamp("us"), ints(-2**51, 2**51)),
        "tsz": (pa.timestamp("us", "UTC"), ints(-2**51, 2**51)),
        "tsn": (pa.timestamp("ns"), ints(-2**60, 2**60)),
        "s": (pa.string(), texts),
        "x": (pa.binary(), blobs),
        "fx": (pa.binary(3), [rng.randbytes(3) for _ in range(n)]),
        "id": (pa.uuid(), [rng.randbytes(16) for _ in range(n)]),
    }


def sort_key(value):
    if isinstance(value, float) or isinstance(value, np.floating):
        return (value != value, value)
    return value


def arrange(rng, values):
    """Sorted, nearly sorted, few distinct, constant in runs, or as they come."""
    how = rng.randrange(5)
    values = list(values)
    if how <= 1:
        values.sort(key=sort_key)
    if how == 1:
        for _ in range(len(values) // 50):
            i, k = rng.randrange(len(values)), rng.randrange(len(values))
            values[i], values[k] = values[k], values[i]
    elif how == 2:
        few = rng.sample(values, 5)
        values = [rng.choice(few) for _ in values]
    elif how == 3:
        values = [values[i // 100] for i in range(len(values))]
    return values


def punch(rng, values):
    """Nulls: none, some, all, or whole stretches."""
    how = rng.randrange(5)
    if how == 0:
        return [None if rng.random() < 0.1 else v for v in values]
    if how == 1:
        return [None if i // 70 % 3 else v for i, v in enumerate(values)]
    if how == 2 and rng.random() < 0.3:
        return [None] * len(values)
    return values


def make_array(values, t):
    if isinstance(t, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(t, pa.array(values, t.storage_type))
    if t == pa.float16():
        return pa.array([None if v is None else np.float16(v) for v in values], t)
    return pa.array(values, t)


def make_table(rng, n=ROWS):
    """(table, name in SQL -> (type, values)); struct members are among the names."""
    arrays, fields, columns = [], [], {}
    for name, (t, values) in make_columns(rng, n).items():
        values = arrange(rng, values)
        nullable = rng.random() < 0.7
        if nullable:
            values = punch(rng, values)
        arrays.append(make_array(values, t))
        fields.append(pa.field(name, t, nullable))
        columns[name] = (t, values)
    for name in ("i64", "s", "f64"):
        t, values = columns[name]
        outer = [rng.random() < 0.2 for _ in range(n)]
        member = make_array([None if o else v for o, v in zip(outer, values)], t)
        arrays.append(pa.StructArray.from_arrays([member], fields=[pa.field("m", t)],
                                                 mask=pa.array(outer)))
        fields.append(pa.field("st_" + name, arrays[-1].type))
        columns[f"st_{name}.m"] = (t, [None if o else v for o, v in zip(outer, values)])
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields)), columns


# ---- conditions ------------------------------------------------------------------------------------


def moment(number, unit):
    value = np.datetime64(int(number), unit)
    text = str(value)
    return text + ".000" if unit == "s" else text


def number_of(value, unit):
    """Timestamps are plain numbers here; values that pyarrow gives back are not."""
    return value


def literal(t, value):
    if pa.types.is_boolean(t):
        return "TRUE" if value else "FALSE"
    if pa.types.is_integer(t):
        return str(int(value))
    if pa.types.is_floating(t):
        value = float(value)
        return f"DOUBLE '{value!r}'" if value != value or value in (float("inf"), -float("inf")) \
            else f"{value:.17e}"
    if pa.types.is_decimal(t):
        return f"{value:f}"
    if pa.types.is_date(t):
        return f"DATE '{value.isoformat()}'"
    if pa.types.is_time(t):
        micros = value * (1000 if t.unit == "ms" else 1)
        return f"TIME '{(EPOCH + datetime.timedelta(microseconds=micros)).time().isoformat()}'"
    if pa.types.is_timestamp(t):
        return f"'{moment(value, t.unit)}{'+00:00' if t.tz else ''}'"
    if isinstance(t, pa.BaseExtensionType):
        return f"'{uuid.UUID(bytes=bytes(value))}'"
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return f"X'{value.hex()}'"
    return "'" + value.replace("'", "''") + "'"


def neighbour(rng, t, value):
    """A value near another, which may not be in the column."""
    if pa.types.is_integer(t) or pa.types.is_time(t) or pa.types.is_timestamp(t):
        if pa.types.is_time(t):
            return max(0, min(86399999, value + rng.choice([-1, 0, 1, 1000])))
        near = value + rng.choice([-1, 0, 0, 1, 7])
        return max(-2**63 + 1, min(2**63 - 1, near))
    if pa.types.is_floating(t):
        return float(value) + rng.choice([0, 0, 0.5, -1])
    if pa.types.is_decimal(t):
        return value + decimal.Decimal(rng.choice([0, 0, 1, -1])).scaleb(-t.scale)
    if pa.types.is_date(t):
        return value + datetime.timedelta(days=rng.choice([-1, 0, 0, 1]))
    if pa.types.is_string(t):
        return rng.choice([value, value, value[:1], value + "a", value[:3]])
    if pa.types.is_binary(t):
        return rng.choice([value, value, value[:1], value + b"\xff"])
    return value


def other_type(rng, t, value):
    """The value as a literal of a type that the column's widens to, now and then."""
    if pa.types.is_integer(t) and rng.random() < 0.2:
        return rng.choice([f"{int(value)}.0", f"{int(value)}.5", f"{int(value)}e0"])
    if pa.types.is_decimal(t) and t.precision < 30 and rng.random() < 0.2:
        return f"{value:f}00" if t.scale else f"{value:f}.0"
    if pa.types.is_date(t) and rng.random() < 0.2:
        return f"TIMESTAMP '{value.isoformat()}T{rng.choice(['00:00:00', '12:00:00'])}'"
    return literal(t, value)


def atom(rng, columns, name=None):
    name = name or rng.choice(list(columns))
    t, values = columns[name]
    known = [v for v in rng.sample(values, 30) if v is not None]
    if not known or rng.random() < 0.08:
        return f"{name} IS {rng.choice(['', 'NOT '])}NULL"

    def one():
        return other_type(rng, t, neighbour(rng, t, rng.choice(known)))

    if pa.types.is_boolean(t):
        return rng.choice([name, f"NOT {name}", f"{name} = {one()}", f"{name} <> {one()}"])
    if pa.types.is_floating(t) and rng.random() < 0.1:
        return f"{name} IS {rng.choice(['', 'NOT '])}NAN"
    if pa.types.is_string(t) and rng.random() < 0.2:
        return f"{name} {rng.choice(['', 'NOT '])}LIKE {literal(t, rng.choice(known)[:3] + '%')}"
    kind = rng.randrange(10)
    if kind < 4:
        return f"{name} = {one()}"
    if kind < 7:
        return f"{name} {rng.choice(['<', '<=', '>', '>=', '<>'])} {one()}"
    if kind == 7:
        return f"{one()} {rng.choice(['<', '>='])} {name}"
    if kind == 8:
        return f"{name} {rng.choice(['', 'NOT '])}IN ({', '.join(one() for _ in range(1, 5))})"
    return f"{name} {rng.choice(['', 'NOT '])}BETWEEN {one()} AND {one()}"


def condition(rng, columns, depth=2):
    kind = rng.randrange(6)
    if depth == 0 or kind < 2:
        return atom(rng, columns)
    if kind == 2:
        return f"NOT ({condition(rng, columns, depth - 1)})"
    word = " AND " if kind < 5 else " OR "
    return "(" + word.join(condition(rng, columns, depth - 1) for _ in range(2)) + ")"


# ---- random files ------------------------------------------------------------------------------------


def write_options(rng, table, columns):
    dictionary = rng.choice([True, False, [n for n in table.column_names if rng.random() < 0.5]])
    blooms = {}
    for name in columns:
        if rng.random() < 0.5 and not pa.types.is_boolean(columns[name][0]):
            blooms[name] = {"ndv": rng.choice([20, 3000])}
    options = dict(
        row_group_size=rng.choice([400, 1000, ROWS]), write_page_index=rng.random() < 0.8,
        data_page_size=rng.choice([300, 2000, 1 << 20]), write_batch_size=64,
        data_page_version=rng.choice(["1.0", "2.0"]), use_dictionary=dictionary,
        dictionary_pagesize_limit=rng.choice([500, 1 << 20]),
        store_decimal_as_integer=rng.random() < 0.5, compression=rng.choice(["none", "zstd"]),
        bloom_filter_options=blooms)
    return options


@pytest.mark.parametrize("seed", range(FILES))
def test_no_row_is_lost(tmp_path, seed):
    rng = random.Random(seed)
    table, columns = make_table(rng)
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, **write_options(rng, table, columns))
    conditions = [condition(rng, columns) for _ in range(CONDITIONS)]
    answers = prune(path, conditions)
    errors = [f"{c}: {a.error}" for c, a in zip(conditions, answers) if a.error]
    assert not errors, errors[:5]
    print(f"seed {seed}: {sum(a.left < a.rows for a in answers)} of {len(answers)} pruned,",
          f"by statistics {sum(a.by_statistics for a in answers)},",
          f"dictionary {sum(a.by_dictionary for a in answers)},",
          f"bloom {sum(a.by_bloom for a in answers)}, pages {sum(a.pages for a in answers)}")
    assert sum(a.left < a.rows for a in answers) > len(answers) // 25


# ---- one proof at a time ------------------------------------------------------------------------------


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, **{"use_dictionary": False, **options})


def test_statistics_skip_row_groups(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, {"a": range(1000), "n": [None if i < 500 else i for i in range(1000)]}, row_group_size=100)
    answer = prune_one(path, "a BETWEEN 250 AND 260")
    assert (answer.by_statistics, answer.left) == (9, 100)
    assert prune_one(path, "n IS NOT NULL").by_statistics == 5
    assert prune_one(path, "n IS NULL").by_statistics == 5


def test_dictionaries_skip_row_groups(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, {"a": [i % 10 * 10 for i in range(1000)]}, row_group_size=500, use_dictionary=True)
    assert prune_one(path, "a = 15").by_dictionary == 2
    assert prune_one(path, "a BETWEEN 11 AND 19 OR a IN (-5, 25)").by_dictionary == 2
    assert prune_one(path, "a = 20").left == 1000
    # a dictionary that was given up says nothing
    rng = random.Random(3)
    write(path, {"a": [rng.randrange(2**40) * 2 for i in range(3000)]}, use_dictionary=True,
          dictionary_pagesize_limit=1000, data_page_size=500)
    assert prune_one(path, f"a = {2**40 + 1}").by_dictionary == 0


@pytest.mark.parametrize("writer", ["pyarrow", "duckdb"])
def test_bloom_filters_skip_row_groups(tmp_path, writer):
    path = tmp_path / "t.parquet"
    if writer == "pyarrow":
        write(path, {"a": [i * 2 for i in range(2000)], "s": [f"k{i * 2}" for i in range(2000)]},
              row_group_size=500, bloom_filter_options={"a": {"ndv": 500}, "s": {"ndv": 500}})
    else:
        # DuckDB makes them for columns that have a dictionary; a large one is not read here
        duckdb.sql(f"COPY (SELECT i * 2 AS a, 'k' || (i * 2) AS s FROM range(100000) t(i), range(2)) "
                   f"TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 204800, DICTIONARY_SIZE_LIMIT 200000)")
    groups = prune_one(path, "a IS NOT NULL").groups
    odd = [prune_one(path, f"a = {v}") for v in range(101, 141, 2)]
    assert sum(a.by_statistics + a.by_bloom for a in odd) > groups * len(odd) * 0.9
    assert sum(a.by_bloom for a in odd) > 0
    text = [prune_one(path, f"s = 'k{v}'") for v in range(101, 141, 2)]
    assert sum(a.by_bloom for a in text) > 0
    assert prune_one(path, "a = 100").matches >= 1


def test_the_page_index_skips_pages(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, {"a": range(10000), "b": [i // 100 for i in range(10000)]}, write_page_index=True,
          max_rows_per_page=100)
    answer = prune_one(path, "a = 5050")
    assert (answer.pages, answer.left) == (99, 100)
    # two columns: what both leave
    assert prune_one(path, "a < 300 AND b > 1").left == 100
    assert prune_one(path, "a < 300 OR b > 97").left == 500


@pytest.mark.parametrize("t", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()])
def test_unsigned_bounds_are_unsigned(tmp_path, t):
    path = tmp_path / "t.parquet"
    top = 2 ** min(t.bit_width, 63) - 1
    values = sorted({i * (top // 250) for i in range(251)} | {top})
    write(path, {"a": pa.array(values, t)}, row_group_size=50, write_page_index=True, max_rows_per_page=10)
    answers = prune(path, [f"a = {v}" for v in values] + [f"a > {values[-3]}", f"a < {values[2]}"])
    assert all(a.error is None and a.matches >= 1 and a.left <= 20 for a in answers)


@pytest.mark.parametrize("bloom", [True, False])
def test_either_zero_is_both(tmp_path, bloom):
    path = tmp_path / "t.parquet"
    for values in ([-0.0] * 5, [0.0] * 5, [-0.0, 0.0]):
        write(path, {"d": values, "f": pa.array(values, pa.float32())}, write_page_index=True,
              write_statistics=not bloom,
              bloom_filter_options={"d": {"ndv": 5}, "f": {"ndv": 5}} if bloom else None)
        for name in ("d", "f"):
            for zero in ("0e0", "-0e0", "0"):
                for op in ("=", "<=", ">="):
                    assert prune_one(path, f"{name} {op} {zero}").left == len(values)
        if bloom:
            assert prune_one(path, "d = 1e0").by_bloom == 1


def test_what_duckdb_wrote_loses_no_row(tmp_path):
    path = tmp_path / "t.parquet"
    rng = random.Random(11)
    table, columns = make_table(rng)
    flat = {name: kind for name, kind in columns.items()
            if name not in ("f16", "tm", "id", "fx", "d38") and "." not in name}
    source = table.select(list(flat))
    duckdb.sql("SET preserve_insertion_order = true")
    duckdb.sql(f"COPY (SELECT * FROM source) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    answers = prune(path, [condition(rng, flat) for _ in range(CONDITIONS)])
    assert sum(a.error is None and a.left < a.rows for a in answers) > 10


# ---- rows through the offset index ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_row_ranges_by_the_offset_index(tmp_path, seed):
    rng = random.Random(seed)
    n = 20000
    wide = [rng.getrandbits(60) for _ in range(n)]
    share = rng.choice([0, 0.1, 0.9])
    table = pa.table({
        "x": [None if rng.random() < share else v for v in wide],
        "s": [None if rng.random() < share else f"v{v % 100003}" for v in wide],
        "d": [f"k{v % 3000:09}" for v in wide],
        "l": [None if i % 11 == 0 else wide[i:i + i % 5] for i in range(n)],
        "ls": [[{"a": wide[i], "b": None if i % 3 else str(i)}] * (i % 4) for i in range(n)],
        "st": [None if i % 13 == 0 else {"p": wide[i], "q": None if i % 5 == 0 else f"q{i}"}
               for i in range(n)]})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, write_page_index=True, data_page_size=rng.choice([1000, 20000]),
                   data_page_version=rng.choice(["1.0", "2.0"]), row_group_size=rng.choice([7000, n]),
                   compression=rng.choice(["none", "zstd"]), use_dictionary=rng.choice([True, False, ["d"]]),
                   dictionary_pagesize_limit=rng.choice([20000, 1 << 20]))
    expected = parquet_rows.rows(table)
    for _ in range(6):
        cuts = sorted(rng.sample(range(n + 1), 2 * rng.choice([1, 3, 20])))
        pairs = [(a, min(b, a + rng.choice([1, 40, 5000]))) for a, b in zip(cuts[::2], cuts[1::2])]
        ours, error = parquet_rows.dump(path, ",".join(f"{a}:{b}" for a, b in pairs))
        assert error is None
        assert parquet_rows.difference(ours, [row for a, b in pairs for row in expected[a:b]]) is None


# ---- files of others -----------------------------------------------------------------------------

CORPORA = os.environ.get("FRAZIL_CORPORA", "../shared/corpora")
# a condition per value would make long runs of files with many columns
CORPUS_COLUMNS, CORPUS_VALUES = 12, 3


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def plain_values(path, column):
    """Some values of a top-level column as they are written in conditions, or None."""
    t = column.type
    if pa.types.is_nested(t) or pa.types.is_null(t) or pa.types.is_dictionary(t):
        return None
    if pa.types.is_large_string(t) or pa.types.is_string_view(t):
        t = pa.string()
    if pa.types.is_time(t) or pa.types.is_timestamp(t):
        column = column.cast(pa.int32() if t.bit_width == 32 else pa.int64())
    values = [v for v in column.to_pylist() if v is not None]
    if not values or not any((pa.types.is_boolean(t), pa.types.is_integer(t), pa.types.is_floating(t),
                              pa.types.is_decimal(t), pa.types.is_date32(t), pa.types.is_time(t),
                              pa.types.is_timestamp(t), pa.types.is_string(t), pa.types.is_binary(t),
                              pa.types.is_fixed_size_binary(t))):
        return None
    rng = random.Random(len(values))
    picked = [literal(t, rng.choice(values)) for _ in range(CORPUS_VALUES)]
    return None if any("\n" in text for text in picked) else picked


def corpus_conditions(path):
    try:
        table = pq.read_table(path)
    except Exception:
        return []
    conditions = []
    for name in table.column_names[:CORPUS_COLUMNS]:
        try:
            values = plain_values(path, table.column(name))
        except (pa.ArrowException, ValueError, OverflowError):
            continue
        if values is None:
            continue
        name = quote(name)
        conditions += [f"{name} IS NULL", f"{name} IS NOT NULL"]
        for value in values:
            conditions += [f"{name} {op} {value}" for op in ("=", "<", "<=", ">", ">=", "<>")]
        conditions += [f"{name} IN ({', '.join(values)})", f"{name} BETWEEN {values[0]} AND {values[1]}"]
    return conditions


def corpus_files():
    """Files of those who keep odd ones; in long runs all."""
    odd = ("duckdb-parquet", "parquet-testing", "parquet-java")
    for folder, _, names in sorted(os.walk(CORPORA)):
        if not any(name in folder for name in odd) and "PRUNE_FILES" not in os.environ:
            continue
        for name in sorted(n for n in names if n.endswith(".parquet")):
            path = os.path.join(folder, name)
            if os.path.getsize(path) < 1 << 20 and "bad_data" not in path:
                yield path


def test_files_of_other_writers_lose_no_row():
    if not os.path.isdir(CORPORA):
        pytest.skip(f"no corpora at {CORPORA}")
    checked = pruned = 0
    for path in corpus_files():
        conditions = corpus_conditions(path)
        if conditions:
            answers = [a for a in prune(path, conditions, may_fail=True) if a.error is None]
            checked += len(answers)
            pruned += sum(a.left < a.rows for a in answers)
    print(f"{checked} conditions, {pruned} pruned")
    assert checked > 1000 and pruned > 100
