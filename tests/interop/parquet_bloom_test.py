"""Bloom filters that the Parquet writer made, read by a parser of the tests' own and by DuckDB."""
import json
import os
import struct
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from parquet_thrift import chunks, read_footer, read_struct

GEN = Path(os.environ["FRAZIL_BUILD"]) / "bin" / "parquet_gen"
MASK = 2**64 - 1
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
          2870177450012600261)
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947,
         0x5C6BFB31)


def rotate(x, by):
    return (x << by | x >> 64 - by) & MASK


def round_(lane, word):
    return rotate((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data):
    """The 64-bit xxHash with seed 0, step by step as its description has it."""
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        while at + 32 <= size:
            lanes = [round_(v, w) for v, w in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        value = sum(rotate(v, r) for v, r in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ round_(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        value = PRIMES[4]
    value = value + size & MASK
    while at + 8 <= size:
        value ^= round_(0, struct.unpack_from("<Q", data, at)[0])
        value = rotate(value, 27) * PRIMES[0] + PRIMES[3] & MASK
        at += 8
    if at + 4 <= size:
        value ^= struct.unpack_from("<I", data, at)[0] * PRIMES[0] & MASK
        value = rotate(value, 23) * PRIMES[1] + PRIMES[2] & MASK
        at += 4
    for byte in data[at:]:
        value = rotate(value ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    value = (value ^ value >> 33) * PRIMES[1] & MASK
    value = (value ^ value >> 29) * PRIMES[2] & MASK
    return value ^ value >> 32


class Filter:
    def __init__(self, data, metadata):
        header, end = read_struct(data, metadata[14])
        assert header[2] == header[3] == header[4] == {1: {}}
        assert end - metadata[14] + header[1] == metadata[15]
        self.words = struct.unpack(f"<{header[1] // 4}I", data[end : end + header[1]])
        self.blocks = header[1] // 32
        assert header[1] % 32 == 0

    def may_hold(self, plain):
        hash_ = xxh64(plain)
        block = (hash_ >> 32) * self.blocks >> 32
        low = hash_ & 0xFFFFFFFF
        bits = [(low * salt & 0xFFFFFFFF) >> 27 for salt in SALTS]
        return all(self.words[block * 8 + i] >> bit & 1 for i, bit in enumerate(bits))


COLUMNS = {"id": "<q", "i": "<i", "l": "<q", "f": "<f", "d": "<d", "s": None, "u": None, "bin": None,
           "few": "<i", "drifts": "<q", "late": None, "day": "<i", "fx": None, "ts": "<q"}


def blooms(*columns):
    return [part for column in columns for part in ("--bloom", column)]


def plain(value, form):
    if form is not None:
        return struct.pack(form, value)
    return value.encode() if isinstance(value, str) else value


def column_values(table, name):
    column = table.column(name)
    if name in ("day", "ts"):
        column = column.cast("int32" if name == "day" else "int64")
    if name == "u":
        return [v.bytes for v in column.to_pylist() if v is not None]
    return [v for v in column.to_pylist() if v is not None]


@pytest.fixture(scope="module", params=[(), ("--dictionary", "never"), ("--page-bytes", 700),
                                        ("--group-rows", 700, "--by-column")],
                ids=lambda v: " ".join(map(str, v)) or "plain")
def written(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("bloom") / "gen.parquet"
    subprocess.run([GEN, path, "--rows", "2500", *map(str, request.param),
                    *blooms(*COLUMNS, "ls.element")], check=True, stdout=subprocess.DEVNULL)
    return path


def test_xxh64__known_values():
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"a") == 0xD24EC4F1A98C6E5B
    assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1


def test_bloom__holds_every_value_and_few_others(written):
    data = written.read_bytes()
    footer, _ = read_footer(data)
    parquet = pq.ParquetFile(written)
    found = set()
    for number, leaf, chunk in chunks(footer):
        name = leaf["path"][0]
        if name not in COLUMNS:
            assert (14 in chunk[3]) == (name == "ls")
            continue
        found.add(name)
        bloom = Filter(data, chunk[3])
        form = COLUMNS[name]
        values = column_values(parquet.read_row_group(number, columns=[name]), name)
        held = {plain(v, form) for v in values}
        assert all(bloom.may_hold(v) for v in held), name
        absent = [struct.pack("<q", 10**12 + i)[: 4 if form in ("<i", "<f") else 8] for i in range(3000)]
        passed = sum(bloom.may_hold(v) for v in absent if v not in held)
        assert passed < 3000 * 0.02, name
        # no larger than needed: half of it would let more than the wanted share pass
        assert bloom.blocks == 1 or bloom.blocks * 32 * 8 < len(held) * 12 * 2 + 512, name
    assert found == set(COLUMNS)


def test_bloom__both_zeros_are_found(tmp_path):
    path = tmp_path / "gen.parquet"
    subprocess.run([GEN, path, "--rows", "3000", *blooms("d", "f")], check=True,
                   stdout=subprocess.DEVNULL)
    data = path.read_bytes()
    for _, leaf, chunk in chunks(read_footer(data)[0]):
        if leaf["path"][0] in ("d", "f"):
            bloom = Filter(data, chunk[3])
            for zero in (0.0, -0.0):
                assert bloom.may_hold(struct.pack(COLUMNS[leaf["path"][0]], zero))


def test_bloom__filters_lie_behind_the_chunks_of_their_group(written):
    data = written.read_bytes()
    footer, start = read_footer(data)
    ends, places = {}, {}
    for number, _, chunk in chunks(footer):
        begin = chunk[3].get(11, chunk[3][9])
        ends[number] = max(ends.get(number, 0), begin + chunk[3][7])
        if 14 in chunk[3]:
            places.setdefault(number, []).append((chunk[3][14], chunk[3][15]))
    for number, found in places.items():
        assert found[0][0] == ends[number]
        for (at, length), (then, _) in zip(found, found[1:]):
            assert at + length == then
        assert found[-1][0] + found[-1][1] < start


def test_bloom__duckdb_rules_row_groups_out_by_it(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "gen.parquet"
    done = subprocess.run([GEN, path, "--rows", "4000", "--group-rows", "500", "--dictionary", "never",
                           *blooms("l", "s", "d", "i")], check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    connection = duckdb.connect()
    for name in ("l", "s", "d", "i"):
        value = next(r[name] for r in rows if r[name] not in (None, "NaN") and "finity" not in str(r[name]))
        for probe, held in ((value, True), ({"s": "nowhere", "d": 0.123, "i": 7654321}.get(name, 12345), False)):
            excluded = connection.execute(
                "select row_group_id, bloom_filter_excludes from parquet_bloom_probe(?, ?, ?)",
                [str(path), name, probe]).fetchall()
            assert len(excluded) == 8
            ruled_out = sum(e for _, e in excluded)
            assert ruled_out < 8 if held else ruled_out >= 6, (name, probe)
        found = connection.execute(f"select count(*) from read_parquet('{path}') where {name} = ?",
                                   [value]).fetchone()[0]
        assert found == sum(r[name] == value for r in rows)
