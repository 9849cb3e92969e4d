"""The checker itself, on tables that neither it nor Frazil wrote."""
import json
import os
from pathlib import Path

import pytest

import checker

GOLDEN = Path(os.environ.get("FRAZIL_CORPORA", "../shared/corpora")).resolve() / "iceberg-v4"
PREFIX = ("file:///golden/", f"{GOLDEN}/")


def tables():
    listing = GOLDEN / "TABLES.tsv"
    if not listing.is_file():
        return []
    lines = [line.split("\t") for line in listing.read_text().splitlines()[1:]]
    return [(folder, metadata, must_fail) for folder, metadata, _, _, must_fail, _ in lines]


def opened(folder, metadata):
    location = f"file:///golden/{folder}"
    return checker.Table(f"{location}/metadata/{metadata}", PREFIX, location)


def by_row_id(rows):
    return sorted(rows, key=lambda row: row["_row_id"])


def test_corpus_is_there():
    if not GOLDEN.is_dir():
        pytest.skip(f"no corpus of v4 tables at {GOLDEN}")
    assert len(tables()) > 100


@pytest.mark.parametrize("folder,metadata", [t[:2] for t in tables() if not t[2]])
def test_rows_of_every_snapshot(folder, metadata):
    try:
        table = opened(folder, metadata)
        for expected in sorted((GOLDEN / folder).glob("expected*.jsonl")):
            part = expected.stem.partition("-")[2]
            rows = table.rows(int(part) if part else None)
            wanted = [json.loads(line) for line in expected.read_text().splitlines()]
            assert by_row_id(rows) == wanted
    except checker.Unsupported as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("folder,metadata", [t[:2] for t in tables() if not t[2]])
def test_sound_tables_pass_the_rules(folder, metadata):
    try:
        table = opened(folder, metadata)
        # the files of earlier snapshots are not kept where a mask is all that the table is about
        table.check(strict=False, snapshots=[table.current] if folder.startswith("mdv_") else None)
    except checker.Unsupported as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("folder,metadata", [t[:2] for t in tables() if t[2] == "scan"])
def test_broken_tables_are_refused(folder, metadata):
    """By a rule, or by pyarrow and Python for bytes that cannot be read at all."""
    try:
        table = opened(folder, metadata)
        table.rows()
        table.check(strict=False)
    except checker.Unsupported as reason:
        pytest.skip(str(reason))
    except (checker.Broken, OSError, KeyError, ValueError):
        return
    pytest.fail("nothing was found")
