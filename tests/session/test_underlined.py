"""Errors of scripts show the place in the user's text, as Spark 4.0 to 4.3 word it."""

from __future__ import annotations

import pytest

from icesql.errors import SqlError
from icesql.session.script import underlined_text

STATEMENT = "SELECT x.id\nFROM t AS x\n\tWHERE  nope = 1"
UNRESOLVED = "[UNRESOLVED_COLUMN] A column with name `nope` cannot be resolved. SQLSTATE: 42703; line 3 pos 8;"


@pytest.mark.parametrize("more", ["", "\n'Project ['x.id]\n+- 'Filter ('nope = 1)\n", "\nJVM stacktrace:\norg.apache.spark.Error\n\tat x"])
def test_an_error_of_sparks_analysis_is_underlined(more: str) -> None:
    told = underlined_text(Exception(UNRESOLVED + more), STATEMENT)
    assert told == f"{UNRESOLVED.rstrip(';')}\n\tWHERE  nope = 1\n\t       ^^^^"


@pytest.mark.parametrize(
    "text",
    [
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'. (line 1, pos 0)\n\n== SQL ==\nSELEC 1\n^^^",
        "[PARSE_SYNTAX_ERROR] Syntax error. (line 1, pos 4)\n\n== SQL ==\nSELECT id, FROM\n----^^^",
        "[DIVIDE_BY_ZERO] Division by zero.\n== SQL (line 1, position 8) ==\nSELECT 1/0\n       ^^^",
    ],
)
def test_what_is_underlined_already_stays(text: str) -> None:
    assert underlined_text(Exception(text), "SELECT id, FROM") == text


def test_an_error_of_ours_has_its_own_underline() -> None:
    error = SqlError("Cannot parse", text=STATEMENT, line=1, column=1, length=6)
    assert underlined_text(error, STATEMENT) == str(error)


@pytest.mark.parametrize("text", ["no place at all", "beyond the text: line 9 pos 1"])
def test_without_a_place_in_the_text_there_is_no_underline(text: str) -> None:
    assert underlined_text(Exception(text), STATEMENT) == text
