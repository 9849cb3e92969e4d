"""What a rival is. Those that take part are in peer_*.py, one file for each project; a file has
VERSION, a text, and RIVALS, a list of (name, function of a folder that gives a Rival)."""

import time

READS = 3


class Rival:
    """A table in a folder, as one project keeps it. Each operation opens the table anew."""

    lacks = ()  # names of operations that it does not have

    def __init__(self, folder):
        self.folder = folder

    # ---- what it does ----

    def load(self, source):
        """Make the table of a Parquet file."""
        raise NotImplementedError

    def update(self, columns, share):
        """Add one to columns where id % share = 0, in one commit."""
        raise NotImplementedError

    def add(self):
        """Add ADDED, twice c_1 in every row."""
        raise NotImplementedError

    def from_file(self, keyed):
        """Give c_1 the values of a Parquet file of id and c_1."""
        raise NotImplementedError

    def read(self, columns=None):
        """The columns, or all, as an Arrow table."""
        raise NotImplementedError

    # ---- how it is measured ----

    def prepare(self):
        """What is not counted: a session that is to be warm."""

    def seconds_of(self, work):
        """Of what an operation does; the start of the process and its imports are over by then."""
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def read_through(self, columns):
        """Read columns, or all, and add up all doubles."""
        import pyarrow as pa
        import pyarrow.compute as pc
        for column in self.read(columns).columns:
            if pa.types.is_floating(column.type):
                pc.sum(column)

    def seconds_of_reading(self, columns=None):
        """The least of several times."""
        return min(Rival.seconds_of(self, lambda: self.read_through(columns))
                   for _ in range(READS))

    def bytes_written(self):
        """By this process so far; None: not known."""
        with open("/proc/self/io", encoding="ascii") as file:
            return int(dict(line.split(": ") for line in file)["wchar"])

    def check(self, operation, source, keyed):
        """Every value of the table is what the operation makes of the source's; else a text."""
        from values import difference
        return difference(self.read(), operation, source, keyed)
