"""``{name}`` in a cell's text: variables as SQL."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.magic.extension import substituted
from icesql.parser.text.tokens import tokenize
from icesql.session.run.call import sql_text


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


@pytest.mark.parametrize("text", ["SELECT '{it}'", 'SELECT "a {it}"', "SELECT * FROM `{it}`", "SELECT r'{it}'", "SELECT $$ {it} $$"])
def test_a_variable_inside_quotes_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"\{it\} stands inside quotes: .*Write it without them"):
        substituted(text, {"it": "x' OR '1'='1"})


@pytest.mark.parametrize(
    "text", ["SELECT 'a{2}{other}'", "SELECT 1 -- {it}", "SELECT 1 /* {it} */", "SELECT ${it}", "SELECT { it }, {it", ""]
)
def test_braces_that_name_no_variable_stay(text: str) -> None:
    assert substituted(text, {"it": "x'\n; DROP TABLE t"}) == text


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [("SELECT 5-{it}", -1, "SELECT 5- -1"), ("SELECT a{it}b", 2, "SELECT a 2 b"), ("f({it},{it})[{it}]", 2, "f(2,2)[2]")],
)
def test_a_literal_never_runs_into_its_neighbours(text: str, value: int, expected: str) -> None:
    assert substituted(text, {"it": value}) == expected


@given(before=st.text("a'\"`-{}/* \n", max_size=6), value=st.text(max_size=8) | st.integers(), after=st.text("a'\"`-{}/* \n;", max_size=6))
def test_a_variable_is_one_literal_and_nothing_beside_it_changes(before: str, value: str | int, after: str) -> None:
    """The tokens are those of the text with a name in the variable's place, but for that one."""
    text = f"{before}{{it}}{after}"
    try:
        made = substituted(text, {"it": value})
    except IcesqlError:  # quotes around it, or left open
        return
    if made != text:
        plain = substituted(text, {"it": 7})
        literal = [token.text for token in tokenize(sql_text(value))][:-1]
        around = [[token.text] if token.text != "7" else literal for token in tokenize(plain)]
        assert [token.text for token in tokenize(made)] == [text for texts in around for text in texts]
