"""DuckDB's own tables, and DuckLake where its extension is installed. What DuckDB wrote into its
log is put into the table before the clock stops, as DuckLake's data is."""

import importlib.util
import pathlib

import duckdb

from operations import ADDED, assignments, where
from rival import Rival

VERSION = f"DuckDB {duckdb.__version__}"


class DuckDB(Rival):
    def open(self):
        return duckdb.connect(str(self.folder / "table.duckdb"))

    def close(self, connection):
        connection.execute("CHECKPOINT")
        connection.close()

    def run(self, *statements):
        connection = self.open()
        for statement in statements:
            connection.execute(statement)
        self.close(connection)

    def load(self, source):
        self.run(f"CREATE TABLE wide AS FROM read_parquet('{source}')")

    def update(self, columns, share):
        self.run(f"UPDATE wide SET {assignments(columns)}{where(share)}")

    def add(self):
        self.run(f"ALTER TABLE wide ADD COLUMN {ADDED} DOUBLE", f"UPDATE wide SET {ADDED} = c_1 * 2")

    def from_file(self, keyed):
        self.run(f"UPDATE wide SET c_1 = s.c_1 FROM read_parquet('{keyed}') s "
                 "WHERE wide.id = s.id")

    def read(self, columns=None):
        connection = self.open()
        names = ", ".join(columns) if columns else "*"
        return connection.execute(f"SELECT {names} FROM wide").to_arrow_table()


def ducklake_extension():
    """The file; None if it is not installed."""
    spec = importlib.util.find_spec("duckdb_extension_ducklake")
    folder = pathlib.Path(spec.submodule_search_locations[0]) if spec else None
    found = sorted(folder.glob("extensions/*/ducklake.duckdb_extension")) if spec else []
    return found[0] if found else None


class DuckLake(DuckDB):
    def open(self):
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        connection.load_extension(str(ducklake_extension()))
        connection.execute(f"ATTACH 'ducklake:{self.folder}/catalog.db' AS lake "
                           f"(DATA_PATH '{self.folder}/data/')")
        connection.execute("USE lake")
        return connection

    def close(self, connection):
        connection.close()


RIVALS = [("DuckDB", DuckDB)] + ([("DuckLake", DuckLake)] if ducklake_extension() else [])
