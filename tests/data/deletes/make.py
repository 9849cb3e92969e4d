"""Write the table of this folder anew; run it from the root of the tree with tests/interop on
PYTHONPATH. tests/unit/scan/scan_deletes_test.c knows which rows are left."""
import shutil
from pathlib import Path

import pyarrow as pa

from delete_tables import DeleteTable, field_id

FOLDER = Path(__file__).resolve().parent
KINDS = {"id": (1, pa.int64()), "name": (2, pa.string()), "x": (3, pa.float64()),
         "gone": (4, pa.string())}


def value(name, i):
    return {"id": i, "name": f"n{i % 50}", "x": None if i % 10 == 0 else i / 2, "gone": f"g{i % 20}"}[name]


def table_of(names, rows):
    fields = [pa.field(n, KINDS[n][1], True, field_id(KINDS[n][0])) for n in names]
    return pa.table([pa.array([row[n] for row in rows], KINDS[n][1]) for n in names], pa.schema(fields))


def data(names, first, end):
    return table_of(names, [{n: value(n, i) for n in names} for i in range(first, end)])


for name in ("data", "metadata"):
    shutil.rmtree(FOLDER / name, ignore_errors=True)
fields = [(1, "id", "long"), (2, "name", "string"), (3, "x", "double")]
table = DeleteTable(FOLDER, fields + [(4, "gone", "string")], version=3, location="file:///deletes")
small = {"row_group_size": 8, "compression": "zstd"}
first = table.append(data(KINDS, 0, 200), row_group_size=64)
second = table.append(data(KINDS, 200, 400), row_group_size=64)
table.commit()
table.delete_equal(table_of(["gone"], [{"gone": "g3"}]), [4])
table.commit()
table.add_schema(fields)
third = table.append(data(["id", "name", "x"], 400, 500), row_group_size=64)
table.commit()
shared = [(first, p) for p in range(0, 200, 7)] + [(second, p) for p in range(3, 200, 7)]
table.delete_positions(shared, bounds=False, **small)
table.delete_positions([(first, p) for p in range(0, 200, 11)], single=True, **small)
table.delete_vector(third, range(0, 100, 13))
table.delete_equal(table_of(["id"], [{"id": i} for i in range(0, 500, 17)]), [1], **small)
table.delete_equal(table_of(["name", "x"], [{"name": f"n{i}", "x": None} for i in (10, 11, 12)]), [2, 3], **small)
table.delete_equal(table_of(["x"], [{"x": 7777.0 + i} for i in range(40)]), [3], **small)
newest = table.commit()
for path in (FOLDER / "metadata").glob("*.metadata.json"):
    if path != newest:
        path.unlink()
newest.rename(newest.with_name("table.metadata.json"))
