"""Manifest lists and manifests of versions 1 to 3 by many writers: the files of each table are those
that an independent reader counted."""
import json

import pytest

from iceberg_corpus import CORPORA, frazil, listing

TABLES = [t for t in listing(CORPORA / "TABLES.tsv") if t["snapshots"] != "0"]

# Where the listing has no count because no reader of its time could read the table.
DATA_FILES = {"legacy_v1": 2, "t1": 1}


def maps_of(table):
    """Tables recorded their folder in several ways, some more than one."""
    folder = f"{CORPORA / table['table_dir']}/"
    persistent = f"{CORPORA / 'duckdb-iceberg/data/persistent'}/"
    location = table["recorded_location"].rstrip("/") + "/"
    return [(location, folder), (location.removeprefix("./"), folder),
            ("data/persistent/", persistent)]


def view(table, name):
    metadata = CORPORA / table["table_dir"] / "metadata" / table["metadata_file"]
    done = frazil(metadata, maps_of(table), name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["table_dir"].rsplit("/", 1)[-1])
def test_files_are_counted(table):
    deletes = [row["content"] for row in view(table, "delete-files")]
    name = table["table_dir"].rsplit("/", 1)[-1]
    assert len(view(table, "files")) == DATA_FILES.get(name, int(table["data_files"]))
    assert deletes.count("POSITION_DELETES") == int(table["pos_delete_files"])
    assert deletes.count("EQUALITY_DELETES") == int(table["eq_delete_files"])
    assert deletes.count("DELETION_VECTOR") == int(table["dv_entries"])
