"""Delta Lake through delta-rs, with Zstandard and without dictionaries: its defaults take longer
and write more of this table."""

import deltalake
import pyarrow.parquet as pq
from deltalake import ColumnProperties, DeltaTable, WriterProperties
from deltalake.schema import Field, PrimitiveType

from operations import ADDED, condition
from rival import Rival

VERSION = f"delta-rs {deltalake.__version__}"


def writer():
    return WriterProperties(compression="ZSTD", compression_level=1,
                            default_column_properties=ColumnProperties(dictionary_enabled=False))


class Delta(Rival):
    def open(self):
        return DeltaTable(str(self.folder / "table"))

    def load(self, source):
        deltalake.write_deltalake(str(self.folder / "table"), pq.read_table(source),
                                  writer_properties=writer())

    def update(self, columns, share):
        self.open().update(updates={column: f"{column} + 1" for column in columns},
                           predicate=condition(share) or None, writer_properties=writer())

    def add(self):
        self.open().alter.add_columns([Field(ADDED, PrimitiveType("double"))])
        self.open().update(updates={ADDED: "c_1 * 2"}, writer_properties=writer())

    def from_file(self, keyed):
        merge = self.open().merge(pq.read_table(keyed), "t.id = s.id", source_alias="s",
                                  target_alias="t", writer_properties=writer())
        merge.when_matched_update({"c_1": "s.c_1"}).execute()

    def read(self, columns=None):
        return self.open().to_pyarrow_dataset().to_table(columns=columns)


RIVALS = [("delta-rs", Delta)]
