"""A PostgreSQL server of the tests' own: a private folder, a free port on the loopback interface."""
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


def find_bin():
    """The folder with initdb and pg_ctl, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """PostgreSQL refuses to run as root: then it runs as nobody."""

    def __init__(self):
        self.bin, self.port = find_bin(), free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="frazil-postgres-", dir="/tmp"))
        self.user = "nobody" if os.getuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N")
        self.start()

    @property
    def data(self):
        return self.folder / "data"

    def run(self, program, *arguments, **options):
        return subprocess.run(
            [self.bin / program, *arguments], user=self.user, cwd=self.folder, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **options
        )

    def start(self):
        settings = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", settings, "start")

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def database(self, name):
        """A new empty database; its uri."""
        self.run("createdb", "-h", self.folder, "-p", str(self.port), "-U", "postgres", name)
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def close(self):
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
