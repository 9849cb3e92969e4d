"""What every rival is asked to do with the table: id and the doubles c_1 to c_200."""

from dataclasses import dataclass

OTHER = "c_50"  # a column that nothing changes
ADDED = "c_201"


@dataclass(frozen=True)
class Operation:
    title: str
    columns: tuple  # that change: one is added, or is new
    share: int = 1  # one row in so many changes, those where id % share = 0
    commits: int = 1  # the columns are divided among them
    what: str = "update"


def first(count):
    return tuple(f"c_{i}" for i in range(1, count + 1))


OPERATIONS = {
    "all": Operation("Update all rows of one column", first(1)),
    "tenth": Operation("Update one row in ten of one column", first(1), share=10),
    "thousandth": Operation("Update one row in a thousand of one column", first(1), share=1000),
    "ten": Operation("Update all rows of ten columns", first(10)),
    "add": Operation("Add a column and fill it", (ADDED,), what="add"),
    "file": Operation("Update one column from a file with keys", first(1), what="from file"),
    "twenty": Operation("Twenty updates in a row, of a column each", first(20), commits=20),
}


def perform(rival, operation, keyed):
    """Ask a rival for an operation; keyed: the file of new values."""
    if operation.what == "add":
        rival.add()
    elif operation.what == "from file":
        rival.from_file(keyed)
    else:
        each = len(operation.columns) // operation.commits
        for n in range(operation.commits):
            rival.update(operation.columns[n * each:(n + 1) * each], operation.share)


def assignments(columns):
    """The update as most dialects of SQL have it."""
    return ", ".join(f"{column} = {column} + 1" for column in columns)


def condition(share):
    return "" if share == 1 else f"id % {share} = 0"


def where(share):
    return "" if share == 1 else f" WHERE {condition(share)}"
