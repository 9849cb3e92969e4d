"""Spark with Iceberg tables of version 3, copy-on-write and merge-on-read. Its session has read the
table and updated a small one before the clock starts."""

import functools
import pathlib

import pyspark
from pyspark.sql import SparkSession

from operations import ADDED, assignments, where
from rival import Rival

JARS = pathlib.Path(__file__).resolve().parents[2] / ".spark" / "jars"
VERSION = f"Spark {pyspark.__version__}, " + ", ".join(
    path.stem for path in JARS.glob("iceberg-spark-runtime-*.jar"))
MODES = ("write.update.mode", "write.merge.mode", "write.delete.mode")


class Spark(Rival):
    def __init__(self, folder, mode):
        super().__init__(folder)
        self.mode = mode

    @functools.cached_property
    def session(self):
        catalog = "spark.sql.catalog.lake"
        options = {
            "spark.jars": ",".join(map(str, JARS.glob("*.jar"))), "spark.driver.memory": "8g",
            "spark.sql.extensions":
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            catalog: "org.apache.iceberg.spark.SparkCatalog", f"{catalog}.type": "hadoop",
            f"{catalog}.warehouse": f"file://{self.folder}", f"{catalog}.cache-enabled": "false",
            # the source has BYTE_STREAM_SPLIT, which only the other reader knows; tables do not
            "spark.sql.parquet.enableVectorizedReader": "false",
            "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false",
            "spark.log.level": "ERROR", "spark.local.dir": f"{self.folder}.spark"}
        builder = SparkSession.builder.master("local[2]")
        for key, value in options.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def create(self, table, rows):
        writer = rows.writeTo(table).using("iceberg").tableProperty("format-version", "3")
        for mode in MODES:
            writer = writer.tableProperty(mode, self.mode)
        writer.create()

    def load(self, source):
        self.session.sql("CREATE NAMESPACE IF NOT EXISTS lake.db")
        rows = self.session.read.parquet(source)
        self.create("lake.db.wide", rows.coalesce(1))
        self.create("lake.db.small", rows.limit(1000).coalesce(1))

    def prepare(self):
        self.session.sql("UPDATE lake.db.small SET c_1 = c_1 + 1")
        self.seconds_of_reading()

    def update(self, columns, share):
        self.session.sql(f"UPDATE lake.db.wide SET {assignments(columns)}{where(share)}")

    def add(self):
        self.session.sql(f"ALTER TABLE lake.db.wide ADD COLUMN {ADDED} double")
        self.session.sql(f"UPDATE lake.db.wide SET {ADDED} = c_1 * 2")

    def from_file(self, keyed):
        self.session.sql(f"MERGE INTO lake.db.wide t USING parquet.`{keyed}` s ON t.id = s.id "
                         "WHEN MATCHED THEN UPDATE SET t.c_1 = s.c_1")

    def read_through(self, columns):
        rows = self.session.table("lake.db.wide").select(*(columns or ["*"]))
        rows.write.format("noop").mode("overwrite").save()

    def bytes_written(self):
        return None

    def check(self, operation, source, keyed):
        """Counts the rows of which every value is right."""
        files = self.session.read.parquet(source)
        files.createOrReplaceTempView("source")
        self.session.read.parquet(keyed).createOrReplaceTempView("keyed")
        wanted = {column: f"CASE WHEN s.id % {operation.share} = 0 THEN s.{column} + 1 "
                          f"ELSE s.{column} END" for column in operation.columns}
        if operation.what == "add":
            wanted = {ADDED: "s.c_1 * 2"}
        elif operation.what == "from file":
            wanted = {"c_1": "k.c_1"}
        names = list(dict.fromkeys([*files.columns, *operation.columns]))
        equal = " AND ".join(f"t.{name} = {wanted.get(name, f's.{name}')}" for name in names)
        right = self.session.sql(
            "SELECT count(*) FROM lake.db.wide t JOIN source s ON t.id = s.id "
            f"JOIN keyed k ON t.id = k.id WHERE {equal}").first()[0]
        return None if right == files.count() == self.session.table("lake.db.wide").count() \
            else f"{right} rows are right"


RIVALS = [(f"Spark, Iceberg, {mode}", functools.partial(Spark, mode=mode))
          for mode in ("copy-on-write", "merge-on-read")]
