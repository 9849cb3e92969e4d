"""Tables of versions 1 to 3, the newer ones with deletes, written with pyarrow, fastavro and pyroaring: data files,
position and equality delete files, deletion vectors, manifests and metadata. A commit holds what was
added since the last one, so that sequence numbers come out as a writer's would."""
import json
import os
import struct
import zlib
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pyroaring

PATH_ID, POS_ID = 2147483546, 2147483545
POSITIONS, EQUALITY = 1, 2
# content, sequence numbers, equality ids, referenced data file of entries; content and sequence
# numbers of lists
NOT_IN_VERSION_1 = (134, 3, 4, 135, 143, 517, 515, 516)


def field_id(field_id):
    return {b"PARQUET:field_id": str(field_id).encode()}


# ---- Avro schemas of manifests and manifest lists ----


def optional(name, kind, number):
    return {"name": name, "type": ["null", kind], "default": None, "field-id": number}


def required(name, kind, number):
    return {"name": name, "type": kind, "field-id": number}


def int_map(name, number, key, value, kind):
    record = {
        "type": "record",
        "name": f"k{key}_v{value}",
        "fields": [required("key", "int", key), required("value", kind, value)],
    }
    return optional(name, {"type": "array", "items": record, "logicalType": "map"}, number)


def entry_schema(spec, version):
    partition = {
        "type": "record",
        "name": "r102",
        "fields": [optional(name, kind, number) for name, kind, number in spec],
    }
    longs = {"type": "array", "items": "long", "element-id": 133}
    ids = {"type": "array", "items": "int", "element-id": 136}
    fields = [
        required("content", "int", 134),
        required("file_path", "string", 100),
        required("file_format", "string", 101),
        required("partition", partition, 102),
        required("record_count", "long", 103),
        required("file_size_in_bytes", "long", 104),
        int_map("value_counts", 109, 119, 120, "long"),
        int_map("null_value_counts", 110, 121, 122, "long"),
        int_map("nan_value_counts", 137, 138, 139, "long"),
        int_map("lower_bounds", 125, 126, 127, "bytes"),
        int_map("upper_bounds", 128, 129, 130, "bytes"),
        optional("key_metadata", "bytes", 131),
        optional("split_offsets", longs, 132),
        optional("equality_ids", ids, 135),
        optional("sort_order_id", "int", 140),
    ]
    if version >= 3:
        fields += [
            optional("first_row_id", "long", 142),
            optional("referenced_data_file", "string", 143),
            optional("content_offset", "long", 144),
            optional("content_size_in_bytes", "long", 145),
        ]
    else:
        fields += [optional("referenced_data_file", "string", 143)]
    entry = [
        required("status", "int", 0),
        optional("snapshot_id", "long", 1),
        optional("sequence_number", "long", 3),
        optional("file_sequence_number", "long", 4),
        required("data_file", {"type": "record", "name": "r2", "fields": fields}, 2),
    ]
    if version == 1:
        fields[:] = [f for f in fields if f["field-id"] not in NOT_IN_VERSION_1]
        fields.append(required("block_size_in_bytes", "long", 105))
        entry = [f for f in entry if f["field-id"] not in NOT_IN_VERSION_1]
    return {"type": "record", "name": "manifest_entry", "fields": entry}


def list_schema(version):
    fields = [
        required("manifest_path", "string", 500),
        required("manifest_length", "long", 501),
        required("partition_spec_id", "int", 502),
        required("content", "int", 517),
        required("sequence_number", "long", 515),
        required("min_sequence_number", "long", 516),
        required("added_snapshot_id", "long", 503),
        required("added_files_count", "int", 504),
        required("existing_files_count", "int", 505),
        required("deleted_files_count", "int", 506),
        required("added_rows_count", "long", 512),
        required("existing_rows_count", "long", 513),
        required("deleted_rows_count", "long", 514),
    ]
    if version >= 3:
        fields.append(optional("first_row_id", "long", 520))
    if version == 1:
        fields = [f for f in fields if f["field-id"] not in NOT_IN_VERSION_1]
    return {"type": "record", "name": "manifest_file", "fields": fields}


def bound(value):
    """A single value in binary form, of the kinds that tests use."""
    if isinstance(value, int):
        return struct.pack("<q", value)
    return value.encode() if isinstance(value, str) else value


def deletion_vector(positions):
    """A deletion-vector-v1 blob."""
    vector = pyroaring.BitMap64(positions).serialize()
    body = b"\xd1\xd3\x39\x64" + vector
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


class DeleteTable:
    """A table in the making. fields: (id, name, Iceberg type) of the current schema; spec: (source
    id, name, Avro type) of partition fields, which get the ids 1000 and up. Their transform leaves
    whole numbers and single letters as they are."""

    TRANSFORM = "identity"

    def __init__(self, folder, fields, version=2, spec=(), location=None):
        self.folder = Path(folder)
        self.location = location or f"file://{self.folder}"
        self.version, self.uuid = version, "00000000-0000-4000-8000-000000000000"
        self.schemas, self.specs = [], []
        self.add_schema(fields)
        self.add_spec(spec)
        self.snapshots, self.manifests, self.pending = [], [], []
        self.sequence, self.next_row_id, self.files = 0, 0, 0
        for name in ("data", "metadata"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def add_schema(self, fields):
        self.schemas.append(list(fields))

    def add_spec(self, spec):
        """The default one from now on."""
        first = 1000 + sum(len(s) for s in self.specs)
        self.specs.append([(*field, first + i) for i, field in enumerate(spec)])

    # ---- files ----

    def path(self, name):
        """A new file: where it is, and its location as recorded."""
        self.files += 1
        name = f"data/{self.files:05}-{name}"
        return self.folder / name, f"{self.location}/{name}"

    def write(self, table, name, **options):
        path, location = self.path(name)
        pq.write_table(table, path, **options)
        return location, os.path.getsize(path)

    def add(self, content, location, size, records, partition=(), spec=None, **more):
        """An entry of the next commit."""
        entry = {
            "content": content,
            "file_path": location,
            "file_format": "PARQUET",
            "record_count": records,
            "file_size_in_bytes": size,
            "spec_id": len(self.specs) - 1 if spec is None else spec,
            "partition": tuple(partition),
            **more,
        }
        self.pending.append(entry)
        return location

    def append(self, table, partition=(), spec=None, bounds=(), **options):
        """A data file of an Arrow table, whose columns have field ids. bounds: (id, least, greatest)"""
        location, size = self.write(table, "data.parquet", **options)
        return self.add(0, location, size, len(table), partition, spec, bounds=bounds)

    def delete_positions(self, rows, partition=(), spec=None, bounds=True, single=False, **options):
        """A position delete file of (location, position) pairs, in the order given."""
        paths, positions = [row[0] for row in rows], [row[1] for row in rows]
        schema = pa.schema(
            [
                pa.field("file_path", pa.string(), False, field_id(PATH_ID)),
                pa.field("pos", pa.int64(), False, field_id(POS_ID)),
            ]
        )
        table = pa.table([pa.array(paths, pa.string()), pa.array(positions, pa.int64())], schema)
        location, size = self.write(table, "deletes.parquet", **options)
        more = {"bounds": [(PATH_ID, min(paths), max(paths))] if bounds and paths else ()}
        if single:
            more["referenced_data_file"] = paths[0]
        return self.add(POSITIONS, location, size, len(rows), partition, spec, **more)

    def delete_equal(self, table, ids, partition=(), spec=None, bounds=(), **options):
        """An equality delete file of an Arrow table that compares these fields."""
        location, size = self.write(table, "equality.parquet", **options)
        more = {"equality_ids": list(ids), "bounds": bounds}
        return self.add(EQUALITY, location, size, len(table), partition, spec, **more)

    def delete_vector(self, data_file, positions, partition=(), spec=None, blob=None, **more):
        """A deletion vector in a file of its own, which has nothing but the blob unless given."""
        path, location = self.path("vector.puffin")
        blob = deletion_vector(positions) if blob is None else blob
        path.write_bytes(blob)
        entry = {
            "file_format": "PUFFIN",
            "referenced_data_file": data_file,
            "content_offset": 0,
            "content_size_in_bytes": len(blob),
            **more,
        }
        return self.add(POSITIONS, location, len(blob), len(positions), partition, spec, **entry)

    # ---- commits ----

    def data_file(self, entry):
        """An entry as its manifest holds it."""
        names = [field[1] for field in self.specs[entry["spec_id"]]]
        lower = [{"key": i, "value": bound(least)} for i, least, _ in entry.get("bounds", ())]
        upper = [{"key": i, "value": bound(most)} for i, _, most in entry.get("bounds", ())]
        counts = [{"key": i, "value": entry["record_count"]} for i, _, _ in entry.get("bounds", ())]
        nulls = [{"key": i, "value": 0} for i, _, _ in entry.get("bounds", ())]
        known = {"value_counts": counts, "null_value_counts": nulls} if counts else {}
        known |= {"lower_bounds": lower, "upper_bounds": upper} if counts else {}
        kept = {k: v for k, v in entry.items() if k not in ("bounds", "spec_id", "partition")}
        known |= {"block_size_in_bytes": 1 << 26} if self.version == 1 else {}
        return {**known, **kept, "partition": dict(zip(names, entry["partition"]))}

    def transform(self, name):
        """Of the partition field of a name."""
        return self.TRANSFORM

    def write_manifest(self, spec_id, deletes, entries, snapshot_id):
        spec = self.specs[spec_id]
        path = self.folder / "metadata" / f"m{snapshot_id}-{len(self.manifests)}.avro"
        rows = [
            {"status": 1, "snapshot_id": snapshot_id, "data_file": self.data_file(entry)}
            for entry in entries
        ]
        fields = [
            {"name": name, "transform": self.transform(name), "source-id": source, "field-id": number}
            for source, name, _, number in spec
        ]
        metadata = {
            "schema": json.dumps(self.schema_json(len(self.schemas) - 1)),
            "schema-id": str(len(self.schemas) - 1),
            "partition-spec": json.dumps(fields),
            "partition-spec-id": str(spec_id),
            "format-version": str(self.version),
            "content": "deletes" if deletes else "data",
        }
        schema = entry_schema([(name, kind, number) for _, name, kind, number in spec], self.version)
        with open(path, "wb") as out:
            fastavro.writer(out, fastavro.parse_schema(schema), rows, metadata=metadata)
        records = sum(entry["record_count"] for entry in entries)
        self.manifests.append(
            {
                "manifest_path": f"{self.location}/metadata/{path.name}",
                "manifest_length": os.path.getsize(path),
                "partition_spec_id": spec_id,
                "content": int(deletes),
                "sequence_number": self.sequence,
                "min_sequence_number": self.sequence,
                "added_snapshot_id": snapshot_id,
                "added_files_count": len(entries),
                "existing_files_count": 0,
                "deleted_files_count": 0,
                "added_rows_count": records,
                "existing_rows_count": 0,
                "deleted_rows_count": 0,
            }
        )
        if self.version >= 3 and not deletes:
            self.manifests[-1]["first_row_id"] = self.next_row_id
            self.next_row_id += records

    def commit(self):
        """Make a snapshot of what was added; the metadata file."""
        self.sequence += 1
        snapshot_id, first_row_id = 1000 + self.sequence, self.next_row_id
        groups = {}
        for entry in self.pending:
            groups.setdefault((entry["content"] > 0, entry["spec_id"]), []).append(entry)
        for (deletes, spec_id), entries in sorted(groups.items()):
            self.write_manifest(spec_id, deletes, entries, snapshot_id)
        self.pending = []
        name = f"snap-{snapshot_id}.avro"
        with open(self.folder / "metadata" / name, "wb") as out:
            schema = fastavro.parse_schema(list_schema(self.version))
            metadata = {"format-version": str(self.version), "snapshot-id": str(snapshot_id)}
            metadata["sequence-number"] = str(self.sequence)
            fastavro.writer(out, schema, self.manifests, metadata=metadata)
        snapshot = {
            "snapshot-id": snapshot_id,
            "sequence-number": self.sequence,
            "timestamp-ms": 1700000000000 + self.sequence,
            "manifest-list": f"{self.location}/metadata/{name}",
            "summary": {"operation": "overwrite"},
            "schema-id": len(self.schemas) - 1,
        }
        if self.version == 1:
            del snapshot["sequence-number"]
        if self.snapshots:
            snapshot["parent-snapshot-id"] = self.snapshots[-1]["snapshot-id"]
        if self.version >= 3:
            snapshot |= {
                "first-row-id": first_row_id,
                "added-rows": self.next_row_id - first_row_id,
            }
        self.snapshots.append(snapshot)
        return self.write_metadata()

    # ---- metadata ----

    def schema_json(self, i):
        fields = [
            {"id": number, "name": name, "required": False, "type": kind}
            for number, name, kind in self.schemas[i]
        ]
        return {"type": "struct", "schema-id": i, "fields": fields}

    def write_metadata(self):
        specs = [
            {
                "spec-id": i,
                "fields": [
                    {"name": name, "transform": self.transform(name), "source-id": source, "field-id": number}
                    for source, name, _, number in spec
                ],
            }
            for i, spec in enumerate(self.specs)
        ]
        ids = [number for fields in self.schemas for number, _, _ in fields]
        document = {
            "format-version": self.version,
            "table-uuid": self.uuid,
            "location": self.location,
            "last-sequence-number": self.sequence,
            "last-updated-ms": 1700000000000 + self.sequence,
            "last-column-id": max(ids) + 10,
            "schemas": [self.schema_json(i) for i in range(len(self.schemas))],
            "current-schema-id": len(self.schemas) - 1,
            "partition-specs": specs,
            "default-spec-id": len(specs) - 1,
            "last-partition-id": 999 + sum(len(spec) for spec in self.specs),
            "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0,
            "properties": {},
            "snapshots": self.snapshots,
        }
        if self.snapshots:
            document["current-snapshot-id"] = self.snapshots[-1]["snapshot-id"]
            document["refs"] = {
                "main": {"type": "branch", "snapshot-id": self.snapshots[-1]["snapshot-id"]}
            }
        if self.version >= 3:
            document["next-row-id"] = self.next_row_id
        if self.version == 1:
            document["schema"] = document["schemas"][-1]
            document["partition-spec"] = document["partition-specs"][-1]["fields"]
        path = self.folder / "metadata" / f"v{self.sequence}.metadata.json"
        path.write_text(json.dumps(document))
        return path
