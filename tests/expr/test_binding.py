"""Binding: names, literals, and what folds away."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.expr.binding import bind
from icesql.expr.describe import describe
from icesql.expr.evaluate import row_evaluator
from icesql.expr.tree import FALSE, TRUE, And, Expression, Not, Op, Or, Predicate, Reference
from icesql.spec.schema import Schema
from icesql.spec.transforms import DAY, bucket
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    UnknownType,
    VariantType,
)

SCHEMA = Schema(
    (
        NestedField(1, "id", IntegerType()),
        NestedField(2, "required", LongType(), True),
        NestedField(3, "f", FloatType()),
        NestedField(4, "d", DoubleType()),
        NestedField(5, "price", DecimalType(9, 2)),
        NestedField(6, "day", DateType()),
        NestedField(7, "ts", TimestampType()),
        NestedField(8, "name", StringType()),
        NestedField(9, "s", StructType((NestedField(10, "inner", LongType(), True),))),
        NestedField(11, "list", ListType(12, LongType())),
        NestedField(13, "nothing", UnknownType()),
        NestedField(14, "v", VariantType()),
    )
)


def leaf(op: Op, name: str, *literals: object) -> Predicate:
    return Predicate(op, Reference(name), literals)


def shown(expression: Expression, **more: Any) -> str:
    return describe(bind(SCHEMA, expression, **more))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (leaf(Op.LT, "id", 2**40), "id IS NOT NULL"),
        (leaf(Op.GT, "id", 2**40), "false"),
        (leaf(Op.NOT_EQ, "required", 2**70), "true"),
        (leaf(Op.GT_EQ, "id", -(2**40)), "id IS NOT NULL"),
        (leaf(Op.EQ, "id", 1.5), "false"),
        (leaf(Op.LT, "id", 1.5), "id <= 1"),
        (leaf(Op.GT_EQ, "id", Decimal("-1.5")), "id > -2"),
        (leaf(Op.LT_EQ, "price", Decimal("1.005")), "price <= 1.00"),
        (leaf(Op.EQ, "price", 0.1), "price = 0.10"),
        (leaf(Op.IN, "id", 1, 2**40, 1.5, 1), "id = 1"),
        (leaf(Op.IN, "id", 2**40), "false"),
        (leaf(Op.NOT_IN, "id", 2**40), "id IS NOT NULL"),
        (leaf(Op.NOT_IN, "id", 3, 4), "id NOT IN (3, 4)"),
        (leaf(Op.LT, "f", 1e300), "f < Infinity"),
        (leaf(Op.GT, "f", 1e300), "f >= Infinity"),
        (leaf(Op.GT, "d", math.nan), "false"),
        (leaf(Op.EQ, "d", math.nan), "isnan(d)"),
        (leaf(Op.LT, "d", math.nan), "d IS NOT NULL AND NOT isnan(d)"),
        (leaf(Op.IN, "d", 1.0, math.nan), "d = 1.0 OR isnan(d)"),
        (leaf(Op.IS_NULL, "required"), "false"),
        (leaf(Op.NOT_NULL, "required"), "true"),
        (leaf(Op.IS_NULL, "s.inner"), "s.inner IS NULL"),
        (leaf(Op.IS_NULL, "nothing"), "true"),
        (leaf(Op.NOT_NULL, "v"), "v IS NOT NULL"),
        (leaf(Op.STARTS_WITH, "name", ""), "name IS NOT NULL"),
        (leaf(Op.STARTS_WITH, "name", "50%_"), "name LIKE '50\\%\\_%'"),
        (leaf(Op.EQ, "day", "2021-10-01"), "day = DATE '2021-10-01'"),
        (leaf(Op.EQ, "day", dt.date(2021, 10, 1)), "day = DATE '2021-10-01'"),
        (leaf(Op.GT, "ts", "2021-10-01T10:00:00"), "ts > TIMESTAMP '2021-10-01T10:00:00'"),
        (Not(And(leaf(Op.LT, "id", 1), leaf(Op.EQ, "name", "it's"))), "id >= 1 OR name != 'it''s'"),
        (And(Or(leaf(Op.EQ, "id", 1), leaf(Op.EQ, "id", 2)), leaf(Op.NOT_NULL, "name")), "(id = 1 OR id = 2) AND name IS NOT NULL"),
        (Predicate(Op.EQ, Reference("id", bucket(16)), (3,)), "bucket(16, id) = 3"),
        (Predicate(Op.LT, Reference("ts", DAY), ("2021-10-01",)), "days(ts) < DATE '2021-10-01'"),
        (Predicate(Op.IS_NULL, Reference("id", bucket(16))), "id IS NULL"),
        (And(TRUE, Or(FALSE, leaf(Op.EQ, "id", 1))), "id = 1"),
    ],
)
def test_what_a_predicate_becomes(expression: Expression, text: str) -> None:
    bound = bind(SCHEMA, expression)
    assert describe(bound) == text
    assert bind(SCHEMA, bound) == bound, "binding twice changes nothing"


def test_names() -> None:
    assert shown(leaf(Op.EQ, "ID", 1), case_sensitive=False) == "id = 1"
    with pytest.raises(NotFoundError, match=r"Cannot find field 'ID' in struct: struct<1: id: optional int.*Did you mean 'id'\?"):
        bind(SCHEMA, leaf(Op.EQ, "ID", 1))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (leaf(Op.EQ, "id", "one"), "not a int: 'one' .column id"),
        (leaf(Op.IS_NAN, "id"), "IsNaN cannot be used with a non-floating-point column"),
        (leaf(Op.STARTS_WITH, "id", "1"), "term is not a string: id"),
        (leaf(Op.EQ, "s", 1), "cannot be compared: s"),
        (leaf(Op.EQ, "v", 1), "cannot be compared: v"),
        (leaf(Op.EQ, "list.element", 1), "it is inside a list or map: list.element"),
        (Predicate(Op.EQ, Reference("f", bucket(4)), (1,)), r"bucket\[4\] cannot transform float values from 'f'"),
    ],
)
def test_what_cannot_be_bound(expression: Expression, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        bind(SCHEMA, expression)


def test_a_literal_beyond_the_type_is_null_for_null() -> None:
    evaluate = row_evaluator(SCHEMA, Not(leaf(Op.GT, "id", 2**40)))
    empty = [None] * (len(SCHEMA.fields) - 1)
    assert evaluate((5, *empty)) is True
    assert not evaluate((None, *empty)), "not (null > x) keeps no row"


def test_a_required_field_of_a_null_struct_is_null() -> None:
    place = next(i for i, field in enumerate(SCHEMA.fields) if field.name == "s")
    row: list[object] = [None] * len(SCHEMA.fields)
    assert row_evaluator(SCHEMA, leaf(Op.IS_NULL, "s.inner"))(row) is True
    row[place] = (7,)
    assert row_evaluator(SCHEMA, leaf(Op.EQ, "s.inner", 7))(row) is True
