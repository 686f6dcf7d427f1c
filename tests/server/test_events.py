"""Events: one for each change, in the order of the commits, in the transaction of the change."""

from __future__ import annotations

import hashlib
import hmac
import json
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from starlette.testclient import TestClient

from icesql.catalog.sql_store import SqlStore
from icesql.errors import CommitFailedError, CommitStateUnknownError
from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Events, Settings
from tests.server.client import SCHEMA, Server, data_file, error
from tests.server.process import ServerProcess
from tests.server.test_access import act_as, guarded  # noqa: F401 - a fixture
from tests.server.test_group import Gate, append, gate, swaps  # noqa: F401 - a fixture
from tests.server.test_views import create as create_view


def told(server: Server, **query: Any) -> list[dict[str, Any]]:
    answer = server.get("/v1/lake/events", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["events"]


def test_every_change_is_told(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    table = server.create_table("t")
    file = data_file(table["metadata"]["location"], records=7)
    server.produce("append", add_data_files=[file], headers={"X-Request-ID": "mine"})
    server.commit([{"action": "set-properties", "updates": {"a": "1"}}, {"action": "remove-properties", "removals": ["a"]}])
    server.post("/v1/tables/rename", {
        "source": {"namespace": ["db"], "name": "t"}, "destination": {"namespace": ["db"], "name": "u"}})  # fmt: skip
    location = server.load("u")["metadata-location"]
    server.post("/v1/namespaces/db/tables/u/unregister", {})
    server.post("/v1/namespaces/db/register", {"name": "u", "metadata-location": location})
    server.client.delete("/v1/namespaces/db/tables/u")
    create_view(server)
    server.client.delete("/v1/namespaces/db/views/v")
    events = told(server)
    assert [event["type"] for event in events] == [
        "create-table", "update-table", "update-table", "rename-table", "unregister-table", "register-table", "drop-table", "create-view",
        "drop-view",
    ]  # fmt: skip
    appended = events[1]
    (snapshot,) = appended["snapshots"]
    assert appended["actions"] == ["produce-snapshot"] and appended["principal"] == "anonymous" and appended["request-id"] == "mine"
    assert snapshot["operation"] == "append" and snapshot["refs"] == ["main"] and snapshot["summary"]["added-records"] == "7"
    assert snapshot["add-data-files"] == [{"file-path": file["file-path"], "record-count": 7, "partition": []}]
    assert events[2]["actions"] == ["set-properties", "remove-properties"]
    numbers = [event["event-id"] for event in events]
    assert numbers == sorted(set(numbers))


def test_nothing_is_told_of_what_did_not_happen(server: Server, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told(server)
    server.commit([{"action": "set-properties", "updates": {"a": "1"}}], [{"type": "assert-current-schema-id", "current-schema-id": 9}])
    server.commit([])
    server.client.delete("/v1/namespaces/db/tables/none")
    server.post("/v1/namespaces/db/tables", {"name": "t", "schema": SCHEMA})
    swaps(monkeypatch, *[CommitFailedError("another writer")] * 20)
    server.commit([{"action": "set-properties", "updates": {"commit.retry.num-retries": "0"}}])
    assert told(server) == before


def test_a_commit_whose_reply_is_lost_is_told(server: Server, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real, lost = SqlStore._commit, list[bool]()

    def commit(self: SqlStore, connection: Any, transaction_id: Any) -> None:
        real(self, connection, transaction_id)
        if not lost:
            lost.append(True)
            raise CommitStateUnknownError("the reply is lost")

    monkeypatch.setattr(SqlStore, "_commit", commit)
    assert append(server, table)().status_code == 500
    assert told(server)[-1]["snapshots"][0]["snapshot-id"] == server.load()["metadata"]["current-snapshot-id"]


def test_commits_made_together_are_told_one_by_one(server: Server, table: Any, gate: Gate) -> None:  # noqa: F811
    gate.run(server, [append(server, table) for _ in range(6)])
    snapshots = [event["snapshots"][0] for event in told(server)[1:]]
    assert [one["sequence-number"] for one in snapshots] == [1, 2, 3, 4, 5, 6]
    assert [one["snapshot-id"] for one in snapshots] == [one["snapshot-id"] for one in server.load()["metadata"]["snapshots"]]


def test_a_transaction_is_told_whole(server: Server, table: Any) -> None:
    server.create_table("u")
    changes = [
        {
            "identifier": {"namespace": ["db"], "name": name},
            "requirements": [],
            "updates": [{"action": "set-properties", "updates": {"a": "1"}}],
        }
        for name in "tu"
    ]
    server.post("/v1/transactions/commit", {"table-changes": changes})
    assert [(event["type"], event["identifier"]["name"]) for event in told(server)[2:]] == [("update-table", "t"), ("update-table", "u")]


def test_cursors(server: Server, table: Any) -> None:
    for _ in range(5):
        append(server, table)()
    first = server.get("/v1/lake/events?limit=4").json()
    rest = server.get("/v1/lake/events", params={"after": first["next-cursor"]}).json()
    assert [len(first["events"]), len(rest["events"])] == [4, 2]
    assert server.get("/v1/lake/events", params={"after": rest["next-cursor"]}).json() == {"events": [], "next-cursor": rest["next-cursor"]}
    assert server.get("/v1/lake/events?after=latest").json()["next-cursor"] == rest["next-cursor"]
    for wrong in ("after=x", "limit=x", "wait=-1", "after=" + "9" * 30):
        assert error(server.get(f"/v1/lake/events?{wrong}"))[0] == 400


def test_who_waits_is_told_soon(server: Server, table: Any) -> None:
    cursor = server.get("/v1/lake/events?after=latest").json()["next-cursor"]
    answers: list[Any] = []
    waiting = threading.Thread(target=lambda: answers.append(server.get(f"/v1/lake/events?after={cursor}&wait=30").json()))
    waiting.start()
    append(server, table)()
    waiting.join(10)
    assert [event["type"] for event in answers[0]["events"]] == ["update-table"]


def test_who_may_not_read_a_table_is_told_nothing_of_it(guarded: Server) -> None:  # noqa: F811
    act_as(guarded, "loader")
    assert {event["identifier"]["name"] for event in told(guarded)} == {"t"}
    act_as(guarded, "nobody")
    answer = guarded.get("/v1/lake/events").json()
    assert answer["events"] == [] and answer["next-cursor"] != "0"  # though he learns that time passes


def test_a_catalog_without_a_database(tmp_path: Path) -> None:
    service = Service.of(Settings(catalogs={"files": {"type": "hadoop", "warehouse": str(tmp_path / "w")}}), environ={})
    with TestClient(application(service)) as client:
        config = client.get("/v1/config").json()
        assert "GET /v1/{prefix}/events" not in config["endpoints"] and "idempotency-key-lifetime" not in config
        assert error(client.get("/v1/files/events"))[:2] == (406, "UnsupportedOperationException")
        server = Server(client, service)
        server.post("/v1/namespaces", {"namespace": ["db"]})
        table = server.create_table("t")
        assert append(server, table)().status_code == 200 and len(server.load()["metadata"]["snapshots"]) == 1


# -- webhook ---------------------------------------------------------------------------------------------------------------
class Receiver:
    """Takes events; the first ``refusals`` are answered with 503."""

    def __init__(self, refusals: int = 0) -> None:
        self.taken: list[dict[str, Any]] = []
        self.signatures: list[bool] = []
        left = [refusals]
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if left[0]:
                    left[0] -= 1
                    self.send_response(503)
                else:
                    digest = hmac.new(b"secret", body, hashlib.sha256).hexdigest()
                    receiver.signatures.append(self.headers["X-Icesql-Signature"] == f"sha256={digest}")
                    receiver.taken.append(json.loads(body))
                    self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/events"

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 30
        while len(self.taken) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(self.taken) == count


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver(refusals=2)
    yield found
    found.server.shutdown()


def test_events_are_pushed_in_order(settings: Settings, receiver: Receiver) -> None:
    pushing = msgspec.structs.replace(settings, events=Events(webhook=receiver.url, webhook_secret="secret"))
    service = Service.of(pushing, environ={})
    with TestClient(application(service)) as client:
        server = Server(client, service)
        server.post("/v1/namespaces", {"namespace": ["db"]})
        table = server.create_table("t")
        for _ in range(3):
            append(server, table)()
        receiver.wait_for(4)
        assert [event["data"] for event in receiver.taken] == told(server) and all(receiver.signatures)
    assert {event["specversion"] for event in receiver.taken} == {"1.0"} and receiver.taken[1]["subject"] == "db.t"
    assert receiver.taken[0]["type"] == "icesql.create-table" and len({event["id"] for event in receiver.taken}) == 4
    again = Service.of(pushing, environ={})
    with TestClient(application(again)) as client:  # a new process goes on where the last one was
        append(Server(client, again), table)()
        receiver.wait_for(5)


# -- a process of its own ----------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_stream_of_events_survives_a_kill(tmp_path: Path) -> None:
    """Server-sent events; what was acknowledged before the kill is told after it."""
    with ServerProcess(tmp_path) as process:
        httpx.post(f"{process.uri}/v1/namespaces", json={"namespace": ["db"]})
        made = httpx.post(f"{process.uri}/v1/namespaces/db/tables", json={"name": "t", "schema": SCHEMA}).json()

        def append_one() -> int:
            update = {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file(made["metadata"]["location"])]}
            answer = httpx.post(f"{process.uri}/v1/namespaces/db/tables/t", json={"requirements": [], "updates": [update]})
            return answer.json()["produced-snapshots"][0]["snapshot-id"]

        ids = [append_one() for _ in range(3)]
        process.kill()
        process.start()
        found: list[int] = []
        last = ""
        with httpx.stream("GET", f"{process.uri}/v1/local/events", headers={"Accept": "text/event-stream"}, timeout=30) as stream:
            for line in stream.iter_lines():
                if line.startswith("id: "):
                    last = line[4:]
                if line.startswith("data: "):
                    found += [one["snapshot-id"] for one in json.loads(line[6:]).get("snapshots", ())]
                if len(found) == 3:
                    break
        assert found == ids
        newest = append_one()
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last}
        with httpx.stream("GET", f"{process.uri}/v1/local/events", headers=headers, timeout=30) as stream:
            line = next(line for line in stream.iter_lines() if line.startswith("data: "))
            assert json.loads(line[6:])["snapshots"][0]["snapshot-id"] == newest
            started = time.monotonic()
            assert process.stop() in (0, -signal.SIGTERM) and time.monotonic() - started < 15  # though someone still listens
