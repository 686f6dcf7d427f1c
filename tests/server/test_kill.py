"""The server, or its clients, are killed at named points while clients append. Each client sends again, with the same key, what was not
acknowledged; then what is in the table is what was sent, once each.

``ICESQL_KILL_RUNS`` is how often for each point.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from icesql.catalog.loading import load_catalog
from icesql.table.manifests.reachable import reachable_files
from tests.server import killed_client
from tests.server.client import SCHEMA, data_file
from tests.server.keys import key
from tests.server.killed_client import Journal
from tests.server.killed_server import POINTS
from tests.server.process import ROOT, ServerProcess, free_port

pytestmark = pytest.mark.slow
CLIENTS, APPENDS = 4, 5
RUNS = int(os.environ.get("ICESQL_KILL_RUNS", "1"))


class KilledServer(ServerProcess):
    """Kills itself at a point."""

    def start_until(self, point: str, count: int) -> None:
        self.port = self.port or free_port()
        command = [sys.executable, "-m", "tests.server.killed_server", point, str(count), "--port", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": str(ROOT)})
        while not self._answers():
            assert self.process.poll() is None, self.log
            time.sleep(0.05)


class Client:
    """Appends files one after another, each under a key of its own, until all are acknowledged."""

    def __init__(self, server: ServerProcess, location: str) -> None:
        self._server, self._location = server, location
        self.acknowledged: list[int] = []
        self.files: list[str] = []

    def run(self) -> None:
        for _ in range(APPENDS):
            file = data_file(self._location)
            self.files.append(file["file-path"])
            body = {"requirements": [], "updates": [{"action": "produce-snapshot", "operation": "append", "add-data-files": [file]}]}
            self.acknowledged.append(self._until_acknowledged(body, {"Idempotency-Key": key(), "Prefer": "return=minimal"}))

    def _until_acknowledged(self, body: Any, headers: dict[str, str]) -> int:
        deadline = time.monotonic() + 90
        while True:
            try:
                answer = httpx.post(f"{self._server.uri}/v1/namespaces/db/tables/t", json=body, headers=headers, timeout=30)
                if answer.status_code == 200:
                    return int(answer.json()["produced-snapshots"][0]["snapshot-id"])
                assert answer.status_code >= 500, answer.text
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, "the server did not come back"
            time.sleep(0.1)


@pytest.mark.parametrize("run", range(RUNS))
@pytest.mark.parametrize("point", POINTS)
def test_nothing_is_lost_and_nothing_is_there_twice(tmp_path: Path, point: str, run: int) -> None:
    with ServerProcess(tmp_path) as first:
        httpx.post(f"{first.uri}/v1/namespaces", json={"namespace": ["db"]})
        made = httpx.post(f"{first.uri}/v1/namespaces/db/tables", json={"name": "t", "schema": SCHEMA}).json()
    server = KilledServer(tmp_path)
    server.start_until(point, 1 + run % APPENDS)  # there are at least as many groups as a client appends
    clients = [Client(server, made["metadata"]["location"]) for _ in range(CLIENTS)]
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    assert server.process is not None
    assert server.process.wait(60) == -signal.SIGKILL
    with server:
        for thread in threads:
            thread.join(120)
        table = httpx.get(f"{server.uri}/v1/namespaces/db/tables/t").json()["metadata"]
        events = httpx.get(f"{server.uri}/v1/local/events?limit=1000").json()["events"]
        assert "Traceback" not in server.log
    acknowledged = [number for client in clients for number in client.acknowledged]
    _check(tmp_path, acknowledged, [file for client in clients for file in client.files], table, events)


@pytest.mark.parametrize("run", range(RUNS))
@pytest.mark.parametrize("point", killed_client.POINTS)
def test_killed_clients_start_again(tmp_path: Path, point: str, run: int) -> None:
    """Each client is killed twice, and then finishes what it had written down."""
    with ServerProcess(tmp_path) as server:
        httpx.post(f"{server.uri}/v1/namespaces", json={"namespace": ["db"]})
        made = httpx.post(f"{server.uri}/v1/namespaces/db/tables", json={"name": "t", "schema": SCHEMA}).json()
        folders = [tmp_path / f"client{number}" for number in range(CLIENTS)]
        for folder in folders:
            folder.mkdir()
            (folder / "location").write_text(json.dumps(made["metadata"]["location"]))
        for times, code in ((1 + run % 3, -signal.SIGKILL), (1, -signal.SIGKILL), (0, 0)):
            running = [_started_client(server.uri, folder, point, times) for folder in folders]
            assert [process.wait(120) for process in running] == [code] * CLIENTS
        table = httpx.get(f"{server.uri}/v1/namespaces/db/tables/t").json()["metadata"]
        events = httpx.get(f"{server.uri}/v1/local/events?limit=1000").json()["events"]
        assert "Traceback" not in server.log
    entries = [entry for folder in folders for entry in Journal(folder).entries().values()]
    _check(tmp_path, [entry["snapshot"] for entry in entries], [entry["path"] for entry in entries], table, events)


def _started_client(uri: str, folder: Path, point: str, times: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.server.killed_client", uri, str(folder), str(APPENDS), point, str(times)]
    return subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})


def _check(folder: Path, acknowledged: list[int], files: list[str], table: Any, events: list[Any]) -> None:
    acknowledged = sorted(acknowledged)
    snapshots = table["snapshots"]
    assert acknowledged == sorted(one["snapshot-id"] for one in snapshots) and len(acknowledged) == CLIENTS * APPENDS
    assert [one["sequence-number"] for one in snapshots] == list(range(1, CLIENTS * APPENDS + 1))
    assert [one.get("parent-snapshot-id") for one in snapshots] == [None, *(one["snapshot-id"] for one in snapshots[:-1])]
    told = [one["snapshot-id"] for event in events for one in event.get("snapshots", ())]
    assert told == [one["snapshot-id"] for one in snapshots]  # complete, and in order
    catalog = load_catalog("local", {"warehouse": str(folder / "warehouse")})
    held = catalog.load_table("db.t")
    planned = sorted(held.scan().plan_files().paths)
    assert planned == sorted(files)
    version = held.version
    for location in reachable_files(held.io, version.metadata, version.metadata_location):
        assert "/data/" in location or held.io.exists(location), location
