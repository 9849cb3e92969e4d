"""Other readers of Parquet: what they say that a file holds."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

STORED_SCHEMA = b"ARROW:schema"


def without_stored_schema(data):
    """The bytes of a file of which pyarrow does not see the Arrow schema that its writer left in the
    footer: types are then those of the Parquet schema alone."""
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    at = data.find(STORED_SCHEMA, max(footer, 0)) if len(data) > 8 else -1
    if at < 0:
        return data
    return data[:at] + STORED_SCHEMA.lower() + data[at + len(STORED_SCHEMA) :]


def pyarrow_table(path):
    """Raises whatever pyarrow makes of damaged files."""
    source = pa.BufferReader(without_stored_schema(path.read_bytes()))
    return pq.ParquetFile(source, coerce_int96_timestamp_unit="us").read()


class DuckDB:
    """DuckDB in a process of its own, since it may end that; started when it is first asked."""

    def __init__(self):
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.communicate()

    def table(self, path):
        """(table, None), or (None, why there is none)."""
        if self.process is None or self.process.poll() is not None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe)
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        head = self.process.stdout.readline()
        if not head:
            return None, f"DuckDB ended with status {self.process.wait()}"
        kind, size = head.split()
        body = self.process.stdout.read(int(size))
        if kind == b"error":
            return None, body.decode("utf-8", "replace")
        return pa.ipc.open_stream(body).read_all(), None


def serve():
    """The other end: a path a line in; a line with kind and size, and the body, out."""
    import duckdb

    for line in sys.stdin:
        name = line.rstrip("\n").replace("'", "''")
        try:
            con = duckdb.connect()
            con.sql("SET TimeZone = 'UTC'; SET arrow_large_buffer_size = true")
            found = con.sql(f"SELECT * FROM read_parquet('{name}', hive_partitioning = false)").to_arrow_table()
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, found.schema) as writer:
                writer.write_table(found)
            kind, body = "table", sink.getvalue().to_pybytes()
        except Exception as e:  # whatever DuckDB makes of damaged files
            kind, body = "error", str(e).encode()
        sys.stdout.buffer.write(f"{kind} {len(body)}\n".encode() + body)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
