"""Tables of the v4 corpus are updated and compacted: trees with leaves and masked entries, deletion
vectors, partitions, column files upon column files. Rows and lineage stay right, and earlier
snapshots stay what they were."""
import json
import math
import shutil

import pytest

from frazil import Warehouse
from iceberg_corpus import CORPORA, listing

CORPUS = CORPORA / "iceberg-v4"
LINEAGE = ("_row_id", "_last_updated_sequence_number")
# Locations inside manifests, or packed ones, point to places where the files of a copy are not.
ABSOLUTE = {"absolute_paths", "outside_location", "location_absent", "gzip_metadata"}


def tables():
    return [
        table["dir"]
        for table in listing(CORPUS / "TABLES.tsv")
        if not table["must_fail"] and table["dir"] not in ABSOLUTE
        and not table["dir"].startswith(("upgraded", "legacy", "avro", "v2_", "v3_", "v1_"))
    ]


def expected(name):
    return rows_by_id((CORPUS / name / "expected.jsonl").read_text())


def rows_by_id(text):
    return {row["_row_id"]: row for row in map(json.loads, text.splitlines())}


@pytest.fixture
def copy(tmp_path, request):
    """A copy of a corpus table, known to a catalog."""
    name = request.param
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.folder.mkdir()
    folder = warehouse.folder / name
    shutil.copytree(CORPUS / name, folder, copy_function=shutil.copyfile)
    for path in folder.glob("metadata/*.json"):
        path.write_text(path.read_text().replace(f"file:///golden/{name}", f"file://{folder}"))
    newest = next(t["metadata"] for t in listing(CORPUS / "TABLES.tsv") if t["dir"] == name)
    warehouse.run("register", "db.t", str(folder / "metadata" / newest))
    warehouse.table = name
    return warehouse


# Files of snapshots before the last are gone there.
LOSSY = {"mdv_dense", "mdv_sparse", "mdv_raw_descriptors", "mdv_lenient"}


def validate(warehouse):
    if warehouse.table not in LOSSY:
        warehouse.run("validate", "db.t")


def scan(warehouse, *options):
    return rows_by_id(
        warehouse.run("scan", "db.t", "--with-lineage", "--format", "jsonl", *options)
    )


def same(ours, theirs):
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs)) or math.isclose(
            ours, theirs, rel_tol=1e-6)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs or str(ours) == str(theirs)


def check(ours, theirs):
    assert ours.keys() == theirs.keys()
    for row_id, row in theirs.items():
        assert same(ours[row_id], row), f"row {row_id}: {ours[row_id]} is not {row}"


def columns(warehouse):
    schema = json.loads(warehouse.run("schema", "db.t", "--json"))
    text = warehouse.run("describe", "db.t", "--json")
    top = [c for c in schema if "." not in c["name"]]
    return [c for c in top if c["type"] != "unknown"], json.loads(text)


def sequence(warehouse):
    return json.loads(warehouse.run("snapshots", "db.t", "--json"))[-1]["sequence_number"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def update(warehouse, rows, column, value, condition):
    """Run an update, and do the same to the rows expected."""
    text = f"UPDATE db.t SET {quoted(column)} = {value}"
    touched = [i for i in rows if condition is None or i % 2 == condition]
    if condition is not None:
        text += f" WHERE _row_id % 2 = {condition}"
    warehouse.run("sql", text)
    number = sequence(warehouse) if touched else None
    for i in touched:
        rows[i]["_last_updated_sequence_number"] = number
        if value == "NULL":
            rows[i][column] = None


def delete(warehouse, rows, divisor, rest):
    warehouse.run("sql", f"DELETE FROM db.t WHERE _row_id % {divisor} = {rest}")
    for i in [i for i in rows if i % divisor == rest]:
        del rows[i]


def check_filter(warehouse, rows, all_columns):
    """Leaves and files are skipped by what was written about them, never wrongly."""
    for column in all_columns:
        name = column["name"]
        values = {row[name] for row in rows.values()} if column["type"] in ("int", "long") else ()
        for value in sorted(v for v in values if v is not None)[:3]:
            found = scan(warehouse, "--where", f"{quoted(name)} = {value}")
            assert found.keys() == {i for i in rows if rows[i][name] == value}


def few_in_root(warehouse, most):
    warehouse.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES "
                  f"('write.root-manifest.max-entries' = '{most}')")


@pytest.mark.parametrize("copy", tables(), indirect=True)
def test_deletes_and_updates_in_leaves(copy):
    """Vectors before, between and after column files; then files without deleted rows again.
    Nearly every commit moves its entries into leaves."""
    rows = expected(copy.table)
    few_in_root(copy, 1)
    all_columns, _ = columns(copy)
    delete(copy, rows, 5, 1)
    check(scan(copy), rows)
    name = all_columns[-1]["name"]
    update(copy, rows, name, quoted(name), 0)
    delete(copy, rows, 7, 2)
    check(scan(copy), rows)
    copy.run("compact", "db.t")
    check(scan(copy), rows)
    delete(copy, rows, 3, 0)
    check(scan(copy), rows)
    check_filter(copy, rows, all_columns)
    copy.run("sql", "DELETE FROM db.t")
    assert scan(copy) == {}
    validate(copy)


@pytest.mark.parametrize("copy", tables(), indirect=True)
def test_updates_and_compaction(copy):
    rows = expected(copy.table)
    check(scan(copy), rows)
    before = json.loads(copy.run("snapshots", "db.t", "--json"))
    all_columns, _ = columns(copy)
    optional = [c for c in all_columns if not c["required"]]
    if optional:
        update(copy, rows, optional[-1]["name"], "NULL", 0)
        check(scan(copy), rows)
    for column in all_columns[:3]:
        update(copy, rows, column["name"], quoted(column["name"]), 1)
    check(scan(copy), rows)
    update(copy, rows, all_columns[0]["name"], quoted(all_columns[0]["name"]), None)
    check(scan(copy), rows)
    copy.run("compact", "db.t")
    check(scan(copy), rows)
    validate(copy)
    if before:
        last = next(s["snapshot_id"] for s in before if s["is_current"])
        assert len(scan(copy, "--snapshot", str(last))) == len(expected(copy.table))


@pytest.mark.skipif(not tables(), reason="FRAZIL_CORPORA has no iceberg-v4")
def test_the_corpus_is_there():
    assert len(tables()) > 50
