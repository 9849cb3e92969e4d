"""What the inspection commands say about tables of Spark, PyIceberg and DuckDB equals what the engines'
own libraries report."""
import json
from urllib.parse import unquote_plus

import pytest

from iceberg_corpus import ENGINES, ENGINE_MAPS, frazil, listing

TABLES = listing(ENGINES / "TABLES.tsv")

CONTENTS = {"POSITION_DELETES": 1, "EQUALITY_DELETES": 2, "DELETION_VECTOR": 1}


def view(table, name):
    folder = ENGINES / table["dir"]
    done = frazil(folder / "metadata" / table["metadata"], ENGINE_MAPS, name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def facts_of(table):
    return json.loads((ENGINES / table["dir"] / "meta.json").read_text())


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_metadata(table):
    facts, about = facts_of(table), view(table, "describe")
    for key, name in [("format-version", "format_version"), ("table-uuid", "table_uuid"),
                      ("location", "location"), ("current-snapshot-id", "current_snapshot_id"),
                      ("last-sequence-number", "last_sequence_number"),
                      ("next-row-id", "next_row_id"), ("default-spec-id", "default_spec_id"),
                      ("default-sort-order-id", "default_sort_order_id"),
                      ("current-schema-id", "current_schema_id")]:
        if facts.get(key) is not None:
            assert about.get(name) == str(facts[key]), key
    snapshots = [
        {"snapshot-id": s["snapshot_id"], "parent-snapshot-id": s["parent_id"],
         "sequence-number": s["sequence_number"], "operation": s["operation"],
         "schema-id": s["schema_id"], "first-row-id": s["first_row_id"],
         "added-rows": s["added_rows"]}
        for s in view(table, "snapshots")
    ]
    wanted = [{"first-row-id": None, "added-rows": None, **s} for s in facts["snapshots"]]
    assert snapshots == wanted
    assert [row["snapshot_id"] for row in view(table, "history")] == facts["snapshot-log"]
    refs = {row["name"]: (row["type"].lower(), row["snapshot_id"]) for row in view(table, "refs")}
    assert refs == {name: (r["type"], r["snapshot-id"]) for name, r in facts["refs"].items()}
    kinds = [row["kind"] for row in view(table, "statistics")]
    assert kinds.count("statistics") == facts["statistics-files"]
    assert kinds.count("partition-statistics") == facts["partition-statistics-files"]


def fact(row, content, **more):
    found = {"path": row["location"], "content": content, "format": row["file_format"].lower(),
             "records": row["record_count"], "spec-id": row["spec_id"] or 0,
             "partition": row["partition"] or "", "data-sequence-number": row["sequence_number"]}
    return found | {name: value for name, value in more.items() if value is not None}


def wanted_fact(file):
    return {key: file[key] for key in
            ("path", "content", "format", "records", "spec-id", "partition", "data-sequence-number",
             "first-row-id", "equality-ids") if key in file}


def comparable(facts):
    """Partition paths of engines differ in what they encode; PyIceberg has none. /p, file:/p and
    file:///p are one place."""
    return sorted(
        json.dumps({**f, "partition": unquote_plus(f.get("partition", "")),
                    "path": "/" + f["path"].removeprefix("file:").lstrip("/")}, sort_keys=True)
        for f in facts
    )


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_files(table):
    facts = facts_of(table)
    if "files" not in facts:
        pytest.skip("the engine's library reports no files")
    ours = [fact(row, 0, **{"first-row-id": row["first_row_id"]}) for row in view(table, "files")]
    ours += [fact(row, CONTENTS[row["content"]], **{"equality-ids": row["equality_ids"]})
             for row in view(table, "delete-files")]
    wanted = [wanted_fact(file) for file in facts["files"]]
    if not any("partition" in file for file in wanted):
        ours = [{**file, "partition": ""} for file in ours]
    assert comparable(ours) == comparable(wanted)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_sums(table):
    live = facts_of(table).get("live")
    if live is None:
        pytest.skip("the engine's library reports no sums")
    partitions, manifests = view(table, "partitions"), view(table, "manifests")

    def total(name):
        return sum(row[name] for row in partitions)

    assert total("file_count") == live["data-files"]
    assert total("record_count") == live["records-in-data-files"]
    assert total("deletion_vector_count") == live["deletion-vectors"]
    assert total("position_delete_file_count") == live["position-delete-files"]
    assert total("equality_delete_file_count") == live["equality-delete-files"]
    contents = [row["content"] for row in manifests]
    assert contents.count("DATA_MANIFEST") == live["data-manifests"]
    assert contents.count("DELETE_MANIFEST") == live["delete-manifests"]
