"""Tables of versions 1 to 3 that other projects keep for their own tests: live rows and, where they
are known, values. Tables whose data files have a format that is not read yet say so."""
import json

import pyarrow as pa
import pytest

from iceberg_corpus import CORPORA, difference, frazil, listing, rows_of, scan

TABLES = listing(CORPORA / "TABLES.tsv")

# Formats of data files that there is no reader for.
UNREAD_FORMATS = ["orc"]

# Tables whose files lie in several places, or are recorded in several ways.
DUCKDB = CORPORA / "duckdb-iceberg" / "data" / "persistent"
IMPALA = CORPORA / "impala-iceberg" / "hadoop_catalog" / "ice"
MORE_MAPS = {
    "lineitem_iceberg": [("lineitem_iceberg", DUCKDB / "iceberg" / "lineitem_iceberg")],
    "lineitem_iceberg_gz": [("lineitem_iceberg_gz", DUCKDB / "iceberg" / "lineitem_iceberg_gz")],
    "big_query_error": [("data/persistent", DUCKDB)],
    "my_table": [("data/persistent", DUCKDB)],
    "iceberg_multiple_storage_locations": [
        ("/test-warehouse/iceberg_test/hadoop_catalog/ice", IMPALA),
    ],
}

# table: (what the answer says, why)
REFUSED = {
    "generated_bounds": ("no storage for location s3:", "manifests only: its data files never were"),
    "airports_parquet": (
        "columns have no field ids and no name mapping gives them any",
        "spec, Column Projection: nothing tells which column is which; Iceberg-Java counts columns",
    ),
    "iceberg_migrated_complex_test": (
        "column \"struct_1_col.string_col\" is string in the file and is to be read as list<int>",
        "spec, Column Projection: its name mapping gives ids that its schema has for other fields",
    ),
}

# Tables of which the values kept beside them are not what the specification wants.
OTHER_VALUES = {
    "add_columns_with_defaults_in_struct":
        "spec, Default values: a member that a struct in the file lacks has its initial default",
}

# Tables of which variants are kept as their two binary parts, and the columns of these.
VARIANTS = {"trino_variant": ["v"]}


def maps_of(table):
    folder = CORPORA / table["table_dir"]
    maps = [(table["recorded_location"], folder)]
    return maps + MORE_MAPS.get(folder.name, [])


def expected_rows(table):
    path = CORPORA / "EXPECTED" / (table["table_dir"].replace("/", "__") + ".json")
    if not path.is_file():
        return None
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def pairs_of(metadata, maps, column):
    """The binary parts of variants, which only Arrow has, as the corpus notes them."""
    done = frazil(metadata, maps, "scan", "--format", "arrow", "--columns", column, text=False)
    found = pa.ipc.open_stream(done.stdout).read_all()
    assert found.schema.field(column).metadata[b"ARROW:extension:name"] == b"arrow.parquet.variant"
    return [v and {k: f"hex:{v[k].hex()}" for k in ("metadata", "value")}
            for v in found[column].to_pylist()]


def check(table):
    metadata = CORPORA / table["table_dir"] / "metadata" / table["metadata_file"]
    lineage = ["--with-lineage"] if table["format"] == "v3" else []
    done = scan(metadata, maps_of(table), *lineage)
    refusal = REFUSED.get(table["table_dir"].rsplit("/", 1)[-1])
    unread = [name for name in UNREAD_FORMATS if name in table["data_formats"]]
    if refusal or unread:
        wanted = refusal[0] if refusal else f"no reader for format {unread[0]}"
        assert done.returncode != 0 and wanted in done.stderr, done.stderr or "it was read"
        return
    assert done.returncode == 0, done.stderr
    ours = rows_of(done.stdout)
    for column in VARIANTS.get(table["table_dir"].rsplit("/", 1)[-1], []):
        for row, pair in zip(ours, pairs_of(metadata, maps_of(table), column), strict=True):
            row[column] = pair
    if table["expected_live_rows"] != "-":
        assert len(ours) == int(table["expected_live_rows"])
    wanted = expected_rows(table)
    if wanted is not None and table["table_dir"].rsplit("/", 1)[-1] not in OTHER_VALUES:
        if wanted and "_row_id" not in wanted[0]:
            ours = [{k: v for k, v in row.items() if not k.startswith("_")} for row in ours]
        assert (found := difference(ours, wanted)) is None, found


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["table_dir"].rsplit("/", 1)[-1])
def test_table(table):
    check(table)


def test_the_corpus_is_here():
    if not TABLES:
        pytest.skip(f"no TABLES.tsv at {CORPORA}")
    assert len(TABLES) == 81
