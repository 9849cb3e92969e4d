"""Arrow tables compared column by column, exactly: types, nulls, values. NaN is NaN, whatever its bits;
-0 is not 0. What lies under a null does not count."""

import pyarrow as pa
import pyarrow.compute as pc

FLOATS = {pa.float16(): pa.uint16(), pa.float32(): pa.uint32(), pa.float64(): pa.uint64()}


def difference(ours, theirs, loose=False):
    """None, or a text that names the first difference. loose: ours are first cast to their types, for
    readers that have fewer types; names and nullability of fields then do not count."""
    if ours.num_rows != theirs.num_rows:
        return f"{ours.num_rows} rows, not {theirs.num_rows}"
    if len(ours.schema) != len(theirs.schema):
        return f"columns {ours.schema.names}, not {theirs.schema.names}"
    for i, (a, b) in enumerate(zip(ours.schema, theirs.schema)):
        text = (None if loose else _field(a, b)) or _column(ours.column(i), theirs.column(i), loose)
        if text:
            return f"column {a.name}: {text}"
    return None


# ---- types ----


def _field(a, b):
    if a.name != b.name:
        return f"name {a.name!r}, not {b.name!r}"
    if a.nullable != b.nullable:
        return f"nullable {a.nullable}, not {b.nullable}"
    return _type(a.type, b.type)


def _children(t):
    if pa.types.is_map(t):
        return [t.key_field, t.item_field]
    if pa.types.is_struct(t):
        return list(t)
    return [t.value_field] if _is_list(t) else []


def _is_list(t):
    return pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t)


def _type(a, b):
    if isinstance(a, pa.BaseExtensionType) or isinstance(b, pa.BaseExtensionType):
        names = [getattr(t, "extension_name", str(t)) for t in (a, b)]
        if names[0] != names[1]:
            return f"type {names[0]}, not {names[1]}"
        return _type(a.storage_type, b.storage_type)
    inner = _children(a)
    if a.id != b.id or len(inner) != len(_children(b)) or (not inner and a != b):
        return f"type {a}, not {b}"
    for x, y in zip(inner, _children(b)):
        # the names of a list's and a map's only fields are free
        text = _field(x if pa.types.is_struct(a) else x.with_name(y.name), y)
        if text:
            return f"{x.name}: {text}"
    return None


# ---- values ----


def _column(a, b, loose):
    return _array(_joined(a), _joined(b), loose)


def _joined(chunked):
    joined = chunked.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.chunk(0) if joined.num_chunks else pa.array([], joined.type)
    return joined


def _first(mask):
    """The place of the first true, or None."""
    place = pc.index(mask, True).as_py()
    return None if place < 0 else place


def _array(a, b, loose, where="row"):
    """a and b have the same length; where: how places in them are called."""
    a, b = (x.storage if isinstance(x, pa.ExtensionArray) else x for x in (a, b))
    if pa.types.is_null(a.type) and pa.types.is_null(b.type):
        return None
    valid = pc.is_valid(a)
    at = _first(pc.not_equal(valid, pc.is_valid(b)))
    if at is not None:
        return f"{where} {at}: {_shown(a[at])}, not {_shown(b[at])}"
    if pa.types.is_map(a.type) and pa.types.is_map(b.type):
        return _lists(_entries(a), _entries(b), valid, loose, where)
    if _is_list(a.type) and _is_list(b.type):
        return _lists(a, b, valid, loose, where)
    if pa.types.is_struct(a.type) and pa.types.is_struct(b.type):
        return _structs(a, b, loose, where)
    return _leaves(a.filter(valid), b.filter(valid), loose, where)


def _entries(a):
    """A map as a list of structs, nulls and all."""
    fields = [pa.field("key", a.type.key_type), pa.field("value", a.type.item_type)]
    kind = pa.list_(pa.struct(fields))
    entries = pa.StructArray.from_arrays([a.keys, a.items], fields=fields)
    offsets = a.offsets
    if a.null_count:
        offsets = pa.array([o if v else None for o, v in zip(offsets.to_pylist(), pc.is_valid(a).to_pylist())]
                           + [offsets[-1].as_py()], pa.int32())
    # keys and items are those of the slice, offsets those of the whole
    first = offsets.drop_null()[0].as_py() if len(offsets) else 0
    return pa.ListArray.from_arrays(pc.subtract(offsets, first), entries, type=kind)


def _lists(a, b, valid, loose, where):
    a, b = a.filter(valid), b.filter(valid)
    lengths = pc.list_value_length(a).cast(pa.int64()), pc.list_value_length(b).cast(pa.int64())
    at = _first(pc.not_equal(*lengths))
    if at is not None:
        return f"list {at} has {lengths[0][at]} items, not {lengths[1][at]}"
    return _array(a.flatten(), b.flatten(), loose, "item")


def _structs(a, b, loose, where):
    for x, y, field in zip(a.flatten(), b.flatten(), a.type):
        text = _array(x, y, loose, where)
        if text:
            return f"{field.name}: {text}"
    return None if len(a.type) == len(b.type) else f"{a.type}, not {b.type}"


def _leaves(a, b, loose, where):
    """Values without nulls."""
    if loose and a.type != b.type:
        try:
            a = a.cast(b.type)
        except pa.ArrowException as e:
            return f"{a.type}, not {b.type}: {e}"
    if a.type in FLOATS:
        nan = [pc.is_nan(x) if x.type != pa.float16() else pc.is_nan(x.cast(pa.float32())) for x in (a, b)]
        bits = [x.view(FLOATS[x.type]) for x in (a, b)]
        same = pc.or_(pc.and_(*nan), pc.equal(*bits))
    elif pa.types.is_interval(a.type):
        same = pa.array([x == y for x, y in zip(a.to_pylist(), b.to_pylist())], pa.bool_())
    elif a.equals(b):
        return None
    else:
        same = pc.equal(a, b)
    at = _first(pc.invert(same))
    return None if at is None else f"{where} {at} without nulls: {_shown(a[at])}, not {_shown(b[at])}"


def _shown(scalar):
    try:
        text = repr(scalar.as_py())
    except (ValueError, OverflowError):
        text = f"{scalar.cast(pa.int64()).as_py()} as {scalar.type}"
    return text if len(text) < 200 else text[:200] + "…"
