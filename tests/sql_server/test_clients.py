"""Sessions of clients: made with the first statement, let go of after the connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from icesql.spark.jvm.door import thread
from icesql.sql_server import clients
from icesql.sql_server.cancelling import Cancelling
from icesql.sql_server.clients import Clients


class _Session:
    is_inside = False

    def __init__(self, spark: Any) -> None:
        self.spark, self.state = spark, SimpleNamespace()

    @contextmanager
    def statement(self) -> Iterator[SimpleNamespace]:
        yield self.state

    def sql(self, text: str, args: Any) -> tuple[_Session, str]:
        return self, text


class _Work:
    """A thread of the JVM."""

    def __init__(self, spark: Any = None) -> None:
        self.spark, self.interrupted, self.cancelled, self.ended = spark, False, threading.Event(), False

    def is_interrupted(self) -> bool:
        return self.interrupted

    def cancel_jobs(self) -> None:
        self.cancelled.set()

    def end(self) -> None:
        self.ended = True


def test_an_interrupted_statement_is_cancelled_and_no_other() -> None:
    cancelling, work, other = Cancelling(), _Work(), _Work()
    with cancelling.watched(work) as statement, cancelling.watched(other) as untouched:
        assert not statement.is_cancelled()
        work.interrupted = True
        assert work.cancelled.wait(30)
        work.interrupted = False  # whoever hears of an interruption forgets it
        assert statement.is_cancelled() and not untouched.is_cancelled() and not other.cancelled.is_set()
    assert work.ended and other.ended


def test_all_that_runs_is_cancelled() -> None:
    cancelling, work = Cancelling(), _Work()
    cancelling.cancel_all()
    with cancelling.watched(work) as statement:
        assert not statement.is_cancelled()
        cancelling.cancel_all()
        assert statement.is_cancelled() and work.cancelled.wait(30)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Clients:
    monkeypatch.setattr(clients, "Session", _Session)
    monkeypatch.setattr(thread, "WaitingThread", _Work)
    made = Clients()
    for client in "ab":
        _run(made, client, "SELECT 1")
    return made


def _session(clients: Clients, client: str) -> Any:
    frame: Any = _run(clients, client, "x").frame
    return frame[0]


def _run(clients: Clients, client: str, text: str) -> Any:
    return clients.run(client, lambda: f"spark of {client}", text, None)


def test_each_client_has_one_session(two: Clients) -> None:
    first, again, other = (_session(two, client) for client in "aab")
    assert first is again is not other and other.spark == "spark of b" and len(two) == 2


def test_a_session_is_let_go_of_when_its_connection_was_missing_twice(two: Clients) -> None:
    two.keep({"a", "b"})
    two.keep({"a"})
    assert len(two) == 2, "one that is being opened is in no list yet"
    two.keep({"a", "b"})
    two.keep({"a"})
    assert len(two) == 2, "it was there in between"
    two.keep({"a"})
    assert len(two) == 1 and not two.is_inside("b")
    two.keep(())
    two.keep(())
    assert len(two) == 0


@pytest.mark.parametrize(
    ("text", "is_query"),
    [
        ("SELECT 1", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("INSERT INTO t VALUES (1)", False),
        ("CALL local.system.rewrite_manifests('t')", False),
        ("BEGIN SELECT 1; END", False),
        ("this is no SQL", True),
    ],
)
def test_what_spark_may_plan_itself(two: Clients, text: str, is_query: bool) -> None:
    assert _run(two, "a", text).is_query is is_query
