"""Write Iceberg tables with Spark, and what Spark reads in them: for each snapshot all rows, for the
current one projections and conditions. Run with the Python of .spark: tables.py JARS WAREHOUSE.

Writes WAREHOUSE/cat.db (the catalog "j" of the JDBC layout) and WAREHOUSE/expected.jsonl: one line for
each reading with the table, the snapshot or condition, and the rows."""
import json
import math
import os
import re
import sys
import time
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

os.environ["TZ"] = "UTC"
time.tzset()
os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import Row, SparkSession

jars, warehouse = sorted(map(str, Path(sys.argv[1]).glob("*.jar"))), Path(sys.argv[2])
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", ",".join(jars)).config("spark.driver.extraClassPath", ":".join(jars))
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    .config("spark.driver.memory", "1g").config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.extensions",
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    # a cached key set of an equality delete keeps a type that the key had before
    .config("spark.sql.iceberg.executor-cache.enabled", "false")
    .config("spark.sql.catalog.j", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.j.type", "jdbc")
    .config("spark.sql.catalog.j.uri", f"jdbc:sqlite:{warehouse}/cat.db")
    .config("spark.sql.catalog.j.jdbc.schema-version", "V1")
    .config("spark.sql.catalog.j.warehouse", f"file://{warehouse}/tables")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def plain(value):
    """A value as frazil writes it in JSON lines."""
    if isinstance(value, Row):
        return {name: plain(value[name]) for name in value.__fields__}
    if isinstance(value, dict):
        return [{"key": plain(k), "value": plain(v)} for k, v in value.items()]
    if isinstance(value, list):
        return [plain(x) for x in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def named(table, statement):
    return re.sub(r"\bT\b", f"j.db.{table}", statement)


expected = open(warehouse / "expected.jsonl", "w")


def note(table, query, **reading):
    """The rows of a query; T stands for the table."""
    rows = [plain(row) for row in spark.sql(named(table, query)).collect()]
    expected.write(json.dumps({"table": table, **reading, "rows": rows}) + "\n")


def run(table, *statements):
    for statement in statements:
        spark.sql(named(table, statement))


def readings(table, conditions):
    for (snapshot,) in spark.sql(f"SELECT snapshot_id FROM j.db.{table}.snapshots").collect():
        note(table, f"SELECT * FROM T VERSION AS OF {snapshot}", snapshot=snapshot)
    note(table, "SELECT * FROM T")
    for column in spark.table(f"j.db.{table}").columns:
        note(table, f"SELECT `{column}` FROM T", column=column)
    for condition in conditions:
        note(table, f"SELECT * FROM T WHERE {condition}", where=condition)


COLUMNS = ("id bigint, cat string, amount decimal(9,2), score double, day date, ts timestamp, "
           "flag boolean, n int, bin binary, tags array<string>, m map<string,int>, "
           "s struct<a: int, b: string>")
VALUES = """
 SELECT id, CASE WHEN id % 7 = 0 THEN NULL ELSE concat('c', id % 4) END,
   CAST(id * 1.25 - 10 AS decimal(9,2)),
   CASE WHEN id % 11 = 0 THEN double('NaN') WHEN id % 13 = 0 THEN -0.0 ELSE id / 3.0 END,
   date_add(DATE '1969-12-20', CAST(id AS int)),
   timestamp_micros(id * 3600000000L * 7 - 5000000000L),
   CASE WHEN id % 5 = 0 THEN NULL ELSE id % 2 = 0 END, CAST(id % 10 AS int),
   CASE WHEN id % 6 = 0 THEN NULL ELSE unhex(lpad(hex(id), 4, '0')) END,
   CASE WHEN id % 9 = 0 THEN NULL ELSE array(concat('t', id), NULL) END,
   map('k', CAST(id AS int)), named_struct('a', CAST(id AS int), 'b', concat('b', id % 3))
 FROM range({first}, {end})"""
CONDITIONS = ["id = 17", "id > 30 AND cat = 'c1'", "cat IS NULL", "amount < 0", "score > 5 AND score < 1000",
              "day < DATE '1970-01-01'", "day = DATE '1970-01-05'",
              "ts >= TIMESTAMP '1970-01-03 00:00:00'", "flag", "NOT flag", "n IN (1, 3)",
              "cat LIKE 'c%'", "cat <> 'c1'", "n = 3 OR id = 5"]


def insert(first, end):
    return "INSERT INTO T " + VALUES.format(first=first, end=end)


def types(version):
    table = f"types_v{version}"
    run(table, f"CREATE TABLE T ({COLUMNS}) USING iceberg "
               f"TBLPROPERTIES ('format-version'='{version}')", insert(0, 40), insert(40, 60))
    readings(table, CONDITIONS)


def partitions(version):
    table = f"parts_v{version}"
    run(table, f"CREATE TABLE T ({COLUMNS}) USING iceberg PARTITIONED BY (cat, bucket(4, id), days(ts)) "
               f"TBLPROPERTIES ('format-version'='{version}')", insert(0, 20),
        "ALTER TABLE T DROP PARTITION FIELD cat", "ALTER TABLE T ADD PARTITION FIELD truncate(5, n)",
        insert(20, 40), "ALTER TABLE T REPLACE PARTITION FIELD ts_day WITH months(day)",
        "ALTER TABLE T ADD PARTITION FIELD years(ts)", insert(40, 60))
    readings(table, CONDITIONS)


def evolution(version):
    table = f"evolved_v{version}"
    run(table, f"CREATE TABLE T ({COLUMNS}) USING iceberg "
               f"TBLPROPERTIES ('format-version'='{version}')", insert(0, 10),
        "ALTER TABLE T ADD COLUMNS (extra string, s.c double)", "ALTER TABLE T RENAME COLUMN cat TO kind",
        "ALTER TABLE T ALTER COLUMN n TYPE bigint", "ALTER TABLE T ALTER COLUMN amount TYPE decimal(14,2)",
        "ALTER TABLE T DROP COLUMN flag", "ALTER TABLE T ALTER COLUMN extra FIRST",
        "INSERT INTO T SELECT 'x', 100, 'new', 1.00, 0.5, DATE '2024-02-29', "
        "TIMESTAMP '2024-02-29 01:02:03', 5000000000, NULL, array(), map(), "
        "named_struct('a', 1, 'b', 'z', 'c', 2.5)",
        "ALTER TABLE T ADD COLUMN flag string", "ALTER TABLE T RENAME COLUMN s.a TO aa")
    readings(table, ["kind = 'new'", "n > 5", "extra IS NULL", "flag IS NULL", "amount = 1.00"])


def deletes(version, mode):
    table = f"{mode.replace('-', '_')}_v{version}"
    modes = ", ".join(f"'write.{what}.mode'='{mode}'" for what in ("delete", "update", "merge"))
    run(table, f"CREATE TABLE T ({COLUMNS}) USING iceberg PARTITIONED BY (n) "
               f"TBLPROPERTIES ('format-version'='{version}', {modes})", insert(0, 30), insert(30, 50),
        "DELETE FROM T WHERE id % 4 = 1",
        "UPDATE T SET cat = 'u', score = score + 1 WHERE id BETWEEN 10 AND 20",
        "DELETE FROM T WHERE id IN (2, 12, 48)",
        "MERGE INTO T t USING (SELECT * FROM (VALUES (3L), (777L)) AS v(k)) s ON t.id = s.k "
        "WHEN MATCHED THEN UPDATE SET cat = 'm' WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k, 7)",
        "ALTER TABLE T ADD COLUMN later int", "DELETE FROM T WHERE n = 9")
    readings(table, CONDITIONS + ["later IS NULL"])


def maintained(version):
    table = f"kept_v{version}"
    run(table, f"CREATE TABLE T ({COLUMNS}) USING iceberg TBLPROPERTIES ('format-version'='{version}', "
               "'write.delete.mode'='merge-on-read')", "ALTER TABLE T WRITE ORDERED BY cat DESC, id")
    for first in range(0, 40, 10):
        run(table, insert(first, first + 10))
    run(table, "ALTER TABLE T CREATE TAG before", "DELETE FROM T WHERE id = 3",
        "DELETE FROM T WHERE id = 13", "ALTER TABLE T CREATE BRANCH side",
        insert(40, 45).replace("INTO T", "INTO T.branch_side"))
    for call in ["rewrite_position_delete_files(table => 'db.TABLE')", "rewrite_manifests('db.TABLE')",
                 "rewrite_data_files(table => 'db.TABLE', options => map('rewrite-all','true'))"]:
        spark.sql(f"CALL j.system.{call}".replace("TABLE", table))
    readings(table, CONDITIONS)
    note(table, "SELECT * FROM T VERSION AS OF 'before'", ref="before")
    note(table, "SELECT * FROM T VERSION AS OF 'side'", ref="side")


spark.sql("CREATE NAMESPACE IF NOT EXISTS j.db")
for version in (1, 2, 3, 4):
    types(version)
    partitions(version)
    evolution(version)
    if version > 1:
        deletes(version, "merge-on-read")
    deletes(version, "copy-on-write")
    maintained(version) if version > 1 else None
expected.close()
spark.stop()
