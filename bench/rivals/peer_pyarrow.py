"""pyarrow and nothing else: the Parquet file is read, changed and written again, which is the
least that copy-on-write can be."""

import pyarrow as pa
import pyarrow.parquet as pq

from rewriting import add_one, doubled, with_keyed
from rival import Rival

VERSION = f"pyarrow {pa.__version__}"


class Rewriting(Rival):
    def newest(self):
        return max(self.folder.glob("*.parquet"))

    def write(self, table):
        """Another version of the file."""
        path = self.folder / f"{len(list(self.folder.glob('*.parquet'))):05}.parquet"
        pq.write_table(table, path, compression="zstd", compression_level=1, use_dictionary=False)

    def load(self, source):
        self.write(pq.read_table(source))

    def update(self, columns, share):
        self.write(add_one(self.read(), columns, share))

    def add(self):
        self.write(doubled(self.read()))

    def from_file(self, keyed):
        self.write(with_keyed(self.read(), keyed))

    def read(self, columns=None):
        return pq.read_table(self.newest(), columns=columns)


RIVALS = [("pyarrow, rewriting", Rewriting)]
