"""What an update of one column of two hundred costs: bytes written and memory, not time."""

import subprocess

import pytest

from frazil import BUILD

BIN = BUILD / "bin"
MOST_BYTES = 1_750_000
MOST_MEMORY = 128_000_000


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    subprocess.run([BIN / "gen-wide", "--rows", "200000", "--columns", "200", "--seed", "42",
                    "--out", folder / "wide.parquet"], check=True)
    frazil(folder, "import", "db.wide", folder / "wide.parquet")
    return folder


def frazil(folder, *arguments):
    """Run a command; it must keep its memory."""
    figures = folder / "figures"
    subprocess.run([BIN / "measure", figures, BIN / "frazil", "--warehouse",
                    folder / "warehouse", *arguments], check=True, stdout=subprocess.DEVNULL)
    if is_instrumented():
        return
    _, peak = figures.read_text().split()
    assert int(peak) < MOST_MEMORY, arguments


def is_instrumented():
    """Sanitizers keep memory of their own."""
    return "-fsanitize" in (BUILD / "CMakeCache.txt").read_text()


def added(folder, *arguments):
    """Bytes of all files that a command made or changed, the catalog included."""
    before = {path: path.stat().st_mtime_ns for path in (folder / "warehouse").rglob("*.*")}
    frazil(folder, *arguments)
    return sum(path.stat().st_size for path in (folder / "warehouse").rglob("*.*")
               if before.get(path) != path.stat().st_mtime_ns)


@pytest.mark.parametrize("statement", [
    "UPDATE db.wide SET c_1 = c_1 + 1",
    "UPDATE db.wide SET c_2 = c_2 + 1 WHERE id % 10 = 0",
])
def test_an_update_writes_its_column_and_little_more(place, statement):
    assert 1_000_000 < added(place, "sql", statement) <= MOST_BYTES


def test_reading_and_folding_keep_their_memory(place):
    frazil(place, "scan", "db.wide", "--format", "parquet", "-o", place / "out.parquet")
    frazil(place, "compact", "db.wide")
