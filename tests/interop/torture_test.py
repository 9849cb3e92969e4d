"""Eight processes that do everything to one table at once, on SQLite and on PostgreSQL. Each keeps a
list of what it has committed; done one after the other in the order of their sequence numbers, the
same operations must give the same rows. FRAZIL_LONG=1: for a minute each; TORTURE_SECONDS=N, SEED=N."""
import json
import os
import random
import subprocess
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frazil import BUILD
from postgres_server import Server, find_bin

WRITERS = 8
SECONDS = int(os.environ.get("TORTURE_SECONDS", 60 if "FRAZIL_LONG" in os.environ else 8))
ROWS = 400
OWN = 1_000_000  # numbers of rows that each writer may add
CONFLICT = 4  # status of a command that other writers were first at too often
MODES = {"write.update.mode": ["auto", "column-file", "copy-on-write", "merge-on-read"],
         "write.merge.mode": ["auto", "column-file", "copy-on-write", "merge-on-read"],
         "write.delete.mode": ["auto", "copy-on-write", "merge-on-read"],
         "write.root-manifest.max-entries": ["0", "4", "512"]}


class Table:
    def __init__(self, uri, folder):
        self.folder = folder
        self.command = [str(BUILD / "bin" / "frazil"), "--catalog", uri, "--warehouse",
                        str(folder / "warehouse")]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        paths = []
        for i in range(4):
            numbers = pa.array(range(i * ROWS // 4, (i + 1) * ROWS // 4), pa.int64())
            paths.append(str(folder / f"{i}.parquet"))
            pq.write_table(pa.table({"k": numbers, "n": numbers, "x": numbers}), paths[-1],
                           row_group_size=30)
        self.run("import", "db.t", *paths)
        self.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES ('commit.retry.num-retries' = '1000', "
                 "'commit.retry.min-wait-ms' = '5', 'commit.retry.max-wait-ms' = '200', "
                 "'commit.retry.total-timeout-ms' = '600000', 'write.durability' = 'none', "
                 "'write.metadata.delete-after-commit.enabled' = 'true', "
                 "'write.metadata.previous-versions-max' = '30')")

    def start(self, *arguments):
        return subprocess.run([*self.command, *arguments], capture_output=True, text=True,
                              env=self.environment)

    def run(self, *arguments):
        done = self.start(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def snapshots(self):
        """Sequence number by id."""
        return {s["snapshot_id"]: s["sequence_number"]
                for s in json.loads(self.run("snapshots", "db.t", "--json"))}


# ---- operations: the command, and the same for rows {k: [n, x, last update]} ----

def update_n(rng, _):
    by, rest, more = rng.randint(2, 40), rng.randint(0, 39), rng.randint(1, 9)
    def apply(rows, number):
        for k, row in rows.items():
            if k % by == rest:
                row[0], row[2] = row[0] + more, number
    return ["sql", f"UPDATE db.t SET n = n + {more} WHERE k % {by} = {rest}"], apply


def update_x(rng, _):
    """Depends on what others do to n."""
    least = rng.randint(0, ROWS)
    def apply(rows, number):
        for k, row in rows.items():
            if k >= least:
                row[1], row[2] = row[0] * 2, number
    return ["sql", f"UPDATE db.t SET x = n * 2 WHERE k >= {least}"], apply


def update_by_value(rng, _):
    rest = rng.randint(0, 30)
    def apply(rows, number):
        for row in rows.values():
            if row[0] % 31 == rest:
                row[0], row[1], row[2] = row[1], row[0], number
    return ["sql", f"UPDATE db.t SET n = x, x = n WHERE n % 31 = {rest}"], apply


def delete(rng, _):
    rest = rng.randint(0, 96)
    def apply(rows, _):
        for k in [k for k in rows if k % 97 == rest]:
            del rows[k]
    return ["sql", f"DELETE FROM db.t WHERE k % 97 = {rest}"], apply


def insert(rng, own):
    first = own["next"]
    own["next"] += 5
    values = ", ".join(f"({k}, {k % 7}, 0)" for k in range(first, first + 5))
    def apply(rows, number):
        rows.update({k: [k % 7, 0, number] for k in range(first, first + 5)})
    return ["sql", f"INSERT INTO db.t (k, n, x) VALUES {values}"], apply


def source(rng, own, extra=()):
    """A file of keys, some of them of rows that are there, and values: its path and {k: d}."""
    values = {k: rng.randint(1, 9) for k in [*rng.sample(range(ROWS), 20), *extra]}
    own["files"] += 1
    path = own["folder"] / f"source-{own['number']}-{own['files']}.parquet"
    pq.write_table(pa.table({"id": pa.array(values, pa.int64()),
                             "d": pa.array(values.values(), pa.int64())}), path)
    return path, values


def update_from(rng, own):
    path, values = source(rng, own)
    def apply(rows, number):
        for k in rows.keys() & values.keys():
            rows[k][0], rows[k][2] = rows[k][0] + values[k], number
    return ["sql", f"UPDATE db.t SET n = n + s.d FROM '{path}' s WHERE db.t.k = s.id"], apply


def merge(rng, own):
    """Updates, deletes and inserts at once."""
    first = own["next"]
    own["next"] += 3
    path, values = source(rng, own, range(first, first + 3))
    def apply(rows, number):
        for k, d in values.items():
            if k not in rows:
                rows[k] = [d, 7, number]
            elif d == 9:
                del rows[k]
            else:
                rows[k][1], rows[k][2] = d, number
    return ["sql", f"MERGE INTO db.t t USING '{path}' s ON t.k = s.id WHEN MATCHED AND s.d = 9 THEN "
            "DELETE WHEN MATCHED THEN UPDATE SET x = s.d WHEN NOT MATCHED THEN INSERT (k, n, x) "
            "VALUES (s.id, s.d, 7)"], apply


def compact(rng, _):
    return ["compact", "db.t", *rng.choice([[], ["--columns"], ["--policy"]])], lambda *_: None


def expire(rng, _):
    return ["expire", "db.t", "--older-than", "3s", "--retain-last", "3"], None


def set_mode(rng, _):
    key = rng.choice(list(MODES))
    return ["sql", f"ALTER TABLE db.t SET TBLPROPERTIES ('{key}' = '{rng.choice(MODES[key])}')"], None


KINDS = [update_n] * 4 + [update_x] * 2 + [update_by_value] * 2 + [update_from] * 2 + [merge] * 2 + [
    delete, insert, insert, compact, expire, set_mode]


def write(table, number, seed, end, done, failures):
    """What one process after the other does. done: (snapshot, apply) of what was committed."""
    rng = random.Random(seed * 100 + number)
    own = {"next": (number + 1) * OWN, "number": number, "files": 0, "folder": table.folder}
    while time.monotonic() < end:
        arguments, apply = rng.choice(KINDS)(rng, own)
        outcome = table.start(*arguments, "--json")
        if outcome.returncode == CONFLICT:
            continue
        if outcome.returncode != 0:
            failures.append(f"{arguments}: {outcome.returncode}\n{outcome.stderr}")
            return
        if apply is not None and json.loads(outcome.stdout)["snapshot_id"] != 0:
            done.append((json.loads(outcome.stdout)["snapshot_id"], apply))


def watch(table, end, numbers):
    """Snapshots do not stay."""
    while time.monotonic() < end:
        numbers.update(table.snapshots())
        time.sleep(0.2)


@pytest.fixture(params=["sqlite", "postgresql"])
def table(request, tmp_path):
    if request.param == "sqlite":
        yield Table(f"sqlite:///{tmp_path}/catalog.db", tmp_path)
        return
    if find_bin() is None:
        pytest.skip("no PostgreSQL server is installed")
    server = Server()
    try:
        yield Table(server.database("torture"), tmp_path)
    finally:
        server.close()


def replay(done, numbers):
    rows = {k: [k, k, 1] for k in range(ROWS)}
    for snapshot, apply in sorted(done, key=lambda d: numbers[d[0]]):
        apply(rows, numbers[snapshot])
    return rows


def test_rows_are_those_of_one_writer_after_the_other(table):
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    end = time.monotonic() + SECONDS
    done, failures, numbers = [], [], {}
    threads = [threading.Thread(target=write, args=(table, i, seed, end, done, failures))
               for i in range(WRITERS)]
    threads.append(threading.Thread(target=watch, args=(table, end, numbers)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, f"seed {seed}: " + "\n".join(failures)
    numbers.update(table.snapshots())
    unseen = [snapshot for snapshot, _ in done if snapshot not in numbers]
    assert not unseen, f"seed {seed}: {len(unseen)} snapshots expired before they were seen"
    assert len({numbers[snapshot] for snapshot, _ in done}) == len(done) > WRITERS
    found = {}
    for line in table.run("scan", "db.t", "--with-lineage", "--format", "jsonl").splitlines():
        row = json.loads(line)
        found[row["k"]] = [row["n"], row["x"], row["_last_updated_sequence_number"]]
    assert found == replay(done, numbers), f"seed {seed}"
    table.run("validate", "db.t")
    orphans = table.run("remove-orphans", "db.t", "--older-than", "0s", "--force", "--dry-run",
                        "--json")
    left = [file["location"] for file in json.loads(orphans)["files"]]
    assert left == [], f"seed {seed}: files are left behind"
