"""``icesql sql-server`` as a process of the tests, and connections to it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Serving:
    jdbc: int
    connect: int
    pid: int
    folder: Path

    def client(self, user: str = "somebody") -> Any:
        """A connection by JDBC's protocol."""
        from pyhive import hive

        return hive.connect("127.0.0.1", self.jdbc, username=user)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(folder: Path, conf: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """A server with its warehouse in ``folder``. Stopped as a service is, by a signal, and then it must end by itself, without an error."""
    jdbc, connect = free_port(), free_port()
    command = [sys.executable, "-m", "icesql.cli.main", "sql-server", "--master", "local[2]"]
    command += ["--jdbc-port", str(jdbc), "--connect-port", str(connect)]
    for key, value in {"spark.driver.memory": "1g", **(conf or {})}.items():
        command += ["-c", f"{key}={value}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Spark Connect at"):
                break
        else:
            raise RuntimeError(f"the server ended: {process.wait()}")
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield Serving(jdbc, connect, process.pid, folder)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def rows(client: Any, text: str) -> list[tuple[Any, ...]]:
    """Of a statement by JDBC; none for one that has no columns."""
    cursor = client.cursor()
    cursor.execute(text)
    return list(cursor.fetchall()) if cursor.description else []
