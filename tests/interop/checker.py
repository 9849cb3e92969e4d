"""An independent reader and checker of format v4 tables.

It knows nothing of Frazil's code: the catalog is read with sqlite3, the metadata with json,
manifests and data files with pyarrow. Everything is resolved by field id. Column files are stitched
here, row by row, so a table that Frazil wrote is judged by the format's rules and not by Frazil's
reading of them.

Only what a test needs is here: root manifests, leaves (checker_leaves.py), Parquet files, deletion
vectors.
Whatever else the format allows raises Unsupported; nothing is skipped in silence.
"""
import decimal
import gzip
import json
import math
import sqlite3
import struct
import uuid
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import checker_leaves
from checker_fields import *  # noqa: F403 (tests name them by checker)


# ---- Parquet files as Python values, by field id ------------------------------------------------


class Node:
    """A column of a file with its field id; children by id (struct), or [element], or [key, value]."""

    def __init__(self, field, mapping=None):
        text = (field.metadata or {}).get(b"PARQUET:field_id")
        self.name, self.type, self.nullable = field.name, field.type, field.nullable
        self.id = int(text) if text is not None else None
        if mapping is not None:
            self.id = mapping.get("field-id")
        self.children = [
            Node(child, None if mapping is None else mapping_of(mapping.get("fields", []), name))
            for child, name in self._children()
        ]

    def _children(self):
        if pa.types.is_struct(self.type):
            fields = [self.type.field(i) for i in range(self.type.num_fields)]
            return [(field, field.name) for field in fields]
        if pa.types.is_map(self.type):
            return [(self.type.key_field, "key"), (self.type.item_field, "value")]
        if pa.types.is_list(self.type) or pa.types.is_large_list(self.type):
            return [(self.type.value_field, "element")]
        return []

    def ids(self, unknown=True):
        told = self.id is not None and (unknown or not self.is_unknown())
        return ([self.id] if told else []) + [
            i for child in self.children for i in child.ids(unknown)
        ]

    def is_unknown(self):
        """Has it no values: a column of nothing, or a struct of only such."""
        inside = pa.types.is_struct(self.type) and all(c.is_unknown() for c in self.children)
        return inside or pa.types.is_null(self.type)


def mapping_of(mapping, name):
    for entry in mapping:
        if name in entry["names"]:
            return entry
    return {}


def values(array, node):
    """Python values: a struct as {field id: value}, a map as pairs, times as whole numbers."""
    kind = array.type
    if pa.types.is_struct(kind):
        parts = [values(array.field(i), child) for i, child in enumerate(node.children)]
        ids = [child.id for child in node.children]
        valid = array.is_valid().to_pylist()
        rows = zip(*parts) if parts else [()] * len(array)
        return [dict(zip(ids, row)) if ok else None for ok, row in zip(valid, rows)]
    if pa.types.is_map(kind):
        keys = values(array.keys, node.children[0])
        items = values(array.items, node.children[1])
        return cut(array, list(zip(keys, items)))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return cut(array, values(array.values, node.children[0]))
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        factor = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1}[kind.unit]
        whole = array.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
        return [None if value is None else value * factor for value in whole]
    if pa.types.is_date(kind):
        return array.cast(pa.int32()).to_pylist()
    if isinstance(kind, pa.ExtensionType):
        return values(array.storage, node)
    return array.to_pylist()


def cut(array, items):
    """The rows of a list array, whose items are given."""
    valid, offsets = array.is_valid().to_pylist(), array.offsets.to_pylist()
    return [
        items[first:last] if ok else None
        for ok, first, last in zip(valid, offsets, offsets[1:])
    ]


class File:
    """A Parquet file: its columns by field id, read on demand."""

    def __init__(self, path, mapping=None):
        self.path = path
        self.parquet = pq.ParquetFile(path)
        self.rows = self.parquet.metadata.num_rows
        schema = self.parquet.schema_arrow
        self.nodes = [Node(field) for field in schema]
        if mapping is not None and not any(node.ids() for node in self.nodes):
            self.nodes = [Node(field, mapping_of(mapping, field.name)) for field in schema]
        self.by_id = {node.id: i for i, node in enumerate(self.nodes) if node.id is not None}
        self._read = {}

    def column(self, field_id):
        """All values of a top-level field; None if the file has no such field."""
        index = self.by_id.get(field_id)
        if index is None:
            return None
        if field_id not in self._read:
            node = self.nodes[index]
            # By name of the leaves; a file whose top-level names repeat is read whole.
            names = [other.name for other in self.nodes]
            if names.count(node.name) == 1 and "." not in node.name:
                chunked = self.parquet.read(columns=[node.name]).column(0)
            else:
                chunked = self.parquet.read().column(index)
            self._read[field_id] = [v for chunk in chunked.chunks for v in values(chunk, node)]
        return self._read[field_id]

    def records(self):
        """Every row as {field id: value}, as manifests are read."""
        require(all(n.id is not None for n in self.nodes), f"{self.path}: column without field id")
        columns = {node.id: self.column(node.id) for node in self.nodes}
        return [{i: column[row] for i, column in columns.items()} for row in range(self.rows)]


# ---- values of Iceberg types as JSON ------------------------------------------------------------


def shown(value, kind):
    """A value as the expected rows of tests write it."""
    if value is None:
        return None
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return {
                field["name"]: shown(value[field["id"]], field["type"])
                if field["id"] in value
                else field.get("initial-default")
                for field in kind["fields"]
            }
        if kind["type"] == "list":
            return [shown(item, kind["element"]) for item in value]
        return [
            {"key": shown(key, kind["key"]), "value": shown(item, kind["value"])}
            for key, item in value
        ]
    if kind in ("float", "double"):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return float(value)
    if kind.startswith("decimal"):
        scale = int(kind.split(",")[1].strip(" )"))
        context = decimal.Context(prec=76)
        return format(value.quantize(decimal.Decimal(1).scaleb(-scale), context=context), "f")
    if kind in ("binary",) or kind.startswith("fixed"):
        return value.hex()
    if kind == "uuid":
        return str(value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=value))
    if kind == "date":
        return shown_date(value)
    if kind == "time":
        return shown_time(value, 6)
    if kind.startswith("timestamp"):
        digits = 9 if "_ns" in kind else 6
        per_day = 86_400 * 10**digits
        zone = "+00:00" if "tz" in kind else ""
        return f"{shown_date(value // per_day)}T{shown_time(value % per_day, digits)}{zone}"
    return value


def shown_date(days):
    """Proleptic Gregorian, by the civil-from-days rule, for all years."""
    days += 719_468
    era, day = divmod(days, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year = year + era * 400 + (1 if month <= 2 else 0)
    return f"{year:04d}-{month:02d}-{day:02d}"


def shown_time(units, digits):
    seconds, fraction = divmod(units, 10**digits)
    return (
        f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:0{digits}d}"
    )


def promoted(found, stored, kind):
    """Values of a column that was a date when its file was written, and is a timestamp by now."""
    if not pa.types.is_date(stored) or kind not in ("timestamp", "timestamp_ns"):
        return found
    per_day = 86_400 * 10 ** (6 if kind == "timestamp" else 9)
    return [None if days is None else days * per_day for days in found]


# ---- the table ----------------------------------------------------------------------------------


def metadata_location(database, namespace, table, catalog="frazil"):
    """The current metadata file by the JDBC layout of a SQLite catalog."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT metadata_location FROM iceberg_tables"
            " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
            (catalog, namespace, table),
        ).fetchall()
    finally:
        connection.close()
    require(len(rows) == 1, f"{len(rows)} rows for {namespace}.{table} in the catalog")
    return rows[0][0]


def is_absolute(location):
    scheme, colon, _ = location.partition(":")
    return bool(colon) and scheme[:1].isalpha() and all(c.isalnum() or c in "+-." for c in scheme)


def descendants(kind, inside=False):
    """Ids below a type, with a mark for those inside a list or map."""
    if isinstance(kind, str):
        return []
    if kind["type"] == "struct":
        parts = [(f["id"], f["type"], inside) for f in kind["fields"]]
    elif kind["type"] == "list":
        parts = [(kind["element-id"], kind["element"], True)]
    else:
        parts = [(kind["key-id"], kind["key"], True), (kind["value-id"], kind["value"], True)]
    return [x for i, t, deep in parts for x in [(i, deep)] + descendants(t, deep)]


class Table:
    """A table at one metadata file. prefix: (recorded prefix, real folder). files: what was read
    already, to share between versions of one table, whose files never change."""

    def __init__(self, metadata, prefix=None, location=None, files=None):
        self.prefix = prefix
        raw = Path(self.path(metadata)).read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        self.json = json.loads(raw)
        require(self.json["format-version"] == 4, "format-version is not 4")
        self.location = self.json.get("location", location).rstrip("/")
        require(is_absolute(self.location), f"table location {self.location!r} is not absolute")
        self.schemas = {s["schema-id"]: s for s in self.json["schemas"]}
        self.specs = {s["spec-id"]: s for s in self.json["partition-specs"]}
        self.snapshots = {s["snapshot-id"]: s for s in self.json.get("snapshots", [])}
        text = self.json.get("properties", {}).get("schema.name-mapping.default")
        self.mapping = json.loads(text) if text else None
        self._files = {} if files is None else files
        self._entries = {}
        self._manifests = {}

    @property
    def current(self):
        return self.json.get("current-snapshot-id")

    def resolve(self, location):
        return location if is_absolute(location) else f"{self.location}/{location}"

    def path(self, location):
        """The place of an absolute location on this machine."""
        if self.prefix and location.startswith(self.prefix[0]):
            return self.prefix[1] + location[len(self.prefix[0]) :]
        if location.startswith("file:"):
            rest = location[len("file:") :]
            return "/" + rest.lstrip("/")
        return location

    def file(self, location, mapping=None):
        place = self.path(self.resolve(location))
        if place not in self._files:
            self._files[place] = File(place, mapping)
        return self._files[place]

    def schema(self, snapshot_id):
        """That of the snapshot when it is named, the table's for the current one."""
        if snapshot_id == self.current:
            return self.schemas[self.json["current-schema-id"]]
        return self.schemas[self.snapshots[snapshot_id]["schema-id"]]

    def entries(self, snapshot_id):
        """Entries of data files in the root manifest and in leaves as the root shows them,
        inherited values filled in."""
        if snapshot_id not in self._entries:
            self._entries[snapshot_id] = self._read_entries(self.snapshots[snapshot_id])
        return self._entries[snapshot_id]

    def manifests(self, snapshot_id):
        """Entries of leaves in the root manifest."""
        self.entries(snapshot_id)
        return self._manifests[snapshot_id]

    def _read_entries(self, snapshot):
        if "root-manifest" not in snapshot:
            raise Unsupported("snapshot with a manifest list")
        manifests, entries = [], []
        for entry in self.file(snapshot["root-manifest"]).records():
            tracking = entry[TRACKING]
            require(tracking[STATUS] in range(5), f"status {tracking[STATUS]}")
            if entry[CONTENT_TYPE] == checker_leaves.DATA_MANIFEST:
                manifests.append(entry)
                entries += checker_leaves.seen(self, snapshot, entry)
                continue
            if entry[CONTENT_TYPE] == 4:
                raise Unsupported("delete manifests")
            require(entry[CONTENT_TYPE] == 0, f"content_type {entry[CONTENT_TYPE]}")
            entries.append(entry)
        for entry in entries:
            tracking = entry[TRACKING]
            if entry[FILE_FORMAT].lower() != "parquet":
                raise Unsupported(f"{entry[FILE_FORMAT]} data files")
            for column_file in entry.get(COLUMN_FILES) or []:
                if column_file[CF_FORMAT].lower() != "parquet":
                    raise Unsupported(f"{column_file[CF_FORMAT]} column files")
            if tracking[STATUS] == ADDED and tracking.get(SNAPSHOT_ID) is None:
                tracking[SNAPSHOT_ID] = snapshot["snapshot-id"]
            if tracking[STATUS] == ADDED and tracking.get(FILE_SEQUENCE) is None:
                tracking[FILE_SEQUENCE] = snapshot["sequence-number"]
            if tracking[STATUS] in (ADDED, MODIFIED) and tracking.get(SEQUENCE) is None:
                tracking[SEQUENCE] = snapshot["sequence-number"]
        self._manifests[snapshot["snapshot-id"]] = manifests
        return entries

    def live(self, snapshot_id):
        return [e for e in self.entries(snapshot_id) if e[TRACKING][STATUS] in LIVE]

    # -- rows --

    def rows(self, snapshot_id=None):
        """Rows with names as the expected rows of tests have them, in file order."""
        snapshot_id = self.current if snapshot_id is None else snapshot_id
        if snapshot_id is None:
            return []
        fields = self.schema(snapshot_id)["fields"]
        rows = []
        for entry in self.live(snapshot_id):
            columns = {f["name"]: self.field_values(entry, f) for f in fields}
            columns.update(self.lineage(entry))
            deleted = self.deleted(entry)
            for row in range(entry[RECORD_COUNT]):
                if row not in deleted:
                    rows.append({name: column[row] for name, column in columns.items()})
        return rows

    def provider(self, entry, field_id):
        """The file that holds a top-level field: a column file that lists it, else the base."""
        holders = [
            cf for cf in entry.get(COLUMN_FILES) or [] if field_id in cf[CF_FIELD_IDS]
        ]
        require(len(holders) < 2, f"field {field_id} is listed by {len(holders)} column files")
        if holders:
            file = self.file(holders[0][CF_LOCATION])
        else:
            file = self.file(entry[LOCATION], self.mapping)
        require(
            file.rows == entry[RECORD_COUNT],
            f"{file.path}: {file.rows} rows, the entry says {entry[RECORD_COUNT]}",
        )
        return file, bool(holders)

    def stored(self, entry):
        """Ids of what the files of an entry have; columns of nothing but nulls are of type unknown."""
        files = [self.file(entry[LOCATION], self.mapping)]
        files += [self.file(cf[CF_LOCATION]) for cf in entry.get(COLUMN_FILES) or []]
        return {i for file in files for node in file.nodes for i in node.ids(unknown=False)}

    def field_values(self, entry, field):
        """Values of a top-level field for every row of an entry, deleted ones included."""
        listed = {i for cf in entry.get(COLUMN_FILES) or [] for i in cf[CF_FIELD_IDS]}
        below = {i for i, deep in descendants(field["type"]) if not deep} & self.stored(entry)
        if below & listed and not (below <= listed and field["id"] in listed):
            raise Unsupported("a struct stored in parts")
        file, from_column_file = self.provider(entry, field["id"])
        found = file.column(field["id"])
        if found is not None:
            found = promoted(found, file.nodes[file.by_id[field["id"]]].type, field["type"])
            return [shown(value, field["type"]) for value in found]
        require(
            not from_column_file or field["type"] == "unknown",
            f"{file.path}: field {field['id']} is listed but not stored",
        )
        return [self.missing(entry, field)] * entry[RECORD_COUNT]

    def missing(self, entry, field):
        """The value of a field that no file has: identity partition value, else its default."""
        spec = self.specs.get(entry.get(SPEC_ID))
        for part in spec["fields"] if spec and entry.get(PARTITION) else []:
            if part["source-id"] == field["id"] and part["transform"] == "identity":
                return shown(entry[PARTITION].get(part["field-id"]), field["type"])
        return field.get("initial-default")

    def lineage(self, entry):
        tracking = entry[TRACKING]
        count = entry[RECORD_COUNT]
        base = self.file(entry[LOCATION], self.mapping)
        ids = base.column(ROW_ID) or [None] * count
        first = tracking[FIRST_ROW_ID]
        numbers = self.provider(entry, LAST_UPDATED)[0].column(LAST_UPDATED) or [None] * count
        return {
            LINEAGE[ROW_ID]: [first + i if v is None else v for i, v in enumerate(ids)],
            LINEAGE[LAST_UPDATED]: [tracking[SEQUENCE] if v is None else v for v in numbers],
        }

    def deleted(self, entry):
        vector = entry.get(DELETION_VECTOR)
        if vector is None:
            return frozenset()
        from pyroaring import BitMap64

        place = self.path(self.resolve(vector[DV_LOCATION]))
        blob = Path(place).read_bytes()[vector[DV_OFFSET] :][: vector[DV_SIZE]]
        require(len(blob) == vector[DV_SIZE] >= 12, f"{place}: deletion vector is cut off")
        body = blob[4:-4]
        require(struct.unpack(">I", blob[:4])[0] == len(body), f"{place}: length")
        require(body[:4] == bytes.fromhex("d1d33964"), f"{place}: magic")
        require(struct.unpack(">I", blob[-4:])[0] == zlib.crc32(body), f"{place}: CRC")
        positions = frozenset(BitMap64.deserialize(body[4:]))
        require(len(positions) == vector[DV_CARDINALITY], f"{place}: cardinality")
        return positions

    # -- rules --

    def check(self, strict=True, snapshots=None):
        """Every rule that the metadata and the files can be held to, in all snapshots or in those
        with these ids. strict: also what the format leaves to the writer and Frazil promises:
        relative paths, keys of manifests, ascending field ids, statistics kept."""
        check_json(self)
        for snapshot in self.snapshots.values():
            if snapshots is not None and snapshot["snapshot-id"] not in snapshots:
                continue
            check_root(self, snapshot, strict)
            for entry in self.live(snapshot["snapshot-id"]):
                check_entry(self, snapshot, entry, strict)


def check_json(table):
    meta = table.json
    uuid.UUID(meta["table-uuid"])
    require("schema" not in meta and "partition-spec" not in meta, "keys of version 1")
    require(meta["current-schema-id"] in table.schemas, "current-schema-id")
    require(meta["default-spec-id"] in table.specs, "default-spec-id")
    ids = [
        i
        for schema in table.schemas.values()
        for field in schema["fields"]
        for i in [field["id"]] + [below for below, _ in descendants(field["type"])]
    ]
    require(max(ids, default=0) <= meta["last-column-id"], "last-column-id")
    require(table.current is None or table.current in table.snapshots, "current-snapshot-id")
    sequence, stamp, next_row_id = 0, 0, 0
    if any("root-manifest" not in snapshot for snapshot in meta.get("snapshots", [])):
        raise Unsupported("snapshot with a manifest list")
    for snapshot in meta.get("snapshots", []):
        number = snapshot["snapshot-id"]
        where = f"snapshot {number}"
        require(number > 0, f"{where}: not positive")
        require(snapshot["sequence-number"] > sequence, f"{where}: sequence-number")
        require(snapshot["timestamp-ms"] > stamp, f"{where}: timestamp-ms")
        require("manifest-list" not in snapshot, f"{where}: manifest-list")
        require(
            snapshot["summary"]["operation"] in ("append", "replace", "overwrite", "delete"),
            f"{where}: operation",
        )
        require(snapshot["schema-id"] in table.schemas, f"{where}: schema-id")
        require(snapshot.get("key-id") is None, f"{where}: encrypted root manifest")
        require(snapshot["first-row-id"] >= next_row_id, f"{where}: first-row-id")
        next_row_id = snapshot["first-row-id"] + snapshot["added-rows"]
        sequence, stamp = snapshot["sequence-number"], snapshot["timestamp-ms"]
    require(meta["last-sequence-number"] >= sequence, "last-sequence-number")
    require(meta["next-row-id"] >= next_row_id, "next-row-id")
    for old in meta.get("metadata-log", []):
        place = table.path(table.resolve(old["metadata-file"]))
        require(Path(place).is_file(), f"metadata-log: {place} is missing")


def check_root(table, snapshot, strict):
    """The root manifest as a file, and its entries against those of the parent snapshot."""
    number = snapshot["snapshot-id"]
    location = snapshot["root-manifest"]
    require(location.endswith(".parquet"), f"{location}: name of a root manifest")
    file = table.file(location)
    keys = file.parquet.metadata.metadata or {}
    version, schema_id = keys.get(b"format-version"), keys.get(b"schema-id")
    require(version == b"4" or (version is None and not strict), f"{location}: key format-version")
    known = schema_id == str(snapshot["schema-id"]).encode()
    require(known or (schema_id is None and not strict), f"{location}: key schema-id")
    for node in file.nodes:
        all_have_ids(node, location)

    written = {
        i
        for field in table.schemas[snapshot["schema-id"]]["fields"]
        for i in [field["id"]] + [below for below, _ in descendants(field["type"])]
    }
    parent = snapshot.get("parent-snapshot-id")
    before = {}
    expired = parent is not None and parent not in table.snapshots
    if parent is not None and not expired:
        before = {table.resolve(e[LOCATION]): e for e in table.live(parent)}
    seen, replaced, now = {}, {}, {}
    earlier = {} if parent is None or expired else {
        table.resolve(e[LOCATION]): e for e in table.manifests(parent)}
    for entry in table.manifests(number):
        place = table.resolve(entry[LOCATION])
        require(not strict or not entry[LOCATION].startswith(table.location + "/"), f"{place}: not relative")
        checker_leaves.check(table, snapshot, entry, earlier.get(place))
    new_rows = []
    for entry in table.entries(number):
        where = f"snapshot {number}, {entry[LOCATION]}"
        tracking = entry[TRACKING]
        status = tracking[STATUS]
        place = table.resolve(entry[LOCATION])
        old = before.get(place)
        if strict:
            for each in [entry[LOCATION]] + [
                cf[CF_LOCATION] for cf in entry.get(COLUMN_FILES) or []
            ]:
                require(not each.startswith(table.location + "/"), f"{where}: {each} not relative")
        require(entry.get(MANIFEST_INFO) is None, f"{where}: manifest_info on a data file")
        require(entry.get(COLUMN_FILES) != [], f"{where}: empty list of column files")
        for key in (SNAPSHOT_ID, SEQUENCE, FILE_SEQUENCE, FIRST_ROW_ID):
            require(tracking.get(key) is not None, f"{where}: null in tracking, field {key}")
        if status == ADDED:
            require(old is None, f"{where}: ADDED, but in the parent")
            require(tracking[SNAPSHOT_ID] == number, f"{where}: snapshot_id of ADDED")
            require(tracking[FILE_SEQUENCE] == snapshot["sequence-number"], f"{where}: ADDED")
            require(tracking[SEQUENCE] <= snapshot["sequence-number"], f"{where}: ADDED")
            new_rows.append((tracking[FIRST_ROW_ID], entry[RECORD_COUNT]))
        elif not expired:
            require(old is not None, f"{where}: {STATUS_NAMES[status]}, but not in the parent")
            check_transition(snapshot, old, entry, where)
            check_stats_kept(old, entry, strict, where, written)
            if strict and status == MODIFIED and entry.get(COLUMN_FILES) != old.get(COLUMN_FILES):
                listed = set(providers(entry))
                require(listed <= written | {LAST_UPDATED}, f"{where}: lists dropped columns")
        (now if status in LIVE else replaced if status == REPLACED else seen).setdefault(
            place, []
        ).append(status)
    next_row_id = snapshot["first-row-id"]
    for first, count in sorted(new_rows):
        require(first == next_row_id or (first > next_row_id and not strict),
                f"{number}: first_row_id {first}, expected {next_row_id}")
        next_row_id = first + count
    end = snapshot["first-row-id"] + snapshot["added-rows"]
    require(next_row_id == end or (next_row_id < end and not strict), f"{number}: added-rows")
    for place, statuses in now.items():
        require(len(statuses) == 1, f"snapshot {number}: {place} is live twice")
        require(place not in seen, f"snapshot {number}: {place} is DELETED and live")
        require(
            (statuses == [MODIFIED]) == (replaced.get(place) == [REPLACED]),
            f"snapshot {number}: {place}: REPLACED and MODIFIED are no pair",
        )
    for place in before:
        require(place in now or place in seen, f"snapshot {number}: {place} vanished")
    for place in replaced:
        require(place in now, f"snapshot {number}: {place}: REPLACED without MODIFIED")


def all_have_ids(node, location):
    require(node.id is not None, f"{location}: {node.name} has no field id")
    for child in node.children:
        all_have_ids(child, location)


def check_transition(snapshot, old, new, where):
    """What may differ between an entry in the parent and here, by status."""
    number, sequence = snapshot["snapshot-id"], snapshot["sequence-number"]
    was, now = old[TRACKING], new[TRACKING]
    status = now[STATUS]
    where = f"{where}, {STATUS_NAMES[status]}"
    expected = dict(was)
    if status in (REPLACED, DELETED):
        expected[SNAPSHOT_ID] = number
    if status == MODIFIED:
        expected[MODIFIED_SNAPSHOT_ID] = number
        if new.get(COLUMN_FILES) != old.get(COLUMN_FILES):
            expected[SEQUENCE] = sequence
    for key in (SNAPSHOT_ID, MODIFIED_SNAPSHOT_ID, SEQUENCE, FILE_SEQUENCE, FIRST_ROW_ID):
        require(
            now.get(key) == expected.get(key),
            f"{where}: tracking field {key} is {now.get(key)}, expected {expected.get(key)}",
        )
    kept = [CONTENT_TYPE, FILE_FORMAT, RECORD_COUNT, FILE_SIZE, SPLIT_OFFSETS, KEY_METADATA]
    if status != MODIFIED:
        kept += [COLUMN_FILES, DELETION_VECTOR, SORT_ORDER]
    for key in kept:
        same = without_nulls(new.get(key)) == without_nulls(old.get(key))
        require(same, f"{where}: field {key} changed")
    if status == MODIFIED:
        changed = new.get(COLUMN_FILES) != old.get(COLUMN_FILES)
        vectors = new.get(DELETION_VECTOR) != old.get(DELETION_VECTOR)
        require(changed or vectors, f"{where}: nothing changed")
        if changed:
            listed = [i for cf in new.get(COLUMN_FILES) or [] for i in cf[CF_FIELD_IDS]]
            require(listed.count(LAST_UPDATED) == 1, f"{where}: {LAST_UPDATED} not listed once")


def providers(entry):
    return {i: cf[CF_LOCATION] for cf in entry.get(COLUMN_FILES) or [] for i in cf[CF_FIELD_IDS]}


def check_stats_kept(old, new, strict, where, written):
    """Statistics of fields that were not updated stay; they may be dropped, which means unknown.
    written: ids of the schema written with. No statistics are left of other fields."""
    known = set(STATS_OF_LINEAGE.values()) | {10_000 + 200 * i for i in written}
    was, now = (without_nulls(e.get(CONTENT_STATS)) or {} for e in (old, new))
    before, after = providers(old), providers(new)
    moved = {i for i in after if after[i] != before.get(i)}
    rewritten = {STATS_OF_LINEAGE.get(i, 10_000 + 200 * i) for i in moved}
    require(now.keys() <= known or not strict, f"{where}: statistics of dropped columns")
    for base in (was.keys() & known) | now.keys():
        if base not in rewritten and (strict or base in now):
            require(was.get(base) == now.get(base), f"{where}: statistics {base} changed")


def without_nulls(value):
    """A missing optional column and a null one are the same."""
    if isinstance(value, dict):
        kept = {k: without_nulls(v) for k, v in value.items()}
        return {k: v for k, v in kept.items() if v is not None} or None
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return value


def check_entry(table, snapshot, entry, strict):
    """A live entry against its files: sizes, row counts, one provider per field, statistics."""
    where = f"snapshot {snapshot['snapshot-id']}, {entry[LOCATION]}"
    base = table.file(entry[LOCATION], table.mapping)
    require(Path(base.path).stat().st_size == entry[FILE_SIZE], f"{where}: file size")
    require(base.rows == entry[RECORD_COUNT], f"{where}: record_count")
    listed = set()
    every = [f for schema in table.schemas.values() for f in schema["fields"]]
    fields = {f["id"] for f in every}
    fields |= {below for f in every for below, deep in descendants(f["type"]) if not deep}
    unknown = {f["id"] for f in every if f["type"] == "unknown"}
    if not strict:  # a dropped field may stay listed after its schema has expired
        fields |= set(range(1, table.json["last-column-id"] + 1))
        fields -= {below for f in every for below, deep in descendants(f["type"]) if deep}
    for column_file in entry.get(COLUMN_FILES) or []:
        ids = column_file[CF_FIELD_IDS]
        file = table.file(column_file[CF_LOCATION])
        there = f"{where}, {column_file[CF_LOCATION]}"
        require(ids and len(ids) == len(set(ids)), f"{there}: field_ids {ids}")
        require(ids == sorted(ids) or not strict, f"{there}: field_ids {ids} not ascending")
        require(not listed & set(ids), f"{there}: a field has two providers")
        listed |= set(ids)
        require(set(ids) <= fields | {LAST_UPDATED}, f"{there}: field_ids {ids}")
        stored = {i for node in file.nodes for i in node.ids()}
        absent = set(ids) - stored - unknown
        require(not absent or not strict, f"{there}: lists {absent}, not stored")
        require(file.rows == entry[RECORD_COUNT], f"{there}: row count")
        require(Path(file.path).stat().st_size == column_file[CF_SIZE], f"{there}: file size")
        require(all(node.nullable for node in file.nodes), f"{there}: a required column")
    check_stats(table, snapshot, entry, where)


def check_stats(table, snapshot, entry, where):
    stats = entry.get(CONTENT_STATS) or {}
    deleted = table.deleted(entry)
    fields = {f["id"]: f for f in table.schema(snapshot["snapshot-id"])["fields"]}
    for field_id, base in STATS_OF_LINEAGE.items():
        fields[field_id] = {"id": field_id, "type": "long"}
    for field_id, field in fields.items():
        base = STATS_OF_LINEAGE.get(field_id, 10_000 + 200 * field_id)
        told = stats.get(base)
        if told is None or not isinstance(field["type"], str):
            continue
        file, _ = table.provider(entry, field_id)
        stored = file.column(field_id)
        if stored is None:
            continue
        check_field_stats(told, base, stored, deleted, f"{where}, statistics of field {field_id}")


def check_field_stats(told, base, stored, deleted, where):
    live = [v for row, v in enumerate(stored) if row not in deleted and v is not None]
    numbers = [order(v) for v in live if not (isinstance(v, float) and math.isnan(v))]
    nulls = sum(1 for row, v in enumerate(stored) if row not in deleted and v is None)
    lower, upper = told.get(base + 1), told.get(base + 2)
    if numbers:
        least, most = min(numbers), max(numbers)
        require(lower is None or order(lower) <= least, f"{where}: lower bound {lower!r}")
        require(upper is None or most <= order(upper), f"{where}: upper bound {upper!r}")
    if told.get(base + 3) and not deleted and numbers:
        # Parquet writes the lower bound zero as -0.0, which compares equal.
        tight = plain(order(lower)) == plain(least) and plain(order(upper)) == plain(most)
        require(tight, f"{where}: tight bounds {lower!r}, {upper!r}, not {least!r}, {most!r}")
    for offset, count in ((4, len(stored)), (5, nulls), (6, len(live) - len(numbers))):
        value = told.get(base + offset)
        if value is not None:
            fits = value == count if not deleted else value >= count
            require(fits, f"{where}: metric {offset} is {value}, not {count}")


def plain(key):
    return key[0] if isinstance(key, tuple) else key


def order(value):
    """Iceberg's order of values: -0.0 before 0.0; text by its UTF-8 bytes."""
    if isinstance(value, float):
        return (value, math.copysign(1, value))
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, uuid.UUID):
        return value.bytes
    return value
