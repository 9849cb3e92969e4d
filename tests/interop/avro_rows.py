"""Rows of Avro files in one form, as fastavro reads them and as frazil cat gives them out: logical types
as the numbers and bytes they stand on, records as dicts, maps as lists of pairs."""
import decimal
import os
import subprocess
import uuid
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.ipc as ipc

BUILD = Path(os.environ.get("FRAZIL_BUILD", "build/release")).resolve()

# Values as they are stored; what logical types make of them differs from reader to reader.
fastavro.read.LOGICAL_READERS.clear()



# ---- frazil ----------------------------------------------------------------------------------------------

def cat(path, *arguments):
    """(table, None), or (None, what the command said)."""
    command = [BUILD / "bin" / "frazil", "cat", path, "--format", "arrow", *arguments]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        assert done.returncode > 0, f"{path}: killed by a signal\n{done.stderr.decode()}"
        return None, done.stderr.decode()
    return ipc.open_stream(done.stdout).read_all(), None


def raw(array):
    """The values of an Arrow array."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in raw(chunk)]
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return raw(array.storage)
    if pa.types.is_struct(kind):
        fields = [(kind.field(i).name, raw(array.field(i))) for i in range(kind.num_fields)]
        made = [{name: values[i] for name, values in fields} for i in range(len(array))]
    elif pa.types.is_map(kind):
        made = items(array, list(zip(raw(array.keys), raw(array.items))))
    elif pa.types.is_list(kind):
        made = items(array, raw(array.values))
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        made = array.view(pa.int32()).to_pylist()
    elif pa.types.is_time64(kind) or pa.types.is_timestamp(kind):
        made = array.view(pa.int64()).to_pylist()
    elif pa.types.is_decimal(kind):
        with decimal.localcontext(prec=100):
            made = [None if v is None else int(v.scaleb(kind.scale)) for v in array.to_pylist()]
    elif pa.types.is_interval(kind):
        made = [None if v is None else tuple(v) for v in array.to_pylist()]
    else:
        made = array.to_pylist()
    return [value if valid else None for value, valid in zip(made, array.is_valid().to_pylist())]


def items(array, values):
    ends = array.offsets.to_pylist()
    return [values[ends[i]:ends[i + 1]] for i in range(len(array))]


def rows_of(table):
    columns = {name: raw(table[name]) for name in table.column_names}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


# ---- fastavro --------------------------------------------------------------------------------------------

def load(path):
    """(schema, rows) by fastavro."""
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        rows = list(reader)
        return reader.writer_schema, rows


class Names:
    """Types by name, so that references can be followed."""

    def __init__(self, schema):
        self.types = {}
        self.note(schema, "")

    def note(self, schema, space):
        if isinstance(schema, list):
            for branch in schema:
                self.note(branch, space)
        if not isinstance(schema, dict):
            return
        if schema["type"] in ("record", "error", "enum", "fixed"):
            name = schema["name"]
            space = schema.get("namespace", name.rpartition(".")[0] or space)
            full = name if "." in name or not space else f"{space}.{name}"
            self.types[full] = self.types[name] = schema
            for field in schema.get("fields", []):
                self.note(field["type"], space)
        for part in ("items", "values", "type"):
            self.note(schema.get(part), space)

    def find(self, schema):
        while isinstance(schema, str) and schema in self.types:
            schema = self.types[schema]
        return schema


def is_union(names, schema):
    """A union that is more than an optional type, somewhere in a column."""
    schema = names.find(schema)
    if isinstance(schema, list):
        others = [s for s in schema if s != "null"]
        return len(others) > 1 or any(is_union(names, s) for s in others)
    if isinstance(schema, dict) and schema["type"] in ("record", "error"):
        return any(is_union(names, f["type"]) for f in schema["fields"])
    if isinstance(schema, dict):
        return any(is_union(names, schema[k]) for k in ("items", "values") if k in schema)
    return False


def signed(value):
    return int.from_bytes(value, "big", signed=True)


def expected(names, schema, value):
    """A value of fastavro in the form of raw()."""
    schema = names.find(schema)
    if isinstance(schema, list):
        if value is None:
            return None
        (schema,) = [s for s in schema if s != "null"]
        return expected(names, schema, value)
    if not isinstance(schema, dict):
        return value
    kind, logical = schema["type"], schema.get("logicalType")
    if kind in ("record", "error"):
        return {f.get("iceberg-field-name", f["name"]): expected(names, f["type"], value[f["name"]])
                for f in schema["fields"]}
    if kind == "array":
        found = [expected(names, schema["items"], item) for item in value]
        return [tuple(item.values()) for item in found] if logical == "map" else found
    if kind == "map":
        return [(key, expected(names, schema["values"], item)) for key, item in value.items()]
    if logical == "decimal" and kind in ("bytes", "fixed") and schema["precision"] <= 38:
        return signed(value)
    if logical == "uuid" and kind == "string":
        return uuid.UUID(value).bytes
    if logical == "duration" and kind == "fixed":
        months, days, ms = (int.from_bytes(value[i:i + 4], "little") for i in (0, 4, 8))
        return months, days, ms * 1000000
    return expected(names, kind, value) if isinstance(kind, (dict, list)) else value


def expected_rows(schema, rows):
    names = Names(schema)
    return [expected(names, schema, row) for row in rows]


# ---- comparing -------------------------------------------------------------------------------------------

def difference(found, wanted):
    """The first difference as text; None: there is none. Floats by their text: NaN is itself then."""
    if len(found) != len(wanted):
        return f"{len(found)} rows, expected {len(wanted)}"
    for i, (ours, theirs) in enumerate(zip(found, wanted)):
        if repr(ours) != repr(theirs):
            for name in theirs:
                if repr(ours.get(name)) != repr(theirs[name]):
                    return f"row {i}, {name}: {ours.get(name)!r}, expected {theirs[name]!r}"
            return f"row {i}: {list(ours)}, expected {list(theirs)}"
    return None
