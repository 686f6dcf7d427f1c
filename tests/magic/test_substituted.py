"""``{name}`` in a cell's text: variables as SQL."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from icesql.errors import InvalidArgumentError
from icesql.magic.extension import substituted


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (2**40, "1099511627776"),
        (1.5, "1.5"),
        (float("inf"), "double('inf')"),
        (Decimal("1.50"), "1.50BD"),
        ("it's", "'it\\'s'"),
        (b"\x01\xff", "X'01ff'"),
        (dt.date(2024, 2, 29), "DATE '2024-02-29'"),
        (dt.datetime(2024, 2, 29, 1, 2, 3), "TIMESTAMP '2024-02-29 01:02:03'"),
        ([1, 2], "array(1, 2)"),
        ({"rewrite-all": True, "min-input-files": 2}, "map('rewrite-all', 'True', 'min-input-files', '2')"),
    ],
)
def test_a_variable_is_written_as_people_write_it(value: Any, text: str) -> None:
    assert substituted("SELECT {it}, {other}", {"it": value}) == f"SELECT {text}, {{other}}"


def test_a_variable_without_a_literal_is_named() -> None:
    with pytest.raises(InvalidArgumentError, match="no literal for set: seen"):
        substituted("SELECT {seen}", {"seen": {1}})
