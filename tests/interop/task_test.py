"""Tasks of plans: run one after the other they give the scan's rows in the scan's order, whatever size they
are cut to; broken ones are refused."""
import copy
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frazil import Warehouse
from iceberg_corpus import (
    CORPORA, ENGINES, ENGINE_MAPS, frazil, listing, rows_of, run_task, scan, scan_by_tasks
)

GOLDEN = CORPORA / "iceberg-v4"
GOLDEN_MAPS = [("file:///golden/", f"{GOLDEN}/")]
GOLDEN_TABLES = [t for t in listing(GOLDEN / "TABLES.tsv") if not t["must_fail"]]
ENGINE_TABLES = listing(ENGINES / "TABLES.tsv")
UNREAD = "no reader for format"

def check(metadata, maps, pieces, *arguments):
    """The rows of the tasks, of which there are about so many, are those of the scan."""
    done = scan(metadata, maps, *arguments)
    if UNREAD in done.stderr:
        pytest.skip("its data files have a format that there is no reader for")
    assert done.returncode == 0, done.stderr
    assert scan_by_tasks(metadata, maps, pieces, *arguments) == done.stdout, arguments


def condition(metadata, maps):
    """One that some rows of the table fulfil."""
    first = scan(metadata, maps)
    rows = rows_of(first.stdout) if first.returncode == 0 else []
    for name in rows[0] if rows else []:
        values = sorted({r[name] for r in rows if type(r[name]) is int})
        if len(values) > 1:
            quoted = '"' + name.replace('"', '""') + '"'
            return f"{quoted} >= {values[len(values) // 2]}"
    return "1 = 1"


@pytest.mark.parametrize("table", GOLDEN_TABLES, ids=lambda t: t["dir"])
def test_tables_of_version_4(table):
    metadata = GOLDEN / table["dir"] / "metadata" / table["metadata"]
    check(metadata, GOLDEN_MAPS, 7, "--with-lineage")
    check(metadata, GOLDEN_MAPS, 3, "--where", condition(metadata, GOLDEN_MAPS))


@pytest.mark.parametrize("table", ENGINE_TABLES, ids=lambda t: t["dir"].replace("/db/", "."))
def test_tables_of_engines(table):
    metadata = ENGINES / table["dir"] / "metadata" / table["metadata"]
    check(metadata, ENGINE_MAPS, 3, "--where", condition(metadata, ENGINE_MAPS))
    check(metadata, ENGINE_MAPS, 7)


@pytest.mark.parametrize("name, where, figures", [
    ("pyiceberg/db/partitions_v2", "grp = 'a/b' and id = 4",
     {"manifests": 3, "manifests_empty": 1, "manifests_by_partition": 1, "files": 13,
      "files_in_manifests": 4, "files_by_partition": 8, "files_by_bounds": 1, "files_planned": 0}),
    ("pyiceberg/db/partitions_v2", "grp = 'a/b'",
     {"manifests_by_partition": 0, "files_in_manifests": 0, "files_by_partition": 9,
      "files_planned": 4, "rows_planned": 4}),
    ("spark/db/eq_partitioned_v3", "grp = 'g0' and val > 3",
     {"files": 10, "files_by_partition": 6, "files_by_bounds": 1, "files_planned": 3,
      "rows_planned": 14, "delete_files": 2}),
])
def test_what_each_level_skipped(name, where, figures):
    table = next((t for t in ENGINE_TABLES if t["dir"] == name), None)
    if table is None:
        pytest.skip(f"no corpora of tables at {CORPORA}")
    done = frazil(ENGINES / name / "metadata" / table["metadata"], ENGINE_MAPS, "plan", "--where",
                  where, "--json")
    report = json.loads(done.stdout)["report"]
    assert {key: report[key] for key in figures} == figures
    skipped = ["in_manifests", "by_partition", "by_counts", "by_bounds", "planned"]
    assert report["files"] == sum(report[f"files_{how}"] for how in skipped)


# ---- how files are cut ----

ROWS, GROUP = 20_000, 2_500


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A table of one file of eight row groups and two small ones, one of them updated."""
    folder = tmp_path_factory.mktemp("task")
    files = []
    for i, rows in enumerate([ROWS, 10, 10]):
        first = i * ROWS
        table = pa.table({"id": range(first, first + rows),
                          "v": [(k * 7919 % 10_007) / 8 for k in range(rows)]})
        files.append(folder / f"{i}.parquet")
        pq.write_table(table, files[-1], row_group_size=GROUP, compression="none")
    warehouse = Warehouse(folder / "w")
    warehouse.run("import", "db.t", *map(str, files))
    warehouse.run("sql", "UPDATE db.t SET v = v + 1 WHERE id % 3 = 0")
    return warehouse


def tasks_of(warehouse, *arguments):
    return [json.loads(line) for line in
            warehouse.run("plan", "db.t", "--tasks", *arguments).splitlines()]


def test_large_files_are_cut_at_row_groups(wide):
    whole = json.loads(wide.run("plan", "db.t", "--json"))
    size = whole["report"]["bytes_planned"]
    assert [len(task["files"]) for task in whole["tasks"]] == [3]
    tasks = tasks_of(wide, "--split-size", str(size // 3), "--open-file-cost", "1")
    assert len(tasks) == 4 and [len(task["data-files"]) for task in tasks] == [1, 1, 1, 3]
    cuts = [part["bytes"] for task in tasks for part in task["data-files"] if "bytes" in part]
    assert cuts[0][0] == 0 and all(a[1] == b[0] for a, b in zip(cuts, cuts[1:]))
    counts = [len(run_task(task).stdout.splitlines()) for task in tasks]
    assert sum(counts) == ROWS + 20 and all(n % GROUP in (0, 20) for n in counts)
    each = tasks_of(wide, "--split-size", "1", "--open-file-cost", "1")
    assert [len(run_task(task).stdout.splitlines()) for task in each[:8]] == [GROUP] * 8


def test_small_files_count_what_opening_them_costs(wide):
    at_once = json.loads(wide.run("plan", "db.t", "--where", "id >= 20000", "--json"))
    assert [len(task["files"]) for task in at_once["tasks"]] == [2]
    assert at_once["report"]["files_by_bounds"] == 1
    apart = tasks_of(wide, "--where", "id >= 20000", "--split-size", "1000000",
                     "--open-file-cost", "600000")
    assert [len(task["data-files"]) for task in apart] == [1, 1]


def test_only_column_files_that_are_needed_count(wide):
    def size(columns):
        report = json.loads(wide.run("plan", "db.t", "--columns", columns, "--json"))["report"]
        return report["bytes_planned"]

    assert size("id") < size("v") == size("id,v")
    assert size("v") == size("_last_updated_sequence_number")


def test_sizes_are_properties_of_the_table(wide):
    wide.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES ('read.split.target-size' = '1', "
                    "'read.split.open-file-cost' = '1')")
    assert len(tasks_of(wide)) == 8 + 2 * 10
    assert len(tasks_of(wide, "--split-size", "100000000")) == 1
    wide.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES ('read.split.target-size' = '-5')")
    wide.run("plan", "db.t", status=2)
    wide.run("sql", "ALTER TABLE db.t SET TBLPROPERTIES ('read.split.target-size' = '134217728', "
                    "'read.split.open-file-cost' = '4194304')")
    assert len(tasks_of(wide)) == 1


# ---- names without case ----


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """A table with columns that differ only in case, one of them inside of a struct."""
    folder = tmp_path_factory.mktemp("twins")
    table = pa.table({"a": [1, 2], "A": [3, 4], "b": [5, 6],
                      "s": [{"x": 7, "X": 8}, {"x": 9, "X": 10}]})
    pq.write_table(table, folder / "t.parquet")
    warehouse = Warehouse(folder / "w")
    warehouse.run("import", "db.t", str(folder / "t.parquet"))
    return warehouse


def test_exact_names_come_first(twins):
    for command in ["scan", "plan"]:
        twins.run(command, "db.t", "--columns", "a,A,B", "--where", "A > 3 AND B > 5")
        twins.run(command, "db.t", "--columns", "b", "--where", "B > 5 AND a > 0")
    assert twins.run("scan", "db.t", "--columns", "A", "--format", "jsonl") == '{"A":3}\n{"A":4}\n'


def test_names_that_only_case_tells_apart_are_refused_on_request(twins):
    for command in ["scan", "plan"]:
        twins.run(command, "db.t", "--columns", "B", "--where", "b > 5", "--ignore-case")
        for arguments in [["--columns", "a"], ["--columns", "A"], ["--where", "A = 3"],
                          ["--columns", "b", "--where", "b = 5 OR a = 1"], ["--columns", "s"],
                          ["--where", "s.x = 7"]]:
            twins.run(command, "db.t", *arguments, status=0)
            twins.run(command, "db.t", *arguments, "--ignore-case", status=2)
    file = str(twins.folder.parent / "t.parquet")
    twins.run("cat", file, "--columns", "A")
    twins.run("cat", file, "--columns", "A", "--ignore-case", status=2)


# ---- tasks need not be trusted ----


def broken(task, path, value):
    """The task with the member at a path replaced, or removed (None)."""
    made = copy.deepcopy(task)
    at = made
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


FILE = ["data-files", 0]
BROKEN = [
    (["task-version"], 2, "version 2"),
    (["task-version"], None, "task-version"),
    (["table"], 5, "table: expected an object"),
    (["table", "metadata-location"], None, "metadata-location"),
    (["schema-id"], 77, "no schema 77"),
    (["columns"], "id", "columns"),
    (["columns"], [1], "columns[0]"),
    (["columns"], ["nothing"], "nothing"),
    (["where"], "id <", "expected"),
    (["with-lineage"], "yes", "with-lineage"),
    (["data-files"], None, "data-files"),
    (FILE, 1, "data-files[0]"),
    ([*FILE, "location"], "", "data-files[0].location"),
    ([*FILE, "record-count"], -1, "data-files[0].record-count"),
    ([*FILE, "record-count"], 5, "rows"),
    ([*FILE, "file-size-in-bytes"], 5, "5"),
    ([*FILE, "first-row-id"], -7, "first-row-id"),
    ([*FILE, "spec-id"], 2**40, "spec-id"),
    ([*FILE, "rows"], [5, 2], "data-files[0].rows"),
    ([*FILE, "rows"], [0, 2**62], "data-files[0].rows"),
    ([*FILE, "bytes"], [-1, 5], "data-files[0].bytes"),
    ([*FILE, "delete-file-references"], [0], "delete-file-references[0]"),
    ([*FILE, "partition"], [{"field-id": 1000, "type": "no", "value": 1}], "partition[0]"),
    ([*FILE, "partition"], [{"field-id": 1000, "type": "int", "value": "x"}], "partition[0]"),
    ([*FILE, "column-files", 0, "field-ids"], [], "field-ids"),
    ([*FILE, "column-files", 0, "field-ids"], [2, 1], "field-ids[1]"),
    ([*FILE, "column-files", 0, "field-ids"], [2, 2], "field 2"),
    ([*FILE, "column-files", 0, "field-ids"], [2147483540], "_row_id"),
    ([*FILE, "column-files", 0, "file-format"], "exe", "exe"),
    ([*FILE, "deletion-vector"], {"location": "x"}, "deletion-vector.offset"),
    (["delete-files"], [{"content": "all"}], "delete-files[0].content"),
]


def test_explain_tells_the_same_figures(wide):
    where = "id >= 20000 AND id <> 40003"
    report = json.loads(wide.run("plan", "db.t", "--where", where, "--json"))["report"]
    rows = json.loads(wide.run("sql", f"EXPLAIN SELECT id FROM db.t WHERE {where}", "--json"))
    told = {(row["level"], row["item"]): row["count"] for row in rows}
    wanted = {
        ("manifests", "of the snapshot"): "manifests",
        ("manifests", "skipped without live entries"): "manifests_empty",
        ("manifests", "skipped by partition"): "manifests_by_partition",
        ("manifests", "skipped by statistics"): "manifests_by_statistics",
        ("files", "of the snapshot"): "files",
        ("files", "skipped with their manifest"): "files_in_manifests",
        ("files", "skipped by partition"): "files_by_partition",
        ("files", "skipped by counts"): "files_by_counts",
        ("files", "skipped by bounds"): "files_by_bounds",
        ("read", "files"): "files_planned",
        ("read", "rows"): "rows_planned",
        ("read", "delete files"): "delete_files",
    }
    assert {key: told[key] for key in wanted} == {k: report[v] for k, v in wanted.items()}
    assert report["files"] == 3 and report["files_by_bounds"] == 1
    assert report["files_planned"] == 2 and report["rows_planned"] == 20
    assert ("scan", "condition") in told and len(rows) == len(told)


def test_row_groups_are_counted_if_asked_for(wide):
    report = json.loads(wide.run("plan", "db.t", "--where", "id = 5001", "--columns", "id",
                                 "--row-groups", "--json"))["report"]
    assert report["files_planned"] == 1
    assert report["groups"] == 8 and report["groups_by_statistics"] == 7
    assert report["rows_skipped"] >= ROWS - GROUP
    assert "groups" not in json.loads(wide.run("plan", "db.t", "--json"))["report"]


@pytest.mark.parametrize("path, value, text", BROKEN, ids=lambda x: str(x)[:40])
def test_broken_tasks_are_refused(wide, path, value, text):
    task = tasks_of(wide, "--split-size", "100000000")[0]
    assert run_task(task).returncode == 0
    made = broken(task, path, value)
    if path[-1] == "bytes":
        del made["data-files"][0]["rows"]
    done = run_task(made)
    assert done.returncode in (1, 2, 3, 5) and done.stdout == "", done.stdout
    assert text in done.stderr, done.stderr


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{} {}", "\x00", '{"task-version":1}'])
def test_what_is_no_task_is_refused(text):
    done = run_task(text)
    assert done.returncode == 5 and done.stderr.startswith("frazil: "), done.stderr


def test_the_corpora_are_here():
    if not GOLDEN_TABLES or not ENGINE_TABLES:
        pytest.skip(f"no corpora of tables at {CORPORA}")
    assert len(GOLDEN_TABLES) == 81 and len(ENGINE_TABLES) == 79
