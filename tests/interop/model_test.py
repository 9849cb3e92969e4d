"""Random sequences of everything that changes a table, against a plain model of its rows: values,
row ids, numbers of last updates, earlier snapshots. FRAZIL_LONG=1 runs many more; SEED=N one."""
import copy
import json
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType

from frazil import Warehouse

SEEDS = [int(os.environ["SEED"])] if "SEED" in os.environ else range(
    400 if "FRAZIL_LONG" in os.environ else 12)
STEPS = 25
TYPES = {"long": pa.int64(), "double": pa.float64(), "string": pa.string()}
LINEAGE = ("_row_id", "_last_updated_sequence_number")


class Model:
    """A table, and what it must hold. Rows are known by the column k, which nobody changes."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.place = Warehouse(folder / "warehouse")
        self.folder = folder
        self.place.folder.mkdir()
        self.columns = {"k": "long", "n": "long", "x": "double", "s": "string"}
        self.rows = {}  # k -> {column: value, "_row_id", "_last_updated_sequence_number"}
        self.next_k = 0
        self.files = 0
        self.names = 0
        self.snapshots = []  # (id, rows)
        self.story = []
        self.start()

    # ---- beginnings ----

    def start(self):
        """A table that Frazil made, or one of PyIceberg that is upgraded, maybe partitioned."""
        kind = self.random.choice(["import", "plain", "identity", "bucket[3]", "truncate[4]"])
        self.story.append(kind)
        if kind == "import":
            self.place.run("import", "db.t", *(self.file(5) for _ in range(3)))
        else:
            self.pyiceberg(kind)
            self.place.run("upgrade", "db.t", "--to", "4")
            self.place.run("append", "db.t", self.file(5))
            self.place.run("sql", "UPDATE db.t SET n = n WHERE k >= 0")
        for row in self.scan():  # from here on numbers are the model's own
            self.rows[row["k"]].update({name: row[name] for name in LINEAGE})
        self.remember()

    def pyiceberg(self, kind):
        catalog = SqlCatalog("frazil", uri=f"sqlite:///{self.place.folder}/catalog.db",
                             warehouse=f"file://{self.place.folder}")
        catalog.create_namespace("db")
        schema = Schema(NestedField(1, "k", LongType()), NestedField(2, "n", LongType()),
                        NestedField(3, "x", DoubleType()), NestedField(4, "s", StringType()))
        source = 2 if kind == "bucket[3]" else 4
        spec = PartitionSpec() if kind == "plain" else PartitionSpec(
            PartitionField(source, 1000, parse_transform(kind), "part"))
        table = catalog.create_table("db.t", schema, partition_spec=spec)
        for _ in range(0 if "[" in kind else 2):  # others need more than PyIceberg alone
            table.append(self.table(6))

    # ---- rows ----

    def value(self, kind):
        if self.random.random() < 0.15:
            return None
        number = self.random.randint(-5, 5)
        return {"long": number, "double": number / 4, "string": "v" * (number % 3) + str(number)}[kind]

    def table(self, count):
        rows = self.random_rows(self.fresh(count))
        self.rows.update({row["k"]: dict(row) for row in rows})
        return self.arrow(rows)

    def fresh(self, count):
        self.next_k += count
        return range(self.next_k - count, self.next_k)

    def random_rows(self, keys):
        return [{name: self.value(kind) for name, kind in self.columns.items()} | {"k": k}
                for k in keys]

    def arrow(self, rows):
        schema = pa.schema([(name, TYPES[kind]) for name, kind in self.columns.items()])
        return pa.Table.from_pylist(rows, schema=schema)

    def write(self, table):
        path = self.folder / f"{self.files}.parquet"
        self.files += 1
        pq.write_table(table, path, row_group_size=3)
        return str(path)

    def file(self, count):
        return self.write(self.table(count))

    def scan(self, *options):
        text = self.place.run("scan", "db.t", "--with-lineage", "--format", "jsonl", *options)
        return [json.loads(line) for line in text.splitlines()]

    # ---- what became of them ----

    def newest(self):
        snapshots = json.loads(self.place.run("snapshots", "db.t", "--json"))
        return next(s for s in snapshots if s["is_current"])

    def remember(self):
        newest = self.newest()["snapshot_id"]
        if not self.snapshots or self.snapshots[-1][0] != newest:
            self.snapshots.append((newest, copy.deepcopy(self.rows)))

    def check(self):
        found = {row["k"]: row for row in self.scan()}
        assert found == self.rows, self.story
        self.remember()

    def check_past(self):
        snapshot, rows = self.random.choice(self.snapshots)
        found = {row["k"]: row for row in self.scan("--snapshot", str(snapshot))}
        assert found.keys() == rows.keys(), (snapshot, self.story)
        for k, row in found.items():
            common = row.keys() & rows[k].keys()
            assert {c: row[c] for c in common} == {c: rows[k][c] for c in common}, self.story

    def sql(self, text):
        self.story.append(text)
        self.place.run("sql", text)

    # ---- steps ----

    def condition(self):
        """Text, and the same for a row of the model."""
        kind = self.random.randrange(4)
        if kind == 0:
            return "", lambda row: True
        if kind == 1:
            least = self.random.randint(0, max(self.next_k, 1))
            return f" WHERE k >= {least}", lambda row: row["k"] >= least
        if kind == 2:
            by, rest = self.random.randint(2, 6), self.random.randint(0, 5)
            return f" WHERE k % {by} = {rest}", lambda row: row["k"] % by == rest
        name = self.random.choice([c for c in self.columns if c != "k"])
        return f" WHERE {name} IS NULL", lambda row: row[name] is None

    def update(self):
        names = self.random.sample([c for c in self.columns if c != "k"],
                                   self.random.randint(1, min(2, len(self.columns) - 1)))
        sets, functions = [], {}
        for name in names:
            kind = self.columns[name]
            value = self.value(kind)
            if kind != "string" and self.random.random() < 0.5:
                sets.append(f"{name} = {name} + 1")
                functions[name] = lambda row, name=name: None if row[name] is None else row[name] + 1
            else:
                text = "NULL" if value is None else f"'{value}'" if kind == "string" else str(value)
                sets.append(f"{name} = {text}")
                functions[name] = lambda row, value=value: value
        where, matches = self.condition()
        self.sql(f"UPDATE db.t SET {', '.join(sets)}{where}")
        touched = [row for row in self.rows.values() if matches(row)]
        number = self.newest()["sequence_number"] if touched else None
        for row in touched:
            row.update({name: function(row) for name, function in functions.items()})
            row["_last_updated_sequence_number"] = number

    def mode(self):
        """One of its own for each kind of statement."""
        statement = self.random.choice(["update", "delete", "merge"])
        modes = ["copy-on-write", "merge-on-read", "auto"] + ["column-file"] * (statement != "delete")
        self.sql(f"ALTER TABLE db.t SET TBLPROPERTIES "
                 f"('write.{statement}.mode' = '{self.random.choice(modes)}')")

    def delete(self):
        by, rest = self.random.randint(3, 9), self.random.randint(0, 8)
        self.sql(f"DELETE FROM db.t WHERE k % {by} = {rest}")
        self.rows = {k: row for k, row in self.rows.items() if k % by != rest}

    def append(self):
        before = set(self.rows)
        path = self.file(self.random.randint(1, 9))
        self.story.append(f"append {path}")
        self.place.run("append", "db.t", path)
        self.learn(before)

    def learn(self, before):
        """Rows that were not there before have row ids that no other has."""
        number = self.newest()["sequence_number"]
        ids = {row["k"]: row["_row_id"] for row in self.scan()}
        given = {row["_row_id"] for k, row in self.rows.items() if k in before}
        for k in self.rows.keys() - before:
            assert ids[k] not in given, self.story
            given.add(ids[k])
            self.rows[k].update({"_row_id": ids[k], "_last_updated_sequence_number": number})

    def merge(self):
        """Some rows are updated, or deleted where the new value is null; new ones are inserted."""
        by, rest = self.random.randint(2, 6), self.random.randint(0, 5)
        name = self.random.choice([c for c in self.columns if c != "k"])
        old = [k for k in self.rows if k % by == rest]
        rows = self.random_rows([*old, *self.fresh(self.random.randint(0, 4))])
        self.random.shuffle(rows)
        self.sql(f"MERGE INTO db.t USING '{self.write(self.arrow(rows))}' s ON t.k = s.k "
                 f"WHEN MATCHED AND s.{name} IS NULL THEN DELETE "
                 f"WHEN MATCHED THEN UPDATE SET {name} = s.{name} WHEN NOT MATCHED THEN INSERT *")
        before, number = set(self.rows), self.newest()["sequence_number"]
        for row in rows:
            k = row["k"]
            if k not in before:
                self.rows[k] = row
            elif row[name] is None:
                del self.rows[k]
            else:
                self.rows[k].update({name: row[name], "_last_updated_sequence_number": number})
        self.learn(before)

    def compact(self):
        self.story.append("compact")
        self.place.run("compact", "db.t")

    def expire(self):
        count = self.random.randint(1, 4)
        self.story.append(f"expire all but {count}")
        told = json.loads(self.place.run("expire", "db.t", "--json", "--older-than", "2099-01-01",
                                         "--retain-last", str(count)))
        assert told["failed"] == told["unreadable"] == 0, self.story
        left = {s["snapshot_id"] for s in json.loads(self.place.run("snapshots", "db.t", "--json"))}
        assert len(left) <= count, self.story
        self.snapshots = [s for s in self.snapshots if s[0] in left]
        assert self.snapshots, self.story
        told = json.loads(self.place.run("remove-orphans", "db.t", "--json", "--force",
                                         "--older-than", "2099-01-01"))
        assert told["files"] == [], self.story  # all that was not needed has gone

    def leaves(self):
        most = self.random.choice([0, 2, 512])
        self.sql("ALTER TABLE db.t SET TBLPROPERTIES "
                 f"('write.root-manifest.max-entries' = '{most}')")

    def add_column(self):
        name, kind = f"c{self.names}", self.random.choice(list(TYPES))
        self.names += 1
        self.sql(f"ALTER TABLE db.t ADD COLUMN {name} {kind}")
        self.columns[name] = kind
        for row in self.rows.values():
            row[name] = None

    def rename_column(self):
        name = self.random.choice([c for c in self.columns if c != "k"])
        new = f"r{self.names}"
        self.names += 1
        self.sql(f"ALTER TABLE db.t RENAME COLUMN {name} TO {new}")
        self.columns = {new if c == name else c: kind for c, kind in self.columns.items()}
        for row in self.rows.values():
            row[new] = row.pop(name)

    def drop_column(self):
        added = [c for c in self.columns if c.startswith("c")]
        if added:
            name = self.random.choice(added)
            self.sql(f"ALTER TABLE db.t DROP COLUMN {name}")
            del self.columns[name]
            for row in self.rows.values():
                del row[name]

    def step(self):
        steps = [self.update] * 6 + [self.delete] * 2 + [self.append] * 2 + [self.merge] * 3 + [self.mode] * 3 + [
            self.compact, self.expire, self.leaves, self.add_column, self.rename_column, self.drop_column]
        self.random.choice(steps)()
        self.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_holds_what_the_model_holds(tmp_path, seed):
    model = Model(tmp_path, seed)
    model.check()
    for i in range(STEPS):
        model.step()
        if i % 5 == 4:
            model.check_past()
    model.place.run("validate", "db.t")
