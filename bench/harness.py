"""What the benchmarks share: where things are, and processes that are measured."""

import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
WORK = ROOT / "build" / "bench"


class Failed(SystemExit):
    """A process that did not end well; ends the benchmark unless it is caught."""

    def __init__(self, command, status, errors):
        self.status = status
        self.reason = errors.strip().splitlines()[-1][:200] if errors.strip() else ""
        super().__init__(f"{errors[-2000:]}\nstatus {status}: {' '.join(command)[:500]}")


def run(*command, around=(), **how):
    """Seconds, peak resident bytes and output of one process. around: a command, such as timeout,
    that runs the one that is measured; how: more for subprocess.run."""
    command = [str(part) for part in command]
    with tempfile.NamedTemporaryFile("r") as figures:
        done = subprocess.run([*map(str, around), BIN / "measure", figures.name, *command],
                              capture_output=True, **how)
        if done.returncode != 0:
            raise Failed(command, done.returncode, done.stderr.decode(errors="replace"))
        seconds, peak = figures.read().split()
    return float(seconds), int(peak), done.stdout.decode()


def tree_bytes(folder):
    """Size of each file below a folder."""
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def is_same(a, b):
    """Are these one sum of doubles, added in whatever order?"""
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def machine():
    """What reports say of the machine."""
    return {"machine": os.uname().machine, "cores": os.cpu_count(), "kernel": os.uname().release}


# ---- pairs of reads in one process ----

def priority(threads):
    """What a command is started with: one thread stays on one processor, and other work waits if
    we may have it wait."""
    pinned = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if threads == 1 else []
    return pinned + (["chrt", "-r", "10"] if os.geteuid() == 0 else [])


def read_pairs(how, one, other, threads, pairs, columns=()):
    """One process of scan_bench, which reads two tables in turn: (seconds, seconds of work) of the
    one and of the other, for each pair of reads."""
    out = run(BIN / "scan_bench", "--threads", threads, how, other, pairs, one, *columns,
              around=priority(threads))[2]
    return [((a, b), (c, d)) for a, b, c, d in
            (map(float, line.split()) for line in out.splitlines())]
