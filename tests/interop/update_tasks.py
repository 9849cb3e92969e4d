"""A table for updates in three steps, and what a scheduler does with it."""
import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq

from frazil import BUILD, Warehouse

FILES, EACH = 4, 50


class Table:
    """db.t of columns id, v, w, s in four data files, and its rows as Python has them."""

    def __init__(self, folder):
        self.folder = folder
        self.warehouse = Warehouse(folder / "w")
        self.rows = [{"id": i, "v": i / 2, "w": i * 3, "s": f"s{i % 7}"} for i in range(FILES * EACH)]
        files = []
        for i in range(FILES):
            files.append(folder / f"{i}.parquet")
            pq.write_table(pa.Table.from_pylist(self.rows[i * EACH:(i + 1) * EACH]), files[-1])
        self.run("import", "db.t", *map(str, files), "--property", "write.durability=none")

    def run(self, *arguments, status=0):
        return self.warehouse.run(*arguments, status=status)

    def sql(self, statement):
        return self.run("-q", "sql", statement)

    def refusal(self, status, *arguments):
        command = [str(BUILD / "bin" / "frazil"), "--warehouse", str(self.warehouse.folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stderr

    def plan(self, *arguments):
        """The tasks, one for each data file."""
        text = self.run("update-plan", "db.t", *arguments, "--split-size", "1")
        return [json.loads(line) for line in text.splitlines()]

    def run_task(self, task, status=0):
        """The result; needs no catalog."""
        place = self.folder / "task.json"
        place.write_text(json.dumps(task))
        done = subprocess.run([BUILD / "bin" / "frazil", "update-task", place], capture_output=True,
                              text=True, cwd="/")
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if status == 0 else done.stderr

    def write(self, results):
        place = self.folder / "results.jsonl"
        place.write_text("".join(json.dumps(result) + "\n" for result in results))
        return str(place)

    def commit(self, results, status=0):
        arguments = ["update-commit", "db.t", self.write(results), "--json"]
        return json.loads(self.run(*arguments)) if status == 0 else self.refusal(status, *arguments)

    def read(self, *columns):
        text = self.run("scan", "db.t", "--columns", ",".join(columns or self.rows[0]), "--format",
                        "jsonl")
        return sorted((json.loads(line) for line in text.splitlines()), key=lambda row: row["id"])

    def check(self, rows):
        assert self.read() == rows
        self.run("validate", "db.t")
        self.warehouse.table("db.t")  # the independent reader, which checks the rules


def again(table, results, *arguments):
    """Plan with the results, run what is left, commit all; how many data files that was."""
    tasks = table.plan(*arguments, "--results", table.write(results))
    results = results + [table.run_task(task) for task in tasks]
    table.commit(results)
    return sum(len(task["data-files"]) for task in tasks)
