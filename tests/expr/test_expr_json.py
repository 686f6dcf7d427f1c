"""Both JSON forms of predicates, and what they mean to two-valued readers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.expr.binding import bind
from icesql.expr.evaluate import row_evaluator
from icesql.expr.expr_json import expression_from_json, expression_to_json
from icesql.expr.rewrite import without_patterns
from icesql.expr.tree import FALSE, TRUE, And, BoundReference, Expression, Not, Op, Or, Predicate, Reference
from icesql.spec.schema import Schema
from icesql.spec.transforms import DAY, bucket
from icesql.spec.types import BinaryType, DateType, LongType, NestedField, StringType, Type
from tests.effort import examples
from tests.expr.strategies import VALUES
from tests.expr.test_properties import matches, rows_of, schema_of, tree_of

ID = Reference("id")


@pytest.mark.parametrize(
    ("expression", "form"),
    [
        (TRUE, True),
        (FALSE, False),
        (Predicate(Op.IS_NULL, ID), {"type": "is-null", "term": "id"}),
        (Predicate(Op.EQ, ID, (5,)), {"type": "eq", "term": "id", "value": 5}),
        (Predicate(Op.IN, ID, (5, 6)), {"type": "in", "term": "id", "values": [5, 6]}),
        (
            Predicate(Op.LT, Reference("ts", DAY), ("2021-10-01",)),
            {"type": "lt", "term": {"type": "transform", "transform": "day", "term": "ts"}, "value": "2021-10-01"},
        ),
        (
            And(Not(Predicate(Op.NOT_NULL, ID)), Or(TRUE, Predicate(Op.STARTS_WITH, Reference("s"), ("x",)))),
            {
                "type": "and",
                "left": {"type": "not", "child": {"type": "not-null", "term": "id"}},
                "right": {"type": "or", "left": True, "right": {"type": "starts-with", "term": "s", "value": "x"}},
            },
        ),
    ],
)
def test_the_term_form(expression: Expression, form: Any) -> None:
    assert expression_to_json(expression) == form
    assert expression_from_json(json.loads(json.dumps(form))) == expression


@pytest.mark.parametrize(
    ("form", "expression"),
    [
        ({"type": "true"}, TRUE),
        ({"type": "literal", "value": False}, FALSE),
        ({"type": "eq", "term": {"type": "reference", "term": "id"}, "value": {"type": "literal", "value": 5}}, Predicate(Op.EQ, ID, (5,))),
        ({"type": "is-null", "child": {"type": "reference", "name": "id"}}, Predicate(Op.IS_NULL, ID)),
        ({"type": "lt", "left": {"type": "reference", "name": "id"}, "right": 5}, Predicate(Op.LT, ID, (5,))),
        ({"type": "lt", "left": {"type": "literal", "value": 5}, "right": {"type": "reference", "name": "id"}}, Predicate(Op.GT, ID, (5,))),
        (
            {
                "type": "in",
                "child": {"type": "reference", "name": "id"},
                "values": {"type": "literals", "values": [1, 2], "data-type": "long"},
            },
            Predicate(Op.IN, ID, (1, 2)),
        ),
        (
            {
                "type": "eq",
                "left": {"type": "apply", "function": "bucket", "arguments": [16, {"type": "reference", "name": "id"}]},
                "right": 3,
            },
            Predicate(Op.EQ, Reference("id", bucket(16)), (3,)),
        ),
        (
            {
                "type": "eq",
                "left": {
                    "type": "apply",
                    "function": {"catalog": "iceberg_functions", "identifier": ["day"]},
                    "arguments": [{"type": "reference", "name": "ts"}],
                },
                "right": {"type": "literal", "value": "2021-10-01", "data-type": "date"},
            },
            Predicate(Op.EQ, Reference("ts", DAY), ("2021-10-01",)),
        ),
    ],
)
def test_other_forms_are_read(form: Any, expression: Expression) -> None:
    assert expression_from_json(form) == expression


def test_references_by_id_and_binary_literals_need_a_schema() -> None:
    schema = Schema((NestedField(7, "id", LongType()), NestedField(8, "raw", BinaryType())))
    by_id = {"type": "eq", "left": {"type": "reference", "id": 7}, "right": 5}
    assert expression_from_json(by_id, schema) == Predicate(Op.EQ, ID, (5,))
    assert expression_from_json({"type": "eq", "term": "raw", "value": "00FF"}, schema) == Predicate(
        Op.EQ, Reference("raw"), (b"\x00\xff",)
    )
    with pytest.raises(InvalidArgumentError, match="needs a schema"):
        expression_from_json(by_id)


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (None, "an object with a type is expected"),
        ({"type": "between", "term": "id"}, "unknown type"),
        ({"type": "eq", "term": "id"}, "missing field: value"),
        ({"type": "eq", "term": "id", "value": None}, "not null"),
        ({"type": "in", "term": "id", "values": 5}, "values must be an array"),
        ({"type": "eq", "term": {"type": "eq"}, "value": 1}, "unknown term"),
        ({"type": "and", "left": True}, "missing field: right"),
        ({"type": "eq", "left": {"type": "reference", "name": "a"}, "right": {"type": "reference", "name": "b"}}, "must be a literal"),
        (
            {"type": "eq", "left": {"type": "apply", "function": "sqrt", "arguments": [{"type": "reference", "name": "a"}]}, "right": 1},
            "unknown function",
        ),
    ],
)
def test_what_cannot_be_read(form: Any, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"Cannot parse expression from JSON: .*{why}"):
        expression_from_json(form)


@pytest.mark.parametrize("type_", list(VALUES), ids=str)
def test_bound_trees_come_back_equal_in_both_forms(type_: Type) -> None:
    schema = schema_of(type_)

    @examples(15)
    @given(tree_of(type_, with_patterns=False), st.booleans())
    def check(tree: Expression, operands: bool) -> None:
        bound = bind(schema, tree)
        text = json.dumps(expression_to_json(bound, operands=operands))
        assert bind(schema, expression_from_json(json.loads(text), schema)) == bound

    check()


def test_patterns_are_never_written_and_what_stands_for_them_keeps_their_rows() -> None:
    schema = schema_of(StringType())
    with pytest.raises(UnsupportedError, match="the specification has no LIKE: x"):
        expression_to_json(Predicate(Op.LIKE, Reference("x"), ("%a%",)))
    with pytest.raises(InvalidArgumentError, match="unknown type"):
        expression_from_json({"type": "like", "term": "x", "value": "%a%"})

    @examples(50)
    @given(tree_of(StringType()), rows_of(StringType()))
    def check(tree: Expression, row: tuple[Any, Any]) -> None:
        weaker = without_patterns(bind(schema, tree))
        assert expression_to_json(weaker) is not None
        assert matches(weaker, row) or not matches(tree, row)

    check()


def test_null_safe_forms_keep_sql_meaning() -> None:
    """What is written for a two-valued reader, read back as two-valued, keeps the same rows."""
    schema = schema_of(LongType())

    @examples(50)
    @given(tree_of(LongType()), rows_of(LongType()))
    def check(tree: Expression, row: tuple[Any, Any]) -> None:
        back = expression_from_json(expression_to_json(tree, null_safe=True), null_safe=True)
        assert (row_evaluator(schema, back)(row) is True) == (row_evaluator(schema, tree)(row) is True)

    check()
    assert expression_to_json(Not(Predicate(Op.EQ, ID, (1,))), null_safe=True) == {
        "type": "and",
        "left": {"type": "not-eq", "term": "id", "value": 1},
        "right": {"type": "not-null", "term": "id"},
    }


def test_bound_dates_are_written_as_text() -> None:
    term = BoundReference(NestedField(1, "d", DateType()), DateType(), None, "d")
    assert expression_to_json(Predicate(Op.EQ, term, (18901,))) == {"type": "eq", "term": "d", "value": "2021-10-01"}
    assert (
        expression_to_json(Predicate(Op.EQ, BoundReference(NestedField(1, "s", StringType()), StringType(), None, "s"), ("x",)))["value"]
        == "x"
    )
