"""Paimon with data evolution: all rows by its shard updater, some rows by their row ids."""

import importlib.metadata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pypaimon import CatalogFactory, Schema
from pypaimon.schema.data_types import AtomicType
from pypaimon.schema.schema_change import SchemaChange

from operations import ADDED
from rival import Rival

VERSION = f"Paimon {importlib.metadata.version('pypaimon')}"
OPTIONS = {"row-tracking.enabled": "true", "data-evolution.enabled": "true",
           "file.format": "parquet"}


def scan(table, columns=None):
    builder = table.new_read_builder()
    if columns:
        builder = builder.with_projection(columns)
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())


def update_shard(table, sources, columns, change):
    """Give columns what change makes of an array of each of the sources."""
    builder = table.new_batch_write_builder()
    update = builder.new_update()
    update.with_read_projection(list(sources))
    update.with_update_type(list(columns))
    shard = update.new_shard_updator(0, 1)
    for batch in shard.arrow_reader():
        arrays = [change(batch.column(source)) for source in sources]
        shard.update_by_arrow_batch(pa.RecordBatch.from_arrays(arrays, list(columns)))
    commit = builder.new_commit()
    commit.commit(shard.prepare_commit())
    commit.close()


def update_rows(table, columns, rows):
    """rows: _ROW_ID and the columns."""
    builder = table.new_batch_write_builder()
    update = builder.new_update().with_update_type(list(columns))
    commit = builder.new_commit()
    commit.commit(update.update_by_arrow_with_row_id(rows))
    commit.close()


class Paimon(Rival):
    def catalog(self):
        return CatalogFactory.create({"warehouse": str(self.folder / "warehouse")})

    def open(self):
        return self.catalog().get_table("db.wide")

    def load(self, source):
        rows = pq.read_table(source)
        rows = rows.cast(pa.schema([pa.field(f.name, f.type) for f in rows.schema]))
        catalog = self.catalog()
        catalog.create_database("db", True)
        catalog.create_table("db.wide", Schema.from_pyarrow_schema(rows.schema, options=OPTIONS),
                             False)
        builder = self.open().new_batch_write_builder()
        write, commit = builder.new_write(), builder.new_commit()
        write.write_arrow(rows)
        commit.commit(write.prepare_commit())
        write.close()
        commit.close()

    def update(self, columns, share):
        table = self.open()
        if share == 1:
            update_shard(table, columns, columns, lambda array: pc.add(array, 1.0))
            return
        rows = scan(table, ["id", *columns, "_ROW_ID"])
        rows = rows.filter(pa.array(rows["id"].to_numpy() % share == 0))
        changed = [pc.add(rows[column], 1.0) for column in columns]
        update_rows(table, columns, pa.table([rows["_ROW_ID"], *changed], ["_ROW_ID", *columns]))

    def add(self):
        change = SchemaChange.add_column(ADDED, AtomicType("DOUBLE"))
        self.catalog().alter_table("db.wide", [change], False)
        update_shard(self.open(), ["c_1"], [ADDED], lambda array: pc.multiply(array, 2.0))

    def from_file(self, keyed):
        table = self.open()
        rows, new = scan(table, ["id", "_ROW_ID"]), pq.read_table(keyed)
        order = np.argsort(rows["id"].to_numpy())
        at = order[np.searchsorted(rows["id"].to_numpy(), new["id"].to_numpy(), sorter=order)]
        update_rows(table, ["c_1"], pa.table([rows["_ROW_ID"].take(at), new["c_1"]],
                                             ["_ROW_ID", "c_1"]))

    def read(self, columns=None):
        return scan(self.open(), columns)


RIVALS = [("Paimon", Paimon)]
