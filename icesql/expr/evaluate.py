"""Predicates over rows held as tuples. NaN is the largest value and equal to no literal; -0.0 equals 0.0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from icesql.errors import InvalidArgumentError, unknown_case
from icesql.expr.binding import bind, is_floating
from icesql.expr.formula import Formula
from icesql.expr.formula_values import row_test
from icesql.expr.patterns import like_pattern
from icesql.expr.tree import AlwaysFalse, AlwaysTrue, And, BoundReference, Expression, Not, Op, Or, Predicate
from icesql.spec.schema import Schema
from icesql.spec.transforms import transform_function
from icesql.spec.types import StructType

RowFunction = Callable[[Sequence[Any]], "bool | None"]
ValueFunction = Callable[[Any], "bool | None"]


def row_evaluator(schema: Schema | StructType, expression: Expression, *, case_sensitive: bool = True) -> RowFunction:
    """A function from a row (a tuple in the order of the struct's fields, nested structs as tuples) to True, False or None for null.

    The tree may be unbound. A leaf that binding folds away (a literal beyond the type) gives False in place of null: both mean "not kept".
    """
    owner = schema if isinstance(schema, Schema) else Schema(schema.fields)
    return _compile(owner, bind(owner, expression, case_sensitive=case_sensitive))


def _compile(schema: Schema, expression: Expression) -> RowFunction:
    match expression:
        case AlwaysTrue():
            return lambda row: True
        case AlwaysFalse():
            return lambda row: False
        case And(left=left, right=right):
            return _both(_compile(schema, left), _compile(schema, right))
        case Or(left=left, right=right):
            return _either(_compile(schema, left), _compile(schema, right))
        case Not(child=child):
            return _inverted(_compile(schema, child))
        case Predicate(op=Op.HOLDS, literals=(Formula() as formula,)):
            return _formula(schema, formula)
        case Predicate(term=BoundReference() as term):
            value_of, test = _accessor(schema, term), value_test(expression)
            return lambda row: test(value_of(row))
        case Predicate():
            raise InvalidArgumentError(f"Cannot evaluate predicate: it is not bound: {expression}")
        case _:
            raise unknown_case(expression)


def _formula(schema: Schema, formula: Formula) -> RowFunction:
    test = row_test(formula)
    columns = [(term.field.id, _accessor(schema, term)) for term in formula.columns() if isinstance(term, BoundReference)]
    return lambda row: test({field_id: value_of(row) for field_id, value_of in columns})


def _both(left: RowFunction, right: RowFunction) -> RowFunction:
    def both(row: Sequence[Any]) -> bool | None:
        first = left(row)
        if first is False:
            return False
        second = right(row)
        return second if first or second is False else None

    return both


def _either(left: RowFunction, right: RowFunction) -> RowFunction:
    def either(row: Sequence[Any]) -> bool | None:
        first = left(row)
        if first:
            return True
        second = right(row)
        return second if first is False or second else None

    return either


def _inverted(child: RowFunction) -> RowFunction:
    def inverted(row: Sequence[Any]) -> bool | None:
        answer = child(row)
        return None if answer is None else not answer

    return inverted


def _accessor(schema: Schema, term: BoundReference) -> Callable[[Sequence[Any]], Any]:
    path = _positions(schema, term.field.id)
    transform = None if term.transform is None else transform_function(term.transform, term.field.type)

    def value(row: Sequence[Any]) -> Any:
        nested: Any = row
        for position in path:
            if nested is None:
                return None
            nested = nested[position]
        return nested if transform is None else transform(nested)

    return value


def _positions(schema: Schema, field_id: int) -> tuple[int, ...]:
    """Tuple positions from the row to the field, outermost first."""
    path: list[int] = []
    while True:
        parent = schema.parents.get(field_id)
        owner = schema.fields if parent is None else getattr(schema.fields_by_id[parent].type, "fields", ())
        path.insert(0, next(i for i, field in enumerate(owner) if field.id == field_id))
        if parent is None:
            return tuple(path)
        field_id = parent


def value_test(leaf: Predicate) -> ValueFunction:
    """The bound leaf as a function of the term's value (after its transform)."""
    match leaf.op:
        case Op.HOLDS:
            return _test_of_formula(leaf)
        case Op.IS_NULL:
            return lambda value: value is None
        case Op.NOT_NULL:
            return lambda value: value is not None
        case Op.IS_NAN:
            return lambda value: value is not None and math.isnan(value)
        case Op.NOT_NAN:
            return lambda value: value is None or not math.isnan(value)
        case (
            Op.LT
            | Op.LT_EQ
            | Op.GT
            | Op.GT_EQ
            | Op.EQ
            | Op.NOT_EQ
            | Op.IN
            | Op.NOT_IN
            | Op.STARTS_WITH
            | Op.NOT_STARTS_WITH
            | Op.LIKE
            | Op.NOT_LIKE
        ):
            test = _test_of_present(leaf)
            return lambda value: None if value is None else test(value)
        case _:
            raise unknown_case(leaf.op)


def _test_of_formula(leaf: Predicate) -> ValueFunction:
    assert isinstance(leaf.literal, Formula)
    assert isinstance(leaf.term, BoundReference)
    test, field_id = row_test(leaf.literal), leaf.term.field.id
    return lambda value: test({field_id: value})


def _test_of_present(leaf: Predicate) -> Callable[[Any], bool]:
    floating = isinstance(leaf.term, BoundReference) and is_floating(leaf.term.type)
    literal: Any = leaf.literals[0] if leaf.literals else None
    members = frozenset(leaf.literals)
    match leaf.op:
        case Op.LT:
            return lambda value: bool(value < literal)
        case Op.LT_EQ:
            return lambda value: bool(value <= literal)
        case Op.GT if floating:
            return lambda value: value > literal or math.isnan(value)
        case Op.GT_EQ if floating:
            return lambda value: value >= literal or math.isnan(value)
        case Op.GT:
            return lambda value: bool(value > literal)
        case Op.GT_EQ:
            return lambda value: bool(value >= literal)
        case Op.EQ:
            return lambda value: bool(value == literal)
        case Op.NOT_EQ:
            return lambda value: bool(value != literal)
        case Op.IN:
            return lambda value: value in members
        case Op.NOT_IN:
            return lambda value: value not in members
        case Op.STARTS_WITH:
            return lambda value: bool(value.startswith(literal))
        case Op.NOT_STARTS_WITH:
            return lambda value: not value.startswith(literal)
        case Op.LIKE | Op.NOT_LIKE:
            matches, wanted = like_pattern(literal).fullmatch, leaf.op is Op.LIKE
            return lambda value: (matches(value) is not None) is wanted
        case Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.HOLDS:
            raise AssertionError(f"a test of present values was asked for {leaf.op}")
        case _:
            raise unknown_case(leaf.op)
