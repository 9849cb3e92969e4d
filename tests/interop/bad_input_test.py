"""Bad input of every kind: one clear line that says what and where, the exit code of its kind,
nothing on standard output, and a warehouse that is byte for byte what it was."""

import datetime
import decimal
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frazil import BUILD

FRAZIL = str(BUILD / "bin" / "frazil")
OTHER, USAGE, NOT_FOUND, CORRUPT = 1, 2, 3, 5
ROWS = 1000


def sample(rows=ROWS):
    """id is required; i has nulls; d has NaN."""
    numbers = range(rows)
    schema = pa.schema([
        pa.field("id", pa.int64(), nullable=False), ("i", pa.int32()), ("d", pa.float64()),
        ("s", pa.string()), ("dec", pa.decimal128(9, 2)), ("ts", pa.timestamp("us")),
        ("b", pa.bool_()), ("score_1", pa.float64()), ("score_2", pa.float64()),
    ])
    start = datetime.datetime(2024, 1, 1)
    return pa.table([
        list(numbers), [k if k % 7 else None for k in numbers],
        [k / 3 if k % 5 else float("nan") for k in numbers], [f"name {k}" for k in numbers],
        [decimal.Decimal(k) / 100 for k in numbers],
        [start + datetime.timedelta(seconds=k) for k in numbers], [k % 2 == 0 for k in numbers],
        [random.random() for _ in numbers], [1.0 for _ in numbers],
    ], schema=schema)


def write(path, table):
    pq.write_table(table, path, compression="zstd", write_page_checksum=True, row_group_size=400)
    return path


def contents(folder):
    """Everything below a folder: files with their bytes, folders and links by name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else None
    return found


def files(folder):
    return {path: data for path, data in contents(folder).items() if data is not None}


def catalog_rows(database):
    """None if that is no catalog."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            return sorted(connection.execute("SELECT * FROM iceberg_tables"))
    except sqlite3.DatabaseError:
        return None


class Place:
    """A folder with a warehouse in it, and a copy to go back to."""

    def __init__(self, folder):
        self.folder, self.saved = folder / "place", folder / "saved"
        self.folder.mkdir()
        self.warehouse = self.folder / "warehouse"
        write(self.folder / "base.parquet", sample())
        for arguments in (
            ["import", "db.t", "base.parquet"],
            ["sql", "UPDATE db.t SET d = d + 1 WHERE id % 2 = 0"],
            ["sql", "UPDATE db.t SET i = 1, s = upper(s)"],
        ):
            done = self.run(*arguments)
            assert done.returncode == 0, done.stderr
        shutil.copytree(self.folder, self.saved)
        described = json.loads(self.run("files", "db.t", "--json").stdout)[0]
        self.base = self.data_file(described["location"])
        self.columns = [self.data_file(file["location"]) for file in described["column_files"]]
        self.metadata = sorted(self.warehouse.rglob("*.metadata.json"))[-1]
        snapshot = self.json()["snapshots"][-1]
        self.root = self.warehouse / "db" / "t" / snapshot["root-manifest"]

    def data_file(self, location):
        return self.warehouse / "db" / "t" / "data" / location.rpartition("/")[2]

    def json(self):
        return json.loads(self.metadata.read_text())

    def restore(self):
        if contents(self.folder) != contents(self.saved):
            shutil.rmtree(self.folder)
            shutil.copytree(self.saved, self.folder)

    def run(self, *arguments, prefix=(), **more):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
        return subprocess.run([*prefix, FRAZIL, *map(str, arguments)], capture_output=True,
                              text=True, cwd=self.folder, env=environment, **more)

    def refuses(self, *arguments, status, says=(), hint=None, files_only=False, **more):
        """The command fails as all commands must, and its line holds these phrases. files_only:
        empty folders may remain."""
        look = files if files_only else contents
        before = look(self.folder)
        database = self.warehouse / "catalog.db"
        rows = catalog_rows(database)
        done = self.run(*arguments, **more)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert lines[0].startswith("frazil: "), done.stderr
        advice = lines[1:]
        assert not advice or advice[0].startswith("hint: "), done.stderr
        assert all(line.startswith("      ") for line in advice[1:]), done.stderr
        for phrase in [says] if isinstance(says, str) else says:
            assert phrase in lines[0], done.stderr
        if hint is not None:
            assert hint in "\n".join(advice), done.stderr
        assert look(self.folder) == before
        assert catalog_rows(database) == rows
        return done

    def finds(self, *phrases):
        """validate tells of it and changes nothing."""
        before = contents(self.folder)
        done = self.run("validate", "db.t")
        assert done.returncode == CORRUPT, done.stdout + done.stderr
        for phrase in phrases:
            assert phrase in done.stdout, done.stdout
        assert contents(self.folder) == before


@pytest.fixture(scope="module")
def shared_place():
    """In a folder that another user can reach, which those of pytest are not."""
    random.seed(3)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Place(pathlib.Path(folder))


@pytest.fixture
def place(shared_place):
    shared_place.restore()
    return shared_place


# ---- names ----

NAMES = [
    (["scan", "db.tt"], NOT_FOUND, "there is no table db.tt", "did you mean db.t?"),
    (["scan", "other.t"], NOT_FOUND, "there is no table other.t", None),
    (["describe", "db.x"], NOT_FOUND, "there is no table db.x", None),
    (["compact", "db.x"], NOT_FOUND, "there is no table db.x", None),
    (["validate", "db.x"], NOT_FOUND, "there is no table db.x", None),
    (["sql", "SELECT * FROM db.x"], NOT_FOUND, "there is no table db.x", None),
    (["sql", "UPDATE db.x SET a = 1"], NOT_FOUND, "there is no table db.x", None),
    (["sql", "ALTER TABLE db.x ADD COLUMN a int"], NOT_FOUND, "there is no table db.x", None),
    (["sql", "SELECT score FROM db.t"], NOT_FOUND, 'no column "score"',
     "close names: score_1, score_2"),
    (["sql", "SELECT id FROM db.t WHERE score_3 > 1"], NOT_FOUND, 'no column "score_3"',
     "close names: score_1, score_2"),
    (["sql", "UPDATE db.t SET scor_1 = 1"], NOT_FOUND, 'no column "scor_1"',
     "close names: score_1"),
    (["sql", "UPDATE db.t SET b = nothing"], NOT_FOUND, 'no column "nothing"', "columns are: id"),
    (["sql", "UPDATE db.t SET b = true WHERE bb"], NOT_FOUND, 'no column "bb"', "close names: b"),
    (["scan", "db.t", "--columns", "id,score_l"], NOT_FOUND, 'no column "score_l"',
     "close names: score_1"),
    (["scan", "db.t", "--where", "idd = 1"], NOT_FOUND, 'no column "idd"', "close names: id"),
    (["scan", "db.t", "--snapshot", "5"], NOT_FOUND, "table db.t has no snapshot 5", None),
    (["files", "db.t", "--snapshot", "5"], NOT_FOUND, "table db.t has no snapshot 5", None),
    (["scan", "db..t"], USAGE, 'table name "db..t": a part is empty', "namespace.table"),
    (["scan", "t"], USAGE, 'table name "t": expected a namespace', "namespace.table"),
    (["scan", "x" * 5000 + ".t"], USAGE, "longer than 255 bytes", None),
    (["scan", "x" * 200 + ".t"], NOT_FOUND, "there is no table xxx", None),
    (["scan", "db.t", "--columns", "x" * 5000], NOT_FOUND, 'no column "xxx', None),
    (["sql", f"SELECT {'x' * 5000} FROM db.t"], NOT_FOUND, 'no column "xxx', None),
]


@pytest.mark.parametrize("arguments,status,says,hint", NAMES)
def test_names_that_are_not_there(place, arguments, status, says, hint):
    place.refuses(*arguments, status=status, says=says, hint=hint)


# ---- values ----

VALUES = [
    ("SET i = 'abc'", ['column "i"', "string", "int"]),
    ("SET s = 1", ['column "s"', "int", "string"]),
    ("SET b = id", ['column "b"', "long", "boolean"]),
    ("SET ts = true", ['column "ts"', "boolean", "timestamp"]),
    ("SET ts = '2024-13-01'", ['column "ts"', "'2024-13-01'"]),
    ("SET i = 1.5", ['column "i"', "1.5", "int"]),
    ("SET i = 3000000000", ['column "i"', "3000000000", "int"]),
    ("SET dec = 1.234", ['column "dec"', "1.234", "decimal(9, 2)"]),
    ("SET dec = 12345678.5", ['column "dec"', "12345678.5", "decimal(9, 2)"]),
    ("SET i = d", ['column "i"', "at row 0", "NaN"]),
    ("SET i = score_1", ['column "i"', "at row 0", "int"]),
    ("SET i = id * 10000000", ['column "i"', "at row 215", "2150000000"]),
    ("SET id = id + 9223372036854775000", ['column "id"', "overflow", "at row 808"]),
    ("SET id = -9223372036854775807 - id", ['column "id"', "overflow", "at row 2"]),
    ("SET id = id * 9223372036854775807", ['column "id"', "overflow", "at row 2"]),
    ("SET d = 1 / (id - 5)", ['column "d"', "division by zero at row 5"]),
    ("SET d = id % (id - 7)", ['column "d"', "zero at row 7"]),
    ("SET dec = dec / (dec - 0.05)", ['column "dec"', "division by zero at row 5"]),
    ("SET id = NULL", ['column "id"', "null at row 0", "required"]),
    ("SET id = CASE WHEN id = 900 THEN NULL ELSE id END",
     ['column "id"', "null at row 900", "required"]),
    ("SET id = CAST(s AS bigint) WHERE id = 3", ['column "id"', "NAME 3", "row 3"]),
    ("SET d = sqrt(-1 - id)", ['column "d"', "at row 0"]),
    ("SET d = ln(id - 1)", ['column "d"', "at row 0"]),
]


@pytest.mark.parametrize("clause,says", VALUES)
def test_values_that_do_not_fit(place, clause, says):
    place.refuses("sql", f"UPDATE db.t {clause}", status=USAGE, says=says)


def test_a_failing_row_is_only_met_if_it_is_chosen(place):
    done = place.run("sql", "UPDATE db.t SET d = 1 / (id - 5) WHERE id <> 5")
    assert done.returncode == 0, done.stderr


def test_sums_that_overflow(place):
    place.refuses("sql", "SELECT sum(id + 9223372036854770000) FROM db.t", status=USAGE,
                  says="overflow")


def test_an_update_that_matches_no_row_says_so_and_makes_no_snapshot(place):
    before = contents(place.folder)
    done = place.run("sql", "UPDATE db.t SET i = 1 WHERE id < 0")
    assert done.returncode == 0 and done.stderr == ""
    assert "no row matched" in done.stdout
    text = place.run("sql", "UPDATE db.t SET i = 1 WHERE score_1 > 1e9", "--json").stdout
    report = json.loads(text)
    assert report["snapshot_id"] == 0 and report["rows"] == 0 and report["files_written"] == 0
    assert contents(place.folder) == before


# ---- statements ----

# The text, the message, the line that is shown and the column (counted in characters) below which
# the caret stands.
PARSING = [
    ("", "expected SELECT, UPDATE, DELETE, INSERT, MERGE or ALTER TABLE, found the end", "", 0),
    ("SELEKT id FROM db.t", "found SELEKT", "SELEKT id FROM db.t", 0),
    ("SELECT id, FROM db.t", "expected an expression, found FROM", "SELECT id, FROM db.t", 11),
    ("SELECT 'äöü€𝄞', ) FROM db.t", "found )", "SELECT 'äöü€𝄞', ) FROM db.t", 16),
    ("SELECT id,\n  'äö' || s +* d\nFROM db.t", "found *", "  'äö' || s +* d", 13),
    ("SELECT id\nFROM db.t\nWHERE id = = 3\nLIMIT 1", "found =", "WHERE id = = 3", 11),
    ("SELECT id FROM db.t WHERE", "found the end of the text", "SELECT id FROM db.t WHERE", 25),
    ("SELECT 'abc FROM db.t", "no closing '", "SELECT 'abc FROM db.t", 7),
    ('SELECT "abc FROM db.t', 'no closing "', 'SELECT "abc FROM db.t', 7),
    ("SELECT id FROM db.t; SELECT id", "one statement only", "SELECT id FROM db.t; SELECT id", 21),
    ("SELECT ((id) FROM db.t", "expected )", "SELECT ((id) FROM db.t", 13),
    ("UPDATE db.t SET i = 1, i = 2", 'column "i" is set twice',
     "UPDATE db.t SET i = 1, i = 2", 23),
    ("UPDATE db.t SET i 1", "expected =, found 1", "UPDATE db.t SET i 1", 18),
    ("UPDATE db.t SET i = 1 WHER id = 1", "found WHER",
     "UPDATE db.t SET i = 1 WHER id = 1", 22),
    ("SELECT id FROM db.t LIMIT x", "expected a whole number", "SELECT id FROM db.t LIMIT x", 26),
    ("SELECT id FROM db.t LIMIT 99999999999999999999", "LIMIT" , None, 0),
    ("ALTER TABLE db.t ADD COLUMN x strin", "expected a type", None, 0),
    ("SELECT id # 2 FROM db.t", "#", "SELECT id # 2 FROM db.t", 10),
]


@pytest.mark.parametrize("text,says,shown,column", PARSING)
def test_parse_errors_show_the_place(place, text, says, shown, column):
    done = place.refuses("sql", text, status=USAGE)
    lines = done.stderr.splitlines()
    assert says in lines[0] or says in done.stderr and shown is None, done.stderr
    if shown is not None:
        assert lines[1:3] == ["hint: " + shown, "      " + " " * column + "^"], done.stderr


def test_an_assignment_in_another_case_is_a_second_one(place):
    place.refuses("sql", "UPDATE db.t SET i = 1, I = 2", status=USAGE, says="twice")


def test_a_scan_condition_shows_the_place(place):
    done = place.refuses("scan", "db.t", "--where", "id = 'ä' +", status=USAGE, says="expected")
    assert done.stderr.splitlines()[2] == "      " + " " * 10 + "^"


def test_statements_of_others_are_unsupported(place):
    for text in ("DROP TABLE db.t", "CREATE TABLE db.u (a int)",
                 "ALTER TABLE db.t RENAME TO db.u", "SELECT id FROM db.t ORDER BY id",
                 "SELECT DISTINCT i FROM db.t", "SELECT i, count(*) FROM db.t GROUP BY i"):
        place.refuses("sql", text, status=OTHER, says="unsupported: ")


def test_deep_expressions_are_refused_or_answered(place):
    for text in ("(" * 20000 + "1" + ")" * 20000, "-" * 1 + " - " * 20000 + "1",
                 "not " * 20000 + "true", "1" + " + 1" * 20000, "CASE WHEN " * 5000):
        done = place.run("sql", "-", input=f"SELECT {text} FROM db.t LIMIT 1")
        assert done.returncode in (0, OTHER, USAGE), (text[:20], done.returncode)
        assert done.returncode == 0 or done.stderr.startswith("frazil: ")


PROPERTIES = {
    "write.durability": ["sometimes"], "write.metadata.path": ["", "/", "s3://bucket/x"],
    "write.data.path": ["", "s3://bucket/x"], "write.metadata.previous-versions-max": ["x"],
    "write.metadata.metrics.default": ["x"], "write.metadata.metrics.column.id": ["x"],
    "write.metadata.metrics.max-inferred-column-defaults": ["x"],
    "write.parquet.page-size-bytes": ["1", "x"], "write.parquet.compression-codec": ["x"],
    "write.parquet.compression-level": ["99"], "commit.retry.num-retries": ["x"],
    "schema.name-mapping.default": ["x", "[1]", '{"a":1}'], "format-version": ["3"], "": ["x"],
}


@pytest.mark.parametrize("key", PROPERTIES)
def test_properties_that_make_no_sense(place, key):
    """With a value that cannot be used, no later command would get through."""
    for value in PROPERTIES[key]:
        unsupported = value.startswith("s3:") or "codec" in key
        status = OTHER if unsupported else USAGE
        place.refuses("sql", f"ALTER TABLE db.t SET TBLPROPERTIES ('{key}' = '{value}')",
                      status=status, says=key if not value.startswith("s3:") else value)
        place.refuses("import", "db.u", "base.parquet", "--property", f"{key}={value}",
                      status=status, files_only=True)


def test_columns_that_cannot_be_added(place):
    for column, says in [("id int", '"id" exists already'), ("_row_id bigint", "reserved"),
                         ("_last_updated_sequence_number int", "reserved"),
                         ("x decimal(5, 9)", "scale"), ("x decimal(40, 2)", "precision"),
                         ("x int DEFAULT 'a'", '"x"'), ("x int DEFAULT 3000000000", "3000000000"),
                         ('"" int', "empty")]:
        place.refuses("sql", f"ALTER TABLE db.t ADD COLUMN {column}",
                      status=OTHER if "exists" in says else USAGE, says=says)


# ---- command lines ----

COMMAND_LINES = [
    (["scn", "db.t"], USAGE, 'unknown command "scn"', "did you mean scan?"),
    (["scan", "db.t", "--colums", "id"], USAGE, "unknown option --colums",
     "did you mean --columns?"),
    (["scan", "db.t", "-x"], USAGE, "unknown option -x", None),
    (["scan"], USAGE, "an argument is missing", "usage: frazil scan TABLE"),
    (["scan", "db.t", "db.u"], USAGE, 'unexpected argument "db.u"', None),
    (["import", "db.u"], USAGE, "an argument is missing", None),
    (["import", "db.u", "base.parquet", "--property", "key"], USAGE, '"key"', None),
    (["import", "db.u", "base.parquet", "--property", "=value"], USAGE, '"=value"', None),
    (["scan", "db.t", "--format", "xml"], USAGE, 'found "xml"', None),
    (["scan", "db.t", "--format", "parquet"], USAGE, "needs a file", "-o"),
    (["scan", "db.t", "--limit", "-1"], USAGE, "--limit", None),
    (["scan", "db.t", "--limit", "99999999999999999999"], USAGE, "--limit", None),
    (["scan", "db.t", "--snapshot", "x"], USAGE, "--snapshot", None),
    (["scan", "db.t", "--columns", "id,,s"], USAGE, '"id,,s"', None),
    (["scan", "db.t", "--columns", ""], USAGE, "--columns", None),
    (["scan", "db.t", "-o", "base.parquet"], OTHER, "base.parquet is there already", "--force"),
    (["scan", "db.t", "-o", "missing/out.csv"], NOT_FOUND, "cannot create missing/out.csv", None),
    (["scan", "db.t", "--format", "parquet", "-o", "missing/out.parquet"], NOT_FOUND,
     "missing/out.parquet", None),
    (["scan", "db.t", "--format", "parquet", "-o", "base.parquet"], OTHER, "there already", None),
    (["scan", "db.t", "-o", "warehouse"], USAGE, "warehouse is a folder", None),
    (["scan", "db.t", "-o", "warehouse", "--force"], USAGE, "warehouse is a folder", None),
    (["scan", "--metadata", "."], NOT_FOUND, "there is no table at", None),
    (["scan", "--metadata", "missing.json"], NOT_FOUND, "missing.json", None),
    (["scan", "--metadata", "base.parquet"], CORRUPT, "base.parquet", None),
    (["scan", "db.t", "--metadata", "."], USAGE, 'unexpected argument "db.t"', None),
    (["--metadata"], USAGE, "--metadata", None),
    (["--catalog", "mysql://x", "tables"], USAGE, '"mysql:"', "sqlite://"),
    (["--catalog", "base.parquet", "tables"], CORRUPT, "is not a SQLite database", None),
    (["--catalog", ".", "tables"], OTHER, "place", None),
    (["--catalog", "missing.db", "tables"], NOT_FOUND, "missing.db", "import"),
    (["--catalog", "missing.db", "scan", "db.t"], NOT_FOUND, "missing.db", "import"),
    (["--warehouse", "missing", "scan", "db.t"], NOT_FOUND, "missing", "import"),
    (["--catalog-name", "other", "scan", "db.t"], NOT_FOUND, "there is no table db.t", None),
    (["sql", "UPDATE x SET a = 1", "--metadata", "{metadata}"], USAGE, "read-only", "catalog"),
    (["compact", "--metadata", "{metadata}"], USAGE, "", None),
]


@pytest.mark.parametrize("arguments,status,says,hint", COMMAND_LINES)
def test_command_lines_that_make_no_sense(place, arguments, status, says, hint):
    arguments = [argument.format(metadata=place.metadata) for argument in arguments]
    place.refuses(*arguments, status=status, says=says, hint=hint)


def test_a_reader_that_stops_early_is_no_error(place):
    for form in ("table", "csv", "jsonl", "json"):
        text = f"'{FRAZIL}' scan db.t --format {form} | head -1"
        done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, cwd=place.folder)
        assert done.stderr == "" and len(done.stdout.splitlines()) == 1
    closed = subprocess.run(["sh", "-c", f"'{FRAZIL}' scan db.t >&-"], capture_output=True,
                            text=True, cwd=place.folder)
    assert closed.returncode == OTHER and closed.stderr.startswith("frazil: ")
    if os.path.exists("/dev/full"):
        full = subprocess.run(["sh", "-c", f"'{FRAZIL}' scan db.t >/dev/full"],
                              capture_output=True, text=True, cwd=place.folder)
        assert full.returncode == OTHER and "No space left" in full.stderr


def test_a_report_that_is_lost_is_no_failure_of_what_is_committed(place):
    """Who repeats a command that failed must not make the change twice."""
    for number, sink in enumerate((">/dev/full", ">&-", "--json | true"), start=1):
        text = f"'{FRAZIL}' sql 'UPDATE db.t SET score_2 = score_2 + 1' {sink}"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", text], capture_output=True,
                              text=True, cwd=place.folder)
        assert done.returncode == 0, sink
        assert done.stderr == "" or "the change is committed" in done.stderr
        found = subprocess.run([FRAZIL, "sql", "SELECT min(score_2), max(score_2) FROM db.t",
                                "--format", "csv"], capture_output=True, text=True,
                               cwd=place.folder)
        assert found.stdout.splitlines()[1] == f"{1.0 + number},{1.0 + number}"


# ---- import ----

def footer_length(path, length):
    data = bytearray(path.read_bytes())
    data[-8:-4] = length.to_bytes(4, "little")
    path.write_bytes(data)


def test_import_of_what_is_no_parquet_file(place):
    base = (place.folder / "base.parquet").read_bytes()
    cases = {
        "empty.parquet": (b"", CORRUPT, "the file is empty"),
        "text.parquet": (b"id,c\n1,2\n", CORRUPT, "no known file format"),
        "magic.parquet": (b"PAR1PAR1", CORRUPT, "too short"),
        "head.parquet": (base[:3], CORRUPT, "no known file format"),
        "half.parquet": (base[:len(base) // 2], CORRUPT, "ends with PAR1"),
        "less.parquet": (base[:-1], CORRUPT, "ends with PAR1"),
        "more.parquet": (base + b"x", CORRUPT, "ends with PAR1"),
        "file.orc": (b"ORC" + bytes(100), OTHER, "unsupported: no reader for format orc"),
        "file.avro": (b"Obj\x01" + bytes(100), CORRUPT, "the file's metadata has no avro.schema"),
        "secret.parquet": (b"PARE" + bytes(100) + b"PARE", OTHER, "unsupported: "),
        "zeros.parquet": (base[:4] + bytes(len(base) - 12) + base[-8:], CORRUPT, "footer"),
    }
    for name, (data, status, says) in cases.items():
        (place.folder / name).write_bytes(data)
        place.refuses("import", "db.u", name, status=status, says=[name, says])
        # not even the folder of a new warehouse remains
        place.refuses("--warehouse", "new/house", "import", "db.u", name, status=status)
    place.refuses("import", "db.u", "warehouse", status=OTHER, says="not a regular file")
    place.refuses("import", "db.u", "missing.parquet", status=NOT_FOUND, says="missing.parquet")
    place.refuses("--warehouse", "new", "import", "db.u", "missing.parquet", status=NOT_FOUND)
    place.refuses("import", "db.t", "base.parquet", status=OTHER, says="db.t exists already")


@pytest.mark.parametrize("length", [0, 1, 20, 2**31 - 1, 2**31, 2**32 - 1, "all", "one less"])
def test_import_of_an_impossible_footer_length(place, length):
    path = shutil.copy(place.folder / "base.parquet", place.folder / "footer.parquet")
    size = path.stat().st_size
    exact = {"all": size, "one less": size - 8}.get(length, length)
    footer_length(path, exact)
    place.refuses("import", "db.u", path, status=CORRUPT, says="footer.parquet")
    place.refuses("import", "db.u", path, "--rewrite", status=CORRUPT, says="footer.parquet")


def test_import_of_files_that_do_not_fit(place):
    one = pa.table({"id": pa.array([1], pa.int64()), "x": pa.array([1], pa.int32())})
    others = {
        "type.parquet": (pa.table({"id": pa.array([1], pa.int64()), "x": ["a"]}),
                         ['"x"', "string", "int"]),
        "wider.parquet": (pa.table({"id": pa.array([1], pa.int64()),
                                    "x": pa.array([1], pa.int64())}), ['"x"', "long", "int"]),
        "less.parquet": (pa.table({"id": pa.array([1], pa.int64())}), ['"x"']),
        "more.parquet": (one.append_column("y", [[1]]), ['"y"']),
        "case.parquet": (one.rename_columns(["id", "X"]), ['"x"']),
    }
    pq.write_table(one, place.folder / "one.parquet")
    for name, (table, says) in others.items():
        pq.write_table(table, place.folder / name)
        place.refuses("import", "db.u", "one.parquet", name, status=USAGE, says=[name, *says])
        place.refuses("import", "db.u", "one.parquet", name, "--rewrite", status=USAGE,
                      says=[name, *says])


# ---- data files that changed ----

def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)


def page_of(path, column):
    """A byte in the middle of a compressed page."""
    chunk = pq.ParquetFile(path).metadata.row_group(0)
    index = [chunk.column(i).path_in_schema for i in range(chunk.num_columns)].index(column)
    chunk = chunk.column(index)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    return start + chunk.total_compressed_size - 5


def column_file_with(place, column):
    for path in place.columns:
        if column in pq.read_schema(path).names:
            return path
    raise AssertionError(column)


@pytest.mark.parametrize("column,where", [("score_1", "base"), ("ts", "base"), ("dec", "base"),
                                          ("d", "column file"), ("i", "column file"),
                                          ("s", "column file")])
def test_a_corrupt_page(place, column, where):
    path = place.base if where == "base" else column_file_with(place, column)
    flip(path, page_of(path, column))
    says = [path.name, f'"{column}"']
    place.refuses("scan", "db.t", "--columns", f"id,{column}", status=CORRUPT, says=says)
    place.refuses("scan", "db.t", "--columns", f"id,{column}", "--format", "parquet", "-o",
                  "out.parquet", status=CORRUPT, says=says)
    place.refuses("scan", "db.t", "-o", "out.csv", "--format", "csv", status=CORRUPT, says=says)
    place.refuses("sql", f"SELECT count({column}) FROM db.t", status=CORRUPT, says=says)
    place.refuses("sql", f"UPDATE db.t SET score_2 = CASE WHEN {column} IS NULL THEN 1 ELSE 2 END",
                  status=CORRUPT, says=says)
    place.finds(path.name, f'"{column}"')
    # columns beside it are read as before
    assert place.run("scan", "db.t", "--columns", "id,b").returncode == 0


def test_data_files_that_were_cut_or_exchanged(place):
    other = write(place.folder / "other.parquet", sample(700))
    for path, column in [(place.base, "b"), *[(file, None) for file in place.columns]]:
        whole = path.read_bytes()
        column = column or [name for name in pq.read_schema(path).names if name[0] != "_"][0]
        changed = {
            "cut in the middle": whole[:len(whole) // 2], "one byte less": whole[:-1],
            "one byte more": whole + b"x", "empty": b"", "random": random.randbytes(len(whole)),
            "another file": other.read_bytes(), "zeros": bytes(len(whole)),
        }
        for name, data in changed.items():
            path.write_bytes(data)
            says = [path.name]
            if len(data) != len(whole):
                says += [f"{len(data)} bytes", f"{len(whole)}"]
            place.refuses("scan", "db.t", status=CORRUPT, says=says)
            place.refuses("compact", "db.t", status=CORRUPT, says=says)
            place.refuses("sql", f"UPDATE db.t SET score_1 = 1 WHERE {column} IS NULL OR id > 5",
                          status=CORRUPT, says=says)
            place.finds(path.name)
        path.unlink()
        place.refuses("scan", "db.t", status=NOT_FOUND, says=path.name)
        place.refuses("compact", "db.t", status=NOT_FOUND, says=path.name)
        place.finds(path.name)
        path.mkdir()
        place.refuses("scan", "db.t", status=OTHER, says=[path.name, "not a regular file"])
        path.rmdir()
        path.write_bytes(whole)


def padded(path, size):
    """A Parquet file made exactly so long: bytes between the pages and the footer are no part of
    anything."""
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    assert len(data) <= size
    path.write_bytes(data[:-footer] + bytes(size - len(data)) + data[-footer:])


def test_a_file_of_the_same_size_with_other_rows(place):
    for path in [place.base, *place.columns]:
        whole = path.read_bytes()
        table = pq.read_table(path).slice(0, 3)
        pq.write_table(table, path, compression="zstd")
        if len(path.read_bytes()) > len(whole):
            pytest.skip("the shorter table takes more bytes")
        padded(path, len(whole))
        says = [path.name, "3 rows", "1000"]
        place.refuses("scan", "db.t", status=CORRUPT, says=says)
        place.refuses("compact", "db.t", status=CORRUPT, says=says)
        place.finds(path.name, "3")
        path.write_bytes(whole)


def test_a_column_file_that_is_another_one(place):
    """Same size, same rows, other field ids."""
    small, large = sorted(place.columns, key=lambda path: path.stat().st_size)
    size = large.stat().st_size
    shutil.copy(small, large)
    padded(large, size)
    for arguments in (["scan", "db.t"], ["compact", "db.t"]):
        place.refuses(*arguments, status=CORRUPT, says=[large.name, "does not store"])
    place.finds(large.name, "not stored in it")


# ---- metadata that changed ----

def edited(change):
    def edit(text):
        data = json.loads(text)
        change(data)
        return json.dumps(data)
    return edit


def set_in(*path, value):
    def change(data):
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value
    return edited(change)


METADATA = {
    "cut": (lambda text: text[:len(text) // 2], CORRUPT, "not JSON: line 1"),
    "empty": (lambda text: "", CORRUPT, "not JSON"),
    "words": (lambda text: "hello", CORRUPT, "not JSON"),
    "a list": (lambda text: "[]", CORRUPT, "expected an object, found a list"),
    "twice": (lambda text: text + text, CORRUPT, "not JSON"),
    "NaN": (lambda text: text.replace('"last-sequence-number":3', '"last-sequence-number":NaN')
            .replace('"last-sequence-number": 3', '"last-sequence-number": NaN'), CORRUPT, "JSON"),
    "deep": (lambda text: "[" * 100000, CORRUPT, "JSON"),
    "version 5": (set_in("format-version", value=5), OTHER, "unsupported: format version 5"),
    "version 3": (set_in("format-version", value=3), CORRUPT, "manifest-list"),
    "version 0": (set_in("format-version", value=0), CORRUPT, "format-version"),
    "version text": (set_in("format-version", value="4"), CORRUPT, "format-version"),
    "snapshots": (set_in("snapshots", value=5), CORRUPT, "snapshots: expected a list"),
    "schemas": (set_in("schemas", value=5), CORRUPT, "schemas: expected a list"),
    "no schemas": (set_in("schemas", value=[]), CORRUPT, "schema"),
    "fields": (set_in("schemas", 0, "fields", value=5), CORRUPT, "schemas[0].fields"),
    "type": (set_in("schemas", 0, "fields", 1, "type", value="intt"), CORRUPT,
             'schemas[0].fields[1].type: expected a type, found "intt"'),
    "id": (set_in("schemas", 0, "fields", 1, "id", value=1), CORRUPT, "schemas[0]"),
    "id text": (set_in("schemas", 0, "fields", 1, "id", value="2"), CORRUPT,
                "schemas[0].fields[1]"),
    "name": (set_in("schemas", 0, "fields", 1, "name", value="id"), CORRUPT, '"id"'),
    "snapshot": (set_in("current-snapshot-id", value=99), CORRUPT, "there is no snapshot 99"),
    "schema": (set_in("current-schema-id", value=99), CORRUPT, "there is no schema 99"),
    "uuid": (set_in("table-uuid", value=7), CORRUPT, "table-uuid"),
    "sequence": (set_in("last-sequence-number", value="3"), CORRUPT, "last-sequence-number"),
    "row id": (set_in("next-row-id", value=-1), CORRUPT, "next-row-id"),
    "huge": (set_in("next-row-id", value=2**70), CORRUPT, ""),
    "no root": (edited(lambda data: data["snapshots"][-1].pop("root-manifest")), CORRUPT,
                "root-manifest"),
    "root number": (set_in("snapshots", 2, "root-manifest", value=3), CORRUPT, "root-manifest"),
    "properties": (set_in("properties", value=["a"]), CORRUPT, "properties"),
    "refs": (set_in("refs", value=[]), CORRUPT, "refs"),
}


@pytest.mark.parametrize("name", METADATA)
def test_metadata_that_is_broken(place, name):
    edit, status, says = METADATA[name]
    text = place.metadata.read_text()
    changed = edit(text)
    assert changed != text
    place.metadata.write_text(changed)
    for arguments in (["scan", "db.t"], ["sql", "UPDATE db.t SET i = 2"], ["compact", "db.t"],
                      ["describe", "db.t"], ["validate", "db.t"],
                      ["scan", "--metadata", place.metadata]):
        place.refuses(*arguments, status=status, says=[place.metadata.name, says])
    assert place.run("tables").stdout == "db.t\n"


def test_a_metadata_file_that_is_gone(place):
    place.metadata.unlink()
    for command in ("scan", "describe", "compact", "validate"):
        done = place.refuses(command, "db.t", status=NOT_FOUND, says=place.metadata.name)
        assert "did you mean" not in done.stderr


def test_root_manifests_that_are_broken(place):
    whole = place.root.read_bytes()
    changed = {
        "empty": b"", "half": whole[:len(whole) // 2], "one less": whole[:-1],
        "one more": whole + b"x", "random": random.randbytes(len(whole)),
        "random inside": whole[:4] + random.randbytes(len(whole) - 12) + whole[-8:],
        "data": place.base.read_bytes(), "text": b"hello",
    }
    for data in changed.values():
        place.root.write_bytes(data)
        for arguments in (["scan", "db.t"], ["sql", "UPDATE db.t SET i = 2"], ["compact", "db.t"],
                          ["files", "db.t"], ["manifests", "db.t"]):
            place.refuses(*arguments, status=CORRUPT, says=place.root.name)
        place.finds(place.root.name)
    place.root.unlink()
    place.refuses("scan", "db.t", status=NOT_FOUND, says=place.root.name)
    place.finds(place.root.name)


def test_any_flipped_byte_of_a_root_manifest_is_survived(place):
    """An error or an answer, never a crash; and never rows of another kind than there were."""
    whole = place.root.read_bytes()
    good = place.run("scan", "db.t", "--columns", "id").stdout
    for _ in range(60):
        flip(place.root, random.randrange(len(whole)))
        done = place.run("scan", "db.t", "--columns", "id")
        assert done.returncode in (0, OTHER, NOT_FOUND, CORRUPT), done.returncode
        assert done.stdout == (good if done.returncode == 0 else "")
        place.root.write_bytes(whole)


def test_fields_of_a_root_manifest_under_other_ids_are_not_passed_over(place):
    """Without its column files the table would show old values, without a word."""
    table = pq.read_table(place.root)
    for name, field_id in (("column_files", 222), ("spec_id", 9141), ("content_stats", 99146)):
        fields = [field.with_metadata({"PARQUET:field_id": str(field_id)})
                  if field.name == name else field for field in table.schema]
        if name not in table.schema.names:
            continue
        pq.write_table(table.cast(pa.schema(fields)), place.root)
        assert f"field_id={field_id} {name}" in str(pq.ParquetFile(place.root).schema)
        for arguments in (["scan", "db.t"], ["sql", "UPDATE db.t SET i = 2"], ["compact", "db.t"]):
            place.refuses(*arguments, status=CORRUPT,
                          says=[place.root.name, f"field {name}", f"found {field_id}"])


# ---- catalogs ----

def test_catalogs_that_are_none(place):
    database = place.warehouse / "catalog.db"
    whole = database.read_bytes()
    for data in (b"hello, world" * 100, random.randbytes(len(whole)),
                 whole[:16] + random.randbytes(len(whole) - 16)):
        database.write_bytes(data)
        for arguments in (["scan", "db.t"], ["tables"], ["sql", "UPDATE db.t SET i = 2"],
                          ["import", "db.u", "base.parquet"]):
            place.refuses(*arguments, status=CORRUPT, says="catalog.db")
    database.unlink()
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE something (a int)")
    connection.close()
    for arguments in (["scan", "db.t"], ["tables"], ["compact", "db.t"]):
        place.refuses(*arguments, status=NOT_FOUND, says="catalog.db", hint="import")
    database.unlink()
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE iceberg_tables (a int)")
    connection.close()
    for arguments in (["scan", "db.t"], ["tables"]):
        before = contents(place.folder)
        done = place.run(*arguments)
        assert done.returncode in (OTHER, CORRUPT) and "catalog.db" in done.stderr
        assert contents(place.folder) == before


def test_a_catalog_row_without_a_location(place):
    database = place.warehouse / "catalog.db"
    for value in (None, "", "nonsense", "s3://bucket/x.metadata.json", "file:///missing.json", 7):
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE iceberg_tables SET metadata_location = ?", (value,))
        connection.close()
        done = place.run("scan", "db.t")
        assert done.returncode in (OTHER, NOT_FOUND, CORRUPT), (value, done.stderr)
        assert done.stderr.startswith("frazil: ") and done.stdout == ""


# ---- systems that fail ----

def try_mount(*arguments):
    if os.geteuid() != 0:
        pytest.skip("only root mounts file systems")
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mount is refused here: {done.stderr.strip()}")


def test_a_full_disk(place, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    try_mount("-t", "tmpfs", "-o", "size=400k", "tmpfs", small)
    try:
        options = ["--warehouse", small / "house"]
        assert place.run(*options, "import", "db.t", "base.parquet").returncode == 0
        filler = os.open(small / "filler", os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(filler, bytes(4096))
        except OSError:
            pass
        os.close(filler)
        for arguments in (["sql", "UPDATE db.t SET score_1 = score_1 + 1"], ["compact", "db.t"],
                          ["import", "db.u", "base.parquet"]):
            before = files(small)
            done = place.run(*options, *arguments)
            if arguments[0] == "compact":
                assert done.returncode == 0  # there is nothing to fold
                continue
            assert done.returncode == OTHER and "No space left" in done.stderr, done.stderr
            assert done.stdout == "" and files(small) == before
        (small / "filler").unlink()
        assert place.run(*options, "sql", "UPDATE db.t SET i = 2").returncode == 0
        assert place.run(*options, "validate", "db.t").returncode == 0
    finally:
        subprocess.run(["umount", small], check=True)


def other_user():
    """A prefix that runs a command as a user who owns nothing here."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root ignores modes and there is no setpriv")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def test_a_read_only_warehouse(place):
    prefix = other_user()
    probe = place.run("--version", prefix=prefix)
    if probe.returncode != 0 or subprocess.run(
            [*prefix, "test", "-r", place.folder / "base.parquet"]).returncode != 0:
        pytest.skip("another user does not reach this folder")
    everything = [place.warehouse, *place.warehouse.rglob("*")]
    modes = {path: path.stat().st_mode for path in everything}
    try:
        for path in everything:
            path.chmod(0o555 if path.is_dir() else 0o444)
        for arguments in (["sql", "UPDATE db.t SET i = 2"], ["compact", "db.t"],
                          ["sql", "ALTER TABLE db.t ADD COLUMN x int"],
                          ["import", "db.u", "base.parquet"]):
            done = place.refuses(*arguments, status=OTHER, prefix=prefix)
            assert any(word in done.stderr.lower() for word in
                       ("read-only", "readonly", "permission denied")), done.stderr
        assert place.run("validate", "db.t", prefix=prefix).returncode == 0
        place.metadata.chmod(0)
        place.refuses("scan", "db.t", status=OTHER, prefix=prefix,
                      says=[place.metadata.name, "Permission denied"])
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


# ---- odd names ----

COLUMNS = ["a.b", 'say "hi"', "two words", "naïve £", "", "Case", "case", "CASE", "select",
           "_row", "x" * 300, "tab\tnew\nline", "comma,name", "it's", "日本語", "a\\b", "%s%n"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def test_odd_column_names(place):
    columns = [name for name in COLUMNS if name]
    table = pa.table({name: pa.array([k, k + 1], pa.int64()) for k, name in enumerate(columns)})
    pq.write_table(table, place.folder / "odd.parquet")
    assert place.run("import", "db.odd", "odd.parquet").returncode == 0
    expected = table.to_pylist()
    for name in columns:
        update = place.run("sql", f"UPDATE db.odd SET {quoted(name)} = {quoted(name)} + 100"
                                  f" WHERE {quoted(name)} IS NOT NULL")
        assert update.returncode == 0, (name, update.stderr)
        expected = [{**row, name: row[name] + 100} for row in expected]
        scan = place.run("scan", "db.odd", "--columns", quoted(name), "--format", "jsonl")
        assert [json.loads(line) for line in scan.stdout.splitlines()] == \
            [{name: row[name]} for row in expected]
    for step in ("compact", "validate"):
        assert place.run(step, "db.odd").returncode == 0
    scan = place.run("scan", "db.odd", "--format", "jsonl")
    assert [json.loads(line) for line in scan.stdout.splitlines()] == expected
    place.refuses("sql", 'SELECT "cAse" FROM db.odd', status=USAGE, says="ambiguous")


@pytest.mark.parametrize("name", ['db."odd/name.x"', 'db."../up"', 'db."a ""b"""', "db.日本語",
                                  '"name space"."t.t"', 'db."%41"', 'db."a?b#c"', 'a.b.c.d'])
def test_odd_table_names(place, name):
    done = place.run("import", name, "base.parquet")
    assert done.returncode == 0, done.stderr
    assert len([path for path in place.folder.iterdir()]) == 2, "it stays in the warehouse"
    assert place.run("sql", f"UPDATE {name} SET i = 5").returncode == 0
    assert place.run("validate", name).returncode == 0
    rows = place.run("sql", f"SELECT i FROM {name} LIMIT 1", "--format", "csv")
    assert rows.stdout == "i\n5\n"
    listed = [line for line in place.run("tables").stdout.splitlines() if line != "db.t"]
    assert len(listed) == 1
    again = place.run("sql", f"SELECT i FROM {listed[0]} LIMIT 1", "--format", "csv")
    assert again.stdout == "i\n5\n"
    place.refuses("import", name, "base.parquet", status=OTHER, says="exists already")


def test_names_of_columns_that_import_refuses(place):
    for names in (["a", "a"], ["a", ""]):
        table = pa.table([pa.array([1])] * 2, names=names)
        pq.write_table(table, place.folder / "names.parquet")
        done = place.run("import", "db.u", "names.parquet")
        if done.returncode == 0:
            assert place.run("validate", "db.u").returncode == 0
            shutil.rmtree(place.warehouse / "db" / "u")
        else:
            assert "names.parquet" in done.stderr
