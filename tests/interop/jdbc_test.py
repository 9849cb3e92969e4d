"""Iceberg Java's JDBC catalog and Frazil share a catalog, in SQLite and in PostgreSQL: each sees what the
other makes, and they take turns to change one table."""
import glob
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from delete_tables import field_id
from frazil import BUILD
from iceberg_corpus import rows_of
from postgres_server import Server, find_bin

ROOT = Path(__file__).resolve().parents[2]
SPARK = ROOT / ".spark"
PROGRAM = ROOT / "tests" / "tools" / "spark" / "JdbcTables.java"

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no java"),
    pytest.mark.skipif(not (SPARK / "version").is_file(),
                       reason="there is no .spark; fetch it with tools/spark"),
    pytest.mark.skipif("FRAZIL_ENGINES" not in os.environ,
                       reason="takes a minute; FRAZIL_ENGINES=1 runs it"),
]


class Both:
    """uri: Frazil's; jdbc: Java's."""

    def __init__(self, folder, uri, jdbc, *user):
        self.folder, self.uri, self.jdbc, self.user = folder, uri, jdbc, user
        (folder / "warehouse").mkdir()

    def java(self, *commands):
        """The answers to commands."""
        spark = glob.glob(f"{SPARK}/lib/python3*/site-packages/pyspark/jars")[0]
        path = ":".join([*map(str, sorted((SPARK / "jars").glob("*.jar"))), f"{spark}/*"])
        done = subprocess.run(
            ["java", "-Xmx512m", "-cp", path, PROGRAM, self.jdbc, f"file://{self.folder}/warehouse",
             "shared", *self.user],
            input="\n".join(commands) + "\n", capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        answers = [line.split(" ", 1) for line in done.stdout.splitlines()]
        assert [a[0] for a in answers] == [c.split(" ")[0] for c in commands], done.stdout
        return [a[1] if len(a) > 1 else "" for a in answers]

    def frazil(self, *arguments, status=0):
        command = [BUILD / "bin" / "frazil", "--catalog", self.uri, "--catalog-name", "shared",
                   "--warehouse", str(self.folder / "warehouse"), *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == status, done.stderr
        return done.stdout

    def file(self, name, *ids):
        path = self.folder / f"{name}.parquet"
        schema = pa.schema([pa.field("id", pa.int64(), True, field_id(1)),
                            pa.field("name", pa.string(), True, field_id(2))])
        pq.write_table(pa.table([list(ids), [f"n{i}" for i in ids]], schema), path)
        return path

    def ids(self, table):
        return sorted(row["id"] for row in rows_of(self.frazil("scan", table, "--format", "jsonl")))


@pytest.fixture(params=["sqlite", "postgresql"])
def both(request, tmp_path):
    if request.param == "sqlite":
        yield Both(tmp_path, f"sqlite:///{tmp_path}/catalog.db", f"jdbc:sqlite:{tmp_path}/catalog.db")
        return
    if find_bin() is None:
        pytest.skip("no PostgreSQL server is installed")
    server = Server()
    try:
        uri = server.database("catalog")
        yield Both(tmp_path, uri, uri.replace("postgresql://postgres@", "jdbc:postgresql://"), "postgres")
    finally:
        server.close()


def test_each_sees_the_others_tables(both):
    first = both.file("first", 1, 2, 3)
    both.frazil("import", "db.ours", str(first))
    both.frazil("import", "a.b.deep", str(first))
    [seen, *_] = both.java("list", "create db.theirs 2", f"append db.theirs {first} 3",
                           "create db.old 1", f"append db.old {first} 3",
                           "create x.y.empty 3")
    assert set(seen.split()) == {"db.ours", "a.b.deep"}
    assert set(both.frazil("tables").split()) == {
        "db.ours", "db.theirs", "db.old", "a.b.deep", "x.y.empty"}
    assert both.ids("db.theirs") == both.ids("db.old") == both.ids("db.ours") == [1, 2, 3]
    assert both.ids("x.y.empty") == []
    both.java("rename db.theirs db.renamed", "drop db.ours")
    assert set(both.frazil("tables").split()) == {"db.renamed", "db.old", "a.b.deep", "x.y.empty"}
    assert both.ids("db.renamed") == [1, 2, 3]
    both.frazil("scan", "db.ours", status=3)


def test_they_take_turns(both):
    first, second = both.file("first", 1, 2, 3), both.file("second", 4, 5)
    both.java("create db.t 1", f"append db.t {first} 3")
    both.frazil("upgrade", "db.t", "--to", "2")
    assert both.java("rows db.t", f"append db.t {second} 2", "rows db.t")[::2] == ["3", "5"]
    both.frazil("upgrade", "db.t", "--to", "3")
    assert both.ids("db.t") == [1, 2, 3, 4, 5]
    assert both.java(f"append db.t {both.file('third', 6)} 1", "rows db.t")[1] == "6"
    assert both.ids("db.t") == [1, 2, 3, 4, 5, 6]
