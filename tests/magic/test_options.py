"""The line of ``%%sql``, and what an error shows."""

from __future__ import annotations

import pytest

from icesql.errors import InvalidArgumentError, SqlError
from icesql.magic.extension import CellOptions, cell_options, error_lines, is_told_well


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", CellOptions()),
        ("name", CellOptions(target="name")),
        ("--limit 5 name", CellOptions(target="name", limit=5)),
        ("name --limit=5", CellOptions(target="name", limit=5)),
        ("--traceback", CellOptions(traceback=True)),
    ],
)
def test_options(line: str, expected: CellOptions) -> None:
    assert cell_options(line) == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--limit", "not a number: nothing"),
        ("--limit many", "not a number: many"),
        ("--limt 5", r"unknown option: --limt\. Did you mean '--limit'\?"),
        ("two names", "not a variable's name: two names"),
        ("not-a-name", "not a variable's name: not-a-name"),
    ],
)
def test_options_that_cannot_be(line: str, told: str) -> None:
    with pytest.raises(InvalidArgumentError, match=told):
        cell_options(line)


def test_an_error_is_its_message_with_the_place_under_the_text() -> None:
    error = SqlError("Cannot parse: it is wrong", text="SELEC 1", line=1, column=1, length=5)
    assert is_told_well(error)
    assert error_lines(error)[:3] == ["SqlError: Cannot parse: it is wrong (line 1, column 1)", "SELEC 1", "^^^^^"]


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    assert not is_told_well(KeyError("x"))
