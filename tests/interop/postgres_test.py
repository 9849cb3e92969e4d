"""The catalog in PostgreSQL: one database, several programs. PyIceberg's SqlCatalog and Frazil see
each other's tables; of two writers one wins; a server that goes away is a clear error."""
import os
import subprocess
import threading

import pytest

from frazil import BUILD, generate
from postgres_server import Server, find_bin

pytestmark = pytest.mark.skipif(find_bin() is None, reason="no PostgreSQL server is installed")


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.close()


class Place:
    """A database with a warehouse folder."""

    def __init__(self, uri, folder):
        self.uri, self.folder = uri, folder
        self.source = folder / "wide.parquet"
        generate(self.source, rows=10, columns=2)

    def start(self, *arguments):
        command = [BUILD / "bin" / "frazil", "--catalog", self.uri]
        command += ["--warehouse", self.folder / "warehouse", *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment)

    def run(self, *arguments, status=0):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        assert process.returncode == status, f"{arguments}: {process.returncode}\n{err}"
        return out if status == 0 else err


@pytest.fixture
def place(server, tmp_path, request):
    return Place(server.database(request.node.name.lower()[:60]), tmp_path)


def pyiceberg(place, name="frazil"):
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    pytest.importorskip("psycopg2")
    uri = place.uri.replace("postgresql:", "postgresql+psycopg2:")
    return sql.SqlCatalog(name, uri=uri, warehouse=f"file://{place.folder}/warehouse")


def test_the_main_job(place):
    place.run("import", "db.wide", str(place.source))
    place.run("sql", "UPDATE db.wide SET c_1 = 7 WHERE id < 3")
    rows = place.run("scan", "db.wide", "--columns", "id,c_1", "--where", "c_1 = 7",
                     "--format", "jsonl").splitlines()
    assert len(rows) == 3
    assert place.run("tables").split() == ["db.wide"]
    place.run("validate", "db.wide")


def test_nothing_is_made_by_looking(place):
    assert "there is no catalog" in place.run("tables", status=3)
    place.run("import", "db.wide", str(place.source))
    assert "db.other" in place.run("describe", "db.other", status=3)


def test_pyiceberg_sees_our_tables(place):
    place.run("import", "db.wide", str(place.source))
    place.run("import", "a.b.deep", str(place.source))
    theirs = pyiceberg(place)
    assert set(theirs.list_namespaces()) >= {("db",), ("a",)}
    assert theirs.list_tables("db") == [("db", "wide")]
    assert theirs.list_tables("a.b") == [("a", "b", "deep")]


def test_we_see_pyicebergs_tables(place):
    import pyarrow as pa

    theirs = pyiceberg(place, name="prod")
    theirs.create_namespace("db")
    theirs.create_table("db.theirs", schema=pa.schema([("x", pa.int64())]))
    assert place.run("tables").split() == ["db.theirs"]
    place.run("import", "db.wide", str(place.source))
    assert sorted(theirs.list_tables("db")) == [("db", "theirs"), ("db", "wide")]


def test_a_table_that_is_there_is_not_made_again(place):
    place.run("import", "db.wide", str(place.source))
    assert "exists already" in place.run("import", "db.wide", str(place.source), status=1)


def test_writers_at_once_lose_no_update(place):
    """Eight processes update one table: every update is there afterwards, once."""
    place.run("import", "db.wide", str(place.source))
    statement = "UPDATE db.wide SET c_1 = {} WHERE id = {}"
    processes = [place.start("sql", statement.format(100 + i, i)) for i in range(8)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    text = place.run("scan", "db.wide", "--columns", "c_1", "--where", "c_1 >= 100",
                     "--format", "csv")
    assert sorted(map(float, text.split()[1:])) == [100 + i for i in range(8)]


def test_tables_made_at_once_in_an_empty_database(place):
    processes = [place.start("import", f"db.t{i}", str(place.source)) for i in range(4)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert place.run("tables").split() == [f"db.t{i}" for i in range(4)]


def test_a_server_that_is_not_there(place, server):
    server.stop()
    try:
        message = place.run("tables", status=1)
        assert "cannot be reached" in message and "127.0.0.1" in message
    finally:
        server.start()


@pytest.mark.parametrize("uri", [
    "postgresql://user:secret-word@127.0.0.1:1/db",
    "postgresql://user:secret%zzword@127.0.0.1/db",
    "postgresql://user@127.0.0.1:1/db?password=secret-word",
    "mysql://user:secret-word@127.0.0.1/db",
])
def test_no_message_holds_the_password(uri, tmp_path):
    environment = {**os.environ, "FRZ_LOG": "trace"}
    done = subprocess.run([BUILD / "bin" / "frazil", "--catalog", uri, "tables"],
                          capture_output=True, text=True, env=environment)
    assert done.returncode in (1, 2)
    assert "secret" not in done.stdout + done.stderr and done.stderr


def test_a_connection_cut_at_the_commit(place, server):
    """A proxy between us and the server cuts the connection when COMMIT passes: before the server
    gets it, or before its answer comes back. Both end without a lost or a doubled update."""
    from postgres_proxy import CuttingProxy

    place.run("import", "db.wide", str(place.source))
    outcomes = {}
    for when in ("before", "after"):
        with CuttingProxy(server.port, when) as proxy:
            through = Place.__new__(Place)
            through.uri = place.uri.replace(str(server.port), str(proxy.port))
            through.folder = place.folder
            process = through.start("sql", f"UPDATE db.wide SET c_1 = {len(when)} WHERE id = 1")
            _, err = process.communicate(timeout=60)
            outcomes[when] = (process.returncode, err)
            assert proxy.cuts == 1
    # what was committed is found again through a fresh connection
    assert outcomes["after"][0] == 0, outcomes["after"]
    assert outcomes["before"][0] == 1 and "may have happened" in outcomes["before"][1]
    text = place.run("scan", "db.wide", "--columns", "c_1", "--where", "id = 1", "--format", "csv")
    assert text.split()[1:] == ["5"] or text.split()[1:] == ["5.0"]
