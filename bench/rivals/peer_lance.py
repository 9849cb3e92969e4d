"""Lance in its three ways of changing a column: update, which writes changed rows again;
merge_insert with RewriteColumns, which writes columns; add_columns, with the new column taking the
name of the old one."""

import lance
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from operations import ADDED, condition
from rival import Rival

VERSION = f"Lance {lance.__version__}"


class Lance(Rival):
    def open(self):
        return lance.dataset(str(self.folder / "table"))

    def load(self, source):
        lance.write_dataset(pq.read_table(source), str(self.folder / "table"))

    def read(self, columns=None):
        return self.open().to_table(columns=columns)


class Update(Lance):
    lacks = ("add", "file")

    def update(self, columns, share):
        self.open().update({column: f"{column} + 1" for column in columns},
                           where=condition(share) or None)


class MergeInsert(Lance):
    lacks = ("add",)

    def merge(self, dataset, rows):
        merge = dataset.merge_insert("id").when_matched_update_all()
        merge.write_mode("rewrite_columns").execute(rows)

    def update(self, columns, share):
        dataset = self.open()
        rows = dataset.to_table(columns=["id", *columns], filter=condition(share) or None)
        changed = [pc.add(rows[column], 1.0) for column in columns]
        self.merge(dataset, pa.table([rows["id"], *changed], ["id", *columns]))

    def from_file(self, keyed):
        self.merge(self.open(), pq.read_table(keyed))


class AddColumns(Lance):
    lacks = ("tenth", "thousandth", "file")

    def update(self, columns, share):
        dataset = self.open()
        dataset.add_columns({f"{column}_new": f"{column} + 1" for column in columns})
        dataset.drop_columns(list(columns))
        dataset.alter_columns(*({"path": f"{column}_new", "name": column} for column in columns))

    def add(self):
        self.open().add_columns({ADDED: "c_1 * 2"})


RIVALS = [("Lance update", Update), ("Lance merge_insert", MergeInsert),
          ("Lance add_columns", AddColumns)]
