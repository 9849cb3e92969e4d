"""The rows of a Parquet file as pyarrow reads them, written the way parquet_dump writes them."""

import json
import os
import subprocess
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BUILD = os.environ.get("FRAZIL_BUILD", "build/dev")
DUMP = os.path.join(BUILD, "bin", "parquet_dump")


def dump(path, *args):
    """(rows, None) or (None, error text) of our reader."""
    done = subprocess.run([DUMP, str(path), *args], capture_output=True)
    if done.returncode == 0:
        lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")
        return [json.loads(line) for line in lines if line], None
    assert done.returncode == 1, f"{path}: status {done.returncode}\n{done.stderr.decode()[-3000:]}"
    return None, done.stderr.decode("utf-8", "replace").strip()


def schema_text(path):
    done = subprocess.run([DUMP, "--schema", str(path)], capture_output=True, text=True)
    return done.stdout.strip()


def moment(value, unit):
    if value is None:
        return None
    text = str(np.datetime64(value, unit))
    if unit == "s":
        text += "." + "0" * 6
    return text


def times(array, unit, digits):
    out = []
    for v in array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32()).to_pylist():
        if v is None:
            out.append(None)
            continue
        per = 10**digits
        v = v * {"s": 10**6, "ms": 1000, "us": 1, "ns": 1}[unit]
        s, f = divmod(abs(v), per)
        sign = "-" if v < 0 else ""
        out.append(f"{sign}{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}.{f:0{digits}}")
    return out


def values(array):
    """A list of plain values."""
    if isinstance(array, pa.ChunkedArray):
        return [v for chunk in array.chunks for v in values(chunk)]
    t = array.type
    if isinstance(t, pa.BaseExtensionType):
        inner = values(array.storage)
        if t.extension_name == "arrow.uuid":
            return [v and f"{v[:8]}-{v[8:12]}-{v[12:16]}-{v[16:20]}-{v[20:]}" for v in inner]
        return inner
    if pa.types.is_dictionary(t):
        return values(array.dictionary_decode())
    if pa.types.is_float16(t):
        return array.cast(pa.float32()).to_pylist()
    if pa.types.is_decimal(t):
        return [v if v is None else format(v, "f") for v in array.to_pylist()]
    if pa.types.is_date(t):
        days = array.cast(pa.date32()).cast(pa.int32()).to_pylist()
        return [moment(d, "D") for d in days]
    if pa.types.is_time(t):
        return times(array, t.unit, 9 if t.unit == "ns" else 6)
    if pa.types.is_timestamp(t):
        unit = "us" if t.unit in ("ms", "s") else t.unit
        scale = {"ms": 1000, "s": 10**6}.get(t.unit, 1)
        raw = array.cast(pa.timestamp(t.unit)).cast(pa.int64()).to_pylist()
        return [moment(v if v is None else v * scale, unit) for v in raw]
    if pa.types.is_duration(t):
        return array.cast(pa.int64()).to_pylist()
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t):
        return [v if v is None else v.hex() for v in array.to_pylist()]
    if pa.types.is_map(t):
        keys, items = values(array.keys), values(array.items)
        return lists(array, [{"key": k, "value": v} for k, v in zip(keys, items)])
    if pa.types.is_fixed_size_list(t):
        inner = values(array.flatten())
        out, at = [], 0
        for i in range(len(array)):
            if array[i].is_valid:
                out.append(inner[at : at + t.list_size])
                at += t.list_size
            else:
                out.append(None)
        return out
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return lists(array, values(array.values))
    if pa.types.is_struct(t):
        names = [f.name for f in t]
        columns = [values(c) for c in array.flatten()]
        valid = array.is_valid().to_pylist()
        return [dict(zip(names, row)) if ok else None
                for ok, row in zip(valid, zip(*columns) if columns else [()] * len(array))]
    return array.to_pylist()


def lists(array, inner):
    offsets = array.offsets.to_pylist()
    valid = array.is_valid().to_pylist()
    return [inner[a:b] if ok else None for ok, a, b in zip(valid, offsets, offsets[1:])]


def rows(table):
    names = table.column_names
    columns = [values(c) for c in table.columns]
    if not columns:
        return [{} for _ in range(table.num_rows)]
    return [dict(zip(names, row)) for row in zip(*columns)]


def read(path):
    return rows(pq.read_table(path, coerce_int96_timestamp_unit="us"))


def same(ours, theirs):
    """Equality with NaN equal to itself, float text exact, and time zones left aside."""
    if isinstance(ours, float) or isinstance(theirs, float):
        if ours is None or theirs is None:
            return ours is theirs
        if isinstance(ours, str) or isinstance(theirs, str):
            return False
        a, b = float(ours), float(theirs)
        return a == b or (a != a and b != b) or np.float32(a) == np.float32(b) == b
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        if ours.endswith("+00:00"):
            ours = ours[:-6]
        ours = ours.removeprefix("+")
        # text without its annotation, or the other way round
        return ours == theirs or ours.encode("utf-8", "surrogateescape").hex() == theirs
    return type(ours) is type(theirs) and ours == theirs


def difference(ours, theirs):
    """None, or a text that shows the first row that differs."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, pyarrow has {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if not same(a, b):
            for k in b:
                if k not in a or not same(a[k], b[k]):
                    return f"row {i}, {k}: {a.get(k)!r}, pyarrow has {b[k]!r}"
            return f"row {i}: {a!r}, pyarrow has {b!r}"
    return None
