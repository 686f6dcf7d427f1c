"""Rows as text."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from icesql.session.output.rows import as_text

NAMES = ("id", "text", "when")
ROWS = ((1, "a|b", datetime.datetime(2024, 1, 2, 3, 4)), (None, None, None), (Decimal("1.50"), "x,y", None))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", 'id,text,when\n1,a|b,2024-01-02 03:04:00\n,,\n1.50,"x,y",\n'),
        (
            "markdown",
            "| id | text | when |\n|---|---|---|\n| 1 | a\\|b | 2024-01-02 03:04:00 |\n| NULL | NULL | NULL |\n| 1.50 | x,y | NULL |\n",
        ),
        (
            "json",
            '{"id": 1, "text": "a|b", "when": "2024-01-02T03:04:00"}\n{"id": null, "text": null, "when": null}\n'
            '{"id": "1.50", "text": "x,y", "when": null}\n',
        ),
    ],
)
def test_formats(form: str, expected: str) -> None:
    assert as_text(NAMES, ROWS, form) == expected


def test_a_table_is_aligned_and_never_cut() -> None:
    lines = as_text(("n", "text"), [(1, "x" * 300), (20, "y")]).splitlines()
    assert lines[0].split() == ["n", "text"]
    assert lines[1].rstrip() == " 1  " + "x" * 300
    assert lines[2].rstrip() == "20  y"


def test_no_columns_print_nothing() -> None:
    assert as_text((), ()) == ""
