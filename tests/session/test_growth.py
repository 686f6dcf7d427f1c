"""A session holds no more after many statements than after few."""

from __future__ import annotations

from typing import Any

import pytest

from icesql.session.session import Session
from tests.session.growth import growth, make_tables, run, settled

pytestmark = pytest.mark.spark
STATEMENTS = 60


def test_statements_leave_nothing(spark: Any, tmp_path: Any) -> None:
    session = Session(spark, {"c": {"type": "sql", "warehouse": str(tmp_path)}})
    make_tables(session, "c")
    for number in range(10):
        run(session, "c", number)
    before = settled(session)
    for number in range(10, 10 + STATEMENTS):
        run(session, "c", number)
    after = settled(session, lambda found: not growth(before, found))
    assert growth(before, after) == {}
