"""Tables that PyIceberg writes at test time, in every kind of partition and with every kind of change it
knows: Frazil reads, through the catalog that both share, in each snapshot, each branch and tag, each
column and under each condition what PyIceberg reads."""
import math
import os
import subprocess
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from pyiceberg import transforms
from pyiceberg import types as iceberg
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema

import parquet_rows
from frazil import BUILD
from iceberg_corpus import difference, rows_of

SCHEMA = Schema(*(iceberg.NestedField(i + 1, name, kind, required=False) for i, (name, kind) in enumerate([
    ("id", iceberg.LongType()), ("p", iceberg.StringType()), ("n", iceberg.IntegerType()),
    ("amount", iceberg.DecimalType(9, 2)), ("score", iceberg.DoubleType()), ("f", iceberg.FloatType()),
    ("day", iceberg.DateType()), ("ts", iceberg.TimestampType()), ("tz", iceberg.TimestamptzType()),
    ("tm", iceberg.TimeType()), ("flag", iceberg.BooleanType()), ("bin", iceberg.BinaryType()),
    ("fx", iceberg.FixedType(3)), ("u", iceberg.UUIDType()),
    ("tags", iceberg.ListType(100, iceberg.StringType(), False)),
    ("m", iceberg.MapType(101, iceberg.StringType(), 102, iceberg.IntegerType(), False)),
    ("s", iceberg.StructType(iceberg.NestedField(103, "a", iceberg.IntegerType(), required=False),
                             iceberg.NestedField(104, "b", iceberg.StringType(), required=False))),
])))
NUMBERS = {field.name: field.field_id for field in SCHEMA.fields}

# ours, and PyIceberg's where it is another text, or which rows of all, where PyIceberg is wrong: it skips
# files with nothing but NaN
CONDITIONS = [
    ("id = 17",), ("id > 30 AND p = 'c1'",), ("p IS NULL",), ("p IS NOT NULL AND id < 9",), ("amount < 0",),
    ("amount = 1.25",), ("score > 5 AND score < 1000",), ("score IS NAN", lambda row: row["score"] == "NaN"),
    ("f <= 2.5 AND f > -1",),
    ("day < DATE '1970-01-01'", "day < '1970-01-01'"), ("day = DATE '1970-01-05'", "day = '1970-01-05'"),
    ("ts >= TIMESTAMP '1970-01-03T00:00:00'", "ts >= '1970-01-03T00:00:00'"),
    ("tz < TIMESTAMPTZ '1970-01-02T05:00:00+00:00'", "tz < '1970-01-02T05:00:00+00:00'"),
    ("flag", "flag = true"), ("NOT flag", "not (flag = true)"), ("n IN (1, 3)",), ("id NOT IN (1, 3, 17)",),
    ("p LIKE 'c%'",), ("p NOT LIKE 'c1%'",), ("p <> 'c1'",), ("n = 3 OR id = 5",), ("n >= 2 AND n <= 4",),
    ("NOT (id < 10 OR n = 7)",), ("s.a > 30",), ("s.b IS NULL",),
]


def records(first, end):
    epoch = datetime(1970, 1, 1)
    return [{
        "id": i, "p": None if i % 7 == 0 else f"c{i % 4}" if i % 9 else f"\u00e4 {i % 3}/x", "n": i % 10,
        "amount": Decimal(i * 125 - 1000).scaleb(-2),
        "score": math.nan if i % 11 == 0 else -0.0 if i % 13 == 0 else i / 3, "f": None if i % 8 == 0 else i / 4 - 3,
        "day": date(1969, 12, 20) + timedelta(days=i), "ts": epoch + timedelta(hours=7 * i, seconds=-5, microseconds=i),
        "tz": (epoch + timedelta(hours=5 * i - 40)).replace(tzinfo=timezone.utc),
        "tm": time(i % 24, i % 60, 0, i), "flag": None if i % 5 == 0 else i % 2 == 0,
        "bin": None if i % 6 == 0 else bytes([i, 255]), "fx": bytes([i, 1, 2]), "u": bytes([i * 5 % 256] * 16),
        "tags": None if i % 9 == 0 else [f"t{i}", None][:i % 3], "m": [("k", i)] if i % 4 else [],
        "s": None if i % 10 == 0 else {"a": i, "b": None if i % 3 == 0 else f"b{i}"},
    } for i in range(first, end)]


def rows(table, first, end):
    """Rows as the table's present schema has them; columns that were added since are null, or numbers."""
    schema = schema_to_pyarrow(table.schema(), include_field_ids=False)
    known = records(first, end)
    columns = []
    for field in schema:
        values = [r.get({"kind": "p"}.get(field.name, field.name)) for r in known]
        if pa.types.is_integer(field.type):
            values = [v if v is None else int(v) for v in values]
        columns.append(pa.array(values, field.type))
    return pa.table(columns, schema)


# ---- the catalog ----


def arrow_transform(transform, source):
    """What PyIceberg takes from its native package, by its own transforms of single values."""
    of_value = transform.transform(source)
    result = schema_to_pyarrow(transform.result_type(source))
    result = pa.int32() if pa.types.is_date(result) else result

    def of_array(array):
        if pa.types.is_timestamp(array.type) or pa.types.is_time(array.type):
            array = array.cast(pa.int64())
        if pa.types.is_date(array.type):
            array = array.cast(pa.int32())
        if isinstance(array.type, pa.BaseExtensionType):
            array = array.cast(array.type.storage_type)
        return pa.array([of_value(v) for v in array.to_pylist()], result)

    return of_array


class Shared:
    """One catalog file for two programs."""

    def __init__(self, folder):
        self.folder = folder
        self.catalog = SqlCatalog("shared", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
        self.catalog.create_namespace("db")

    def create(self, name, version, *fields, **properties):
        spec = PartitionSpec(*(PartitionField(NUMBERS[source], 1000 + i, transform, f"{source}_{i}")
                               for i, (source, transform) in enumerate(fields)))
        return self.catalog.create_table(f"db.{name}", SCHEMA, partition_spec=spec,
                                         properties={"format-version": version, **properties})

    def scan(self, table, *arguments):
        command = [BUILD / "bin" / "frazil", "--catalog", f"sqlite:///{self.folder}/catalog.db", "scan",
                   ".".join(table.name()), "--format", "jsonl", *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


@pytest.fixture
def shared(tmp_path, monkeypatch):
    for transform in (transforms.BucketTransform, transforms.TruncateTransform, transforms.YearTransform,
                      transforms.MonthTransform, transforms.DayTransform, transforms.HourTransform):
        monkeypatch.setattr(transform, "pyarrow_transform", arrow_transform)
    return Shared(tmp_path)


# ---- comparing ----


def plain(value):
    """NaN and infinities as Frazil writes them."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def read(scan):
    return plain(parquet_rows.rows(scan.to_arrow()))


def readings(table, conditions):
    """(arguments of Frazil's scan, rows that PyIceberg reads) of all that is compared."""
    for snapshot in table.snapshots():
        yield ["--snapshot", str(snapshot.snapshot_id)], read(table.scan(snapshot_id=snapshot.snapshot_id))
    names = [field.name for field in table.schema().fields]
    for name, ref in table.refs().items():
        found = read(table.scan().use_ref(name))
        if ref.snapshot_ref_type == "branch":  # which Frazil reads with the table's schema
            found = [{n: row.get(n) for n in names} for row in found]
        yield ["--ref", name], found
    everything = read(table.scan())
    yield [], everything
    for name in names[:: 1 if FULL else 6]:
        yield ["--columns", name], read(table.scan(selected_fields=(name,)))
    yield ["--columns", ",".join(names[::3])], read(table.scan(selected_fields=tuple(names[::3])))
    for ours, *theirs in conditions:
        theirs = theirs[0] if theirs else ours
        found = [row for row in everything if theirs(row)] if callable(theirs) else \
            read(table.scan(row_filter=theirs))
        yield ["--where", ours], found
        yield ["--where", ours, "--columns", names[-1]], [{names[-1]: row[names[-1]]} for row in found]


def check(shared, table, conditions=CONDITIONS):
    conditions = conditions if FULL else conditions[::7]
    table = shared.catalog.load_table(table.name())
    failures, count = [], 0
    for arguments, wanted in readings(table, conditions):
        done = shared.scan(table, *arguments)
        found = done.stderr if done.returncode else difference(rows_of(done.stdout), wanted)
        if found:
            failures.append(f"{' '.join(arguments)}: {found[:400]}")
        count += 1
    assert not failures, f"{len(failures)} of {count}:\n" + "\n".join(failures[:10])
    assert count > len(conditions)


# ---- the grid ----

FULL = "FRAZIL_ENGINES" in os.environ  # which takes minutes
VERSIONS = ["1", "2"] if FULL else ["2"]

PARTITIONS = {
    "none": [],
    "identity": [("p", transforms.IdentityTransform())],
    "identities": [("flag", transforms.IdentityTransform()), ("n", transforms.IdentityTransform())],
    "buckets": [("id", transforms.BucketTransform(4)), ("p", transforms.BucketTransform(3))],
    "bucket of uuid": [("u", transforms.BucketTransform(2)), ("amount", transforms.BucketTransform(2))],
    "truncate": [("p", transforms.TruncateTransform(1)), ("n", transforms.TruncateTransform(4))],
    "truncate decimals": [("amount", transforms.TruncateTransform(1000))],
    "years": [("ts", transforms.YearTransform()), ("day", transforms.MonthTransform())],
    "days": [("tz", transforms.DayTransform())],
    "hours": [("ts", transforms.HourTransform())],
    "dates": [("day", transforms.IdentityTransform())],
    "void": [("p", transforms.VoidTransform()), ("n", transforms.IdentityTransform())],
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", list(PARTITIONS)[:: 1 if FULL else 3])
def test_partitions(shared, name, version):
    table = shared.create("t", version, *PARTITIONS[name])
    table.append(rows(table, 0, 25))
    table.append(rows(table, 25, 60))
    check(shared, table)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["identity", "none", "buckets", "days"][: 4 if FULL else 1])
def test_rows_that_are_replaced(shared, name, version):
    table = shared.create("t", version, *PARTITIONS[name])
    table.append(rows(table, 0, 30))
    table.append(rows(table, 30, 50))
    table.delete("id = 3")
    table.delete("n = 7 or p = 'c2'")
    table.overwrite(rows(table, 100, 104), overwrite_filter="id >= 40")
    table.append(rows(table, 60, 62))
    check(shared, table)
    table.overwrite(rows(table, 0, 3))
    table.delete("id >= 0")
    check(shared, table, CONDITIONS[:3])


@pytest.mark.parametrize("version", VERSIONS)
def test_partitions_that_are_replaced(shared, version):
    table = shared.create("t", version, *PARTITIONS["identities"])
    table.append(rows(table, 0, 40))
    table.dynamic_partition_overwrite(rows(table, 90, 93))
    check(shared, table)


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_that_are_merged(shared, version):
    table = shared.create("t", version, *PARTITIONS["identity"])
    with table.update_schema() as update:  # values that PyIceberg cannot compare
        for name in ("tags", "m", "s", "u"):
            update.delete_column(name)
    table.append(rows(table, 0, 30))
    changed = rows(table, 20, 40)
    changed = changed.set_column(changed.column_names.index("n"), "n", pa.array([77] * 20, pa.int32()))
    table.upsert(changed, join_cols=["id"])
    check(shared, table, [c for c in CONDITIONS if "s." not in c[0]] + [("n = 77",)])


@pytest.mark.parametrize("version", VERSIONS)
def test_schemas_and_partitions_that_change(shared, version):
    table = shared.create("t", version, *PARTITIONS["identity"])
    table.append(rows(table, 0, 20))
    with table.update_schema() as update:
        update.rename_column("p", "kind")
        update.add_column("extra", iceberg.StringType())
        update.add_column(("s", "c"), iceberg.DoubleType())
        update.update_column("n", iceberg.LongType())
        update.update_column("f", iceberg.DoubleType())
        update.update_column("amount", iceberg.DecimalType(14, 2))
        update.delete_column("flag")
        update.move_first("extra")
    with table.update_spec() as update:
        update.add_field("n", transforms.TruncateTransform(4), "n_trunc")
        update.remove_field("p_0")
    table.append(rows(table, 20, 40))
    with table.update_schema() as update:
        update.add_column("flag", iceberg.IntegerType())
        update.rename_column("s.a", "aa")
    with table.update_spec() as update:
        update.remove_field("n_trunc")
        update.add_field("ts", transforms.DayTransform(), "ts_day")
        update.add_field("id", transforms.BucketTransform(2), "id_bucket")
    extra = rows(table, 40, 45)
    extra = extra.set_column(0, "extra", pa.array(["x", None, "y", "x", "z"]))
    table.append(extra)
    table.delete("id = 41 or kind = 'c3'")
    check(shared, table, [
        ("kind = 'c1'",), ("kind IS NULL",), ("extra = 'x'",), ("extra IS NULL AND id > 10",), ("n > 5",),
        ("n = 3 OR id = 42",), ("flag IS NULL",), ("f > 2",), ("amount < 0",), ("s.aa > 10",), ("s.c IS NULL",),
        ("ts < TIMESTAMP '1970-01-06T00:00:00'", "ts < '1970-01-06T00:00:00'")])


@pytest.mark.parametrize("version", VERSIONS)
def test_branches_and_tags(shared, version):
    table = shared.create("t", version, *PARTITIONS["buckets"])
    table.append(rows(table, 0, 10))
    first = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_tag(first, "first").create_branch(first, "side").commit()
    table.append(rows(table, 10, 20))
    table.append(rows(table, 50, 55), branch="side")
    with table.update_schema() as update:
        update.add_column("later", iceberg.StringType())
    table.append(rows(table, 55, 57), branch="side")
    table.delete("id = 51", branch="side")
    table.delete("id = 1")
    assert set(table.refs()) == {"main", "first", "side"}
    check(shared, table)
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    check(shared, table, CONDITIONS[:3])


@pytest.mark.parametrize("properties", [
    {"write.metadata.metrics.default": "none"}, {"write.metadata.metrics.default": "counts"},
    {"write.metadata.metrics.default": "truncate(2)"}, {"write.metadata.metrics.default": "full"},
    {"write.metadata.compression-codec": "gzip"}, {"write.parquet.compression-codec": "snappy"},
    {"write.parquet.row-group-limit": "10"}, {"write.parquet.page-row-limit": "3"},
    {"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"},
][:: 1 if FULL else 4])
def test_properties_of_writing(shared, properties):
    table = shared.create("t", "2", *PARTITIONS["identity"], **properties)
    for first in range(0, 60, 20):
        table.append(rows(table, first, first + 20))
    table.delete("id = 33")
    check(shared, table)
