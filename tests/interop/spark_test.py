"""Tables written by Spark at test time, in every version and mode: Frazil reads in each snapshot, each
column and under each condition what Spark reads."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from frazil import BUILD
from iceberg_corpus import difference, rows_of

ROOT = Path(__file__).resolve().parents[2]
SPARK = ROOT / ".spark"

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no java"),
    pytest.mark.skipif(not (SPARK / "version").is_file(),
                       reason="there is no .spark; fetch it with tools/spark"),
    pytest.mark.skipif("FRAZIL_ENGINES" not in os.environ,
                       reason="takes minutes; FRAZIL_ENGINES=1 runs it"),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The warehouse, and by table what Spark reads in it."""
    ready = os.environ.get("FRAZIL_SPARK_TABLES")
    folder = Path(ready) if ready else tmp_path_factory.mktemp("spark")
    if not ready:
        program = ROOT / "tests" / "tools" / "spark" / "tables.py"
        subprocess.run([SPARK / "bin" / "python", program, SPARK / "jars", folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1800)
    readings = [json.loads(line) for line in (folder / "expected.jsonl").read_text().splitlines()]
    assert len({reading["table"] for reading in readings}) >= 20 or ready
    return folder, readings


def arguments_of(reading):
    if "snapshot" in reading:
        return ["--snapshot", str(reading["snapshot"])]
    if "ref" in reading:
        return ["--ref", reading["ref"]]
    if "column" in reading:
        return ["--columns", reading["column"]]
    if "where" in reading:
        # Spark's TIMESTAMP is in its session's zone, which is UTC
        return ["--where", reading["where"].replace("TIMESTAMP '", "TIMESTAMPTZ '")]
    return []


def scan(folder, table, arguments):
    command = [BUILD / "bin" / "frazil", "--catalog", f"sqlite://{folder}/cat.db", "--catalog-name",
               "j", "scan", f"db.{table}", "--format", "jsonl", *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def test_every_reading_is_the_same(written):
    folder, readings = written
    failures = []
    for reading in readings:
        arguments = arguments_of(reading)
        done = scan(folder, reading["table"], arguments)
        found = done.stderr if done.returncode else difference(rows_of(done.stdout), reading["rows"])
        if found:
            failures.append(f"{reading['table']} {' '.join(arguments)}: {found[:400]}")
    assert not failures, f"{len(failures)} of {len(readings)}:\n" + "\n".join(failures[:20])


def test_spark_and_frazil_share_the_catalog(written):
    folder, readings = written
    done = subprocess.run([BUILD / "bin" / "frazil", "--catalog", f"sqlite://{folder}/cat.db",
                           "tables"], capture_output=True, text=True)
    assert set(done.stdout.split()) >= {f"db.{reading['table']}" for reading in readings}
