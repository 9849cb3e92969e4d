"""Column updates in three steps with values from files: what comes of it is what UPDATE ... FROM makes, and what
others change meanwhile is merged, or refused if it decided about the values."""
import copy
import json
import os
import subprocess

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from frazil import BUILD
from update_tasks import EACH, FILES, Table, again

SET = ["--set", "v=s.v + 1"]
BY_ID = ["--where", "t.id = s.id"]


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def write_rows(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def scores(rows):
    """Of every third row, one value; of rows that the table lacks, too."""
    return [{"id": row["id"], "v": 500.0 - row["id"]} for row in rows if row["id"] % 3 == 0] + [
        {"id": 10000, "v": 1.0}]


def updated(rows):
    return [dict(row, v=501.0 - row["id"]) if row["id"] % 3 == 0 else row for row in rows]


@pytest.fixture
def source(table):
    return write_rows(table.folder / "scores.parquet", scores(table.rows))


def from_files(*files, name="s"):
    return [word for file in files for word in ("--from", str(file))] + ["--source-name", name]


def statement(*files):
    return [*SET, *from_files(*files), *BY_ID]


def run_all(table, *arguments):
    return [table.run_task(task) for task in table.plan(*arguments)]


def test_what_comes_of_it_is_what_one_update_makes(table, source):
    tasks = table.plan(*statement(source))
    assert len(tasks) == FILES
    told = tasks[0]["source"]
    assert told["name"] == "s" and told["table-name"] == ["db", "t"]
    assert told["files"] == [{"location": f"file://{source}", "file-size-in-bytes": source.stat().st_size}]
    results = [table.run_task(task) for task in reversed(tasks)]
    assert all(result["source"] == told for result in results)
    report = table.commit(results)
    assert report["rows"] == sum(row["id"] % 3 == 0 for row in table.rows)
    table.check(updated(table.rows))
    table.run("import", "db.u", *(str(table.folder / f"{i}.parquet") for i in range(FILES)))
    table.sql(f"UPDATE db.u SET v = s.v + 1 FROM '{source}' s WHERE u.id = s.id")
    columns = "id,v,w,s,_row_id,_last_updated_sequence_number"
    assert table.run("scan", "db.t", "--columns", columns) == table.run("scan", "db.u", "--columns", columns)


def test_several_files_of_other_formats(table):
    fastavro = pytest.importorskip("fastavro")
    rows = scores(table.rows)
    write_rows(table.folder / "a.parquet", rows[10:40])
    part = pa.Table.from_pylist(rows[40:])
    with pyarrow.ipc.new_file(table.folder / "b.arrow", part.schema) as out:
        out.write_table(part)
    record = fastavro.parse_schema({"type": "record", "name": "row", "fields": [
        {"name": "v", "type": "double"}, {"name": "id", "type": "long"}]})
    with open(table.folder / "c.avro", "wb") as out:
        fastavro.writer(out, record, rows[:10])
    files = [table.folder / name for name in ("a.parquet", "b.arrow", "c.avro")]
    table.commit(run_all(table, *statement(*files)))
    table.check(updated(table.rows))


def test_rows_by_row_id_and_a_file_that_matches_nothing(table):
    ids = {row["id"]: row["_row_id"] for row in table.read("id", "_row_id")}
    rows = [{"row": ids[i], "v": -1.0 * i} for i in range(60)]
    source = write_rows(table.folder / "rows.parquet", rows)
    results = run_all(table, "--set", "v=s.v", *from_files(source), "--where", "t._row_id = s.row")
    written = sorted("column-file" in result["data-files"][0] for result in results)
    assert written == [False, False, True, True]
    table.commit(results)
    table.check([dict(row, v=-1.0 * row["id"]) if row["id"] < 60 else row for row in table.rows])


def test_conditions_on_either_side_and_names_of_one_alone(table, source):
    tasks = table.plan("--set", "v=s.v", *from_files(source), "--where",
                       "t.id = s.id AND w < 150 AND s.v > 480 AND t.v < s.v")
    assert len(tasks) == 1  # by bounds of w
    table.commit([table.run_task(task) for task in tasks])
    table.check([dict(row, v=500.0 - row["id"]) if row["id"] % 3 == 0 and row["id"] < 20 else row
                 for row in table.rows])


def test_without_a_name_it_is_source(table, source):
    results = run_all(table, "--set", "v=source.v + 1", "--from", str(source), "--where",
                      "db.t.id = source.id")
    assert "name" not in results[0]["source"]
    table.commit(results)
    table.check(updated(table.rows))


def test_relative_paths_are_those_of_the_plan(table, source):
    command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(table.warehouse.folder),
               "update-plan", "db.t", *SET, "--from", source.name, "--source-name", "s", *BY_ID]
    done = subprocess.run(command, capture_output=True, text=True, cwd=table.folder, check=True)
    task = json.loads(done.stdout)
    assert task["source"]["files"][0]["location"] == f"file://{source}"
    table.commit([table.run_task(task)])
    table.check(updated(table.rows))


def test_a_key_that_comes_twice_is_refused_by_the_task(table):
    rows = scores(table.rows)
    source = write_rows(table.folder / "twice.parquet", rows + [{"id": 3, "v": 0.0}])
    told = table.run_task(table.plan(*statement(source))[0], status=2)
    assert 'several rows of "s" have the key' in told and "3" in told
    spilled = dict(os.environ, FRZ_JOIN_MEMORY="1")
    (table.folder / "task.json").write_text(json.dumps(table.plan(*statement(source))[0]))
    command = [str(BUILD / "bin" / "frazil"), "update-task", str(table.folder / "task.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=spilled)
    assert done.returncode == 2 and 'several rows of "s" have the key' in done.stderr
    left = list((table.warehouse.folder / "db" / "t" / "data").iterdir())
    assert len(left) == FILES, "a task that failed left a file"


def test_deleted_rows_stay_deleted_and_keys_on_disk(table, source, monkeypatch):
    monkeypatch.setenv("FRZ_JOIN_MEMORY", "1")
    table.sql("DELETE FROM db.t WHERE id % 10 = 0")
    table.commit([table.run_task(json.loads(line)) for line in
                  table.run("update-plan", "db.t", *statement(source)).splitlines()])
    table.check(updated([row for row in table.rows if row["id"] % 10]))


# ---- the file is another one ----


def test_a_file_of_another_size_is_refused(table, source):
    task = table.plan(*statement(source))[0]
    planned = source.stat().st_size
    write_rows(source, scores(table.rows)[:5])
    told = table.run_task(task, status=2)
    assert f"{source}: expected {planned} bytes as planned, found {source.stat().st_size}" in told
    source.unlink()
    assert str(source) in table.run_task(task, status=3)


def test_the_commit_needs_no_file(table, source):
    results = run_all(table, *statement(source))
    source.unlink()
    table.commit(results)
    table.check(updated(table.rows))


def test_results_of_other_files_are_of_another_update(table, source):
    one = run_all(table, *statement(source))[0]
    other = write_rows(table.folder / "other.parquet", scores(table.rows))
    second = run_all(table, *statement(other))[1]
    assert "result 2: a result of another update" in table.commit([one, second], status=2)
    told = table.refusal(2, "update-plan", "db.t", *statement(source, other), "--results", table.write([one]))
    assert "another update" in told
    for member, value in (("name", "x"), ("table-name", ["t"]),
                          ("files", [dict(one["source"]["files"][0], **{"file-size-in-bytes": 1})])):
        strange = dict(second, source=dict(one["source"], **{member: value}))
        assert "another update" in table.commit([one, strange], status=2)
    plain = {key: value for key, value in one.items() if key != "source"}
    assert "another update" in table.commit([one, plain], status=2)
    write_rows(source, scores(table.rows)[:9])
    assert "another update" in table.refusal(2, "update-plan", "db.t", *statement(source), "--results",
                                             table.write([one]))


# ---- others were there meanwhile ----


def test_another_column_was_updated_and_both_are_there(table, source):
    results = run_all(table, *statement(source))
    table.sql("UPDATE db.t SET w = 0 WHERE id % 2 = 0")
    source.unlink()
    table.commit(results)
    rows = [dict(row, w=0) if row["id"] % 2 == 0 else row for row in updated(table.rows)]
    table.check(rows)
    numbers = [3 if row["id"] % 3 == 0 else 2 if row["id"] % 2 == 0 else 1 for row in rows]
    lineage = table.read("id", "_last_updated_sequence_number")
    assert [row["_last_updated_sequence_number"] for row in lineage] == numbers


def test_keys_were_changed_and_only_their_files_run_again(table, source):
    results = run_all(table, *statement(source))
    table.sql("UPDATE db.t SET id = id + 1 WHERE id >= 50 AND id < 100")
    told = table.commit(results, status=4)
    assert "1 data files need their task run again" in told
    assert "what its task read has changed" in told
    assert again(table, results, *statement(source)) == 1
    moved = [dict(row, id=row["id"] + 1) if EACH <= row["id"] < 2 * EACH else row for row in table.rows]
    table.check(sorted(updated(moved), key=lambda row: row["id"]))


def test_columns_of_the_values_were_changed(table, source):
    arguments = ["--set", "v=s.v + w", *from_files(source), *BY_ID]
    results = run_all(table, *arguments)
    table.sql("UPDATE db.t SET w = 7 WHERE id < 10")
    table.commit(results, status=4)
    assert again(table, results, *arguments) == 1
    rows = [dict(row, w=7) if row["id"] < 10 else row for row in table.rows]
    table.check([dict(row, v=500.0 - row["id"] + row["w"]) if row["id"] % 3 == 0 else row for row in rows])


def test_a_new_column_makes_all_run_again(table, source):
    results = run_all(table, *statement(source))
    table.sql("ALTER TABLE db.t ADD COLUMN more long")
    assert "the schema has changed" in table.commit(results, status=4)
    assert again(table, results, *statement(source)) == FILES
    assert table.read(*table.rows[0]) == updated(table.rows)


def test_tasks_that_ran_twice_and_commits_that_are_tried_again(table, source):
    tasks = table.plan(*statement(source))
    results = [table.run_task(task) for task in tasks]
    twice = [table.run_task(task) for task in tasks]
    table.commit(results + twice[:2])
    table.check(updated(table.rows))
    assert "in the table already" in table.commit(results, status=1)
    table.check(updated(table.rows))


# ---- what is refused ----


def test_what_cannot_be_opened_elsewhere_is_refused(table, source):
    told = table.refusal(2, "update-plan", "db.t", "--set", "v=s.v", "--from", "db.t", "--source-name", "s", *BY_ID)
    assert "from files only, found table db.t" in told and "hint: name files that are there" in told
    misspelt = table.refusal(2, "update-plan", "db.t", "--set", "v=s.v", "--from", "scores.parquet", *BY_ID)
    assert "found table scores.parquet" in misspelt
    by_position = table.refusal(2, "update-plan", "db.t", *SET, *from_files(source))
    assert "no condition says which row" in by_position and "WHERE t.id = s.id" in by_position
    assert "--from" in table.refusal(2, "update-plan", "db.t", "--set", "v=w", "--source-name", "s")
    missing = str(table.folder / "none.parquet")
    assert missing in table.refusal(3, "update-plan", "db.t", *statement(missing))
    told = table.refusal(2, "update-plan", "db.t", "--set", "v=s.none", *from_files(source), *BY_ID)
    assert '"s" has no column "none"' in told


def broken(task):
    """Sources that are none, each with a word of the refusal."""
    def changed(change):
        wrong = copy.deepcopy(task)
        change(wrong["source"])
        return wrong
    yield dict(task, source=[]), "source: expected an object"
    yield changed(lambda s: s.update({"name": 3})), "source.name"
    yield changed(lambda s: s.pop("table-name")), "source.table-name"
    yield changed(lambda s: s.update({"table-name": []})), "source.table-name"
    yield changed(lambda s: s.update({"table-name": ["db", 3]})), "source.table-name[1]"
    yield changed(lambda s: s.update({"files": []})), "source.files: expected files"
    yield changed(lambda s: s.update({"files": [3]})), "source.files[0]"
    yield changed(lambda s: s["files"][0].pop("location")), "source.files[0].location"
    yield changed(lambda s: s["files"][0].update({"file-size-in-bytes": -1})), "source.files[0].file-size-in-bytes"
    yield changed(lambda s: s.pop("schema")), "source.schema"
    yield changed(lambda s: s["schema"]["fields"][0].update({"type": "x"})), "source.schema.fields[0].type"


def test_broken_sources_are_refused(table, source):
    task = table.plan(*statement(source))[0]
    result = table.run_task(task)
    for wrong, words in broken(task):
        told = table.run_task(wrong, status=5)
        assert words in told, told
        told = table.commit([dict(result, source=wrong["source"])], status=5)
        assert words in told, told
    assert table.read() == table.rows


def test_columns_that_the_file_has_not_are_refused(table, source):
    task = table.plan(*statement(source))[0]
    fields = task["source"]["schema"]["fields"]
    assert [field["name"] for field in fields] == ["id", "v"]
    fields[1]["type"] = "string"
    told = table.run_task(task, status=2)
    assert "v" in told
    fields[1].update({"type": "double", "name": "z"})
    table.run_task(task, status=2)
