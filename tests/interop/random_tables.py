"""Random tables of versions 1 to 3 as careful writers record them: columns of all types, several
partition specs with all transforms, statistics that are exact, cut or missing, columns that were
promoted or added since, and deletes."""
import decimal
import math
import struct

import numpy as np
import pyarrow as pa
from pyiceberg import types as iceberg
from pyiceberg.transforms import parse_transform

from delete_tables import DeleteTable, field_id
from prune_test import arrange, make_array, make_columns, punch

ROWS = 240
MEMBER_ID = 90  # of the struct's only field

# name in make_columns -> Iceberg's type
KINDS = {
    "b": iceberg.BooleanType(), "i32": iceberg.IntegerType(), "i64": iceberg.LongType(),
    "f32": iceberg.FloatType(), "f64": iceberg.DoubleType(), "nan": iceberg.DoubleType(),
    "d4": iceberg.DecimalType(4, 2), "d15": iceberg.DecimalType(15, 3),
    "d38": iceberg.DecimalType(38, 9), "day": iceberg.DateType(), "tu": iceberg.TimeType(),
    "tsu": iceberg.TimestampType(), "tsz": iceberg.TimestamptzType(),
    "tsn": iceberg.TimestampNanoType(), "s": iceberg.StringType(), "x": iceberg.BinaryType(),
    "fx": iceberg.FixedType(3), "id16": iceberg.UUIDType(),
}
# what a column of older files may be
OLDER = {"i64": pa.int32(), "f64": pa.float32(), "d15": pa.decimal128(9, 3)}
TRANSFORMS = {
    "b": ["identity"], "i32": ["identity", "bucket[3]", "truncate[7]", "truncate[10000]"],
    "i64": ["identity", "bucket[4]", "truncate[20]"], "f32": ["identity"], "f64": ["identity"],
    "nan": ["identity"], "d4": ["identity", "bucket[2]"], "d15": ["bucket[3]"],
    "d38": ["bucket[3]"], "day": ["identity", "year", "month", "day", "bucket[4]"],
    "tu": ["bucket[3]"], "tsu": ["year", "month", "day", "hour", "bucket[5]"],
    "tsz": ["year", "month", "day", "hour"], "tsn": ["bucket[3]"],
    "s": ["identity", "bucket[3]", "truncate[1]", "truncate[3]"],
    "x": ["truncate[1]", "bucket[2]"], "fx": ["bucket[3]"], "id16": ["bucket[4]"],
}


# ---- values ----


def raw(kind, value):
    """A value as transforms and bounds take it: dates as days, times as they are."""
    return value.toordinal() - 719163 if isinstance(kind, iceberg.DateType) else value


def unscaled(value, scale):
    with decimal.localcontext() as context:
        context.prec = 60
        return int(value.scaleb(scale))


def binary(kind, value):
    """spec: Binary single-value serialization"""
    value = raw(kind, value)
    if isinstance(kind, iceberg.BooleanType):
        return bytes([bool(value)])
    if isinstance(kind, (iceberg.IntegerType, iceberg.DateType)):
        return struct.pack("<i", int(value))
    if isinstance(kind, iceberg.FloatType):
        return struct.pack("<f", float(value))
    if isinstance(kind, iceberg.DoubleType):
        return struct.pack("<d", float(value))
    if isinstance(kind, iceberg.DecimalType):
        number = unscaled(value, kind.scale)
        return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    if isinstance(kind, iceberg.StringType):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return struct.pack("<q", int(value))


def order(value):
    """Zeros by their sign."""
    if isinstance(value, (float, np.floating)):
        return (float(value), math.copysign(1, value))
    return value.encode() if isinstance(value, str) else value


def cut_below(value, size):
    return value[:size]


def cut_above(value, size):
    """The least text or bytes of at most so many characters that are above; None: there are none."""
    if len(value) <= size:
        return value
    value = value[:size]
    most = "\U0010ffff" if isinstance(value, str) else 255
    while value:
        last = value[-1]
        if last != most:
            if isinstance(value, bytes):
                return value[:-1] + bytes([last + 1])
            return value[:-1] + ("\ue000" if last == "\ud7ff" else chr(ord(last) + 1))
        value = value[:-1]
    return None


# ---- statistics ----


def metrics_of(rng, columns):
    """Parts of a manifest entry. columns: (field id, type, values)."""
    parts = {name: [] for name in ("value_counts", "null_value_counts", "nan_value_counts",
                                   "lower_bounds", "upper_bounds")}
    for number, kind, values in columns:
        mode = rng.randrange(6)
        if mode == 0:
            continue
        known = [v for v in values if v is not None]
        plain = [v for v in known if v == v]
        if rng.random() < 0.8:
            parts["value_counts"].append((number, len(values)))
            parts["null_value_counts"].append((number, len(values) - len(known)))
        if isinstance(kind, (iceberg.FloatType, iceberg.DoubleType)) and rng.random() < 0.6:
            parts["nan_value_counts"].append((number, len(known) - len(plain)))
        if not plain or mode == 1:
            continue
        low, high = min(plain, key=order), max(plain, key=order)
        if isinstance(kind, (iceberg.StringType, iceberg.BinaryType)) and rng.random() < 0.6:
            size = rng.choice([1, 2, 3, 16])
            low, high = cut_below(low, size), cut_above(high, size)
        if mode != 2:
            parts["lower_bounds"].append((number, binary(kind, low)))
        if mode != 3 and high is not None:
            parts["upper_bounds"].append((number, binary(kind, high)))
    return {name: [{"key": k, "value": v} for k, v in pairs] for name, pairs in parts.items()
            if pairs}


# ---- partitions ----


def avro_kind(kind, number):
    if isinstance(kind, iceberg.DecimalType):
        digits = 10**kind.precision - 1
        return {"type": "fixed", "name": f"decimal_{number}", "logicalType": "decimal",
                "size": digits.bit_length() // 8 + 1, "precision": kind.precision,
                "scale": kind.scale}
    if isinstance(kind, iceberg.DateType):
        return {"type": "int", "logicalType": "date"}
    return {iceberg.BooleanType: "boolean", iceberg.IntegerType: "int", iceberg.LongType: "long",
            iceberg.FloatType: "float", iceberg.DoubleType: "double", iceberg.StringType: "string",
            iceberg.BinaryType: "bytes"}[type(kind)]


def part_of(transform, kind, value):
    """The partition value of a value; out of range it wraps around, as writers have done it."""
    if value is None:
        return None
    made = transform.transform(kind)(raw(kind, value))
    if isinstance(kind, (iceberg.IntegerType, iceberg.LongType)):
        half = 2**31 if isinstance(kind, iceberg.IntegerType) else 2**63
        return (int(made) + half) % (2 * half) - half
    if isinstance(kind, (iceberg.FloatType, iceberg.DoubleType)):
        return float(made)
    return bool(made) if isinstance(kind, iceberg.BooleanType) else made


# ---- tables ----


class RandomTable(DeleteTable):
    """columns: name in SQL -> (Arrow type, values), all rows that were written and not deleted
    among them; live: the values of id of the rows that are left."""

    def __init__(self, rng, folder):
        self.rng, self.transforms = rng, {}
        pool = make_columns(rng, ROWS)
        pool["id16"] = pool.pop("id")
        version = rng.choice([1, 2, 2, 3, 3])
        names = [n for n in KINDS if version >= 3 or n != "tsn"]
        self.names = rng.sample(names, rng.randrange(4, 9))
        self.older = {n for n in self.names if n in OLDER and rng.random() < 0.5}
        self.late = rng.choice(self.names) if rng.random() < 0.4 else None
        self.make_values(pool)
        fields = [(1, "id", "long")]
        fields += [(i + 2, name, str(KINDS[name])) for i, name in enumerate(self.names)]
        self.member = rng.choice([n for n in self.names if n in ("i64", "s", "f64")] or [None])
        if self.member:
            inner = {"id": MEMBER_ID, "name": "m", "required": False,
                     "type": str(KINDS[self.member])}
            fields.append((MEMBER_ID - 1, "st", {"type": "struct", "fields": [inner]}))
        super().__init__(folder, fields, version)
        self.live = set()
        self.fill()

    def make_values(self, pool):
        """The values of all rows; the first half is of older files."""
        self.columns = {}
        for name in self.names:
            kind, values = pool[name]
            values = arrange(self.rng, values)
            half = len(values) // 2
            if name in self.older:
                values[:half] = [self.narrow(name, v) for v in values[:half]]
            values = punch(self.rng, values)
            if name == self.late:
                values = [None] * half + list(values[half:])
            self.columns[name] = (kind, [v.item() if isinstance(v, np.generic) else v
                                         for v in values])

    @staticmethod
    def narrow(name, value):
        if name == "i64":
            return (value + 2**31) % 2**32 - 2**31
        return np.float32(value) if name == "f64" else value % 1000

    # ---- specs ----

    def transform(self, name):
        return self.transforms[name]

    def random_spec(self):
        """Up to two fields; their names tell their sources."""
        spec = []
        for source in self.rng.sample(self.names, self.rng.randrange(1, 3)):
            text = self.rng.choice(TRANSFORMS[source] + ["void"])
            if source == self.late or (source in self.older and text == "identity"):
                text = "void"
            name = f"{source}_{len(self.specs)}"
            self.transforms[name] = text
            result = parse_transform(text).result_type(KINDS[source])
            kind = KINDS[source] if text == "void" else result
            avro = "int" if text == "void" else avro_kind(kind, f"{len(self.specs)}_{source}")
            spec.append((self.names.index(source) + 2, name, avro))
        self.add_spec(spec)

    def tuple_of(self, spec, row):
        values = []
        for source, name, *_ in self.specs[spec]:
            column = self.names[source - 2]
            text = self.transforms[name]
            values.append(None if text == "void" else part_of(
                parse_transform(text), KINDS[column], self.columns[column][1][row]))
        return tuple(values)

    # ---- files ----

    def arrow_rows(self, rows, old, leave_out):
        fields = [pa.field("id", pa.int64(), True, field_id(1))]
        arrays = [pa.array(rows, pa.int64())]
        for i, name in enumerate(self.names):
            kind, values = self.columns[name]
            if name in leave_out or (old and name == self.late):
                continue
            kind = OLDER[name] if old and name in self.older else kind
            arrays.append(make_array([values[r] for r in rows], kind))
            fields.append(pa.field(name, kind, True, field_id(i + 2)))
        if self.member:
            kind, values = self.columns["st.m"]
            inner = pa.field("m", kind, True, field_id(MEMBER_ID))
            arrays.append(pa.StructArray.from_arrays(
                [make_array([values[r] for r in rows], kind)], fields=[inner],
                mask=pa.array([values[r] is None and r % 2 == 0 for r in rows])))
            fields.append(pa.field("st", arrays[-1].type, True, field_id(MEMBER_ID - 1)))
        return pa.table(arrays, pa.schema(fields))

    def add_file(self, spec, values, rows, old):
        rng, leave_out = self.rng, set()
        for source, name, *_ in self.specs[spec]:
            if self.transforms[name] == "identity" and rng.random() < 0.3:
                leave_out.add(self.names[source - 2])
        table = self.arrow_rows(rows, old, leave_out)
        measured = [(1, iceberg.LongType(), rows)]
        for i, name in enumerate(self.names):
            kind = KINDS[name]
            if old and name in self.older:
                kind = {"i64": iceberg.IntegerType(), "f64": iceberg.FloatType(),
                        "d15": iceberg.DecimalType(9, 3)}[name]
            if name in table.column_names:
                measured.append((i + 2, kind, [self.columns[name][1][r] for r in rows]))
        if self.member:
            measured.append((MEMBER_ID, KINDS[self.member],
                             [self.columns["st.m"][1][r] for r in rows]))
        location, size = self.write(
            table, "data.parquet", row_group_size=rng.choice([7, 30, 1000]),
            write_page_index=rng.random() < 0.5, data_page_size=rng.choice([100, 1 << 20]),
            write_batch_size=8, use_dictionary=rng.random() < 0.5,
            store_decimal_as_integer=rng.random() < 0.5)
        self.add(0, location, size, len(rows), values, spec, **metrics_of(rng, measured))
        return location

    def add_rows(self, spec, rows, old):
        """Data files of some rows by their partition; (location, tuple, rows) of each."""
        groups, files = {}, []
        for row in rows:
            values = self.tuple_of(spec, row)
            groups.setdefault(repr(values), (values, []))[1].append(row)
        for values, members in list(groups.values())[:8]:
            files.append((self.add_file(spec, values, members, old), values, members))
            self.live.update(members)
        return files

    def fill(self):
        rng = self.rng
        if self.member:
            self.columns["st.m"] = self.columns[self.member]
        self.columns["id"] = (pa.int64(), list(range(ROWS)))
        for _ in range(rng.randrange(1, 3)):
            self.random_spec()
        edges = [0, ROWS // 4, ROWS // 2, 3 * ROWS // 4, ROWS]
        for i, (first, end) in enumerate(zip(edges, edges[1:])):
            spec = rng.randrange(len(self.specs))
            files = self.add_rows(spec, range(first, end), old=i < 2)
            self.metadata = self.commit()
            if self.version > 1 and rng.random() < 0.4:
                self.delete_some(spec, files)
            if self.version > 1 and rng.random() < 0.3:
                self.delete_by_key(end)

    def delete_some(self, spec, files):
        """Rows of these files, by position."""
        location, values, rows = self.rng.choice(files)
        gone = sorted(self.rng.sample(range(len(rows)), min(len(rows), 5)))
        if self.version >= 3 and self.rng.random() < 0.5:
            self.delete_vector(location, gone, values, spec)
        else:
            self.delete_positions([(location, p) for p in gone], values, spec)
        self.live -= {rows[p] for p in gone}
        self.metadata = self.commit()

    def delete_by_key(self, end):
        """Equal keys everywhere, in the rows so far."""
        name = self.rng.choice(["id"] + [n for n in self.names if n in ("i32", "s", "b", "day", "i64")])
        kind, values = self.columns[name]
        number = 1 if name == "id" else self.names.index(name) + 2
        keys = list({values[r] for r in self.rng.sample(range(end), 3)})
        known = [k for k in keys if k is not None]
        if known and len(known) == len(keys) and self.rng.random() < 0.5:
            iceberg_kind = iceberg.LongType() if name == "id" else KINDS[name]
            low, high = min(known, key=order), max(known, key=order)
            bounds = [(number, binary(iceberg_kind, low), binary(iceberg_kind, high))]
        else:
            bounds = ()
        table = pa.table([make_array(keys, kind)],
                         pa.schema([pa.field(name, kind, True, field_id(number))]))
        self.delete_equal(table, [number], (), 0, bounds=bounds)
        self.live -= {r for r in range(end) if values[r] in keys}
        self.metadata = self.commit()
