"""Column updates in three steps: the tasks of a plan, run in any order and by any process, and one commit
of their results. What comes of it is what UPDATE makes; what others change meanwhile is merged or refused."""
import copy
import json
import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from delete_tables import DeleteTable, field_id
from frazil import BUILD, Warehouse
from update_tasks import FILES, Table, again

ROOT = Path(__file__).parents[2]
SET = ["--set", "v=v + id"]
WHERE = ["--where", "id % 3 = 0"]


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def added(rows):
    return [dict(row, v=row["v"] + row["id"]) if row["id"] % 3 == 0 else row for row in rows]


def test_what_comes_of_it_is_what_an_update_makes(table):
    tasks = table.plan(*SET, *WHERE)
    assert len(tasks) == FILES
    results = [table.run_task(task) for task in reversed(tasks)]
    report = table.commit(results)
    assert report["rows"] == sum(row["id"] % 3 == 0 for row in table.rows)
    assert report["data_files"] == FILES and report["attempts"] == 1
    table.check(added(table.rows))
    lineage = table.read("id", "_row_id", "_last_updated_sequence_number")
    assert [row["_last_updated_sequence_number"] for row in lineage] == [
        2 if row["id"] % 3 == 0 else 1 for row in table.rows]
    assert [row["_row_id"] for row in lineage] == list(range(len(table.rows)))


def test_several_columns_and_all_rows(table):
    results = [table.run_task(t) for t in table.plan("--set", "v=w / 2", "--set", "s=upper(s)")]
    table.commit(results)
    table.check([dict(row, v=row["w"] / 2, s=row["s"].upper()) for row in table.rows])


def test_a_task_with_many_data_files(table):
    text = table.run("update-plan", "db.t", *SET, *WHERE)
    assert len(text.splitlines()) == 1
    result = table.run_task(json.loads(text))
    assert len(result["data-files"]) == FILES
    table.commit([result])
    table.check(added(table.rows))


def test_files_that_cannot_match_have_no_task_and_others_no_file(table):
    tasks = table.plan(*SET, "--where", "id < 60 AND s = 's1' AND w < 120")
    assert len(tasks) == 1  # by bounds
    result = table.run_task(table.plan(*SET, "--where", "id < 50 AND s = 's3x'")[0])
    assert "column-file" not in result["data-files"][0]
    before = table.run("snapshots", "db.t")
    assert table.commit([result])["snapshot_id"] == 0
    assert table.run("snapshots", "db.t") == before


def test_nothing_is_seen_before_the_commit(table):
    for task in table.plan(*SET, *WHERE):
        table.run_task(task)
    assert table.read() == table.rows
    assert len(list((table.warehouse.folder / "db" / "t" / "data").iterdir())) == 2 * FILES


def test_deleted_rows_stay_deleted(table):
    table.sql("DELETE FROM db.t WHERE id % 10 = 0")
    rows = [row for row in table.rows if row["id"] % 10]
    table.commit([table.run_task(task) for task in table.plan(*SET, *WHERE)])
    table.check(added(rows))


# ---- others were there meanwhile ----


def test_another_column_was_updated_and_both_are_there(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    table.sql("UPDATE db.t SET w = 0 WHERE id % 2 = 0")
    table.commit(results)
    rows = [dict(row, w=0) if row["id"] % 2 == 0 else row for row in added(table.rows)]
    table.check(rows)
    numbers = [3 if row["id"] % 3 == 0 else 2 if row["id"] % 2 == 0 else 1 for row in rows]
    lineage = table.read("id", "_last_updated_sequence_number")
    assert [row["_last_updated_sequence_number"] for row in lineage] == numbers


def test_rows_were_deleted_and_their_files_run_again(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    table.sql("DELETE FROM db.t WHERE id % 10 = 0 AND id < 100")
    assert "2 data files need their task run again" in table.commit(results, status=4)
    assert again(table, results, *SET, *WHERE) == 2
    table.check(added([row for row in table.rows if row["id"] % 10 or row["id"] >= 100]))


def test_whole_files_were_deleted_and_need_nothing(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    table.sql("DELETE FROM db.t WHERE id < 50")
    table.commit(results)
    table.check(added([row for row in table.rows if row["id"] >= 50]))


def test_what_a_task_read_was_changed_and_only_that_runs_again(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    table.sql("UPDATE db.t SET v = 1000 WHERE id < 10")
    told = table.commit(results, status=4)
    assert "1 data files need their task run again" in told
    assert "what its task read has changed" in told
    assert again(table, results, *SET, *WHERE) == 1
    table.check(added([dict(row, v=1000.0) if row["id"] < 10 else row for row in table.rows]))


def test_a_new_column_makes_all_run_again(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    table.sql("ALTER TABLE db.t ADD COLUMN more long")
    assert "the schema has changed" in table.commit(results, status=4)
    assert again(table, results, *SET, *WHERE) == FILES
    assert table.read(*table.rows[0]) == added(table.rows)


def append(table, first, count):
    rows = [{"id": first + i, "v": 1.0, "w": 2, "s": "new"} for i in range(count)]
    pq.write_table(pa.Table.from_pylist(rows), table.folder / "new.parquet")
    table.run("append", "db.t", str(table.folder / "new.parquet"))
    return rows


def test_rows_were_appended_and_serializable_wants_them(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    rows = table.rows + append(table, 300, 9)
    assert "it has no result" in table.commit(results, status=4)
    assert again(table, results, *SET, *WHERE) == 1
    table.check(added(rows))


def test_rows_were_appended_and_snapshot_isolation_leaves_them(table):
    table.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.update.isolation-level' = 'snapshot')")
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    new = append(table, 300, 9)
    table.commit(results)
    table.check(added(table.rows) + new)


def test_a_compaction_makes_its_files_run_again_under_either_isolation(table):
    table.sql("UPDATE db.t SET w = w WHERE id < 50")
    table.sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.update.isolation-level' = 'snapshot')")
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    table.run("compact", "db.t")
    table.commit(results, status=4)
    assert again(table, results, *SET, *WHERE) == 1
    table.check(added(table.rows))


# ---- results ----


def test_results_count_once(table):
    tasks = table.plan(*SET, *WHERE)
    results = [table.run_task(task) for task in tasks]
    twice = [table.run_task(task) for task in tasks]
    table.commit(results + twice[:2])
    table.check(added(table.rows))
    assert "in the table already" in table.commit(results, status=1)
    table.check(added(table.rows))


def test_results_do_not_undo_what_others_wrote_since(table):
    """A commit that is tried again, although it had come through, and another update meanwhile."""
    results = [table.run_task(task) for task in table.plan("--set", "w=5")]
    table.commit(results)
    table.sql("UPDATE db.t SET w = 99")
    rows = table.read()
    assert "need their task run again" in table.commit(results, status=4)
    assert table.read() == rows


def test_a_result_that_is_missing_is_a_conflict(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    assert "it has no result" in table.commit(results[:-1], status=4)
    assert table.read() == table.rows


def test_a_column_file_that_is_gone_or_changed_is_refused(table):
    results = [table.run_task(task) for task in table.plan(*SET, *WHERE)]
    path = Path(results[1]["data-files"][0]["column-file"]["location"].removeprefix("file://"))
    content = path.read_bytes()
    path.write_bytes(content + b"x")
    assert "bytes, its result says" in table.commit(results, status=5)
    path.unlink()
    told = table.commit(results, status=3)
    assert "run the task of this data file again" in told and path.name in told
    assert table.read() == table.rows
    path.write_bytes(content)
    table.commit(results)
    table.check(added(table.rows))


def test_results_of_other_updates_and_tables_are_refused(table, tmp_path):
    one = table.run_task(table.plan(*SET, *WHERE)[0])
    other = table.run_task(table.plan(*SET)[0])
    assert "result 2: a result of another update" in table.commit([one, other], status=2)
    assert "another update" in table.refusal(2, "update-plan", "db.t", *SET, "--results",
                                             table.write([one]))
    strange = dict(one, **{"table-uuid": "8cff5649-77f3-5294-9913-351d87f5b508"})
    assert "result 1: of table 8cff5649" in table.commit([strange], status=2)
    assert "there are no results" in table.commit([], status=2)


def broken(result):
    """Results that are none, each with a word of the refusal."""
    def changed(change):
        wrong = copy.deepcopy(result)
        change(wrong, wrong["data-files"][0])
        return wrong
    yield changed(lambda r, f: r.pop("result-version")), "result-version"
    yield changed(lambda r, f: r.update({"schema-id": "0"})), "schema-id"
    yield changed(lambda r, f: r.update({"set": {}})), "set: expected"
    yield changed(lambda r, f: r.update({"data-files": [3]})), "data-files[0]"
    yield changed(lambda r, f: f.pop("location")), "data-files[0].location"
    yield changed(lambda r, f: f.update({"record-count": -1})), "data-files[0].record-count"
    yield changed(lambda r, f: f.update({"updated-rows": 51})), "51 of 50 rows"
    yield changed(lambda r, f: f.pop("column-file")), "without a column file"
    yield changed(lambda r, f: f["column-file"].pop("file-size-in-bytes")), "column-file.file-size"
    statistics = "data-files[0].statistics[0]."
    yield changed(lambda r, f: f["statistics"][0].update({"field-id": 1})), statistics + "field-id"
    yield changed(lambda r, f: f["statistics"][0].update({"lower-bound": "x"})), statistics + "lower"
    yield changed(lambda r, f: f["statistics"][0].update({"upper-bound": "NaN"})), "never NaN"
    yield changed(lambda r, f: f["statistics"][0].update({"value-count": 1.5})), "value-count"
    yield changed(lambda r, f: f.update({"deleted-rows": "00"})), "deleted-rows"
    yield changed(lambda r, f: f.update({"column-files": [{}]})), "column-files[0].location"


def test_broken_results_are_refused(table):
    result = table.run_task(table.plan(*SET, *WHERE)[0])
    for wrong, words in broken(result):
        told = table.commit([wrong], status=5)
        assert words in told, told
    assert table.read() == table.rows


def test_broken_tasks_are_refused(table):
    task = table.plan(*SET, *WHERE)[0]
    scan = {key: value for key, value in task.items() if key != "set"}
    assert "set: expected" in table.run_task(scan, status=5)
    part = copy.deepcopy(task)
    part["data-files"][0]["rows"] = [0, 10]
    assert "expected all rows of the data file" in table.run_task(part, status=5)
    assert "no snapshot 77" in table.run_task(dict(task, **{"snapshot-id": 77}), status=5)
    unknown = dict(task, set=[{"column": "none", "expression": "1"}])
    assert "none" in table.run_task(unknown, status=3)
    left = list((table.warehouse.folder / "db" / "t" / "data").iterdir())
    assert len(left) == FILES, "a task that failed left a file"


def test_older_tables_and_unknown_columns_are_refused_by_the_plan(table):
    assert "none" in table.refusal(3, "update-plan", "db.t", "--set", "none=1")
    assert "--set" in table.refusal(2, "update-plan", "db.t")
    assert "isolation-level: expected" in table.refusal(
        2, "sql", "ALTER TABLE db.t SET TBLPROPERTIES ('write.update.isolation-level' = 'none')")


# ---- tables of others ----


def test_deletes_of_delete_files_are_folded(tmp_path):
    """Of a table of version 2 that was upgraded: its position deletes come to the commit in results."""
    old = DeleteTable(tmp_path / "old", [(1, "id", "long"), (2, "v", "double")])
    names = ["id", "v"]
    fields = [pa.field(name, kind, True, field_id(i + 1))
              for i, (name, kind) in enumerate(zip(names, (pa.int64(), pa.float64())))]
    rows = [{"id": i, "v": float(i)} for i in range(20)]
    data = old.append(pa.Table.from_pylist(rows, pa.schema(fields)))
    old.commit()
    old.delete_positions([(data, 3), (data, 4)])
    old.commit()
    warehouse = Warehouse(tmp_path / "w")
    warehouse.run("import", "db.other", str(next((old.folder / "data").glob("*-data.parquet"))))
    warehouse.run("register", "db.t", str(old.folder))
    warehouse.run("upgrade", "db.t", "--to", "4")
    table = object.__new__(Table)
    table.folder, table.warehouse = tmp_path, warehouse
    results = [table.run_task(task) for task in table.plan("--set", "v=0")]
    assert "deleted-rows" in results[0]["data-files"][0]
    table.commit(results)
    text = warehouse.run("scan", "db.t", "--format", "jsonl")
    assert [json.loads(line) for line in text.splitlines()] == [
        {"id": i, "v": 0.0} for i in range(20) if i not in (3, 4)]
    warehouse.run("validate", "db.t")


# ---- the example ----


def test_the_example(table):
    """xargs runs the tasks; an update of what they read comes between, so some run again."""
    rival = table.folder / "frazil"
    real = BUILD / "bin" / "frazil"
    done = table.folder / "done"
    rival.write_text(f"""#!/bin/sh
if [ "$1" = update-commit ] && [ ! -e {done} ]; then
    touch {done}
    {real} -q sql "UPDATE db.t SET v = v + 1 WHERE id < 50"
fi
exec {real} "$@"
""")
    rival.chmod(0o755)
    run = subprocess.run([ROOT / "examples" / "update_tasks.sh", table.warehouse.folder, "db.t",
                          "v=v + id", "id % 3 = 0"], capture_output=True, text=True,
                         env=dict(os.environ, FRAZIL=str(rival)))
    assert run.returncode == 0, run.stderr
    assert "need their task run again" in run.stderr
    table.check(added([dict(row, v=row["v"] + 1) if row["id"] < 50 else row for row in table.rows]))
