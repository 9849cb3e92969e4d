"""Running the command frazil in tests, and what a table must hold, as plain Python."""
import json
import os
import subprocess
from pathlib import Path

import checker

BUILD = Path(os.environ.get("FRAZIL_BUILD", "build/release")).resolve()
ROW_ID, UPDATED = "_row_id", "_last_updated_sequence_number"


class Warehouse:
    """A warehouse in a folder of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def run(self, *arguments, status=0):
        """Run a command that must end with this status; its standard output."""
        command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(self.folder), *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def report(self, *arguments):
        """Run a command that commits; its figures."""
        return json.loads(self.run(*arguments, "--json"))

    def sql(self, statement):
        return self.report("sql", statement)

    def table(self, name, files=None):
        """The table as the independent checker reads it."""
        namespace, _, table = name.rpartition(".")
        location = checker.metadata_location(self.folder / "catalog.db", namespace, table)
        return checker.Table(location, files=files)


def generate(path, rows, columns, seed=1):
    subprocess.run(
        [BUILD / "bin" / "gen-wide", "--rows", str(rows), "--columns", str(columns)]
        + ["--seed", str(seed), "--out", path],
        check=True,
    )


class Story:
    """A table, the rows it must hold, and the rows that each earlier snapshot must still hold.

    Every step runs a statement on the table and the same change on the rows in Python, then lets the
    checker compare: values, row ids, sequence numbers, the rules of the format. end() does so for
    every snapshot."""

    def __init__(self, warehouse, name, files, rows):
        self.warehouse, self.name, self.files = warehouse, name, {}
        self.report = warehouse.report("import", name, *map(str, files))
        self.sequence = 1
        self.rows = [{**row, ROW_ID: i, UPDATED: 1} for i, row in enumerate(rows)]
        self.past = {}
        self.verify()

    def update(self, assignments, where=None, matches=lambda row: True):
        """assignments: column -> (SQL, the same as a function of the old row)."""
        texts = ", ".join(f"{column} = {sql}" for column, (sql, _) in assignments.items())
        statement = f"UPDATE {self.name} SET {texts}" + (f" WHERE {where}" if where else "")
        self.report = self.warehouse.sql(statement)
        self.sequence += 1
        rows = []
        for row in self.rows:
            if matches(row):
                new = {column: f(row) for column, (_, f) in assignments.items()}
                row = {**row, **new, UPDATED: self.sequence}
            rows.append(row)
        self.rows = rows
        self.verify()

    def delete(self, where, matches):
        """The same of a DELETE that has rows to delete."""
        self.report = self.warehouse.sql(f"DELETE FROM {self.name} WHERE {where}")
        self.sequence += 1
        self.rows = [row for row in self.rows if not matches(row)]
        self.verify()

    def set(self, **properties):
        """Table properties, dots written as two underscores and dashes as one."""
        for name, value in properties.items():
            key = name.replace("__", ".").replace("_", "-")
            self.warehouse.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ('{key}' = '{value}')")

    def add_column(self, column, kind):
        self.warehouse.sql(f"ALTER TABLE {self.name} ADD COLUMN {column} {kind}")
        self.rows = [{**row, column: None} for row in self.rows]
        # A snapshot that is named is read by its own schema; the current one by the table's.
        self.verify(same_snapshot=True)

    def alter(self, change, edit=lambda row: row):
        """Any change of the schema alone; edit: a row of before as one of now."""
        self.warehouse.sql(f"ALTER TABLE {self.name} {change}")
        self.rows = [edit(row) for row in self.rows]
        self.verify(same_snapshot=True)

    def rename_column(self, old, new):
        self.alter(f"RENAME COLUMN {old} TO {new}",
                   lambda row: {new if k == old else k: v for k, v in row.items()})

    def drop_column(self, column):
        self.alter(f"DROP COLUMN {column}",
                   lambda row: {k: v for k, v in row.items() if k != column})

    def compact(self):
        self.report = self.warehouse.report("compact", self.name)
        self.sequence += 1
        self.verify()
        table = self.table
        assert table.snapshots[table.current]["summary"]["operation"] == "replace"
        assert not any(entry.get(checker.COLUMN_FILES) for entry in table.live(table.current))

    @property
    def table(self):
        return self.warehouse.table(self.name, self.files)

    def verify(self, same_snapshot=False):
        table = self.table
        table.check(snapshots=[table.current])
        assert table.json["last-sequence-number"] == self.sequence
        assert (table.current in self.past) == same_snapshot
        assert sorted_rows(table.rows()) == sorted_rows(self.rows)
        if not same_snapshot:
            self.past[table.current] = self.rows

    def end(self):
        """Every snapshot still holds what it held, and Frazil's own validation agrees. Files are
        read again, none is remembered from the steps."""
        self.files = {}
        table = self.table
        table.check()
        assert set(table.snapshots) == set(self.past)
        for snapshot, rows in self.past.items():
            wanted = sorted_rows(rows)
            assert sorted_rows(table.rows(snapshot)) == wanted, snapshot
        self.warehouse.run("validate", self.name)

    def scanned(self, *arguments):
        """The rows as Frazil reads them itself."""
        text = self.warehouse.run("scan", self.name, "--format", "jsonl", *arguments)
        return [json.loads(line) for line in text.splitlines()]

    def plain(self, rows=None):
        """The rows without lineage, in the order of their ids."""
        rows = sorted_rows(self.rows if rows is None else rows)
        return [{k: v for k, v in row.items() if not k.startswith("_")} for row in rows]

    def data_files(self):
        """Paths of the live data files."""
        table = self.table
        return [
            table.path(table.resolve(entry[checker.LOCATION]))
            for entry in table.live(table.current)
        ]


def sorted_rows(rows):
    return sorted(rows, key=lambda row: row[ROW_ID])
