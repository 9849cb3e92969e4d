"""Iceberg tables of other writers: how to scan them with frazil, and when two rows are the same."""
import json
import math
import os
import re
import struct
import subprocess
from datetime import date, time
from decimal import Decimal
from pathlib import Path

from frazil import BUILD

CORPORA = Path(os.environ.get("FRAZIL_CORPORA", "../shared/corpora")).resolve()
ENGINES = CORPORA / "iceberg-engines"
ENGINE_MAPS = [(f"{scheme}/golden-engines/", f"{ENGINES}/") for scheme in ("file://", "file:", "")]


def listing(path):
    """The rows of a TABLES.tsv as dictionaries; none if the corpus is not here."""
    if not path.is_file():
        return []
    names, *lines = [line.split("\t") for line in path.read_text().splitlines()]
    return [dict(zip(names, line)) for line in lines]


def frazil(metadata, maps, *arguments, text=True):
    """Run a command on a table given by its metadata file alone."""
    command = [BUILD / "bin" / "frazil", "--metadata", metadata]
    for prefix, folder in maps:
        command += ["--map-location", f"{prefix}={folder}"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=text, env=environment, timeout=60
    )


def scan(metadata, maps, *arguments):
    return frazil(metadata, maps, "scan", "--format", "jsonl", *arguments)


def run_task(task, *arguments):
    """The rows of one task, given as its JSON."""
    text = task if isinstance(task, str) else json.dumps(task)
    command = [BUILD / "bin" / "frazil", "run-task", "-", "--format", "jsonl", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)


def scan_by_tasks(metadata, maps, pieces, *arguments):
    """What a scan prints, put together from the rows of about so many tasks."""
    def plan(*more):
        done = frazil(metadata, maps, "plan", *more, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    total = json.loads(plan("--json"))["report"]["bytes_planned"]
    size = ["--split-size", str(total // pieces + 1), "--open-file-cost", "1"]
    rows = ""
    for task in plan("--tasks", *size).splitlines():
        done = run_task(task)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        rows += done.stdout
    return rows


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


# ---- when two values are the same ----


def same_number(ours, theirs):
    """Numbers that went through a double, or a float printed as the double of the same value."""
    if isinstance(ours, int) and isinstance(theirs, int):
        return ours == theirs or (abs(ours) > 2**53 and float(ours) == float(theirs))
    a, b = float(ours), float(theirs)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if a == b:
        return math.copysign(1, a) == math.copysign(1, b) or a != 0
    if isinstance(ours, str):  # a decimal
        return math.isclose(a, b, rel_tol=1e-14)
    return abs(b) < 3.5e38 and struct.pack("f", a) == struct.pack("f", b)


def instant(text):
    """A date or timestamp as microseconds since 1970 in UTC; None: another kind of text."""
    match = re.fullmatch(
        r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?(Z|\+00:00)?", text
    )
    if not match:
        return None
    year, month, day, hour, minute, second = (int(x or 0) for x in match.groups()[:6])
    days = date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()
    fraction = int((match[7] or "0").ljust(9, "0")) // 1000
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000000 + fraction


def same_text(ours, theirs):
    if ours == theirs or theirs in ("hex:" + ours, "hex:" + ours.replace("-", "")):
        return True
    a, b = instant(ours), instant(theirs)
    if a is None or b is None:
        return False
    whole = 1000 if theirs.endswith("Z") else 1  # "…Z" came out of milliseconds
    return a // whole == b // whole


def same_map(ours, theirs):
    """A list of key and value against an object, whose keys are texts."""
    def key(value):
        return json.dumps(value) if not isinstance(value, str) else value

    return len(ours) == len(theirs) and all(
        key(pair["key"]) in theirs and same(pair["value"], theirs[key(pair["key"])])
        for pair in ours
    )


def is_pairs(value):
    return isinstance(value, list) and all(
        isinstance(x, dict) and set(x) == {"key", "value"} for x in value
    )


def same_pairs(ours, theirs):
    """Maps on both sides: the order of entries does not count."""
    left = list(theirs)
    for pair in ours:
        match = next((x for x in left if same(pair["key"], x["key"])
                      and same(pair["value"], x["value"])), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def same(ours, theirs):
    """ours as Frazil writes JSON; theirs the same, or in the notation of a reader that prints
    JavaScript's own dates and numbers."""
    if ours is None or theirs is None or isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, dict):
        return (isinstance(theirs, dict) and list(ours) == list(theirs)
                and all(same(ours[k], theirs[k]) for k in ours))
    if isinstance(ours, list):
        if isinstance(theirs, dict):
            return is_pairs(ours) and same_map(ours, theirs)
        if not isinstance(theirs, list) or len(ours) != len(theirs):
            return False
        if ours and is_pairs(ours) and is_pairs(theirs):
            return same_pairs(ours, theirs)
        return all(map(same, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        return same_text(ours, theirs)
    if isinstance(ours, str):
        if re.fullmatch(r"\d\d:\d\d:\d\d\.\d{6}", ours):  # a time against microseconds
            t = time.fromisoformat(ours)
            return ((t.hour * 60 + t.minute) * 60 + t.second) * 1000000 + t.microsecond == theirs
        return re.fullmatch(r"-?[\d.]+", ours) is not None and same_number(ours, theirs)
    if isinstance(theirs, str):
        return str(ours) == theirs
    return same_number(ours, theirs)


def difference(ours, theirs, ordered_by=None):
    """None if the rows are the same, else a text; without a key rows are matched in any order."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, expected {len(theirs)}"
    if ordered_by:
        ours = sorted(ours, key=lambda row: row[ordered_by])
        for row, wanted in zip(ours, theirs):
            if not same(row, wanted):
                return f"{row}\n  expected {wanted}"
        return None
    left = sorted(theirs, key=lambda row: json.dumps(row))
    for row in sorted(ours, key=lambda row: json.dumps(row)):
        match = next((x for x in left if same(row, x)), None)
        if match is None:
            return f"{row} is not expected; left over: {left[:2]}"
        left.remove(match)
    return None
