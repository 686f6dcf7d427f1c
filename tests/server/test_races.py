"""Many clients, some of which send files and some snapshots that they built themselves, on one table behind two server processes on
PostgreSQL, through a proxy that loses requests and replies: what was acknowledged is there, once, in one line of snapshots.

``ICESQL_RACE_COMMITS`` is how many commits each client makes.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from icesql.catalog.loading import load_catalog
from icesql.spec.files import DataFile, FileContent
from tests.postgres import start_postgres, stop_postgres
from tests.rest.proxy import Call, FaultProxy, lost_reply, never_arrives, sent_twice
from tests.server.client import SCHEMA, data_file
from tests.server.keys import key
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow
CLIENTS = 16
COMMITS = int(os.environ.get("ICESQL_RACE_COMMITS", "6"))
TABLE = "/v1/namespaces/db/tables/t"
_WAIT_SECONDS = 120 + COMMITS * 15


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    server = start_postgres()
    yield server
    stop_postgres(server)


@dataclass
class Outcome:
    """What all clients were told. ``files`` is what the table must hold in the end."""

    files: set[str] = field(default_factory=set)
    commits: int = 0
    snapshot_ids: list[int] = field(default_factory=list)  # of clients that send files: the others are not told one by one
    errors: list[BaseException] = field(default_factory=list)
    _lock: Any = field(default_factory=threading.Lock)

    def note(self, added: set[str], removed: set[str], snapshot_id: int | None = None) -> None:
        with self._lock:
            self.files = (self.files | added) - removed
            self.commits += 1
            if snapshot_id is not None:
                self.snapshot_ids.append(snapshot_id)


def sending_files(uri: str, location: str, outcome: Outcome) -> None:
    """Every third commit removes the file that the one before it added."""
    last: dict[str, Any] | None = None
    for number in range(COMMITS):
        if number % 3 == 2 and last is not None:
            update = {"action": "produce-snapshot", "operation": "delete", "remove-data-files": [last], "fail-missing-deletes": True}
            snapshot_id = _acknowledged(uri, update)
            outcome.note(set(), {last["file-path"]}, snapshot_id)
            last = None
            continue
        last = data_file(location)
        snapshot_id = _acknowledged(uri, {"action": "produce-snapshot", "operation": "append", "add-data-files": [last]})
        outcome.note({last["file-path"]}, set(), snapshot_id)


def _acknowledged(uri: str, update: dict[str, Any]) -> int:
    headers, deadline = {"Idempotency-Key": key(), "Prefer": "return=minimal"}, time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            answer = httpx.post(f"{uri}{TABLE}", json={"requirements": [], "updates": [update]}, headers=headers, timeout=60)
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.status_code == 200:
            return int(answer.json()["produced-snapshots"][0]["snapshot-id"])
        # a race that is lost more often than the table's retries allow is told as a conflict: it is sent anew, as another request
        assert answer is None or answer.status_code == 409 or answer.status_code >= 500, answer.text
        if answer is not None and answer.status_code == 409:
            headers["Idempotency-Key"] = key()
        assert time.monotonic() < deadline, "the commit was never acknowledged"


def sending_snapshots(uri: str, location: str, outcome: Outcome) -> None:
    """As clients do that know only Iceberg's protocol: manifests are written here."""
    catalog = load_catalog("remote", {"type": "rest", "uri": uri, "icesql.produce-snapshot-enabled": "false"})
    for _ in range(COMMITS):
        node = data_file(location)
        file = DataFile(content=FileContent.DATA, file_path=node["file-path"], file_format="parquet", spec_id=0, partition=(),
                        record_count=1, file_size_in_bytes=100)  # fmt: skip
        catalog.load_table("db.t").new_append().append_files([file]).commit()
        outcome.note({file.file_path}, set())


def running(work: Callable[[str, str, Outcome], None], *arguments: Any) -> threading.Thread:
    outcome: Outcome = arguments[-1]

    def run() -> None:
        try:
            work(*arguments)
        except BaseException as error:
            outcome.errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def losing(target: str, count: int) -> FaultProxy:
    """About every sixth commit is lost on its way, or its reply is, or it arrives twice."""
    chance = random.Random(24)
    faults = [chance.choice((lost_reply, never_arrives, sent_twice)) for _ in range(count)]

    def chosen(call: Call) -> bool:
        return call.verb == "POST" and call.path.startswith("/v1/") and "/tables/" in call.path and chance.random() < 1 / 6

    return FaultProxy(target, chosen, list(faults))


@pytest.mark.timeout(_WAIT_SECONDS + 300)
def test_acknowledged_is_present_once(tmp_path: Path, postgres: Any) -> None:
    uri = postgres.new_database("races")
    settings = f'[catalogs.lake]\nuri = "{uri}"\nwarehouse = "{tmp_path}/warehouse"\n[commits]\nmax-snapshots = 0\n'
    (tmp_path / "settings.toml").write_text(settings)
    outcome = Outcome()
    with ServerProcess(tmp_path, ["--config", "settings.toml", "--workers", "2"]) as process:
        httpx.post(f"{process.uri}/v1/namespaces", json={"namespace": ["db"]}).raise_for_status()
        properties = {"commit.retry.num-retries": "200", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "200",
                      "commit.retry.total-timeout-ms": "600000"}  # fmt: skip
        made = httpx.post(f"{process.uri}/v1/namespaces/db/tables", json={"name": "t", "schema": SCHEMA, "properties": properties})
        location = made.raise_for_status().json()["metadata"]["location"]
        proxy = losing(process.uri, CLIENTS * COMMITS)
        try:
            works = [sending_files if number % 2 else sending_snapshots for number in range(CLIENTS)]
            threads = [running(work, proxy.uri, location, outcome) for work in works]
            for thread in threads:
                thread.join(_WAIT_SECONDS)
        finally:
            proxy.stop()
        assert not outcome.errors, outcome.errors
        assert not any(thread.is_alive() for thread in threads) and proxy.failures > CLIENTS * COMMITS / 20
        metadata = httpx.get(f"{process.uri}{TABLE}").json()["metadata"]
        events = _all_events(process.uri)
        assert "Traceback" not in process.log
    snapshots = sorted(metadata["snapshots"], key=lambda one: one["sequence-number"])
    ids = [one["snapshot-id"] for one in snapshots]
    assert outcome.commits == CLIENTS * COMMITS == len(ids) == len(set(ids))
    assert set(outcome.snapshot_ids) <= set(ids) and len(set(outcome.snapshot_ids)) == len(outcome.snapshot_ids)
    assert [one["sequence-number"] for one in snapshots] == list(range(1, len(ids) + 1))
    assert [one.get("parent-snapshot-id") for one in snapshots] == [None, *ids[:-1]]
    assert [held["snapshot-id"] for event in events for held in event.get("snapshots", ())] == ids
    catalog = load_catalog("lake", {"type": "sql", "uri": uri, "warehouse": f"{tmp_path}/warehouse"})
    paths = list(catalog.load_table("db.t").scan().plan_files().paths)
    assert len(paths) == len(set(paths)) and set(paths) == outcome.files


def _all_events(uri: str) -> list[Any]:
    found: list[Any] = []
    cursor = "0"
    while True:
        answer = httpx.get(f"{uri}/v1/lake/events", params={"after": cursor, "limit": 1000}).json()
        if not answer["events"]:
            return found
        found += answer["events"]
        cursor = answer["next-cursor"]
