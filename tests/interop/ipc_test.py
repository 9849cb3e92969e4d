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


def read(path, form):
    """The batches, checked in full."""
    if form == "file":
        reader = pa.ipc.open_file(str(path))
        found = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    else:
        reader = pa.ipc.open_stream(path.read_bytes())
        found = list(reader)
    for batch in found:
        batch.validate(full=True)
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
    for form in ("stream", "file"):
        for compression in COMPRESSIONS:
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
