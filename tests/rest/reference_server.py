"""Iceberg's own REST catalog server, which nobody here wrote: a process of its own over SQLite and a local folder.

``scripts/fetch_rest_server.sh`` puts its jar where this looks for it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JAR = ROOT / ".oracle" / "rest" / "iceberg-open-api-1.10.1.jar"
JAVA_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")


@dataclass
class ReferenceServer:
    """``uri`` without a slash at its end; ``warehouse`` is the folder in which it puts tables."""

    process: subprocess.Popen[bytes]
    uri: str
    warehouse: Path
    folder: Path
    port: int
    settings: dict[str, str]

    def emptied(self) -> Path:
        """The warehouse, once every name is gone from the catalog and every file from the warehouse."""
        with sqlite3.connect(self.folder / "catalog.db", timeout=30) as database:
            for table in ("iceberg_tables", "iceberg_namespace_properties"):
                database.execute(f"DELETE FROM {table}")
        shutil.rmtree(self.warehouse)
        self.warehouse.mkdir()
        return self.warehouse

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)

    def restart(self) -> None:
        """Killed, and started again on the same address over the same database."""
        self.process.kill()
        self.process.wait(10)
        self.process = _started(self.folder, self.port, self.settings)
        _wait_until_it_answers(self.process, self.uri, self.folder)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start_server(folder: Path, settings: dict[str, str] | None = None) -> ReferenceServer:
    """A server with an empty catalog below ``folder``. ``settings``: further ones of its catalog, by Iceberg's keys."""
    if not JAR.exists():
        raise FileNotFoundError(f"Cannot start Iceberg's REST server: run scripts/fetch_rest_server.sh first: {JAR}")
    (folder / "warehouse").mkdir(parents=True)
    port = free_port()
    given = settings or {}
    server = ReferenceServer(_started(folder, port, given), f"http://127.0.0.1:{port}", folder / "warehouse", folder, port, given)
    _wait_until_it_answers(server.process, server.uri, folder)
    return server


def _started(folder: Path, port: int, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "CATALOG_WAREHOUSE": str(folder / "warehouse"),
        "CATALOG_URI": f"jdbc:sqlite:{folder}/catalog.db?busy_timeout=30000",
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
        "CATALOG_REST_PORT": str(port),
        **{f"CATALOG_{key.upper().replace('-', '__').replace('.', '_')}": value for key, value in settings.items()},
    }
    log = (folder / "server.log").open("ab")
    return subprocess.Popen(
        ["java", *JAVA_FLAGS, "-cp", str(JAR), "org.apache.iceberg.rest.RESTCatalogServer"], env=environment, stdout=log, stderr=log
    )


def _wait_until_it_answers(process: subprocess.Popen[bytes], uri: str, folder: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{uri}/v1/config", timeout=5):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)
    process.kill()
    raise RuntimeError(f"Cannot start Iceberg's REST server:\n{(folder / 'server.log').read_text()[-4000:]}")
