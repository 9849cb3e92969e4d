"""The Iceberg project's own REST catalog server: Frazil sees what PyIceberg makes there."""
import os
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog

from iceberg_corpus import rows_of
from postgres_server import free_port
from rest_test import run, start

ROOT = Path(__file__).resolve().parents[2]
JARS = sorted(ROOT.glob(".rest-server/*.jar"))

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no java"),
    pytest.mark.skipif(not JARS, reason="there is no .rest-server; fetch it with tools/rest-server"),
]


def wait_for(uri, process):
    for _ in range(240):
        assert process.poll() is None, "the server has ended"
        try:
            return urllib.request.urlopen(uri, timeout=5).read()
        except OSError:
            time.sleep(0.25)
    raise AssertionError("the server does not answer")


class Server(str):
    """Its uri, and the folder of its warehouse."""

    warehouse = None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("rest-server"), free_port()
    settings = {
        "CATALOG_REST_PORT": str(port), "CATALOG_WAREHOUSE": f"file://{folder}/warehouse",
        "CATALOG_URI": f"jdbc:sqlite:{folder}/catalog.db",
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_JDBC_USER": "u", "CATALOG_JDBC_PASSWORD": "p", "CATALOG_JDBC_SCHEMA__VERSION": "V1",
    }
    (folder / "warehouse").mkdir()
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(["java", "-Xmx512m", "-jar", JARS[-1]], stdout=log, stderr=log,
                                   env={**os.environ, **settings})
    uri = Server(f"http://127.0.0.1:{port}")
    uri.warehouse = folder / "warehouse"
    try:
        wait_for(uri + "/v1/config", process)
        yield uri
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def theirs(server):
    catalog = RestCatalog("rest", uri=server)
    for namespace in [("db",), ("a",), ("a", "b")]:
        catalog.create_namespace(namespace)
    values = pa.table({"id": pa.array(range(5), pa.int64()), "name": list("abcde")})
    for name in ["db.t", "a.b.deep"]:
        table = catalog.create_table(name, schema=values.schema)
        table.append(values)
        table.append(values)
    return catalog


def test_tables_are_listed(server, theirs):
    assert run(server, "tables").split() == ["a.b.deep", "db.t"]


def test_tables_are_read(server, theirs):
    wanted = theirs.load_table("db.t").scan().to_arrow().to_pylist()
    found = rows_of(run(server, "scan", "db.t", "--format", "jsonl"))
    key = lambda row: (row["id"], row["name"])
    assert sorted(found, key=key) == sorted(wanted, key=key)
    assert len(rows_of(run(server, "scan", "a.b.deep", "--where", "id = 3", "--format", "jsonl"))) == 2


def test_what_is_not_there(server, theirs):
    for name in ["db.u", "nothing.t", "a.b.c.t"]:
        done = start(server, "scan", name)
        assert done.returncode == 3 and "there is no table" in done.stderr
