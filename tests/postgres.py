"""A real PostgreSQL server for the tests: its own data folder, a free port, an unprivileged user, stopped afterwards.

The binaries come from Debian's packages (``scripts/install_postgres.sh``). Nothing is skipped: without them, starting fails and says so.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_START_SECONDS = 60
_USER = "icesql"
_SETTINGS = ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "fsync=off"]


def binaries() -> Path:
    """The folder with ``initdb`` and ``postgres``. Raises RuntimeError when PostgreSQL is not installed."""
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    if on_path is not None:
        candidates.append(Path(on_path).parent)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError("Cannot start PostgreSQL: it is not installed: run scripts/install_postgres.sh as root")


@dataclass
class PostgresServer:
    """A running server. ``kill`` and ``start`` again to see what a crash does."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self.port}/postgres"

    @property
    def jdbc_uri(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres?user={_USER}"

    def new_database(self, name: str) -> str:
        """Make an empty database; its URI."""
        self._psql(f'CREATE DATABASE "{name}"')
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            [str(binaries() / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), "-k", str(self.folder), *_SETTINGS],
            stdout=log,
            stderr=log,
            **_as_unprivileged(),
        )
        log.close()
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Cannot start PostgreSQL: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            self._psql("SELECT 1")
        except Exception:
            return False
        return True

    def _psql(self, statement: str) -> None:
        import psycopg

        where = f"host=127.0.0.1 port={self.port} user={_USER} dbname=postgres connect_timeout=5"
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(statement)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT is a fast, clean shutdown; SIGQUIT an immediate one, as after a crash."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=30)
            self.process = None


def start_postgres() -> PostgresServer:
    """Make a data folder and start a server on it. Call ``stop_postgres`` afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="icesql-pg-", dir="/tmp"))
    user = _unprivileged()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    command = [str(binaries() / "initdb"), "-D", str(folder / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    made = subprocess.run(command, capture_output=True, text=True, **_as_unprivileged())
    if made.returncode:
        raise RuntimeError(f"Cannot start PostgreSQL: initdb failed: {made.stderr}")
    server = PostgresServer(folder, _free_port())
    server.start()
    return server


def stop_postgres(server: PostgresServer) -> None:
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _unprivileged() -> pwd.struct_passwd | None:
    """The user the server runs as when we are root, which PostgreSQL refuses to be."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("Cannot start PostgreSQL: no unprivileged user to run it as")


def _as_unprivileged() -> dict[str, Any]:
    user = _unprivileged()
    return {"cwd": "/"} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/"}
