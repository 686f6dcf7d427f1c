"""Formulas over single rows: what each computes, and which errors a row may be."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.expr.formula import Calculation, Column, Computed, Formula, Literal, Row, Value, text_of
from icesql.expr.formula_types import FLOATING, NUMBERS, operand_type, type_of, wider
from icesql.expr.tree import BoundReference
from icesql.spec.types import DateType, DecimalType, DoubleType, FloatType, IntegerType, LongType, Type
from icesql.spec.values.literals import literal

_EXACT = Context(prec=120)
_SPARKS = Context(prec=39, rounding=ROUND_HALF_UP)  # products are rounded to 39 digits, then to their scale
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@lru_cache(maxsize=256)
def row_test(formula: Formula) -> Computed:
    """True, False or None for a row's values by field id. The function raises InvalidArgumentError for rows that cannot be computed."""
    types = [type_of(side) for side in (formula.left, formula.right)]
    common = _comparison_type(formula, types)
    left, right = (_converted(computed(side), common) for side in (formula.left, formula.right))
    compare = _COMPARISONS[formula.symbol]
    key = _nan_last if isinstance(common, FLOATING) else None

    def test(row: Row) -> bool | None:
        first, second = left(row), right(row)
        if first is None or second is None:
            return None
        return compare(first, second) if key is None else compare(key(first), key(second))

    return test


def _comparison_type(formula: Formula, types: list[Type]) -> Type:
    if all(isinstance(type_, NUMBERS) for type_ in types):
        return wider(operand_type(formula, 0), operand_type(formula, 1))
    return types[0]


def _nan_last(number: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(number) else (False, number)


def computed(value: Value) -> Computed:
    """The value of a row, in internal form; None for null."""
    match value:
        case Column(reference=BoundReference() as term):
            return lambda row, field_id=term.field.id: row[field_id]  # type: ignore[misc]
        case Column(reference=reference):
            raise InvalidArgumentError(f"Cannot filter rows: predicate is not bound: {reference.name}")
        case Literal(value=constant):
            held = literal(type_of(value), constant)
            return lambda row: held
        case Calculation(arguments=(_, _)):
            return _binary(value)
        case Calculation():
            return _unary(value)


def _unary(value: Calculation) -> Computed:
    type_, inner = type_of(value), computed(value.arguments[0])
    function: dict[str, Callable[[Any], Any]] = {"negative": operator.neg, "abs": abs, "length": len}
    apply, fit = function[value.function], _fitting(type_, value)

    def unary(row: Row) -> Any:
        only = inner(row)
        return None if only is None else fit(apply(only))

    return unary


def _binary(value: Calculation) -> Computed:
    type_ = type_of(value)
    taken = _taken_as(value, type_)
    left, right = (_converted(computed(argument), taken) for argument in value.arguments)
    apply, fit = _function(value, taken), _fitting(type_, value)

    def binary(row: Row) -> Any:
        first, second = left(row), right(row)
        return None if first is None or second is None else fit(apply(first, second))

    return binary


def _taken_as(value: Calculation, result: Type) -> Type:
    """The type that the operands are converted to."""
    if isinstance(result, DateType):
        return IntegerType()  # days
    if value.function == "/" and not isinstance(result, DecimalType):
        return DoubleType()
    return wider(operand_type(value, 0), operand_type(value, 1))


def _converted(value: Computed, type_: Type) -> Computed:
    """Numbers in the type in which they are added or compared."""
    if isinstance(type_, DecimalType):
        return lambda row: None if (got := value(row)) is None else got if isinstance(got, Decimal) else Decimal(got)
    if isinstance(type_, FLOATING):
        return lambda row: None if (got := value(row)) is None else float(got)
    return value


def _function(value: Calculation, taken: Type) -> Callable[[Any, Any], Any]:
    def not_zero(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def divided(left: Any, right: Any) -> Any:
            if right == 0:
                raise InvalidArgumentError(f"Cannot filter rows: division by zero: {text_of(value)}")
            return apply(left, right)

        return divided

    if isinstance(taken, DecimalType):
        exact: dict[str, Callable[[Any, Any], Any]] = {
            "+": _EXACT.add,
            "-": _EXACT.subtract,
            "*": _SPARKS.multiply,
            "/": not_zero(_decimal_quotient),
            "%": not_zero(_EXACT.remainder),
        }
        return exact[value.function]
    if value.function in ("+", "-", "*"):
        return {"+": operator.add, "-": operator.sub, "*": operator.mul}[value.function]
    if isinstance(taken, FLOATING):
        return not_zero(operator.truediv if value.function == "/" else _remainder)
    return not_zero(_quotient if value.function == "div" else lambda left, right: left - right * _quotient(left, right))


def _decimal_quotient(left: Decimal, right: Decimal) -> Decimal:
    """With 39 decimal places, as Spark has it before it rounds to the scale of the result."""
    return _EXACT.divide(left, right).quantize(Decimal(1).scaleb(-39), ROUND_HALF_UP, _EXACT)


def _quotient(left: int, right: int) -> int:
    """Rounded towards zero."""
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _remainder(left: float, right: float) -> float:
    return math.nan if math.isinf(left) else math.fmod(left, right)


def _fitting(type_: Type, value: Calculation) -> Callable[[Any], Any]:
    """The result as its type holds it. Raises InvalidArgumentError for what it cannot hold."""

    def overflow() -> InvalidArgumentError:
        return InvalidArgumentError(f"Cannot filter rows: the result is beyond {type_}: {text_of(value)}")

    def whole(number: int) -> int:
        if not -limit <= number < limit:
            raise overflow()
        return number

    def rounded(number: Decimal) -> Decimal:
        assert isinstance(type_, DecimalType)
        result = number.quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP, _EXACT)
        if len(result.as_tuple().digits) > type_.precision and result != 0:
            raise overflow()
        return result

    match type_:
        case IntegerType() | DateType() | LongType():
            limit = 1 << (63 if isinstance(type_, LongType) else 31)
            return whole
        case DecimalType():
            return rounded
        case FloatType():
            return _single
        case _:
            return lambda number: number


def _single(number: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)
