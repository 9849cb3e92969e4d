"""Tables of versions 1 to 4 written by Spark, PyIceberg and DuckDB: every snapshot holds the rows
that the engines read."""
import pytest

from iceberg_corpus import ENGINES, ENGINE_MAPS, difference, listing, rows_of, scan

TABLES = listing(ENGINES / "TABLES.tsv")

# Formats of data and delete files that there is no reader for.
UNREAD_FORMATS = ["orc"]


def plain(wanted):
    """A row without what Spark says of its variants' schemas."""
    if isinstance(wanted, dict):
        if set(wanted) == {"value", "schema"}:
            return wanted["value"]
        return {key: plain(value) for key, value in wanted.items()}
    return [plain(value) for value in wanted] if isinstance(wanted, list) else wanted


def snapshots_of(folder):
    """"" for the current snapshot, and the ids of the others with expected rows."""
    return [path.stem.partition("-")[2] for path in sorted(folder.glob("expected*.jsonl"))]


def check(table, snapshot):
    folder = ENGINES / table["dir"]
    name = f"expected-{snapshot}.jsonl" if snapshot else "expected.jsonl"
    wanted = plain(rows_of((folder / name).read_text()))
    lineage = bool(wanted) and "_row_id" in wanted[0]
    arguments = (["--with-lineage"] if lineage else [])
    arguments += ["--snapshot", snapshot] if snapshot else []
    done = scan(folder / "metadata" / table["metadata"], ENGINE_MAPS, *arguments)
    refusals = [f"no reader for format {name}" for name in UNREAD_FORMATS]
    if done.returncode != 0 and any(text in done.stderr for text in refusals):
        return "refused"
    assert done.returncode == 0, f"snapshot {snapshot or 'current'}: {done.stderr}"
    found = difference(rows_of(done.stdout), wanted)
    assert found is None, f"snapshot {snapshot or 'current'}: {found}"
    return "read"


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_every_snapshot(table):
    outcomes = [check(table, snapshot) for snapshot in snapshots_of(ENGINES / table["dir"])]
    if outcomes and set(outcomes) == {"refused"}:
        pytest.skip("its data files have a format that there is no reader for")


def test_the_corpus_is_here():
    if not TABLES:
        pytest.skip(f"no TABLES.tsv at {ENGINES}")
    assert len(TABLES) == 79
