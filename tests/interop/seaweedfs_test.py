"""SeaweedFS's REST catalog, with OAuth2 and a prefix of its own: Frazil sees what PyIceberg makes there. Its
data lies in an object store, which Frazil does not read: that is said, and metadata is read all the
same."""
import json
import os
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog

from postgres_server import free_port
from rest_test import config, run, start

ROOT = Path(__file__).resolve().parents[2]
WEED = ROOT / ".seaweedfs" / "bin" / "weed"
BUCKET = "iceberg-tables"
PORTS = ("s3.port", "s3.port.iceberg", "s3.port.lance", "s3.port.grpc", "filer.port", "filer.port.grpc",
         "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "admin.port", "admin.port.grpc")

pytestmark = pytest.mark.skipif(not WEED.is_file(),
                                reason="there is no .seaweedfs; fetch it with tools/seaweedfs")


class Seaweed:
    def __init__(self, folder):
        ports = {name: free_port() for name in PORTS}
        self.uri, self.s3 = (f"http://127.0.0.1:{ports[name]}" for name in ("s3.port.iceberg", "s3.port"))
        command = [WEED, "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-webdav=false",
                   "-admin.ui=false", "-master.telemetry=false", f"-tableBucket={BUCKET}"]
        command += [f"-{name}={port}" for name, port in ports.items()]
        keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "testsecret"}
        with open(folder / "log", "w") as log:
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log,
                                            env={**os.environ, **keys})

    def catalog(self):
        return RestCatalog("weed", uri=self.uri, warehouse=f"s3://{BUCKET}", credential="test:testsecret", **{
            "s3.endpoint": self.s3, "s3.access-key-id": "test", "s3.secret-access-key": "testsecret",
            "s3.region": "us-east-1"})


@pytest.fixture(scope="module")
def weed(tmp_path_factory):
    """A server with a table of two appends and an empty one."""
    server = Seaweed(tmp_path_factory.mktemp("weed"))
    try:
        for attempt in range(100):
            assert server.process.poll() is None, "the server has ended"
            try:
                catalog = server.catalog()
                catalog.create_namespace_if_not_exists("db")
                break
            except Exception:
                if attempt == 99:
                    raise
                time.sleep(0.3)
        values = pa.table({"id": pa.array(range(5), pa.int64()), "name": list("abcde")})
        table = catalog.create_table("db.t", schema=values.schema)
        table.append(values)
        table.append(values)
        catalog.create_table("db.empty", schema=values.schema)
        yield server
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def variables(weed, tmp_path):
    catalog = {"uri": weed.uri, "warehouse": f"s3://{BUCKET}", "credential": "test:testsecret"}
    return config(tmp_path, weed=catalog, wrong={**catalog, "credential": "test:wr0ng"})


def test_tables_are_listed(weed, variables):
    assert run("weed", "tables", **variables).split() == ["db.empty", "db.t"]


def test_metadata_is_read(weed, variables):
    table = weed.catalog().load_table("db.t")
    snapshots = json.loads(run("weed", "snapshots", "db.t", "--json", **variables))
    assert [s["snapshot_id"] for s in snapshots] == [s.snapshot_id for s in table.snapshots()]
    fields = json.loads(run("weed", "schema", "db.t", "--json", **variables))
    assert [f["name"] for f in fields] == [f.name for f in table.schema().fields]


def test_an_empty_table_has_no_snapshot(weed, variables):
    assert json.loads(run("weed", "snapshots", "db.empty", "--json", **variables)) == []
    assert run("weed", "scan", "db.empty", "--format", "jsonl", **variables) == ""


def test_data_in_an_object_store_is_not_read(weed, variables):
    done = start("weed", "scan", "db.t", **variables)
    assert done.returncode == 1 and done.stdout == ""
    assert "s3://" in done.stderr and "unsupported" in done.stderr, done.stderr


def test_what_is_not_there_and_who_may_not(weed, variables):
    done = start("weed", "describe", "db.u", **variables)
    assert done.returncode == 3 and "there is no table db.u" in done.stderr
    done = start("wrong", "tables", **variables)
    assert done.returncode == 1 and "wr0ng" not in done.stderr
    assert start(weed.uri, "tables").returncode == 1
