"""Columns of every Arrow type, seven rows each, for tests of Arrow IPC and of what is compared by it."""
import decimal
import sys

import numpy
import pyarrow as pa

ROWS = 7


def _number_columns():
    for type_ in (pa.int8, pa.uint8, pa.int16, pa.uint16, pa.int32, pa.uint32, pa.int64, pa.uint64):
        yield type_(), [1, 2, None, 4, 5, 6, 7]
    for type_ in (pa.float32(), pa.float64()):
        yield type_, [1.5, None, -0.0, float("nan"), float("inf"), 6, 7]
    for type_ in (pa.decimal32(5, 2), pa.decimal64(10, 2), pa.decimal128(20, 3), pa.decimal256(60, -2)):
        yield type_, [None if n is None else decimal.Decimal(n) for n in (100, None, -300, 400, 0, None, 100)]


def _time_columns():
    units = ("s", "ms", "us", "ns")
    types = [pa.date32(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    types += [pa.timestamp(unit, zone) for unit in units for zone in (None, "UTC", "Europe/Berlin")]
    types += [pa.duration(unit) for unit in units]
    for type_ in types:
        numbers = pa.array([1, 2, None, 4, 5, 6, 7], pa.int32() if type_.bit_width == 32 else pa.int64())
        yield type_, numbers.cast(type_)
    day = 86_400_000
    yield pa.date64(), pa.array([day, 0, None, day, 0, 0, -day], pa.int64()).view(pa.date64())
    yield pa.month_day_nano_interval(), [(1, 2, 3), None, (3, 4, 5)] + [(0, 0, 0)] * 4


def _byte_columns():
    for type_ in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield type_, [b"a", b"", None, b"\xff" * 30, b"y" * 13, b"z", b"w" * 12]
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        yield type_, ["a", "", None, "é" * 30, "y" * 13, "z", "w" * 12]
    yield pa.binary(3), [b"abc", b"abc", None, b"xyz", b"abc", None, b"xyz"]


def _nested_columns():
    numbers = [[1, 2, None], [], None, [3], [4, 5], None, [6]]
    texts = [["a", None], [], None, ["b"], ["c", "d"], None, ["e"]]
    for type_ in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
        yield type_(pa.int32()), numbers
        yield type_(pa.string()), texts
        yield type_(pa.list_(pa.int8())), [[[1], None, []], [], None, [[2, 3]], [[]], None, [[4]]]
    yield pa.list_(pa.int16(), 2), [[1, 2], None, [3, None], [4, 5], [6, 7], [8, 9], None]
    yield pa.struct({"a": pa.int32(), "b": pa.string()}), [
        {"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 3, "b": None}, {"a": 4, "b": "z"}, None, None,
    ]
    entries = [[("a", 1)], None, [("b", None), ("c", 2)], [], [], [("q", 1)], []]
    yield pa.map_(pa.string(), pa.int32()), entries
    yield pa.map_(pa.string(), pa.int32(), keys_sorted=True), entries


def _encoded_columns():
    texts = pa.array(["a", "b", None, "a", "c", "c", "b"]).dictionary_encode()
    yield "dictionary", texts
    for index in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int64(), pa.uint64()):
        indices = pa.array([0, 1, None, 0, 1, 1, 0], index)
        yield f"dictionary_{index}", pa.DictionaryArray.from_arrays(indices, pa.array([1.5, 2.5]), ordered=True)
    items = pa.array(["a", "b", "a", "c", "c", None]).dictionary_encode()
    yield "list_of_dictionary", pa.ListArray.from_arrays([0, 1, 2, 2, 3, 4, 5, 6], items)
    inner = pa.StructArray.from_arrays([pa.array(["p", "q", "p"]).dictionary_encode(), pa.array([1, 2, 3])], ["d", "v"])
    yield "dictionary_of_dictionary", pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 0, 1, 2], pa.int16()), inner)
    for ends in (pa.int16(), pa.int32(), pa.int64()):
        yield f"runs_{ends}", pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 7], ends), pa.array(["a", None, "b"]))


def _union_columns():
    ids = pa.array([0, 1, 0, 1, 1, 0, 0], pa.int8())
    children = [pa.array([1, 2, None, 4, 5, 6, 7]), pa.array(list("abcdefg"))]
    yield "sparse_union", pa.UnionArray.from_sparse(ids, children)
    ids = pa.array([5, 117, 5, 117, 117, 5, 5], pa.int8())
    offsets = pa.array([0, 0, 1, 1, 2, 2, 3], pa.int32())
    children = [pa.array([1, None, 3, 4]), pa.array(list("abc"))]
    yield "dense_union", pa.UnionArray.from_dense(ids, offsets, children, ["x", "y"], [5, 117])


def columns():
    """Name -> array."""
    found = {"null": pa.nulls(ROWS), "bool": pa.array([True, False, None, True, True, False, True])}
    found["float16"] = pa.array([None if n == 2 else numpy.float16(n) for n in range(ROWS)], pa.float16())
    for part in (_number_columns, _time_columns, _byte_columns, _nested_columns):
        for type_, values in part():
            found[str(type_)] = values if isinstance(values, pa.Array) else pa.array(values, type_)
    for part in (_encoded_columns, _union_columns):
        found.update(part())
    return found


def batches(arrays):
    """Batches of the columns: whole, slices, an empty one, and one without nulls where possible. Every second
    field has metadata, a third is declared as never null but for those that are."""
    fields = []
    for i, (name, array) in enumerate(arrays.items()):
        metadata = {"PARQUET:field_id": str(i + 1), "empty": ""} if i % 2 else None
        fields.append(pa.field(name, array.type, nullable=array.null_count > 0 or i % 3 > 0, metadata=metadata))
    schema = pa.schema(fields, metadata={"top": "level", "bytes": b"\x00\xff"})
    whole = pa.RecordBatch.from_arrays(list(arrays.values()), schema=schema)
    return [whole, whole.slice(1, 5), whole.slice(3, 3), whole.slice(2, 0), whole.slice(6)]


def write_seeds(folder):
    """Small files for fuzz/corpus/arrow_ipc: some columns each, in turn as stream and file, in each compression."""
    names = list(columns())
    for i, start in enumerate(range(0, len(names), 9)):
        chosen = {name: columns()[name] for name in names[start : start + 9]}
        options = pa.ipc.IpcWriteOptions(compression=(None, "lz4", "zstd")[i % 3])
        new = pa.ipc.new_file if i % 2 else pa.ipc.new_stream
        found = batches(chosen)
        with new(f"{folder}/columns_{i}", found[0].schema, options=options) as writer:
            for batch in found[:2]:
                writer.write_batch(batch)
    texts = [pa.array(t).dictionary_encode() for t in (["a"], ["a", "b"], ["a", "b", "c"], ["x"])]
    for name, deltas in (("replaced", False), ("deltas", True)):
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        schema = pa.schema({"d": texts[0].type})
        with pa.ipc.new_stream(f"{folder}/{name}", schema, options=options) as writer:
            for text in texts:
                writer.write_batch(pa.RecordBatch.from_arrays([text], schema=schema))
    options = pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4, use_legacy_format=True)
    old = batches({name: columns()[name] for name in ("int32", "string", "sparse_union", "dense_union")})[0]
    with pa.ipc.new_stream(f"{folder}/old", old.schema, options=options) as writer:
        writer.write_batch(old)


if __name__ == "__main__":
    write_seeds(sys.argv[1])
