"""Conditions are never wrong: over random tables of every version, a scan that skips what partitions
and statistics rule out finds the rows that a scan of everything with the condition behind it finds.
scan_predicates compares. FRAZIL_LONG=1 asks a million conditions, otherwise it is ten thousand."""
import os
import random
import subprocess

import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import checker
from frazil import BUILD, Warehouse
from prune_test import condition
from random_tables import RandomTable

TABLES, CONDITIONS = (500, 2000) if "FRAZIL_LONG" in os.environ else (40, 260)
KEPT = 100  # of the conditions of a table of version 4


def ask(metadata, conditions, rows=None):
    """Data files, and those that were skipped, summed over all conditions."""
    done = subprocess.run([BUILD / "bin" / "scan_predicates", metadata], text=True,
                          input="\n".join(conditions) + "\n", capture_output=True)
    first, *lines = done.stdout.splitlines() or [None]
    wrong = [f"{c}: {line}" for c, line in zip(conditions, lines) if not line.endswith(" ok")]
    assert not wrong, (str(metadata), len(wrong), wrong[:5])
    assert done.returncode == 0 and len(lines) == len(conditions), done.stderr
    assert rows is None or int(first) == rows, str(metadata)
    numbers = [line.split(" ") for line in lines]
    return sum(int(n[1]) for n in numbers), sum(int(n[2]) for n in numbers)


def upgraded(folder, metadata):
    """The same table in version 4, by its metadata alone."""
    warehouse = Warehouse(folder / "upgraded")
    warehouse.folder.mkdir()
    catalog = SqlCatalog("frazil", uri=f"sqlite:///{warehouse.folder}/catalog.db",
                         warehouse=f"file://{warehouse.folder}")
    catalog.create_namespace("db")
    catalog.register_table("db.t", f"file://{metadata}")
    warehouse.run("upgrade", "db.t", "--to", "4")
    return checker.metadata_location(warehouse.folder / "catalog.db", "db", "t")


@pytest.mark.parametrize("part", range(4))
def test_no_row_is_lost_nor_won(tmp_path, part):
    files = skipped = asked = 0
    for seed in range(part, TABLES, 4):
        rng = random.Random(seed)
        table = RandomTable(rng, tmp_path / str(seed))
        conditions = [condition(rng, table.columns) for _ in range(CONDITIONS)]
        counts = ask(table.metadata, conditions, len(table.live))
        files, skipped, asked = files + counts[0], skipped + counts[1], asked + len(conditions)
        if seed % 5 == 0:
            newer = upgraded(tmp_path / str(seed), table.metadata)
            ask(newer, conditions[:KEPT], len(table.live))
            asked += KEPT
    print(f"{asked} conditions, {files} files, {skipped} skipped")
    assert skipped > files // 10


@pytest.mark.parametrize("seed", range(4))
def test_tables_with_column_files(tmp_path, seed):
    """Tables of version 4 of our own, in which columns were replaced and bounds are cut."""
    rng = random.Random(1000 + seed)
    maker = RandomTable(rng, tmp_path / "source")
    names = ["id", *maker.names]
    sources = []
    for i in range(4):
        rows = range(60 * i, 60 * (i + 1))
        sources.append(str(tmp_path / f"{i}.parquet"))
        pq.write_table(maker.arrow_rows(rows, False, ()).select(names), sources[-1],
                       row_group_size=20)
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.run("import", "db.t", *sources)
    columns = {n: maker.columns[n] for n in names}
    for name in rng.sample(maker.names, 2):
        kind, values = columns[name]
        first = rng.randrange(200)
        warehouse.sql(f"UPDATE db.t SET {name} = NULL WHERE id BETWEEN {first} AND {first + 30}")
        columns[name] = (kind, [None if first <= i <= first + 30 else v
                                for i, v in enumerate(values)])
    metadata = checker.metadata_location(warehouse.folder / "catalog.db", "db", "t")
    conditions = [condition(rng, columns) for _ in range(CONDITIONS)]
    ask(metadata, conditions, 240)
