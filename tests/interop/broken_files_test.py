"""Damaged Parquet files end in rows or in an error: every good file of other writers with bytes
flipped and tails cut, in a bounded sample, and the crashers that others collected. Slow answers,
too much memory and, in the build with sanitizers, wrong accesses end the program."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("FRAZIL_BUILD", HERE.parents[1] / "build/release"))
CORPORA = Path(os.environ.get("FRAZIL_CORPORA", HERE.parents[1] / "../shared/corpora"))
LONG = bool(os.environ.get("FRAZIL_LONG"))
LARGEST = 1 << 20
BUDGET = (40 if LONG else 2) << 20  # bytes of damaged copies of one file
MOST = 1000 if LONG else 40  # damaged copies of one file


def own_files(folder):
    """A few files of pyarrow, so that the test means something in a lone clone."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    n = 3000
    table = pa.table({
        "i": pa.array([None if i % 7 == 0 else i for i in range(n)], pa.int32()),
        "s": [f"text {i % 50}" for i in range(n)],
        "d": [i / 3 for i in range(n)],
        "l": [[i, None] if i % 3 else None for i in range(n)],
        "m": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())),
        "t": [{"a": i, "b": str(i)} for i in range(n)],
    })
    options = [dict(compression=codec, data_page_version=version, use_dictionary=dictionary,
                    write_page_index=True)
               for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
               for version in ("1.0", "2.0") for dictionary in (True, False)]
    for i, option in enumerate(options):
        pq.write_table(table, folder / f"own-{i}.parquet", row_group_size=1000,
                       data_page_size=4096, **option)
    return sorted(folder.glob("*.parquet"))


def corpus_files():
    return sorted(path for path in CORPORA.rglob("*")
                  if path.is_file() and path.suffix.lower() in (".parquet", ".parq"))


def broken(files, seed, times):
    """Damage them in a few processes, each with files of about the same number of copies."""
    done = subprocess.run([BUILD / "bin/parquet_broken", str(seed), str(times), *files],
                          capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert done.stdout.count("\n") == len(files)


def test_damaged_files_of_our_own(tmp_path):
    broken(own_files(tmp_path), seed=1, times=400 if LONG else 60)


def test_damaged_files_of_others():
    files = [path for path in corpus_files() if 0 < path.stat().st_size <= LARGEST]
    if not files:
        pytest.skip(f"no corpora in {CORPORA}")
    by_times = {}
    for path in files:
        times = min(MOST, max(2, BUDGET // path.stat().st_size))
        by_times.setdefault(1 << (times.bit_length() - 1), []).append(path)
    for times, some in sorted(by_times.items()):
        broken(some, seed=7, times=times)


def test_crashers_of_others():
    files = sorted(path for folder in ("parquet-testing/bad_data", "arrow-testing/data/parquet",
                                       "duckdb-parquet/afl")
                   for path in (CORPORA / folder).rglob("*")
                   if path.is_file() and path.suffix not in (".md", ".txt"))
    if not files:
        pytest.skip(f"no corpora in {CORPORA}")
    broken(files, seed=3, times=100 if LONG else 20)
