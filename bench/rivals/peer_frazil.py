"""Frazil: whole processes, with everything synced and without."""

import functools
import json
import os
import subprocess

import pyarrow as pa

from harness import BIN, run
from operations import ADDED, assignments, where
from rival import READS, Rival

VERSION = subprocess.run([BIN / "frazil", "version"], capture_output=True, text=True,
                         check=True).stdout.split("\n")[0]


class Frazil(Rival):
    def __init__(self, folder, durability):
        super().__init__(folder)
        self.durability = durability
        self.spent = 0

    def frazil(self, *args):
        seconds, _, out = run(BIN / "frazil", "--warehouse", self.folder, *args)
        self.spent += seconds
        return out

    def load(self, source):
        self.frazil("import", "db.wide", source, "--property",
                    f"write.durability={self.durability}")

    def update(self, columns, share):
        self.frazil("sql", f"UPDATE db.wide SET {assignments(columns)}{where(share)}")

    def add(self):
        self.frazil("sql", f"ALTER TABLE db.wide ADD COLUMN {ADDED} double")
        self.frazil("sql", f"UPDATE db.wide SET {ADDED} = c_1 * 2")

    def from_file(self, keyed):
        self.frazil("sql", f"UPDATE db.wide SET c_1 = s.c_1 FROM '{keyed}' s "
                    "WHERE db.wide.id = s.id")

    def read(self, columns=None):
        options = ["--columns", ",".join(columns)] if columns else []
        done = subprocess.run(
            [BIN / "frazil", "--warehouse", self.folder, "scan", "db.wide", *options,
             "--format", "arrow"], stdout=subprocess.PIPE, check=True)
        return pa.ipc.open_stream(done.stdout).read_all()

    def seconds_of(self, work):
        self.spent = 0
        work()
        return self.spent

    def seconds_of_reading(self, columns=None):
        table = json.loads(self.frazil("describe", "db.wide", "--json"))
        out = run(BIN / "scan_bench", "--threads", os.cpu_count(), READS,
                  table["metadata_location"], *(columns or []))[2]
        return float(out.split()[0])

    def bytes_written(self):
        return None


RIVALS = [("Frazil", functools.partial(Frazil, durability="full")),
          ("Frazil, not synced", functools.partial(Frazil, durability="none"))]
