"""MERGE: updates, deletes and inserts in one commit. DuckDB merges the same rows."""
import json
import random
import subprocess

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform

import checker
from changes_model import check_by_id
from delete_tables import DeleteTable, field_id
from frazil import BUILD, ROW_ID, UPDATED
from joins import NAME, refused, scan, warehouse, write


def random_rows(rng, count, keys, more=False):
    columns = {
        "id": pa.array([rng.choice(keys) for _ in range(count)] if more else keys, pa.int64()),
        "k": [rng.choice([None, "a", "b", "c"]) for _ in range(count)],
        "n": pa.array([rng.choice([None, rng.randrange(50)]) for _ in range(count)], pa.int32()),
        "x": pa.array([rng.choice([None, rng.random()]) for _ in range(count)], pa.float64()),
    }
    return pa.table(columns)


CLAUSES = [
    ["WHEN MATCHED THEN UPDATE SET x = s.x, n = s.n + 1"],
    ["WHEN MATCHED THEN DELETE"],
    ["WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, s.n * 2)"],
    ["WHEN MATCHED THEN UPDATE SET *", "WHEN NOT MATCHED THEN INSERT *"],
    ["WHEN MATCHED AND s.n > 25 THEN DELETE", "WHEN MATCHED AND t.n IS NULL THEN UPDATE SET n = -1",
     "WHEN MATCHED THEN UPDATE SET x = t.x + s.x, k = s.k",
     "WHEN NOT MATCHED AND s.k = 'a' THEN INSERT (id, k, x) VALUES (s.id, upper(s.k), 0.5)",
     "WHEN NOT MATCHED AND s.n < 20 THEN INSERT *"],
    ["WHEN MATCHED AND t.x > 0.5 THEN UPDATE SET k = 'hit', n = 7",
     "WHEN NOT MATCHED BY SOURCE AND t.n > 30 THEN DELETE",
     "WHEN NOT MATCHED BY SOURCE AND t.k = 'b' THEN UPDATE SET k = 'gone'",
     "WHEN NOT MATCHED BY TARGET THEN INSERT (id, k) VALUES (s.id, 'new')"],
    ["WHEN NOT MATCHED BY SOURCE THEN DELETE"],
]


def duck_merge(table, source, on, clauses):
    con = duckdb.connect()
    con.register("given", table)
    con.register("s_given", source)
    con.execute("CREATE TABLE t AS SELECT * FROM given")
    con.execute("CREATE TABLE s AS SELECT * FROM s_given")
    # duckdb's "*" goes by position unless told
    text = " ".join(clauses).replace("UPDATE SET *", "UPDATE SET k = s.k, n = s.n, x = s.x").replace(
        "INSERT *", "INSERT (id, k, n, x) VALUES (s.id, s.k, s.n, s.x)")
    con.execute(f"MERGE INTO t USING s ON {on} {text}")
    return con.execute("SELECT * FROM t").to_arrow_table().to_pylist()


def in_order(rows):
    return sorted([repr(row) for row in rows])


MODES = ["column-file", "copy-on-write", "merge-on-read"]


def set_mode(warehouse, mode):
    warehouse.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ('write.merge.mode' = '{mode}')")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", range(len(CLAUSES)))
def test_merges_as_duckdb_does(warehouse, tmp_path, monkeypatch, number, mode):
    rng = random.Random(f"{number} {mode}")
    if (number + MODES.index(mode)) % 2:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", "4000")
    keys = list(range(500))
    table = random_rows(rng, 500, keys)
    files = [write(tmp_path, f"{i}.parquet", table.slice(i * 125, 125), row_group_size=60)
             for i in range(4)]
    warehouse.run("import", NAME, *files)
    set_mode(warehouse, mode)
    warehouse.sql(f"DELETE FROM {NAME} WHERE id % 9 = 2 OR (id >= 130 AND id < 140)")
    table = table.filter(pa.array([i % 9 != 2 and not 130 <= i < 140 for i in range(500)]))
    new = rng.sample(range(0, 700), 200) + [None, None]
    source = random_rows(rng, len(new), new).select(["x", "n", "id", "k"])
    path = write(tmp_path, "s.parquet", source)
    for on in ("t.id = s.id", "t.id = s.id AND t.n < 40", "s.id = t.id AND s.k <> 'c'"):
        before = {row[ROW_ID]: row for row in scan(warehouse, "--with-lineage")}
        sequence = max(row[UPDATED] for row in before.values())
        wanted = duck_merge(table, source, on, CLAUSES[number])
        report = warehouse.sql(
            f"MERGE INTO {NAME} t USING '{path}' AS s ON {on} {' '.join(CLAUSES[number])}")
        out = tmp_path / "read.parquet"
        warehouse.run("sql", f"SELECT * FROM {NAME}", "--format", "parquet", "-o", str(out), "--force")
        table = pq.read_table(out)
        assert in_order(table.to_pylist()) == in_order(wanted)
        after = {row[ROW_ID]: row for row in scan(warehouse, "--with-lineage")}
        assert report["rows_inserted"] == len(after.keys() - before.keys())
        assert report["rows_deleted"] == len(before.keys() - after.keys())
        updated = [i for i in after if i in before and after[i][UPDATED] > sequence]
        assert report["rows"] == len(updated) + report["rows_inserted"] + report["rows_deleted"]
        for i in after.keys() & before.keys() - set(updated):
            assert after[i] == before[i]
        if table.num_rows == 0:
            break
    checked = warehouse.table(NAME)
    checked.check()
    assert in_order(checked.rows()) == in_order(after.values())
    warehouse.run("validate", NAME)


@pytest.fixture
def table(warehouse, tmp_path):
    rows = pa.table({"id": pa.array(range(40), pa.int64()), "k": [f"k{i}" for i in range(40)]})
    warehouse.run("import", NAME, write(tmp_path, "a.parquet", rows.slice(0, 25)),
                  write(tmp_path, "b.parquet", rows.slice(25)))
    return warehouse


@pytest.mark.parametrize("memory", ["", "1"])
def test_two_rows_for_one(table, tmp_path, monkeypatch, memory):
    if memory:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", memory)
    path = write(tmp_path, "s.parquet", pa.table({"id": [3, 3, 90, 90], "k": ["x", "y", "z", "z"]}))
    error = refused(table, "sql", f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id "
                           "WHEN MATCHED THEN UPDATE SET k = s.k")
    assert 'several rows of "s" have the key 3' in error
    # a row that conditions on the table rule out has none, and new keys may come twice
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id AND t.k <> 'k3' "
                       "WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.id > 3 THEN INSERT *")
    assert (report["rows_inserted"], report["rows_deleted"]) == (2, 0)
    assert [row["id"] for row in scan(table)][40:] == [90, 90]


@pytest.mark.parametrize("memory", ["", "1"])
def test_on_chooses_between_rows_of_the_source(table, tmp_path, monkeypatch, memory):
    if memory:
        monkeypatch.setenv("FRZ_JOIN_MEMORY", memory)
    path = write(tmp_path, "s.parquet", pa.table({
        "id": pa.array([3, 3, 90, 90, None], pa.int64()), "k": ["x", "y", "z", "y", None]}))
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id AND s.k <> 'y' "
                       "WHEN MATCHED THEN UPDATE SET k = s.k "
                       "WHEN NOT MATCHED BY SOURCE AND t.id = 39 THEN DELETE "
                       "WHEN NOT MATCHED THEN INSERT *")
    assert (report["rows"], report["rows_inserted"], report["rows_deleted"]) == (6, 4, 1)
    rows = [(row["id"], row["k"]) for row in scan(table)]
    assert rows[3] == (3, "x")
    assert sorted(rows[39:], key=str) == sorted([(3, "y"), (90, "z"), (90, "y"), (None, None)], key=str)
    error = refused(table, "sql", f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id AND s.id > 0 "
                    "WHEN MATCHED THEN DELETE")
    assert 'several rows of "s" have the key 3' in error
    table.run("validate", NAME)


def test_keys_that_are_equal_and_not_the_same(warehouse, tmp_path):
    """0.0 = -0.0, so that UPDATE SET * gives the key another value."""
    rows = pa.table({"k": [0.0, 1.0], "i": pa.array([5, 6], pa.int64()), "v": [1, 2]})
    warehouse.run("import", NAME, write(tmp_path, "t.parquet", rows))
    path = write(tmp_path, "s.parquet", pa.table({"k": [-0.0], "i": pa.array([5], pa.int32()), "v": [9]}))
    warehouse.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.k = s.k AND t.i = s.i "
                  "WHEN MATCHED THEN UPDATE SET *")
    assert [str(row["k"]) for row in scan(warehouse)] == ["-0.0", "1.0"]
    # the other key is of integers, and is not written
    entry, = warehouse.table(NAME).live(warehouse.table(NAME).current)
    file, = entry[checker.COLUMN_FILES]
    assert file[checker.CF_FIELD_IDS] == [1, 3, checker.LAST_UPDATED]


def test_defaults_of_new_rows(table, tmp_path):
    table.sql(f"ALTER TABLE {NAME} ADD COLUMN n int DEFAULT 7")
    path = write(tmp_path, "s.parquet", pa.table({"id": [3, 90]}))
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id WHEN NOT MATCHED THEN "
                       "INSERT (k, n, id) VALUES (DEFAULT, DEFAULT, s.id)")
    assert report["rows_inserted"] == 1
    row = scan(table)[-1]
    assert (row["id"], row["k"], row["n"]) == (90, None, 7)
    table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id + 1 WHEN NOT MATCHED THEN "
              "INSERT (n) VALUES (DEFAULT)")
    row = scan(table)[-1]
    assert (row["id"], row["k"], row["n"]) == (None, None, 7)


@pytest.mark.parametrize("mode", MODES)
def test_a_file_whose_rows_all_go(table, tmp_path, mode):
    path = write(tmp_path, "s.parquet", pa.table({"id": list(range(25, 45))}))
    set_mode(table, mode)
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert (report["rows_deleted"], report["data_files"], report["data_bytes"]) == (15, 1, 0)
    assert len(table.table(NAME).live(table.table(NAME).current)) == 1
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert report["snapshot_id"] == 0
    table.run("validate", NAME)


MERGED = ["WHEN MATCHED AND s.id % 5 = 0 THEN DELETE", "WHEN MATCHED THEN UPDATE SET k = s.k",
          "WHEN NOT MATCHED THEN INSERT *"]


@pytest.mark.parametrize("mode, whats", [
    ("column-file", ["added", "column_files", "dv"]), ("copy-on-write", ["added", "removed"]),
    ("merge-on-read", ["added", "dv"])])
def test_the_files_of_each_mode(table, tmp_path, mode, whats):
    """Updates, deletes and inserts are one snapshot, whose changes say which is which."""
    set_mode(table, mode)
    ids = list(range(5, 45, 3))
    path = write(tmp_path, "s.parquet", pa.table({"id": ids, "k": [f"s{i}" for i in ids]}))
    before = scan(table, "--with-lineage")
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id {' '.join(MERGED)}")
    assert (report["rows"], report["rows_inserted"], report["rows_deleted"]) == (14, 2, 3)
    lines = [json.loads(line) for line in table.run("changes", NAME, "--json").splitlines()]
    assert sorted({line["kind"] for line in lines}) == whats
    after = scan(table, "--with-lineage")
    feed = [json.loads(line) for line in table.run("changes", NAME, "--rows", "--json").splitlines()]
    check_by_id(before, after, feed, ["id", "k"], max(row[UPDATED] for row in after))
    told = {kind: sorted(r[ROW_ID] for r in feed if r["_change_type"] == kind)
            for kind in ("DELETE", "UPDATE_BEFORE", "UPDATE_AFTER")}
    updated = [i for i in ids if i < 40 and i % 5]
    assert told == {"DELETE": [5, 20, 35], "UPDATE_BEFORE": updated, "UPDATE_AFTER": updated}
    assert [r["id"] for r in feed if r["_change_type"] == "INSERT"] == [41, 44]
    table.table(NAME).check()
    table.run("validate", NAME)


@pytest.mark.parametrize("mode", MODES)
def test_columns_of_type_unknown(warehouse, tmp_path, mode):
    """They are set together with others, with rows deleted beside; then their type changes."""
    kind = pa.struct([("a", pa.int64()), ("n", pa.null())])
    make = lambda ids, more: pa.table({
        "id": pa.array(ids, pa.int64()), "n": pa.nulls(len(ids)),
        "s": pa.array([{"a": i + more, "n": None} for i in ids], kind)})
    warehouse.run("import", NAME, write(tmp_path, "t.parquet", make(range(20), 0)))
    set_mode(warehouse, mode)
    path = write(tmp_path, "s.parquet", make([*range(5, 15), 70, 71], 100))
    warehouse.sql(f"MERGE INTO {NAME} t USING '{path}' s ON t.id = s.id "
                  "WHEN MATCHED AND s.id < 8 THEN DELETE WHEN MATCHED THEN UPDATE SET * "
                  "WHEN NOT MATCHED THEN INSERT *")
    wanted = {i: {"id": i, "n": None, "s": {"a": i + 100 * (i >= 8 and i not in range(15, 20)),
                                            "n": None}, UPDATED: 1 + (i in range(8, 15) or i > 20)}
              for i in [*range(5), *range(8, 20), 70, 71]}
    for column in ("", "n", "s.n"):
        if column:
            warehouse.sql(f"ALTER TABLE {NAME} ALTER COLUMN {column} TYPE long")
        rows = scan(warehouse, "--with-lineage")
        assert {r["id"]: {k: v for k, v in r.items() if k != ROW_ID} for r in rows} == wanted
        warehouse.table(NAME).check()
        warehouse.run("validate", NAME)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("clause", ["WHEN MATCHED THEN UPDATE SET n = s.n",
                                    "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, s.n)"])
def test_values_for_columns_of_type_unknown(warehouse, tmp_path, mode, clause):
    """Nulls of another type are taken; a value is refused, not dropped."""
    rows = pa.table({"id": pa.array(range(5), pa.int64()), "n": pa.nulls(5)})
    warehouse.run("import", NAME, write(tmp_path, "t.parquet", rows))
    set_mode(warehouse, mode)
    merge = lambda path: f"MERGE INTO {NAME} t USING '{path}' s ON t.id = s.id {clause}"
    source = pa.table({"id": [3, 4, 5, 6], "n": pa.array([None, 7, None, 8], pa.int64())})
    error = refused(warehouse, "sql", merge(write(tmp_path, "s.parquet", source)))
    assert 'column "n": a value does not fit' in error
    assert "expected NULL for type unknown, found" in error
    assert 'hint: ALTER TABLE ... ALTER COLUMN "n" TYPE long' in error
    source = source.set_column(1, "n", pa.nulls(4, pa.int64()))
    warehouse.sql(merge(write(tmp_path, "s.parquet", source)))
    count = 5 if "UPDATE" in clause else 7
    assert scan(warehouse) == [{"id": i, "n": None} for i in range(count)]
    warehouse.table(NAME).check()
    warehouse.run("validate", NAME)


@pytest.mark.parametrize("mode", MODES)
def test_a_merge_leaves_nothing_behind(table, tmp_path, mode):
    """Column files of copy-on-write are gone afterwards, and all of a merge that fails."""
    set_mode(table, mode)
    data = table.folder / "db" / "t" / "data"
    files = set(data.iterdir())
    path = write(tmp_path, "s.parquet", pa.table({"id": [3, 30, 70], "k": ["a", "b", None]}))
    error = refused(table, "sql", f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id {' '.join(MERGED[:2])} "
                           "WHEN NOT MATCHED THEN INSERT (id, k) VALUES (1 / (s.id - 70), s.k)")
    assert "zero" in error and set(data.iterdir()) == files
    report = table.sql(f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id {' '.join(MERGED)}")
    new = set(data.iterdir()) - files
    assert sum(f.stat().st_size for f in new) == report["data_bytes"]


@pytest.mark.parametrize("mode", MODES)
def test_partitions(warehouse, tmp_path, mode):
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{warehouse.folder}/catalog.db",
                         warehouse=f"file://{warehouse.folder}")
    catalog.create_namespace("db")
    schema = Schema(types.NestedField(1, "id", types.LongType(), required=True),
                    types.NestedField(2, "day", types.IntegerType(), required=False),
                    types.NestedField(3, "v", types.StringType(), required=False))
    catalog.create_table(NAME, schema, properties={"format-version": "2"}, partition_spec=PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "day")))
    warehouse.run("upgrade", NAME, "--to", "4")
    set_mode(warehouse, mode)
    source = pa.table({"id": pa.array(range(60), pa.int64()), "day": pa.array([i % 4 for i in range(60)],
                                                                              pa.int32())})
    merge = (f"MERGE INTO {NAME} USING '{write(tmp_path, 's.parquet', source)}' s ON t.id = s.id "
             "WHEN MATCHED AND s.day = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'again' "
             "WHEN NOT MATCHED AND s.id < 50 THEN INSERT (id, day) VALUES (s.id, s.day)")
    assert warehouse.sql(merge)["data_files"] == 4  # into an empty table
    report = warehouse.sql(merge)
    assert (report["rows"], report["rows_inserted"], report["rows_deleted"]) == (50, 0, 12)
    assert scan(warehouse, "--where", "day = 2") == [{"id": i, "day": 2, "v": "again"}
                                                     for i in range(2, 50, 4)]
    bad = write(tmp_path, "bad.parquet", source.slice(0, 3))
    assert 'column "id": null at row' in refused(
        warehouse, "sql", f"MERGE INTO {NAME} USING '{bad}' s ON t.id = s.id + 1000 "
                   "WHEN NOT MATCHED THEN INSERT (day) VALUES (1)")
    warehouse.run("validate", NAME)


@pytest.mark.parametrize("mode", MODES)
def test_rows_that_delete_files_delete_are_not_there(warehouse, tmp_path, mode):
    """Of a table of version 2 that was upgraded, by position and by v. They are no match, stay
    deleted where others of their file go or change, and do not take rows that get their values."""
    old = DeleteTable(tmp_path / "old", [(1, "id", "long"), (2, "v", "long")])
    schema = pa.schema([pa.field(n, pa.int64(), True, field_id(i)) for n, i in (("id", 1), ("v", 2))])
    rows = {i: i for i in range(60)}
    files = [old.append(pa.table({"id": ids, "v": ids}, schema))
             for ids in (range(0, 20), range(20, 40), range(40, 60))]
    old.commit()
    old.delete_positions([(files[0], 3), (files[1], 5), (files[2], 0)])
    old.delete_equal(pa.table({"v": [7, 30, 50]}, schema.remove(0)), [2])
    old.commit()
    gone = [3, 25, 40, 7, 30, 50]
    rows = {i: v for i, v in rows.items() if i not in gone}
    warehouse.run("import", "db.other", str(next((old.folder / "data").glob("*-data.parquet"))))
    warehouse.run("register", NAME, str(old.folder))
    warehouse.run("upgrade", NAME, "--to", "4")
    set_mode(warehouse, mode)

    def merge(source, **counts):
        path = write(tmp_path, "s.parquet", pa.table({k: list(source.values()) if k == "v" else list(source)
                                                      for k in ("id", "v")}))
        report = warehouse.sql(
            f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id WHEN MATCHED AND s.v < 0 THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED AND s.v >= 0 THEN INSERT *")
        assert {k: report[k] for k in counts} == counts
        for i, v in source.items():
            rows[i] = v
            if v < 0:
                del rows[i]
        assert {r["id"]: r["v"] for r in scan(warehouse)} == rows
        assert len(scan(warehouse)) == len(rows)
        warehouse.run("validate", NAME)

    # in one file rows only go, in another they change, one row gets a value that was deleted
    merge({5: -1, 26: 7, 27: 1, 3: 300, 25: 301, 7: 302}, rows=6, rows_inserted=3, rows_deleted=1)
    merge({6: -1, 45: 50, 26: 8}, rows=3, rows_inserted=0, rows_deleted=1)
    merge({i: -1 for i in range(20) if i in rows}, rows_inserted=0)
    warehouse.run("compact", NAME)
    assert {r["id"]: r["v"] for r in scan(warehouse)} == rows


@pytest.mark.parametrize("text,message", [
    ("WHEN MATCHED THEN INSERT *", "expected UPDATE or DELETE"),
    ("WHEN NOT MATCHED THEN DELETE", "expected INSERT"),
    ("WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id)", 'no column "t"'),
    ("WHEN MATCHED THEN UPDATE SET k = s.id", "cannot be assigned"),
    ("WHEN MATCHED THEN UPDATE SET k = s.z", '"s" has no column "z"'),
    ("WHEN NOT MATCHED THEN INSERT *", 'no column "k"'),
    ("", "expected WHEN"),
    ("WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *",
     'rows NOT MATCHED BY SOURCE have no value of the source\'s "*"'),
    ("WHEN NOT MATCHED BY SOURCE THEN UPDATE SET k = concat(t.k, s.id)",
     'rows NOT MATCHED BY SOURCE have no value of the source\'s "id"'),
    ("WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.id = s.id + 1 THEN DELETE",
     'rows NOT MATCHED BY SOURCE have no value of the source\'s "id"'),
    ("WHEN MATCHED THEN UPDATE SET k = DEFAULT", "DEFAULT in SET"),
    ("WHEN NOT MATCHED THEN INSERT (id, z) VALUES (s.id, DEFAULT)", 'no column "z"'),
])
def test_mistakes(table, tmp_path, text, message):
    path = write(tmp_path, "s.parquet", pa.table({"id": [3, 4]}))
    status = 3 if message.startswith("no column") else 1 if message.startswith("DEFAULT") else 2
    assert message in refused(table, "sql", f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id {text}", status=status)


@pytest.mark.parametrize("mode", MODES)
def test_two_mergers_at_once(table, tmp_path, mode):
    """Both insert the same keys: each comes once, and none is lost."""
    set_mode(table, mode)
    attempts = 0
    for round_ in range(1, 9):
        rows = [100 * round_ + i for i in range(10)]
        path = write(tmp_path, f"s{round_}.parquet", pa.table({"id": rows + [round_]}))
        text = (f"MERGE INTO {NAME} USING '{path}' s ON t.id = s.id "
                "WHEN MATCHED THEN UPDATE SET k = concat(t.k, '+') "
                "WHEN NOT MATCHED THEN INSERT (id, k) VALUES (s.id, 'n')")
        running = [subprocess.Popen([str(BUILD / "bin" / "frazil"), "--warehouse", str(table.folder),
                                     "--json", "sql", text], stdout=subprocess.PIPE, text=True)
                   for _ in range(2)]
        for process in running:
            output, _ = process.communicate()
            assert process.returncode == 0
            attempts += json.loads(output)["attempts"]
        found = {row["id"]: row["k"] for row in scan(table)}
        assert len(found) == len(scan(table)) == 40 + 10 * round_
        assert all(found[i] == "n+" for i in rows) and found[round_] == f"k{round_}++"
    assert attempts > 16, "no writer ever lost a race"
    table.run("validate", NAME)
