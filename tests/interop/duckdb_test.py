"""Tables that DuckDB writes at test time, through the Iceberg project's own REST server: Frazil reads,
through the same server, in each snapshot, each column and under each condition what DuckDB reads. Each
table is written by a process of its own, since DuckDB may end it."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import RestCatalog

from iceberg_corpus import difference, rows_of
from pyiceberg_test import plain
from rest_server_test import pytestmark as needs_server
from rest_server_test import server  # noqa: F401
from rest_test import start

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = ROOT / ".duckdb-iceberg"
PROGRAM = ROOT / "tests" / "tools" / "duckdb" / "table.py"

pytestmark = [
    *needs_server,
    pytest.mark.skipif(not (EXTENSIONS / "version").is_file(),
                       reason="there is no .duckdb-iceberg; fetch it with tools/duckdb-iceberg"),
]


def arguments_of(reading):
    if "snapshot" in reading:
        return ["--snapshot", str(reading["snapshot"])]
    if "column" in reading:
        return ["--columns", reading["column"]]
    return ["--where", reading["where"]] if "where" in reading else []


@pytest.fixture(scope="module")
def namespace(server):  # noqa: F811
    RestCatalog("rest", uri=server).create_namespace_if_not_exists("db")
    return server


@pytest.mark.parametrize("name", ["types_v2", "types_v3", "changed_v2", "changed_v3", "parts_v2", "parts_v3",
                                  "evolved_v2"])
def test_every_reading_is_the_same(namespace, name):
    done = subprocess.run([sys.executable, PROGRAM, EXTENSIONS, namespace, namespace.warehouse, name],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    failures = []
    readings = [json.loads(line) for line in done.stdout.splitlines()]
    for reading in readings:
        arguments = arguments_of(reading)
        ours = start(namespace, "scan", f"db.{name}", "--format", "jsonl", *arguments)
        found = ours.stderr if ours.returncode else difference(rows_of(ours.stdout), plain(reading["rows"]))
        if found:
            failures.append(f"{' '.join(arguments)}: {found[:400]}")
    assert not failures, f"{len(failures)} of {len(readings)}:\n" + "\n".join(failures[:10])
    assert len(readings) > 15
