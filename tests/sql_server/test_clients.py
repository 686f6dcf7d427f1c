"""Sessions of clients: made with the first statement, let go of after the connection."""

from __future__ import annotations

from typing import Any

import pytest

from icesql.sql_server import clients
from icesql.sql_server.clients import Clients


class _Session:
    is_inside = False

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def sql(self, text: str, args: Any) -> tuple[_Session, str]:
        return self, text


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Clients:
    monkeypatch.setattr(clients, "Session", _Session)
    made = Clients()
    made.run("a", "spark of a", "SELECT 1", None)
    made.run("b", "spark of b", "SELECT 1", None)
    return made


def test_each_client_has_one_session(two: Clients) -> None:
    (first, _), (again, _) = two.run("a", "spark of a", "x", None)[0], two.run("a", "spark of a", "y", None)[0]
    (other, _), _ = two.run("b", "spark of b", "x", None)
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
    assert two.run("a", "spark of a", text, None)[1] is is_query
