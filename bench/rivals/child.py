"""One operation of one rival, in a process of its own, as rivals.py starts it.

child.py MODULE                                   prints its version and the names of its rivals
child.py MODULE NAME FOLDER load SOURCE
child.py MODULE NAME FOLDER OPERATION SOURCE KEYED [check]
"""

import importlib
import json
import os
import pathlib
import sys

from operations import OPERATIONS, OTHER, perform

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from harness import tree_bytes  # noqa: E402


def files_of(folder):
    """Size of each file and when it was changed."""
    return {path: (size, path.stat().st_mtime_ns) for path, size in tree_bytes(folder).items()}


def bytes_of(before, after, written):
    """Sizes of new files; of those that changed in place, what the process wrote besides, at most
    their sizes."""
    new = sum(size for path, (size, _) in after.items() if path not in before)
    changed = sum(size for path, (size, time) in after.items()
                  if path in before and before[path] != (size, time))
    return new + (changed if written is None else min(changed, max(written - new, 0)))


def measure(rival, operation, keyed):
    rival.prepare()
    before, written = files_of(rival.folder), rival.bytes_written()
    seconds = rival.seconds_of(lambda: perform(rival, operation, keyed))
    if written is not None:
        written = rival.bytes_written() - written
    after = files_of(rival.folder)
    return {"seconds": seconds, "bytes": bytes_of(before, after, written),
            "column": rival.seconds_of_reading([operation.columns[0]]),
            "other": rival.seconds_of_reading([OTHER]), "all": rival.seconds_of_reading()}


def main():
    module = importlib.import_module(sys.argv[1])
    if len(sys.argv) == 2:
        print(json.dumps({"version": module.VERSION, "rivals": {
            name: make(pathlib.Path()).lacks for name, make in module.RIVALS}}))
        return
    name, folder, what, source, *rest = sys.argv[2:]
    rival = dict(module.RIVALS)[name](pathlib.Path(folder))
    if what == "load":
        rival.load(source)
        return
    figures = measure(rival, OPERATIONS[what], rest[0])
    problem = rival.check(OPERATIONS[what], source, rest[0]) if "check" in rest[1:] else None
    print(json.dumps({"error": problem} if problem else figures))


main()
sys.stdout.flush()
os._exit(0)  # at the end of the interpreter some libraries stumble over their own threads
