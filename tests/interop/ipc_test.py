"""Arrow IPC both ways. ipc_copy reads a file and writes another: what others wrote must come out of it as
others read it, in every type, format and compression."""
import os
import subprocess
from pathlib import Path

import ipc_columns
import pyarrow as pa
import pytest

COPY = Path(os.environ["FRAZIL_BUILD"]) / "bin" / "ipc_copy"
COLUMNS = ipc_columns.columns()
COMPRESSIONS = (None, "lz4", "zstd")


def write(path, batches, form="stream", compression=None, **options):
    options = pa.ipc.IpcWriteOptions(compression=compression, **options)
    new = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
    with new(str(path), batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path


def copy(source, target, form="stream", compression=None, cut=None, status=0):
    """The path of the copy, or what stands on standard error if it must fail."""
    command = [COPY, source, target]
    command += ["--file"] if form == "file" else []
    command += ["--compression", compression] if compression else []
    command += ["--cut", str(cut)] if cut else []
    target.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, f"{source}: {done.returncode}\n{done.stderr[-3000:]}"
    return target if status == 0 else done.stderr


def read(path, form, full=True):
    """The batches, checked in full unless their writer did not care."""
    if form == "file":
        reader = pa.ipc.open_file(str(path))
        found = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    else:
        reader = pa.ipc.open_stream(path.read_bytes())
        found = list(reader)
    for batch in found:
        batch.validate(full=full)
    return reader.schema, found


def same(a, b):
    return a.equals(b) or repr(a.to_pylist()) == repr(b.to_pylist())


def compare(found, schema, wanted):
    assert found[0].equals(schema, check_metadata=True), f"{found[0]}\n{schema}"
    assert [b.num_rows for b in found[1]] == [b.num_rows for b in wanted]
    for a, b in zip(found[1], wanted):
        for field, x, y in zip(schema, a.columns, b.columns):
            assert same(x, y), f"{field}\n{x}\n{y}"


@pytest.mark.parametrize("name", COLUMNS)
def test_each_type_comes_out_as_it_went_in(name, tmp_path):
    batches = ipc_columns.batches({name: COLUMNS[name]})
    for form, compression in (("stream", None), ("file", "zstd")):
        source = write(tmp_path / "in", batches, form, compression)
        target = copy(source, tmp_path / "out", form, compression)
        compare(read(target, form), batches[0].schema, batches)


@pytest.mark.parametrize("cut", (1, 2, 3, 5))
def test_slices_are_written_as_their_own_rows(cut, tmp_path):
    batches = ipc_columns.batches(COLUMNS)
    source = write(tmp_path / "in", batches)
    wanted = []
    for batch in batches:
        wanted += [batch.slice(i, cut) for i in range(0, max(batch.num_rows, 1), cut)]
    for form in ("stream", "file"):
        for compression in COMPRESSIONS:
            target = copy(source, tmp_path / "out", form, compression, cut)
            compare(read(target, form), batches[0].schema, wanted)


# ---- dictionaries ----


def dictionary(values, type_):
    """The values as a dictionary, all of them in their order."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), pa.array(values, type_))


GROWING = {
    "int64": (pa.int64(), [5, None, 7], [5, None, 7, 8], [5, None, 7, 8, None]),
    "bool": (pa.bool_(), [True], [True, False], [True, False, None]),
    "string": (pa.string(), ["a", ""], ["a", "", "bc"], ["a", "", "bc", None, "d"]),
    "large": (pa.large_binary(), [b"a"], [b"a", b"bc"], [b"a", b"bc", b""]),
    "view": (pa.string_view(), ["x" * 20], ["x" * 20, "y"], ["x" * 20, "y", None, "z" * 13]),
    "fixed": (pa.binary(2), [b"ab"], [b"ab", b"cd"], [b"ab", b"cd", b"ef"]),
    "null": (pa.null(), [None], [None] * 2, [None] * 3),
    "list": (pa.list_(pa.string()), [["a"], []], [["a"], [], None], [["a"], [], None, ["b", None]]),
    "large_list": (pa.large_list(pa.int8()), [[1]], [[1], [2, 3]], [[1], [2, 3], []]),
    "list_view": (pa.list_view(pa.int8()), [[1]], [[1], [2, 3]], [[1], [2, 3], [], None]),
    "fixed_list": (pa.list_(pa.int8(), 2), [[1, 2]], [[1, 2], None], [[1, 2], None, [3, None]]),
    "struct": (pa.struct({"a": pa.int8(), "b": pa.string()}), [{"a": 1, "b": "x"}], [{"a": 1, "b": "x"}, None]),
    "map": (pa.map_(pa.string(), pa.int8()), [[("k", 1)]], [[("k", 1)], [], [("l", None)]]),
}


@pytest.mark.parametrize("deltas", (False, True), ids=("replaced", "deltas"))
@pytest.mark.parametrize("name", GROWING)
def test_dictionaries_that_change_in_a_stream(name, deltas, tmp_path):
    type_, *states = GROWING[name]
    arrays = [dictionary(state, type_) for state in [*states, states[0], states[-1]]]
    schema = pa.schema({"d": arrays[0].type})
    batches = [pa.RecordBatch.from_arrays([array], schema=schema) for array in arrays]
    for compression in COMPRESSIONS:
        source = write(tmp_path / "in", batches, "stream", compression, emit_dictionary_deltas=deltas)
        compare(read(copy(source, tmp_path / "out"), "stream"), schema, batches)


def test_deltas_in_a_file(tmp_path):
    arrays = [dictionary(["a", "b", "c"][:n], pa.string()) for n in (1, 2, 3)]
    schema = pa.schema({"d": arrays[0].type})
    batches = [pa.RecordBatch.from_arrays([array], schema=schema) for array in arrays]
    source = write(tmp_path / "in", batches, "file", emit_dictionary_deltas=True)
    compare(read(copy(source, tmp_path / "out", "file"), "file"), schema, batches)


def test_a_changed_dictionary_does_not_fit_into_a_file(tmp_path):
    arrays = [dictionary(["a"], pa.string()), dictionary(["b"], pa.string())]
    schema = pa.schema({"d": arrays[0].type})
    batches = [pa.RecordBatch.from_arrays([array], schema=schema) for array in arrays]
    source = write(tmp_path / "in", batches)
    said = copy(source, tmp_path / "out", "file", status=1)
    assert 'unsupported: column "d": a dictionary that changes in the file format' in said
    assert not (tmp_path / "out").exists()


def test_an_unchanged_dictionary_is_written_once(tmp_path):
    array = dictionary(["a" * 1000, "b" * 1000], pa.string())
    schema = pa.schema({"d": array.type})
    batches = [pa.RecordBatch.from_arrays([array], schema=schema)] * 20
    target = copy(write(tmp_path / "in", batches), tmp_path / "out", "file")
    assert target.stat().st_size < 20 * 2000
    compare(read(target, "file"), schema, batches)


# ---- shapes of files ----


@pytest.mark.parametrize("form", ("stream", "file"))
def test_files_without_rows_or_columns(form, tmp_path):
    schema = pa.schema({"a": pa.int32(), "d": pa.dictionary(pa.int8(), pa.string())}, metadata={"k": "v"})
    new = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
    for fields, batches in (
        (schema, []),
        (schema, [pa.RecordBatch.from_pylist([], schema=schema)] * 2),
        (pa.schema([]), []),
        (pa.schema([]), [pa.RecordBatch.from_pylist([], schema=pa.schema([]))]),
    ):
        with new(str(tmp_path / "in"), fields) as writer:
            for batch in batches:
                writer.write_batch(batch)
        found, read_back = read(copy(tmp_path / "in", tmp_path / "out", form), form)
        assert found.equals(fields, check_metadata=True)
        assert [b.num_rows for b in read_back] == [0] * len(batches)


def test_wide_and_long(tmp_path):
    wide = pa.RecordBatch.from_arrays([pa.array([i, None]) for i in range(3000)], [f"column {i}" for i in range(3000)])
    long = pa.RecordBatch.from_pydict({"n": range(300_000), "s": [str(i) for i in range(300_000)], "z": [0] * 300_000})
    for batch in (wide, long):
        for form, compression in (("stream", None), ("file", "lz4"), ("file", "zstd")):
            source = write(tmp_path / "in", [batch, batch], form, compression)
            target = copy(source, tmp_path / "out", form, compression)
            compare(read(target, form), batch.schema, [batch, batch])


def test_extension_types_keep_their_name(tmp_path):
    arrays = {
        "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16))),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None])),
    }
    batch = pa.RecordBatch.from_pydict(arrays)
    compare(read(copy(write(tmp_path / "in", [batch]), tmp_path / "out"), "stream"), batch.schema, [batch])


@pytest.mark.parametrize("form", ("stream", "file"))
def test_metadata_v4_and_the_old_frame(form, tmp_path):
    batches = ipc_columns.batches(COLUMNS)
    options = {"metadata_version": pa.ipc.MetadataVersion.V4, "use_legacy_format": True}
    source = write(tmp_path / "in", batches, form, **options)
    compare(read(copy(source, tmp_path / "out"), "stream"), batches[0].schema, batches)


# ---- polars ----

# Polars has no such type, or not in IPC.
NOT_IN_POLARS = ("interval", "union", "runs", "list_view", "decimal256")


@pytest.mark.parametrize("form, compression", (("stream", None), ("file", "lz4"), ("file", "zstd")))
def test_polars_reads_what_we_write_and_we_what_it_writes(form, compression, tmp_path):
    polars = pytest.importorskip("polars")
    names = [name for name in COLUMNS if not any(word in name for word in NOT_IN_POLARS)]
    batch = ipc_columns.batches({name: COLUMNS[name] for name in names})[0]
    load = polars.read_ipc_stream if form == "stream" else polars.read_ipc
    wanted = load(write(tmp_path / "theirs", [batch], form, compression))
    found = load(copy(write(tmp_path / "in", [batch]), tmp_path / "out", form, compression, cut=2))
    assert found.schema == wanted.schema and repr(found.rows()) == repr(wanted.rows())
    if form == "stream":
        wanted.write_ipc_stream(tmp_path / "back")
    else:
        wanted.write_ipc(tmp_path / "back", compression=compression)
    again = load(copy(tmp_path / "back", tmp_path / "out", form))
    assert again.schema == wanted.schema and repr(again.rows()) == repr(wanted.rows())


# ---- files of other writers ----

DATA = Path(__file__).resolve().parents[1] / "data" / "arrow-ipc"
CORPORA = Path(os.environ.get("FRAZIL_CORPORA", "../shared/corpora")).resolve() / "arrow-testing" / "data"


def batches_equal(a, b):
    """Some types have no Python form, and NaN is not equal to itself."""
    return a.equals(b) or all(same(x, y) for x, y in zip(a.columns, b.columns))


def check_foreign(path, target):
    """A file that pyarrow reads comes out the same, but for what is not read by us."""
    form = "file" if path.read_bytes()[:6] == b"ARROW1" else "stream"
    schema, wanted = read(path, form, full=False)
    found, again = read(copy(path, target), "stream", full=False)
    assert found.equals(schema, check_metadata=True)
    assert len(again) == len(wanted) and all(batches_equal(a, b) for a, b in zip(again, wanted))


@pytest.mark.parametrize("path", sorted(DATA.glob("*_*")), ids=lambda path: path.name)
def test_files_of_other_writers(path, tmp_path):
    if "bigendian" in path.name:
        assert "unsupported: big-endian data" in copy(path, tmp_path / "out", status=1)
    else:
        check_foreign(path, tmp_path / "out")


def test_integration_files(tmp_path):
    folder = CORPORA / "arrow-ipc-stream" / "integration"
    paths = sorted(p for p in folder.rglob("*") if p.suffix in (".stream", ".arrow_file"))
    if not paths:
        pytest.skip(f"no files in {folder}")
    for path in paths:
        if "bigendian" in path.parts[-2]:
            assert "unsupported: " in copy(path, tmp_path / "out", status=1)
        else:
            check_foreign(path, tmp_path / "out")


def test_inputs_that_crashed_others(tmp_path):
    folders = [CORPORA / "arrow-ipc-file", CORPORA / "arrow-ipc-stream"]
    paths = sorted(p for folder in folders for p in folder.glob("*") if p.is_file())
    if not paths:
        pytest.skip(f"no files in {CORPORA}")
    for path in paths:
        done = subprocess.run([COPY, path, tmp_path / "out"], capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1) and "Sanitizer" not in done.stderr, f"{path}\n{done.stderr}"
        (tmp_path / "out").unlink(missing_ok=True)
