"""Write one Iceberg table with DuckDB through a REST catalog, and what DuckDB reads in it, in a process of
its own, which may die: table.py EXTENSIONS URI WAREHOUSE TABLE. Prints a line of JSON for each reading:
the snapshot, the column or the condition, and the rows."""
import json
import re
import sys
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "interop"))
import parquet_rows  # noqa: E402

extensions, uri, warehouse, name = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4]

VALUES = """
 SELECT i AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE 'c' || (i % 4) END AS cat,
   CAST(i * 1.25 - 10 AS decimal(9,2)) AS amount,
   CASE WHEN i % 11 = 0 THEN 'NaN'::double WHEN i % 13 = 0 THEN -0.0 ELSE i / 3.0 END AS score,
   DATE '1969-12-20' + i::int AS day, TIMESTAMP '1969-12-31 23:00:00' + to_hours(7 * i::int) AS ts,
   TIMESTAMPTZ '1969-12-31 23:00:00+00' + to_hours(5 * i::int) AS tz,
   CASE WHEN i % 5 = 0 THEN NULL ELSE i % 2 = 0 END AS flag, (i % 10)::int AS n,
   CASE WHEN i % 6 = 0 THEN NULL ELSE encode('b' || i) END AS bin,
   CASE WHEN i % 9 = 0 THEN NULL ELSE ['t' || i, NULL] END AS tags,
   {{'a': i::int, 'b': 'b' || (i % 3)}} AS s
 FROM range({first}, {end}) t(i)"""
CONDITIONS = ["id = 17", "id > 30 AND cat = 'c1'", "cat IS NULL", "amount < 0",
              "score > 5 AND score < 1000", "day < DATE '1970-01-01'", "day = DATE '1970-01-05'",
              "ts >= TIMESTAMP '1970-01-03 00:00:00'", "flag", "NOT flag", "n IN (1, 3)",
              "n NOT IN (1, 3)", "cat LIKE 'c%'", "cat NOT LIKE 'c1%'", "cat <> 'c1'",
              "n = 3 OR id = 5", "n BETWEEN 2 AND 4", "s.a > 30", "NOT (id < 10 OR n = 7)"]


def insert(first, end):
    return "INSERT INTO T " + VALUES.format(first=first, end=end)


def create(version, clause=""):
    columns = ("id bigint, cat varchar, amount decimal(9,2), score double, day date, ts timestamp, "
               "tz timestamptz, flag boolean, n int, bin blob, tags varchar[], s struct(a int, b varchar)")
    return f"CREATE TABLE T ({columns}) {clause} WITH ('format-version'='{version}')"


CHANGES = ["DELETE FROM T WHERE id % 4 = 1", "UPDATE T SET cat = 'u', score = score + 1 WHERE id BETWEEN 10 AND 20",
           "DELETE FROM T WHERE id IN (2, 12, 48)", insert(60, 64)]
TABLES = {
    "types_v2": [create(2), insert(0, 40), insert(40, 60)],
    "types_v3": [create(3), insert(0, 40), insert(40, 60)],
    "changed_v2": [create(2), insert(0, 30), insert(30, 50), *CHANGES],
    "changed_v3": [create(3), insert(0, 30), insert(30, 50), *CHANGES],
    "parts_v2": [create(2, "PARTITIONED BY (n, bucket(3, id))"), insert(0, 40), *CHANGES],
    "parts_v3": [create(3, "PARTITIONED BY (cat, month(ts))"), insert(0, 40), *CHANGES],
    "evolved_v2": [create(2), insert(0, 20), "ALTER TABLE T RENAME COLUMN cat TO kind",
                   "ALTER TABLE T ADD COLUMN later varchar", "ALTER TABLE T DROP COLUMN bin",
                   "INSERT INTO T (id, later) VALUES (100, 'x'), (101, NULL)"],
}

con = duckdb.connect(config={"autoinstall_known_extensions": "false",
                             "autoload_known_extensions": "false"})
for extension in ("avro", "httpfs", "iceberg"):
    path, = extensions.glob(f"duckdb_extension_{extension}/extensions/*/{extension}.duckdb_extension")
    con.load_extension(str(path))
con.execute("SET TimeZone = 'UTC'")
con.execute(f"ATTACH 'w' AS c (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none')")


def run(statement):
    """T stands for the table."""
    return con.execute(re.sub(r"\bT\b", f"c.db.{name}", statement))


def note(query, **reading):
    rows = parquet_rows.rows(run(query).to_arrow_table())
    print(json.dumps({**reading, "rows": rows}))


for part in ("data", "metadata"):  # DuckDB makes no folders
    (warehouse / "db" / name / part).mkdir(parents=True)
for statement in TABLES[name]:
    run(statement)
for snapshot, in con.execute(f"SELECT snapshot_id FROM iceberg_snapshots(c.db.{name})").fetchall():
    note(f"SELECT * FROM T AT (VERSION => {snapshot})", snapshot=snapshot)
note("SELECT * FROM T")
for column, *_ in con.execute(f"DESCRIBE c.db.{name}").fetchall():
    note(f"SELECT {column} FROM T", column=column)
if "evolved" in name:
    CONDITIONS = ["kind = 'c1'", "kind IS NULL", "later = 'x'", "later IS NULL AND id > 5", "id = 100"]
for condition in CONDITIONS:
    note(f"SELECT * FROM T WHERE {condition}", where=condition)
