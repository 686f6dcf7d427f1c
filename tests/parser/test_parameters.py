from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError, SqlError
from icesql.parser.dialect.reader import Reader
from icesql.parser.frozen.folding import fold
from icesql.parser.sort_orders import parse_sort_order
from icesql.parser.text.parameters import bind_parameters, parameter_markers, quoted_pairs, sql_literal, substitute_variables
from tests.effort import examples


def test_markers_are_told_from_other_colons():
    text = "select :a, v:b.c, x::int, cast(y as struct<k:int>), '?' from t where z = ? -- :n"
    assert [(marker.name, text[marker.start : marker.end]) for marker in parameter_markers(text)] == [("a", ":a"), (None, "?")]


def test_markers_are_bound():
    assert bind_parameters("call p(:t, x => :n)", {"t": "db.t", "n": [1, None]}) == "call p('db.t', x => array(1, NULL))"
    assert bind_parameters("delete from t where a = ? and b = ?", [1, "it's"]) == "delete from t where a = 1 and b = 'it\\'s'"


@pytest.mark.parametrize(("text", "arguments"), [("select :a", {"b": 1}), ("select ?", []), ("select ?, ?", [1]), ("select :a", [1])])
def test_unbound_markers_are_refused(text, arguments):
    with pytest.raises(SqlError, match="UNBOUND_SQL_PARAMETER"):
        bind_parameters(text, arguments)


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "NULL"), (True, "TRUE"), (2**31, "2147483648L"), (1.5, "1.5D"), (float("inf"), "double('inf')"), (Decimal("1.50"), "1.50BD"),
        (b"\x00\xff", "X'00ff'"), (dt.date(2020, 1, 2), "DATE '2020-01-02'"),
        (dt.datetime(2020, 1, 2, 3, 4, 5, 6), "TIMESTAMP '2020-01-02 03:04:05.000006'"),
        ({"a": 1}, "map('a', 1)"), ((1, 2), "array(1, 2)"),
    ],
)  # fmt: skip
def test_literals(value, literal):
    assert sql_literal(value) == literal


def test_values_without_a_literal_are_refused():
    with pytest.raises(InvalidArgumentError, match="no SQL literal for a object"):
        sql_literal(object())


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(), st.booleans(), st.binary(), st.none()))
@examples(100)
def test_a_literal_folds_to_its_value(value):
    folded = fold(sql_literal(value))
    assert folded is not None
    assert folded.value == value


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
@examples(100)
def test_pairs_are_read_back(pairs):
    assert {pair.name: pair.args["value"].name for pair in Reader.of(f"({quoted_pairs(pairs)})").properties()} == pairs


@pytest.mark.parametrize(
    "text", ["a + 1", "now()", "array(1, 'a')", "cast('x' as int)", "1 2", "'unclosed", "(" * 200 + "1" + ")" * 200, "date"]
)
def test_other_expressions_are_left_to_the_engine(text):
    assert fold(text) is None


def test_variables():
    values = {"x": "${y}", "y": "5"}
    text = "select ${x}, '${hivevar:y}', ${z}"
    assert substitute_variables(text, lambda prefix, name: values.get(name)) == "select 5, '5', ${z}"
    assert substitute_variables("${a}", lambda prefix, name: "${a}") == "${a}"


def test_sort_orders():
    assert parse_sort_order("zorder(a, b.c)").zorder == (("a",), ("b", "c"))
    assert parse_sort_order("hilbert(a, b.c), hilbert(d)").hilbert == (("a",), ("b", "c"), ("d",))
    assert parse_sort_order("hilbert DESC").terms[0].term.column == ("hilbert",)
    (first, second) = parse_sort_order("id DESC NULLS LAST, bucket(4, x)").terms
    assert (first.term.column, first.direction.value, first.null_order.value) == (("id",), "desc", "nulls-last")
    assert (str(second.term.transform), second.direction.value, second.null_order.value) == ("bucket[4]", "asc", "nulls-first")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a, zorder(b)", "Cannot mix identity sort columns and a Zorder or Hilbert sort expression: a, zorder"),
        ("a, hilbert(b), zorder(c)", "Cannot mix Zorder and Hilbert sort expressions: a, hilbert"),
        ("hilbert(b) DESC", "Unable to parse sortOrder: hilbert"),
        ("foo bar", "Unable to parse sortOrder: foo bar"),
        ("", "Unable to parse sortOrder"),
        ("f(x)", "Transform is not supported"),
    ],
)
def test_wrong_sort_orders(text, message):
    with pytest.raises(SqlError, match=message.replace("(", r"\(")):
        parse_sort_order(text)
