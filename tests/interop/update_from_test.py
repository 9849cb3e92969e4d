"""New values from files, streams and other tables: by key, by row id, by position. DuckDB computes the
same updates."""
import datetime
import decimal
import json
import random
import resource
import subprocess
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform

from frazil import BUILD, ROW_ID, UPDATED
from joins import NAME, refused, scan, warehouse, write


def as_arrow(warehouse, folder, name=NAME):
    out = folder / "read.parquet"
    warehouse.run("sql", f"SELECT * FROM {name}", "--format", "parquet", "-o", str(out), "--force")
    return pq.read_table(out)


# ---- against DuckDB ----

KEYS = {
    "int": (pa.int64(), pa.int32(), lambda i: i),
    "text": (pa.string(), pa.string(), lambda i: f"key {i}" * (1 + i % 4) if i else ""),
    "decimal": (pa.decimal128(12, 2), pa.decimal128(9, 3), lambda i: decimal.Decimal(i) / 4),
    "timestamp": (pa.timestamp("us"), pa.timestamp("ms"),
                  lambda i: datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=37 * i)),
    "date": (pa.date32(), pa.date32(),
             lambda i: datetime.date(2000, 1, 1) + datetime.timedelta(days=i)),
    "double": (pa.float64(), pa.float32(), lambda i: i / 8 if i else -0.0),
    "binary": (pa.binary(), pa.binary(), lambda i: i.to_bytes(3, "big")),
}


def key_values(kind, numbers, side):
    make = KEYS[kind][2]
    values = [None if n is None else make(n) for n in numbers]
    if kind == "decimal" and side == 1:
        values = [None if v is None else v.quantize(decimal.Decimal("0.001")) for v in values]
    if kind == "double" and side == 1:
        values = [0.0 if v == 0 else v for v in values]
    return pa.array(values, KEYS[kind][side])


def random_table(rng, kind, rows, keys):
    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "k": key_values(kind, [rng.choice(keys + [None]) for _ in range(rows)], 0),
        "g": pa.array([rng.choice([1, 2, None]) for _ in range(rows)], pa.int32()),
        "e": pa.array([rng.choice([None, rng.random()]) for _ in range(rows)], pa.float64()),
        "m": pa.array([rng.choice([None, rng.randrange(100)]) for _ in range(rows)], pa.int32()),
        "s": pa.array([rng.choice([None, "x" * rng.randrange(9)]) for _ in range(rows)]),
    })


def random_source(rng, kind, keys, groups):
    """Each key at most once, but for nulls, which may come several times."""
    pairs = [(k, g) for k in keys for g in groups if rng.random() < 0.6]
    pairs += [(None, g) for g in groups] + [(1000 + i, g) for i in range(9) for g in groups]
    rng.shuffle(pairs)
    n = len(pairs)
    return pa.table({
        "x": pa.array([rng.randrange(10) for _ in range(n)], pa.int16()),
        "k": key_values(kind, [k for k, _ in pairs], 1),
        "g": pa.array([g for _, g in pairs], pa.int64()),
        "e": pa.array([rng.choice([None, rng.random()]) for _ in range(n)], pa.float32()),
        "m": pa.array([rng.choice([None, rng.randrange(50)]) for _ in range(n)], pa.int64()),
        "s": pa.array([rng.choice([None, "é" * rng.randrange(5)]) for _ in range(n)]).dictionary_encode(),
        "tags": pa.array([rng.choice([None, [], ["a", None]]) for _ in range(n)]),
    })


def duck_update(table, source, sets, where):
    con = duckdb.connect()
    con.register("given", table)
    con.register("s_given", source)
    con.execute("CREATE TABLE t AS SELECT * FROM given")
    con.execute("CREATE TABLE s AS SELECT * FROM s_given")
    con.execute(f"UPDATE t SET {sets} FROM s WHERE {where}")
    changed = con.execute(f"SELECT id FROM given t, s_given s WHERE {where}").fetchall()
    unused, = con.execute("SELECT count(*) FROM s_given s WHERE NOT EXISTS "
                          f"(SELECT 1 FROM given t WHERE {where})").fetchone()
    rows = con.execute("SELECT * FROM t ORDER BY id").to_arrow_table().to_pylist()
    return rows, {row[0] for row in changed}, unused


def texts(rows):
    """-0.0 and 0.0 are told apart."""
    return [{k: repr(v) for k, v in row.items()} for row in rows]


@pytest.mark.parametrize("spill", [False, True])
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("groups", [[1], [1, 2]])
def test_random_updates_as_duckdb_does(warehouse, tmp_path, monkeypatch, kind, groups, spill):
    rng = random.Random(f"{kind} {groups} {spill}")
    keys = list(range(250))
    table = random_table(rng, kind, 900, keys)
    source = random_source(rng, kind, keys, groups)
    if spill:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", "6000")  # a few rows: parts are dealt again
    files = [write(tmp_path, f"{i}.parquet", table.slice(i * 300, 300), row_group_size=130)
             for i in range(3)]
    warehouse.run("import", NAME, *files)
    warehouse.sql(f"DELETE FROM {NAME} WHERE id % 11 = 3 OR id >= 880")
    table = table.filter(pa.array([i % 11 != 3 and i < 880 for i in range(900)]))
    where = "t.k = s.k" + (" AND t.g = s.g" if len(groups) > 1 else "")
    for round_, (sets, more) in enumerate([
            ("e = s.e, m = s.m * 2 + t.m", ""),
            ("s = s.s", " AND t.id % 3 = 0 AND s.x < 7"),
            ("m = t.id % 100, s = t.s || s.s", " AND t.m > s.m")]):
        name = write(tmp_path, f"new{round_}." + rng.choice(["parquet", "arrow"]), source)
        rows, changed, unmatched = duck_update(table, source, sets, where + more)
        before = {row["id"]: row for row in scan(warehouse, "--with-lineage")}
        report = warehouse.sql(f"UPDATE {NAME} SET {sets} FROM '{name}' s WHERE {where}{more}")
        assert report["rows"] == len(changed) and report["attempts"] == 1
        kept = source.num_rows if "s.x" not in more else \
            sum(x < 7 for x in source["x"].to_pylist())
        assert report["source_rows"] == kept
        assert report["source_unmatched"] == unmatched - (source.num_rows - kept)
        table = as_arrow(warehouse, tmp_path)
        assert texts(table.to_pylist()) == texts(rows)
        for row in scan(warehouse, "--with-lineage"):
            assert row[ROW_ID] == before[row["id"]][ROW_ID]
            assert row[UPDATED] == (round_ + 3 if row["id"] in changed
                                    else before[row["id"]][UPDATED])
    warehouse.table(NAME).check()
    warehouse.run("validate", NAME)


# ---- partitions ----


@pytest.mark.parametrize("spill", [False, True])
def test_partitioned_tables(warehouse, tmp_path, monkeypatch, spill):
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{warehouse.folder}/catalog.db",
                         warehouse=f"file://{warehouse.folder}")
    catalog.create_namespace("db")
    schema = Schema(types.NestedField(1, "id", types.LongType(), required=False),
                    types.NestedField(2, "day", types.IntegerType(), required=False),
                    types.NestedField(3, "v", types.StringType(), required=False))
    catalog.create_table(NAME, schema, properties={"format-version": "2"}, partition_spec=PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "day"),
        PartitionField(1, 1001, BucketTransform(4), "bucket")))
    warehouse.run("upgrade", NAME, "--to", "4")
    rows = [{"id": i, "day": i % 3, "v": f"v{i}"} for i in range(300)]
    warehouse.run("append", NAME, write(tmp_path, "a.parquet", pa.Table.from_pylist(
        rows, pa.schema([("id", pa.int64()), ("day", pa.int32()), ("v", pa.string())]))))
    source = pa.table({"id": pa.array([5, 6, 250], pa.int64()), "v": ["five", None, "more"],
                       "day": pa.array([0, 1, 2], pa.int32())})
    path = write(tmp_path, "s.parquet", source)
    if spill:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", "10")
    report = warehouse.sql(f"UPDATE {NAME} SET v = s.v FROM '{path}' s WHERE t.id = s.id")
    assert report["rows"] == 3 and report["data_files"] == 3
    wanted = {row["id"]: row for row in rows}
    for new in source.to_pylist():
        wanted[new["id"]]["v"] = new["v"]
    assert {row["id"]: row for row in scan(warehouse)} == wanted
    # a column that partitions: what is found by partition must still be found
    warehouse.sql(f"UPDATE {NAME} SET day = s.day + 7 FROM '{path}' s WHERE t.id = s.id")
    for new in source.to_pylist():
        wanted[new["id"]]["day"] = new["day"] + 7
    assert {row["id"]: row for row in scan(warehouse)} == wanted
    assert [row["id"] for row in scan(warehouse, "--where", "day = 8")] == [6]
    warehouse.run("validate", NAME)


# ---- keys ----


@pytest.fixture
def table(warehouse, tmp_path):
    rows = pa.table({"id": pa.array(range(100), pa.int64()),
                     "e": pa.array([i / 2 for i in range(100)], pa.float64()),
                     "n": pa.array(range(100), pa.int32()),
                     "name": [f"n{i}" for i in range(100)]})
    warehouse.run("import", NAME, write(tmp_path, "one.parquet", rows.slice(0, 60)),
                  write(tmp_path, "two.parquet", rows.slice(60)))
    return warehouse


def small(ids, **more):
    return pa.table({"id": pa.array(ids, pa.int64()),
                     "e": pa.array([1000.0 + i for i in range(len(ids))]), **more})


@pytest.mark.parametrize("memory", ["", "100"])
def test_a_key_that_comes_twice_is_told(table, tmp_path, monkeypatch, memory):
    if memory:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", memory)
    path = write(tmp_path, "s.parquet", small(list(range(90)) + [41], name=[f"n{i}" for i in range(91)]))
    error = refused(table, "sql", f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE t.id = s.id")
    assert 'several rows of "s" have the key 41' in error
    path = write(tmp_path, "s.parquet", small([1, 2, 2, 2], name=["a", "b", "c", "b"]))
    error = refused(table, "sql", f"UPDATE {NAME} SET e = s.e FROM '{path}' s "
                    "WHERE t.name = s.name AND s.id = t.id")
    assert 'have the key (b, 2)' in error
    assert table.sql(f"UPDATE {NAME} SET e = s.e FROM '{path}' s "
                     "WHERE t.id = s.id AND s.name = 'a'")["rows"] == 1
    # a condition on the source alone decides which of its rows count
    path = write(tmp_path, "s.parquet", small([1, 1], name=["a", "b"]))
    assert table.sql(f"UPDATE {NAME} SET e = s.e FROM '{path}' s "
                     "WHERE t.id = s.id AND s.name = 'b'")["rows"] == 1
    assert scan(table, "--where", "id = 1")[0]["e"] == 1001.0


def test_unmatched_rows_touch_nothing(table, tmp_path):
    path = write(tmp_path, "s.parquet", small([70, 500, None, None]))
    report = table.sql(f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE t.id = s.id")
    assert report["rows"] == report["data_files"] == 1
    assert (report["source_rows"], report["source_unmatched"]) == (4, 3)
    text = table.run("update", NAME, "--columns", "e", "--from", path, "--by", "id")
    assert "3 of 4 rows matched no row" in text
    path = write(tmp_path, "s.parquet", small([500, None]))
    report = table.sql(f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE t.id = s.id")
    assert report["snapshot_id"] == 0 and report["files_written"] == 0
    assert (report["source_rows"], report["source_unmatched"]) == (2, 2)


def test_by_row_id(table, tmp_path):
    table.sql(f"DELETE FROM {NAME} WHERE id = 7")
    source = pa.table({"_row_id": pa.array([3, 7, 61, 900, None], pa.int64()),
                       "e": [3.5, 7.5, 61.5, 1.0, 2.0]})
    path = write(tmp_path, "s.arrow", source)
    report = table.report("update", NAME, "--columns", "e", "--from", path, "--by", "row-id")
    assert report["rows"] == 2 and report["source_unmatched"] == 3
    rows = {row["id"]: row for row in scan(table, "--with-lineage")}
    assert (rows[3]["e"], rows[61]["e"], rows[4]["e"], 7 in rows) == (3.5, 61.5, 2.0, False)
    assert [i for i in rows if rows[i][UPDATED] == 3] == [3, 61]
    twice = write(tmp_path, "t.arrow", pa.concat_tables([source, source.slice(0, 1)]))
    assert "have the key 3" in refused(
        table, "update", NAME, "--columns", "e", "--from", twice, "--by", "row-id")


def test_from_another_table(table, tmp_path):
    path = write(tmp_path, "s.parquet", small([1, 2, 98], n=pa.array([7, 8, 9], pa.int64())))
    table.run("import", "db.other", path)
    table.sql("UPDATE db.other SET e = -1 WHERE id = 2")
    table.sql("DELETE FROM db.other WHERE id = 98")
    table.sql(f"UPDATE {NAME} SET e = other.e, n = t.n + other.n FROM db.other WHERE t.id = other.id")
    rows = {row["id"]: row for row in scan(table)}
    assert [(rows[i]["e"], rows[i]["n"]) for i in (1, 2, 98)] == [(1000.0, 8), (-1.0, 10), (49.0, 98)]
    # the table itself as it is now
    table.sql(f"UPDATE {NAME} AS a SET n = b.n FROM {NAME} AS b WHERE a.id = b.id + 1")
    assert [row["n"] for row in scan(table)][:4] == [0, 0, 8, 10]
    table.run("update", NAME, "--columns", "e,n", "--from", "db.other", "--by", "id")
    assert scan(table, "--where", "id = 1")[0]["n"] == 7


def test_several_files(table, tmp_path):
    one, two = (write(tmp_path, f"s{i}.parquet", small([i])) for i in (1, 2))
    report = table.report("update", NAME, "--columns", "e", "--from", one, "--from", two, "--by", "id")
    assert report["rows"] == 2
    other = write(tmp_path, "s3.parquet", pa.table({"id": ["x"], "e": [1.0]}))
    assert "expected long, as in the first file, found string" in refused(
        table, "update", NAME, "--columns", "e", "--from", one, "--from", other, "--by", "id")


def test_names(table, tmp_path):
    path = write(tmp_path, "s.parquet", small([5], q=[1], name=["new"]))
    update = f"UPDATE {NAME} SET"
    table.sql(f"{update} n = q FROM '{path}' s WHERE t.id = s.id")
    table.sql(f"{update} n = n + q FROM '{path}' s WHERE {NAME}.id = s.id")
    table.sql(f"UPDATE {NAME} AS z SET name = upper(s.name) FROM '{path}' AS s WHERE z.id = s.id")
    assert scan(table, "--where", "id = 5") == [{"id": 5, "e": 2.5, "n": 2, "name": "NEW"}]
    for sets, where, message in [
            ("e = e", "t.id = s.id", '"e" is a column of the table and of "s"'),
            ("e = s.zz", "t.id = s.id", '"s" has no column "zz"\nhint: columns are: id, '),
            ("e = s.idd", "t.id = s.id", '"s" has no column "idd"\nhint: close names: id'),
            ("e = s.e", "t.id > s.id", "no condition says which row"),
            ("e = s.e", "t.id = s.name", "cannot be compared"),
            ("e = s.name", "t.id = s.id", "cannot be assigned"),
            ("name = s", "t.id = s.id", '"s" is not a column')]:
        assert message in refused(table, "sql", f"{update} {sets} FROM '{path}' s WHERE {where}")
    table.sql(f"{update} name = name.name FROM '{path}' name WHERE t.id = name.id")
    assert "does not fit at row 5: 2147483648 into int" in refused(
        table, "sql", f"{update} n = s.q + 2147483647 FROM '{path}' s WHERE t.id = s.id")


def test_a_condition_on_the_table_holds_before_keys_are_computed(table, tmp_path, monkeypatch):
    path = write(tmp_path, "s.parquet", small([2, 3]))
    for memory in ("", "10"):
        if memory:
            monkeypatch.setenv("FRZ_JOIN_MEMORY", memory)
        report = table.sql(f"UPDATE {NAME} SET e = s.e FROM '{path}' s "
                           "WHERE n <> 0 AND 6 / n = s.id AND n <> 7 / n")
        assert report["rows"] == 2
        assert [row["id"] for row in scan(table, "--where", "e >= 1000")] == [2, 3]
        table.sql(f"UPDATE {NAME} SET e = 0 WHERE e >= 1000")
        error = refused(table, "sql", f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE 6 / n = s.id")
        assert "division by zero at row 0" in error


# ---- by position ----


@pytest.mark.parametrize("name", ["s.parquet", "s.arrow"])
def test_by_position(table, tmp_path, name):
    table.sql(f"DELETE FROM {NAME} WHERE id IN (0, 13, 59, 99)")
    left = [i for i in range(100) if i not in (0, 13, 59, 99)]
    source = pa.table({"name": [f"p{i}" for i in left],
                       "e": pa.array([None if i % 5 == 0 else -i for i in left], pa.int16())})
    path = write(tmp_path, name, source)
    report = table.report("update", NAME, "--columns", "e,name", "--from", path, "--by", "position")
    assert report["rows"] == 96 and report["data_files"] == 2
    assert (report["source_rows"], report["source_unmatched"]) == (96, 0)
    assert scan(table) == [{"id": i, "e": None if i % 5 == 0 else float(-i), "n": i, "name": f"p{i}"}
                           for i in left]
    table.table(NAME).check()
    for rows in (source.slice(1), pa.concat_tables([source, source.slice(0, 3)]), source.slice(0, 0)):
        path = write(tmp_path, name, rows)
        error = refused(table, "update", NAME, "--columns", "e", "--from", path, "--by", "position")
        assert f"expected 96, found {rows.num_rows}" in error
    table.run("validate", NAME)


def test_values_of_every_kind_by_key_and_position(warehouse, tmp_path):
    rows = 400
    rng = random.Random(5)
    kinds = {
        "struct": (pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))]),
                   lambda i: {"x": i, "y": [f"{i}", None]}),
        "vector": (pa.list_(pa.float32()), lambda i: [i / 2, 1.0]),
        "map": (pa.map_(pa.string(), pa.int64()), lambda i: [("a", i), ("b", None)]),
        "flag": (pa.bool_(), lambda i: i % 3 == 0),
        "money": (pa.decimal128(20, 3), lambda i: decimal.Decimal(i) / 8),
        "bytes": (pa.binary(4), lambda i: i.to_bytes(4, "big")),
    }
    make = lambda seed: pa.table({
        "id": pa.array(range(rows), pa.int64()),
        **{name: pa.array([None if rng.random() < 0.2 else value(i * seed) for i in range(rows)], kind)
           for name, (kind, value) in kinds.items()}})
    old, new = make(1), make(3)
    warehouse.run("import", NAME, write(tmp_path, "a.parquet", old))
    some = new.filter(pa.array([i % 2 == 1 for i in range(rows)]))
    wanted = [new.to_pylist()[i] if i % 2 else old.to_pylist()[i] for i in range(rows)]
    sets = ", ".join(f'"{name}" = s."{name}"' for name in kinds)
    for memory in ("", "5000"):
        warehouse.sql(f"UPDATE {NAME} SET " + ", ".join(f'"{n}" = NULL' for n in kinds) + " WHERE id % 2 = 1")
        with pytest.MonkeyPatch.context() as patch:
            if memory:
                patch.setenv("FRZ_JOIN_MEMORY", memory)
            path = write(tmp_path, "s.parquet", some)
            warehouse.sql(f"UPDATE {NAME} SET {sets} FROM '{path}' s WHERE t.id = s.id")
        assert as_arrow(warehouse, tmp_path).to_pylist() == wanted
    path = write(tmp_path, "s.parquet", new)
    warehouse.run("update", NAME, "--columns", ",".join(kinds), "--from", path, "--by", "position")
    assert as_arrow(warehouse, tmp_path).to_pylist() == new.to_pylist()
    warehouse.run("validate", NAME)


# ---- rows on disk ----


def spilled(process, folder):
    """The files in a folder that a process has open: those without a name any more, and all modes."""
    found = []
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            if str(link.readlink()).startswith(str(folder)):
                found.append(link.stat().st_mode & 0o777)
        except FileNotFoundError:  # closed meanwhile
            pass
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_rows_on_disk_are_private_and_go_with_the_process(table, tmp_path, monkeypatch):
    monkeypatch.setenv("FRZ_JOIN_MEMORY", "100000")
    path = write(tmp_path, "s.parquet", small(list(range(400_000))))
    process = subprocess.Popen([str(BUILD / "bin" / "frazil"), "--warehouse", str(table.folder), "sql",
                                f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE t.id = s.id"])
    while process.poll() is None and not (modes := spilled(process, tmp_path / "spills")):
        time.sleep(0.001)
    assert process.poll() is None, "it ended before it could be looked at"
    process.kill()
    process.wait()
    assert set(modes) == {0o600}
    assert list((tmp_path / "spills").iterdir()) == []


def test_rows_on_disk_lie_in_few_files(table, tmp_path, monkeypatch):
    """However little memory there is."""
    monkeypatch.setenv("FRZ_JOIN_MEMORY", "1")
    path = write(tmp_path, "s.parquet", small(list(range(3000))))
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
    subprocess.run([str(BUILD / "bin" / "frazil"), "--warehouse", str(table.folder), "sql",
                    f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE t.id = s.id"],
                   check=True, preexec_fn=limit, capture_output=True)
    assert [row["e"] for row in scan(table)] == [1000.0 + i for i in range(100)]


# ---- two writers ----


def test_others_write_at_the_same_time(table, tmp_path):
    """Values by key and an update of another column, again and again: nothing is lost."""
    attempts = 0
    for round_ in range(1, 11):
        path = write(tmp_path, f"s{round_}.parquet", small(list(range(0, 100, 2))).set_column(
            1, "e", pa.array([float(round_ * i) for i in range(0, 100, 2)])))
        statements = [f"UPDATE {NAME} SET e = s.e FROM '{path}' s WHERE t.id = s.id",
                      f"UPDATE {NAME} SET n = n + 1 WHERE id < 90"]
        running = [subprocess.Popen([str(BUILD / "bin" / "frazil"), "--warehouse", str(table.folder),
                                     "--json", "sql", text], stdout=subprocess.PIPE, text=True)
                   for text in statements]
        for process in running:
            output, _ = process.communicate()
            assert process.returncode == 0
            attempts += json.loads(output)["attempts"]
        assert [(row["e"], row["n"]) for row in scan(table)] == [
            (i / 2 if i % 2 else float(round_ * i), i + round_ if i < 90 else i) for i in range(100)]
    assert attempts > 20, "no writer ever lost a race"
    table.run("validate", NAME)


def test_a_table_joined_with_itself_loses_no_update(table):
    text = f"UPDATE {NAME} AS t SET n = s.n + 1 FROM {NAME} AS s WHERE t.id = s.id"
    attempts = 0
    for _ in range(6):
        running = [subprocess.Popen([str(BUILD / "bin" / "frazil"), "--warehouse", str(table.folder),
                                     "--json", "sql", text], stdout=subprocess.PIPE, text=True)
                   for _ in range(2)]
        for process in running:
            output, _ = process.communicate()
            assert process.returncode == 0
            attempts += json.loads(output)["attempts"]
    assert [row["n"] for row in scan(table)] == [i + 12 for i in range(100)]
    assert attempts > 12, "no writer ever lost a race"
    table.run("validate", NAME)
