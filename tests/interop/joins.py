"""What tests of rows from outside share: a warehouse whose temporary files are counted, files of rows,
statements that must be refused."""
import json
import subprocess

import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from frazil import BUILD, Warehouse

NAME = "db.t"


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    """Temporary files are counted: none may be left behind."""
    place = Warehouse(tmp_path / "warehouse")
    place.folder.mkdir()
    spills = tmp_path / "spills"
    spills.mkdir()
    monkeypatch.setenv("TMPDIR", str(spills))
    monkeypatch.delenv("FRZ_JOIN_MEMORY", raising=False)
    yield place
    assert list(spills.iterdir()) == []


def write(folder, name, table, **options):
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(table, path, **options)
    else:
        pyarrow.feather.write_feather(table, str(path), compression="lz4")
    return str(path)


def scan(warehouse, *arguments, name=NAME):
    text = warehouse.run("scan", name, "--format", "jsonl", *arguments)
    return [json.loads(line) for line in text.splitlines()]


def refused(warehouse, *arguments, status=2):
    """The message of a command that must fail and leave nothing behind."""
    files = lambda: sorted(str(p) for p in (warehouse.folder / "db" / "t" / "data").rglob("*"))
    before = files(), scan(warehouse, "--with-lineage")
    command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(warehouse.folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert (files(), scan(warehouse, "--with-lineage")) == before
    return done.stderr
