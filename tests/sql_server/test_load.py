"""Many clients at once, some killed in the midst: nothing is lost, nothing is left. ``./dev test-all``: 16 with 200 statements each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sql_server.effort import ALL
from tests.sql_server.serving import ROOT, Serving, free_port, rows

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(7200)]
CLIENTS, STATEMENTS = (16, 200) if ALL else (4, 20)
KILLED = 2  # the last two: one of each kind


class LoadServer:
    def __init__(self, folder: Path) -> None:
        self.serving = Serving(free_port(), free_port(), 0, folder)
        command = [sys.executable, "-m", "tests.sql_server.load_server", str(self.serving.jdbc), str(self.serving.connect)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready\n"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def held(self) -> dict[str, int]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer: dict[str, int] = json.loads(self._line())
        return answer

    def at_rest(self) -> dict[str, int]:
        """Once no client's session is left, and no thread has ended for some seconds."""
        until = time.monotonic() + 240
        before: dict[str, int] = {}
        held = self.held()
        while (held["sessions"] or held["python_threads"] != before.get("python_threads")) and time.monotonic() < until:
            time.sleep(6)
            before, held = held, self.held()
        return held

    def start_client(self, number: int, statements: int) -> subprocess.Popen[str]:
        kind = ("jdbc", "connect")[number % 2]
        port = self.serving.jdbc if kind == "jdbc" else self.serving.connect
        command = [sys.executable, "-m", "tests.sql_server.load_client", kind, str(port), str(number), str(statements)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LoadServer]:
    running = LoadServer(tmp_path)
    try:
        yield running
        assert running.process.stdin is not None
        running.process.stdin.close()
        assert running.process.wait(120) == 0
    finally:
        running.process.kill()


def _killed_in_the_midst(client: subprocess.Popen[str]) -> list[int]:
    """Killed after some of its inserts, while a statement runs; those that were acknowledged."""
    assert client.stdout is not None
    acknowledged = [client.stdout.readline() for _ in range(2)]
    client.kill()
    out, err = client.communicate()
    assert all(acknowledged), err
    return [int(line) for line in (*acknowledged, *out.split())]


def _finished(client: subprocess.Popen[str]) -> list[int]:
    out, err = client.communicate(timeout=7000)
    assert client.returncode == 0, err
    return [int(line) for line in out.split()]


def test_nothing_is_lost_and_nothing_left(server: LoadServer, tmp_path: Path) -> None:
    client = server.serving.client()
    for text in ("CREATE NAMESPACE local.load", "CREATE TABLE local.load.common (client INT, n INT)"):
        rows(client, text)
    client.close()
    for first in (server.start_client(number, 20) for number in (100, 101)):  # what is made once is there
        _finished(first)
    before, began = server.at_rest(), time.monotonic()

    clients = [server.start_client(number, STATEMENTS) for number in range(CLIENTS)]
    killed = {number: _killed_in_the_midst(clients[number]) for number in range(CLIENTS - KILLED, CLIENTS)}
    acknowledged = {number: _finished(clients[number]) for number in range(CLIENTS - KILLED)} | killed
    seconds = time.monotonic() - began
    after = server.at_rest()
    print(f"{CLIENTS} clients, {STATEMENTS} statements each: {seconds:.0f} s; before {before}; after {after}")

    client = server.serving.client()
    kept = Counter((row[0], row[1]) for row in rows(client, "SELECT client, n FROM local.load.common WHERE client < 100"))
    assert not [key for key, times in kept.items() if times != 1], "each once"
    assert {(number, n) for number, of_client in acknowledged.items() for n in of_client} <= set(kept)
    assert len({key for key in kept if key[0] < CLIENTS - KILLED}) == sum(len(acknowledged[number]) for number in range(CLIENTS - KILLED))
    assert _files(client, tmp_path, "load.common") == (set(), set())
    for number in range(CLIENTS):
        assert _files(client, tmp_path, f"load_{number}.own") == (set(), set())
    client.close()

    assert (after["sessions"], after["spark_sessions"], after["views"]) == (0, 0, before["views"])
    assert after["java_threads"] <= before["java_threads"] + 12
    assert after["python_threads"] <= before["python_threads"] + 4
    assert after["descriptors"] <= before["descriptors"] + 8
    assert after["heap"] <= before["heap"] + (96 << 20)
    assert after["python_memory"] <= before["python_memory"] + (160 << 20)


def _files(client: Any, folder: Path, table: str) -> tuple[set[str], set[str]]:
    """Data files that no snapshot knows, and those that are missing."""
    known = {row[0].split("/")[-1] for row in rows(client, f"SELECT file_path FROM local.{table}.all_files")}
    there = {path.name for path in folder.glob(f"warehouse/{table.replace('.', '/')}/data/**/*.parquet")}
    return there - known, known - there
