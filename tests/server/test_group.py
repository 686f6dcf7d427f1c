"""Commits that wait at the same time are made together: each with its own snapshot and its own answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.sql_store import SqlStore
from icesql.errors import CommitFailedError, CommitStateUnknownError, ValidationError
from icesql.server.commits.group import GroupCommit
from tests.server.client import Server, data_file, error


class Gate:
    """Holds the first group back until as many requests wait behind it as are wanted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []
        self._is_shut = False
        self._open = threading.Event()
        real = GroupCommit.results

        def results(group: GroupCommit) -> Any:
            self.sizes.append(len(group.group))
            if self._is_shut and len(self.sizes) == 1:
                assert self._open.wait(30)
            return real(group)

        monkeypatch.setattr(GroupCommit, "results", results)

    def run(self, server: Server, requests: list[Callable[[], Any]]) -> list[Any]:
        """The answers, in order. The first request goes alone, all others together."""
        self.sizes.clear()
        self._is_shut = True
        answers: list[Any] = [None] * len(requests)

        def ask(number: int) -> None:
            answers[number] = requests[number]()

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(requests))]
        threads[0].start()
        while not self.sizes:
            pass
        for thread in threads[1:]:
            thread.start()
        committer = server.service.catalogs["lake"].committer
        while len(committer._lanes[("db", "t")].waiting) < len(requests) - 1:
            pass
        self._open.set()
        for thread in threads:
            thread.join()
        return answers


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


def swaps(monkeypatch: pytest.MonkeyPatch, *failures: Exception | None) -> list[int]:
    """Counts the swaps of the store. The first ones fail as told."""
    real, seen = SqlStore.swap, list[int]()
    left = list(failures)

    def swap(self: SqlStore, kind: Any, swaps: Any) -> None:
        seen.append(len(swaps))
        failure = left.pop(0) if left else None
        if failure is not None:
            raise failure
        real(self, kind, swaps)

    monkeypatch.setattr(SqlStore, "swap", swap)
    return seen


def append(server: Server, table: Any, **parts: Any) -> Callable[[], Any]:
    return lambda: server.produce("append", add_data_files=[data_file(table["metadata"]["location"])], **parts)


def snapshots(server: Server) -> list[Any]:
    return server.load()["metadata"]["snapshots"]


def files_left(table: Any) -> set[str]:
    return {path.name for path in Path(table["metadata-location"]).parent.iterdir()}


def reachable(server: Server) -> set[str]:
    """Names of metadata files that the table refers to."""
    from icesql.table.manifests.reachable import reachable_files

    served = server.service.catalogs["lake"]
    version = served.table(("db", "t"))
    return {Path(file).name for file in reachable_files(served.io, version.metadata, version.metadata_location) if "/metadata/" in file}


def test_ten_appends_are_two_swaps(server: Server, table: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = swaps(monkeypatch)
    answers = gate.run(server, [append(server, table) for _ in range(10)])
    assert gate.sizes == [1, 9] and len(seen) == 2
    ids = [answer.json()["produced-snapshots"][0]["snapshot-id"] for answer in answers]
    held = snapshots(server)
    assert sorted(ids) == sorted(one["snapshot-id"] for one in held) and len(set(ids)) == 10
    assert [one["sequence-number"] for one in held] == list(range(1, 11))
    parents = [None, *(one["snapshot-id"] for one in held[:-1])]
    assert [one.get("parent-snapshot-id") for one in held] == parents
    assert [one["summary"]["total-data-files"] for one in held] == [str(number) for number in range(1, 11)]
    assert len(server.load()["metadata"]["snapshot-log"]) == 10
    assert files_left(table) == reachable(server)


def test_who_fails_fails_alone(server: Server, table: Any, gate: Gate) -> None:
    location = table["metadata"]["location"]
    stale = [{"type": "assert-current-schema-id", "current-schema-id": 9}]
    requests = [
        append(server, table),
        append(server, table),
        lambda: server.commit([{"action": "set-properties", "updates": {"a": "1"}}], stale),
        lambda: server.produce("append", add_data_files=[data_file(location) | {"spec-id": 7}]),
        append(server, table),
        lambda: server.commit([{"action": "set-properties", "updates": {"b": "2"}}]),
        lambda: server.commit([{"action": "dance"}]),
    ]
    answers = gate.run(server, requests)
    assert [answer.status_code for answer in answers] == [200, 200, 409, 400, 200, 200, 400]
    metadata = server.load()["metadata"]
    assert len(metadata["snapshots"]) == 3 and metadata["properties"]["b"] == "2" and "a" not in metadata["properties"]
    assert files_left(table) == reachable(server)  # nothing is left of the ones that failed


def test_one_sees_what_the_one_before_it_did(server: Server, table: Any, gate: Gate) -> None:
    """Two rewrites of one file cannot both stand, though they come together."""
    file = data_file(table["metadata"]["location"], records=5)
    server.produce("append", add_data_files=[file])
    base = snapshots(server)[-1]["snapshot-id"]

    def rewrite() -> Any:
        clause = {"type": "required-data-files", "file-paths": [file["file-path"]]}
        new = data_file(table["metadata"]["location"], records=5)
        parts: dict[str, Any] = {"base_snapshot_id": base, "commit_validations": [clause]}
        return server.produce("overwrite", add_data_files=[new], remove_data_files=[file], **parts)

    answers = gate.run(server, [append(server, table), rewrite, rewrite])
    assert sorted(answer.status_code for answer in answers[1:]) == [200, 400]
    assert snapshots(server)[-1]["summary"]["total-data-files"] == "2"


def test_a_swap_that_another_process_wins_is_repeated(server: Server, table: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    served = server.service.catalogs["lake"]
    real, seen = SqlStore.swap, list[int]()

    def swap(self: SqlStore, kind: Any, swaps: Any) -> None:
        seen.append(1)
        if len(seen) == 2:  # the group's: another writer is faster
            monkeypatch.setattr(SqlStore, "swap", real)
            served.catalog.load_table("db.t").update_properties().set("other", "1").commit()
        real(self, kind, swaps)

    monkeypatch.setattr(SqlStore, "swap", swap)
    answers = gate.run(server, [append(server, table) for _ in range(5)])
    assert {answer.status_code for answer in answers} == {200}
    assert len(snapshots(server)) == 5 and server.load()["metadata"]["properties"]["other"] == "1"
    assert files_left(table) == reachable(server)


def test_what_nobody_knows_is_told_to_all(server: Server, table: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    swaps(monkeypatch, None, CommitStateUnknownError("the reply is lost"))
    answers = gate.run(server, [append(server, table) for _ in range(4)])
    assert [error(answer)[:2] for answer in answers[1:]] == [(500, "CommitStateUnknownException")] * 3
    assert len(snapshots(server)) == 1 and files_left(table) > reachable(server)  # nothing that may be needed is removed


def test_metadata_that_is_refused_does_not_take_others_with_it(
    server: Server, table: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    swaps(monkeypatch, None, ValidationError("one of them is to blame"), None, ValidationError("this one"), None)
    answers = gate.run(server, [append(server, table) for _ in range(4)])
    assert [answer.status_code for answer in answers].count(200) == 3
    assert [answer.status_code for answer in answers].count(400) == 1 and len(snapshots(server)) == 3


def test_contention_ends(server: Server, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server.commit([{"action": "set-properties", "updates": {"commit.retry.num-retries": "2", "commit.retry.min-wait-ms": "1"}}])
    seen = swaps(monkeypatch, *[CommitFailedError("another writer") for _ in range(9)])
    assert error(append(server, table)())[:2] == (409, "CommitFailedException") and len(seen) == 3
    assert not snapshots(server)


def test_many_clients_at_once(server: Server, table: Any) -> None:
    """Nothing is lost, nothing is there twice."""
    ids: list[int] = []

    def work() -> None:
        for _ in range(6):
            answer = append(server, table)()
            assert answer.status_code == 200, answer.text
            ids.append(answer.json()["produced-snapshots"][0]["snapshot-id"])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = snapshots(server)
    assert sorted(ids) == sorted(one["snapshot-id"] for one in held) and len(ids) == 48
    assert [one["sequence-number"] for one in held] == list(range(1, 49))
    assert held[-1]["summary"]["total-data-files"] == "48"
    assert files_left(table) >= reachable(server)
