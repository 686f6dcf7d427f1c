"""Requests that are sent twice with one Idempotency-Key."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from icesql.catalog.sql_store import SqlStore
from icesql.errors import CommitStateUnknownError
from tests.server.client import SCHEMA, Server, data_file, error


def key(number: int = 1) -> dict[str, str]:
    return {"Idempotency-Key": f"01932c5a-0000-7000-8000-{number:012}"}


def test_an_append_that_is_sent_twice_is_made_once(server: Server, table: Any) -> None:
    file = data_file(table["metadata"]["location"])
    first = server.produce("append", headers=key(), add_data_files=[file])
    again = server.produce("append", headers=key(), add_data_files=[file])
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["produced-snapshots"] == again.json()["produced-snapshots"]
    assert len(server.load()["metadata"]["snapshots"]) == 1
    server.produce("append", headers=key(2), add_data_files=[data_file(table["metadata"]["location"])])
    assert len(server.load()["metadata"]["snapshots"]) == 2


def test_every_change_is_made_once(server: Server) -> None:
    def twice(number: int, method: str, path: str, body: Any = None) -> list[int]:
        return [server.client.request(method, path, json=body, headers=key(number)).status_code for _ in range(2)]

    assert twice(1, "POST", "/v1/namespaces", {"namespace": ["db"]}) == [200, 200]
    assert twice(2, "POST", "/v1/namespaces/db/tables", {"name": "t", "schema": SCHEMA}) == [200, 200]
    assert twice(3, "POST", "/v1/namespaces/db/properties", {"updates": {"a": "1"}, "removals": []}) == [200, 200]
    rename = {"source": {"namespace": ["db"], "name": "t"}, "destination": {"namespace": ["db"], "name": "u"}}
    assert twice(4, "POST", "/v1/tables/rename", rename) == [204, 204]
    commit = {
        "requirements": [],
        "updates": [{"action": "set-properties", "updates": {"a": "1"}}],
        "identifier": {"namespace": ["db"], "name": "u"},
    }
    assert twice(5, "POST", "/v1/transactions/commit", {"table-changes": [commit]}) == [204, 204]
    assert twice(6, "DELETE", "/v1/namespaces/db/tables/u") == [204, 204]
    assert twice(7, "DELETE", "/v1/namespaces/db") == [204, 204]


def test_a_refusal_is_kept_too(server: Server, table: Any) -> None:
    wrong = [{"type": "assert-current-schema-id", "current-schema-id": 1}]
    first = server.commit([{"action": "set-properties", "updates": {"a": "1"}}], wrong, headers=key())
    wider = {**SCHEMA, "fields": [*SCHEMA["fields"], {"id": 3, "name": "m", "required": False, "type": "int"}]}
    server.commit([{"action": "add-schema", "schema": wider}, {"action": "set-current-schema", "schema-id": -1}])
    again = server.commit([{"action": "set-properties", "updates": {"a": "1"}}], wrong, headers=key())
    assert first.status_code == again.status_code == 409 and first.json() == again.json()  # though it would hold now


def test_a_key_belongs_to_one_request(server: Server, table: Any) -> None:
    server.commit([{"action": "set-properties", "updates": {"a": "1"}}], headers=key())
    other = server.commit([{"action": "set-properties", "updates": {"a": "2"}}], headers=key())
    assert error(other)[:2] == (400, "IdempotencyKeyReusedException")
    assert server.load()["metadata"]["properties"]["a"] == "1"


@pytest.mark.parametrize("text", ["x", "01932c5a-0000-4000-8000-000000000001", "01932c5a00007000800000000000000100000"])
def test_keys_that_are_none(server: Server, table: Any, text: str) -> None:
    assert error(server.commit([], headers={"Idempotency-Key": text}))[0] == 400


def test_two_at_once_are_one(server: Server, table: Any) -> None:
    file = data_file(table["metadata"]["location"])
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(server.produce("append", headers=key(), add_data_files=[file]))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["produced-snapshots"][0]["snapshot-id"] for answer in answers}) == 1
    assert len(server.load()["metadata"]["snapshots"]) == 1


def test_an_answer_that_another_process_has_written(server: Server, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other's commit and its answer are there when this process comes to write its own: nothing of this one's stays."""
    answers = server.service.catalogs["lake"].answers
    file = data_file(table["metadata"]["location"])
    first = server.produce("append", headers=key(), add_data_files=[file])
    real = answers.find
    looks: list[str] = []

    def find(key: str) -> Any:
        looks.append(key)
        return None if len(looks) == 1 else real(key)  # the first look came too early

    monkeypatch.setattr(answers, "find", find)
    second = server.produce("append", headers=key(), add_data_files=[file])
    assert second.status_code == 200 and second.json()["produced-snapshots"] == first.json()["produced-snapshots"]
    assert len(server.load()["metadata"]["snapshots"]) == 1


def test_the_reply_of_the_database_is_lost(server: Server, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit stands, the client is told that nobody knows, and sends it again."""
    real = SqlStore._commit
    lost: list[bool] = []

    def commit(self: SqlStore, connection: Any, transaction_id: Any) -> None:
        real(self, connection, transaction_id)
        if not lost:
            lost.append(True)
            raise CommitStateUnknownError("the reply is lost")

    monkeypatch.setattr(SqlStore, "_commit", commit)
    file = data_file(table["metadata"]["location"])
    first = server.produce("append", headers=key(), add_data_files=[file])
    assert error(first)[:2] == (500, "CommitStateUnknownException")
    again = server.produce("append", headers=key(), add_data_files=[file])
    assert again.status_code == 200
    snapshots = server.load()["metadata"]["snapshots"]
    assert [one["snapshot-id"] for one in snapshots] == [one["snapshot-id"] for one in again.json()["produced-snapshots"]]
