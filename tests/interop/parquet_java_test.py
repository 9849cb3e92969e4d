"""parquet-java reads what the Parquet writer wrote: every type, nested ones included, with and without nulls,
in the codecs it has on its own and both page versions. One start of Java reads all files of a test."""

import json
import os
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import parquet_write_test as write

ROOT = Path(__file__).resolve().parents[2]
JARS = ROOT / ".parquet-java"
PROGRAM = ROOT / "tests" / "tools" / "parquet-java" / "Rows.java"
CODECS = ("none", "snappy", "gzip", "zstd", "lz4_raw")
NULLS = (0, 30, 100)
OTHERS = [
    ("--dictionary", "never"),
    ("--page-bytes", 500),
    ("--page-bytes", 500, "--page-version", 2),
    ("--page-rows", 7, "--page-index", 0),
    ("--group-rows", 61),
    ("--by-column",),
    ("--encoding", "l=plain", "--encoding", "s=delta_bytes", "--encoding", "i=split", "--encoding", "flag=rle"),
    ("--encoding", "s=delta_length", "--encoding", "few=delta", "--encoding", "d=dictionary"),
    ("--bloom", "id", "--bloom", "s"),
    ("--rows", 0),
]


def variants(codecs=CODECS):
    for codec in codecs:
        for version in (1, 2):
            for nulls in NULLS:
                yield "--codec", codec, "--page-version", version, "--nulls", nulls
    yield from OTHERS


def in_java(files):
    """The rows of each file."""
    command = ["java", "-cp", f"{JARS}/*", str(PROGRAM), *map(str, files)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        value = json.loads(line)
        if isinstance(value, str):
            rows = found[value] = []
        else:
            rows.append(value)
    return [found[str(path)] for path in files]


@pytest.fixture(scope="module")
def java():
    if not shutil.which("java"):
        pytest.skip("no java")
    if not (JARS / "pom.xml").exists():
        pytest.skip("no parquet-java; tools/parquet-java fetches it")
    return in_java


def test_parquet_java_reads_every_value(java, tmp_path):
    options = list(variants())
    files = [tmp_path / f"{i}.parquet" for i in range(len(options))]
    wanted = [write.generate(path, "--rows", 200, *option) for path, option in zip(files, options)]
    for option, found, rows in zip(options, java(files), wanted):
        assert len(found) == len(rows), option
        for i, (a, b) in enumerate(zip(found, rows)):
            a, b = write.normal(a), write.normal(b)
            assert list(a) == list(b), option
            for name in b:
                assert a[name] == b[name], f"{option}: row {i}, column {name}"


# column -> (Arrow type, values, the same as Java shows them); types that Iceberg lacks
MONTHS_DAYS_NANOS = pa.MonthDayNano([1, 2, 3_000_000])
NATIVE = {
    "int8": (pa.int8(), [-128, 127], [-128, 127]),
    "uint8": (pa.uint8(), [0, 255], [0, 255]),
    "int16": (pa.int16(), [-(2**15), 2**15 - 1], [-(2**15), 2**15 - 1]),
    "uint16": (pa.uint16(), [0, 2**16 - 1], [0, 2**16 - 1]),
    "uint32": (pa.uint32(), [0, 2**32 - 1], [0, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 2**64 - 1], [0, 2**64 - 1]),
    "half": (pa.float16(), [-0.5, 65504.0], [-0.5, 65504.0]),
    "time_ms": (pa.time32("ms"), [0, 86399999], ["00:00:00.000", "23:59:59.999"]),
    "time_ns": (pa.time64("ns"), [1, 86399999999999], ["00:00:00.000000001", "23:59:59.999999999"]),
    "ts_ms": (pa.timestamp("ms"), [-1, 10**12], ["1969-12-31T23:59:59.999", "2001-09-09T01:46:40.000"]),
    "tsz_ms": (pa.timestamp("ms", "UTC"), [-1, 0],
               ["1969-12-31T23:59:59.999+00:00", "1970-01-01T00:00:00.000+00:00"]),
    "decimal": (pa.decimal256(50, 3), [Decimal(-(10**46)), Decimal("0.001")], [f"-1{'0' * 46}.000", "0.001"]),
    "interval": (pa.month_day_nano_interval(), [MONTHS_DAYS_NANOS] * 2, ["010000000200000003000000"] * 2),
    "list": (pa.list_(pa.uint8()), [[1, None], []], [[1, None], []]),
}


def test_parquet_java_reads_types_that_iceberg_lacks(java, tmp_path):
    columns = {name: pa.array([values[0], None, values[1]], type_) for name, (type_, values, _) in NATIVE.items()}
    table = pa.table(columns)
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), table.schema) as writer:
        writer.write_table(table)
    frazil = write.GEN.with_name("frazil")
    path = tmp_path / "out.parquet"
    subprocess.run([frazil, "cat", tmp_path / "in.arrow", "-o", path], check=True)
    wanted = [{name: shown[0] for name, (_, _, shown) in NATIVE.items()}, dict.fromkeys(NATIVE),
              {name: shown[1] for name, (_, _, shown) in NATIVE.items()}]
    assert java([path]) == [wanted]
