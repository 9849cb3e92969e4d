"""Two writers at once, and writers that are killed: no update is lost, no table is broken."""

import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FRAZIL = str(pathlib.Path(os.environ["FRAZIL_BUILD"]) / "bin" / "frazil")
ROWS = 3000
ROUNDS = 20


def frazil(folder, *args, check=True):
    done = subprocess.run([FRAZIL, "--warehouse", str(folder / "warehouse"), *args],
                          capture_output=True, text=True)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def start(folder, *args):
    return subprocess.Popen([FRAZIL, "--warehouse", str(folder / "warehouse"), "--json", *args],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """Wait for a writer; the attempts it took."""
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(output)["attempts"]


def rows(folder, columns, *more):
    text = frazil(folder, "scan", "db.t", "--columns", columns, "--format", "csv", *more).stdout
    return [tuple(int(value) for value in line.split(",")) for line in text.split()[1:]]


@pytest.fixture
def table(tmp_path):
    """db.t with id, a, b, c in two files of different row groups."""
    for name, first, group in (("one", 0, 700), ("two", ROWS // 2, 400)):
        ids = list(range(first, first + ROWS // 2))
        zeros = pa.array([0] * len(ids), pa.int64())
        pq.write_table(pa.table({"id": pa.array(ids, pa.int64()), "a": zeros, "b": zeros,
                                 "c": zeros}),
                       tmp_path / f"{name}.parquet", row_group_size=group, compression="zstd")
    frazil(tmp_path, "import", "db.t", str(tmp_path / "one.parquet"),
           str(tmp_path / "two.parquet"))
    return tmp_path


def test_different_columns_are_both_there(table):
    attempts = 0
    for number in range(1, ROUNDS + 1):
        writers = [start(table, "sql", f"UPDATE db.t SET {column} = {column} + id + 1")
                   for column in ("a", "b")]
        attempts += sum(finish(writer) for writer in writers)
        assert rows(table, "id,a,b") == [(i, number * (i + 1), number * (i + 1))
                                         for i in range(ROWS)]
    assert attempts > 2 * ROUNDS, "no writer ever lost a race"
    assert frazil(table, "validate", "db.t").returncode == 0


def test_the_same_column_is_updated_one_after_the_other(table):
    attempts = 0
    for number in range(1, ROUNDS + 1):
        writers = [start(table, "sql", "UPDATE db.t SET a = a + 1") for _ in range(2)]
        attempts += sum(finish(writer) for writer in writers)
        assert rows(table, "a") == [(2 * number,)] * ROWS
    assert attempts > 2 * ROUNDS, "no writer ever lost a race"
    assert frazil(table, "validate", "db.t").returncode == 0


def test_parts_of_rows_keep_their_own_lineage(table):
    """Each row's sequence number is that of the last commit that changed it, whoever was first."""
    statements = ["UPDATE db.t SET a = a + 1 WHERE id % 2 = 0",
                  "UPDATE db.t SET b = b + 1 WHERE id % 3 = 0"]
    for number in range(1, ROUNDS + 1):
        writers = [start(table, "sql", statement) for statement in statements]
        for writer in writers:
            finish(writer)
        assert rows(table, "id,a,b") == [
            (i, number * (i % 2 == 0), number * (i % 3 == 0)) for i in range(ROWS)]
        last = 1 + 2 * number
        lineage = dict(rows(table, "id,_last_updated_sequence_number"))
        # one of the two committed as last, the other as the one before
        in_a, in_b = lineage[2], lineage[3]
        assert {in_a, in_b} == {last - 1, last}
        for i in range(ROWS):
            expected = max([1] + [n for n, step in ((in_a, 2), (in_b, 3)) if i % step == 0])
            assert lineage[i] == expected, i
    assert frazil(table, "validate", "db.t").returncode == 0


def test_many_writers_of_one_counter(table):
    writers = [start(table, "sql", "UPDATE db.t SET c = c + 1 WHERE id < 10") for _ in range(8)]
    for writer in writers:
        finish(writer)
    assert rows(table, "id,c", "--where", "id < 11") == [(i, 8) for i in range(10)] + [(10, 0)]


def test_a_compaction_and_an_update_at_once(table):
    for number in range(1, ROUNDS // 2 + 1):
        frazil(table, "sql", "UPDATE db.t SET b = b + 1 WHERE id % 7 = 0")
        writers = [start(table, "compact", "db.t"),
                   start(table, "sql", "UPDATE db.t SET a = a + 1 WHERE id % 5 = 0")]
        for writer in writers:
            finish(writer)
        assert rows(table, "id,a,b,_row_id") == [
            (i, number * (i % 5 == 0), number * (i % 7 == 0), i) for i in range(ROWS)]
    assert frazil(table, "validate", "db.t").returncode == 0


def kill_after(process, seconds):
    """True if the process was still there to be killed."""
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def seconds_of(folder, *args):
    began = time.monotonic()
    frazil(folder, *args)
    return time.monotonic() - began


def test_killed_at_random_moments(table):
    """A writer that is killed leaves the old or the new table; the next one works."""
    random.seed(7)
    update = ["sql", "UPDATE db.t SET a = a + 1"]
    usual = seconds_of(table, *update)
    value, killed, committed = 1, 0, 0
    for number in range(80):
        command = ["compact", "db.t"] if number % 5 == 4 else update
        killed += kill_after(start(table, *command), random.random() * usual * 1.5)
        found = set(rows(table, "a"))
        assert found in ({(value,)}, {(value + 1,)}), number
        committed += found == {(value + 1,)}
        value = found.pop()[0]
    assert killed > 0 and committed > 0, "the moments were not random enough"
    frazil(table, *update)
    assert set(rows(table, "a")) == {(value + 1,)}
    assert frazil(table, "validate", "db.t").returncode == 0


def test_an_import_killed_at_random_moments(table):
    """There is no table or the whole one; importing again works, or is refused as done."""
    random.seed(11)
    files = [str(table / "one.parquet"), str(table / "two.parquet")]
    usual = seconds_of(table, "import", "db.usual", *files)
    killed = there = 0
    for number in range(40):
        name = f"db.n{number}"
        killed += kill_after(start(table, "import", name, *files), random.random() * usual * 1.5)
        again = frazil(table, "import", name, *files, check=False)
        there += again.returncode != 0
        assert again.returncode == 0 or "exists already" in again.stderr
        text = frazil(table, "sql", f"SELECT count(*) FROM {name}", "--format", "csv").stdout
        assert text.split()[1] == str(ROWS)
        assert frazil(table, "validate", name).returncode == 0
    assert killed > 0 and there > 0, "the moments were not random enough"


def test_a_catalog_that_is_locked_for_a_while_is_waited_for(table):
    lock = sqlite3.connect(table / "warehouse" / "catalog.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    writer = start(table, "sql", "UPDATE db.t SET a = 5")
    time.sleep(1.0)
    assert writer.poll() is None
    lock.execute("ROLLBACK")
    finish(writer)
    assert set(rows(table, "a")) == {(5,)}
