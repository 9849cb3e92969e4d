"""PyIceberg with a catalog in SQLite: it reads the table, changes it in memory and overwrites it.
Its upsert of a thousand whole rows takes longer than that."""

import pyiceberg
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import DoubleType

import pyarrow.parquet as pq

from operations import ADDED
from rewriting import add_one, doubled, with_keyed
from rival import Rival

VERSION = f"PyIceberg {pyiceberg.__version__}"


class PyIceberg(Rival):
    def catalog(self):
        return SqlCatalog("catalog", uri=f"sqlite:///{self.folder}/catalog.db",
                          warehouse=f"file://{self.folder}/warehouse")

    def open(self):
        return self.catalog().load_table("db.wide")

    def load(self, source):
        rows = pq.read_table(source)
        catalog = self.catalog()
        catalog.create_namespace("db")
        table = catalog.create_table("db.wide", schema=rows.schema,
                                     properties={"write.parquet.compression-level": "1"})
        table.append(rows)

    def change(self, function, *args):
        table = self.open()
        table.overwrite(function(table.scan().to_arrow(), *args))

    def update(self, columns, share):
        self.change(add_one, columns, share)

    def add(self):
        with self.open().update_schema() as schema:
            schema.add_column(ADDED, DoubleType())
        self.change(doubled)

    def from_file(self, keyed):
        self.change(with_keyed, keyed)

    def read(self, columns=None):
        return self.open().scan(selected_fields=tuple(columns or ("*",))).to_arrow()


RIVALS = [("PyIceberg", PyIceberg)]
