"""This file starts a real PostgreSQL for tests, in a temporary directory and on a socket of its own.

PostgreSQL refuses to run as root, so root has another user run it.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg

REQUIRED = "HUBBUB_TESTS_NEED_ALL"  # set where a missing part is a failure and no reason to skip
ROLE = "collector"  # who owns the databases of tests, and nothing else
_AS = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
_OWN = {
    "listen_addresses": "''",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "log_min_messages": "warning",
    "fsync": "off",
}


@dataclass(slots=True)
class Server:
    """A server that runs. programs: where its own are."""

    directory: Path
    programs: Path
    settings: dict[str, str]
    names: Iterator[int] = field(default_factory=count)

    def fresh(self) -> str:
        """Return the URL of a new and empty database, as one who is no superuser."""
        name = f"fresh_{next(self.names)}"
        with psycopg.connect(self.url("postgres", role="postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
        return self.url(name)

    def url(self, name: str, *, role: str = ROLE) -> str:
        """Return the URL of a database."""
        return f"postgresql://{role}@/{name}?host={self.directory}"

    def start(self) -> None:
        """Start, and wait until connections are taken."""
        options = " ".join(f"-c {name}={value}" for name, value in self.settings.items())
        log, data = self.directory / "log", self.directory / "data"
        self.run("pg_ctl", "-w", "-D", data, "-l", log, "-o", f"-k {self.directory} {options}", "start")

    def stop(self) -> None:
        """Stop as a crash would: what is not in the log yet is lost."""
        self.run("pg_ctl", "-w", "-D", self.directory / "data", "-m", "immediate", "stop")

    def run(self, program: str, *arguments: object) -> None:
        """Run one of PostgreSQL's programs as its user."""
        user = _other_user() if os.geteuid() == 0 else None
        subprocess.run(
            [self.programs / program, *map(str, arguments)],
            check=True,
            stdout=subprocess.DEVNULL,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            cwd=self.directory,
        )


def programs() -> Path | None:
    """Return where PostgreSQL's programs are, the newest if there are several."""
    found = [Path(path).resolve().parent for path in (shutil.which("initdb"),) if path]
    return max([*found, *Path("/usr/lib/postgresql").glob("*/bin")], default=None, key=_version)


@contextmanager
def running_server(where: Path, **settings: str) -> Iterator[Server]:
    """Run a new server; where: its programs."""
    directory = Path(tempfile.mkdtemp(prefix="hubbub-pg-", dir="/tmp"))
    directory.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(directory, _other_user())
    server = Server(directory, where, _OWN | settings)
    try:
        server.run("initdb", "-D", directory / "data", *_AS)
        server.start()
        try:
            with psycopg.connect(server.url("postgres", role="postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE ROLE {ROLE} LOGIN")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory)


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in path.parent.name.split(".") if part.isdigit())


def _other_user() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
