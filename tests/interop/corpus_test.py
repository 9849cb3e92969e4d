"""Frazil reads v4 tables that another generator wrote: every snapshot equals the expected rows, or
the answer is "unsupported", naming what is missing. Broken tables are refused. Nothing between."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from frazil import BUILD

GOLDEN = Path(os.environ.get("FRAZIL_CORPORA", "../shared/corpora")).resolve() / "iceberg-v4"

# At least so many of the valid tables are read; more is better, fewer is a step back.
READ_AT_LEAST = 45


def tables(valid):
    listing = GOLDEN / "TABLES.tsv"
    if not listing.is_file():
        return []
    lines = [line.split("\t") for line in listing.read_text().splitlines()[1:]]
    return [
        (folder, metadata)
        for folder, metadata, _, _, must_fail, _ in lines
        if (valid and not must_fail) or (not valid and must_fail == "scan")
    ]


def scan(folder, metadata, *arguments):
    path = GOLDEN / folder / "metadata" / metadata
    command = [BUILD / "bin" / "frazil", "--metadata", path]
    command += ["--map-location", f"file:///golden/={GOLDEN}/"]
    command += ["scan", "--with-lineage", "--format", "jsonl", *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def rows_of(text):
    """Without order: rows from before row lineage have no ids to sort by."""
    return sorted((json.loads(line) for line in text.splitlines()),
                  key=lambda r: (r["_row_id"] or 0, json.dumps(r)))


# What is still missing; a refusal names one of these.
MISSING = ["delete manifests", "deletion vector",
           "compression codec BROTLI"]


def compare(folder, metadata):
    """True if every snapshot was read, False if one is unsupported."""
    read = True
    for expected in sorted((GOLDEN / folder).glob("expected*.jsonl")):
        snapshot = expected.stem.partition("-")[2]
        done = scan(folder, metadata, *(["--snapshot", snapshot] if snapshot else []))
        if done.returncode != 0:
            assert done.returncode == 1 and done.stdout == "", done.stderr
            assert any(f"unsupported: {words}" in done.stderr for words in MISSING), done.stderr
            read = False
            continue
        assert rows_of(done.stdout) == rows_of(expected.read_text())
    return read


def test_valid_tables_are_read_or_unsupported():
    if not GOLDEN.is_dir():
        pytest.skip(f"no corpus of v4 tables at {GOLDEN}")
    read, failures = [], []
    for folder, metadata in tables(valid=True):
        try:
            if compare(folder, metadata):
                read.append(folder)
        except AssertionError as error:
            failures.append(f"{folder}: {str(error)[:400]}")
    assert not failures, "\n".join(failures)
    assert len(read) >= READ_AT_LEAST, read


@pytest.mark.parametrize("folder,metadata", tables(valid=False))
def test_broken_tables_are_refused(folder, metadata):
    done = scan(folder, metadata)
    assert done.returncode not in (0, 2, 4), done.stdout
    assert done.returncode > 0, "killed by a signal"
    line = done.stderr.splitlines()[0]
    assert line.startswith("frazil: ") and done.stdout == "", done.stderr
    assert any(part in line for part in (".metadata.json", ".parquet", "encrypted root")), line
