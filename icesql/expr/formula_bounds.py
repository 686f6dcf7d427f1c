"""What a formula implies for its column: ``amount * 2 > 10`` that ``amount > 5``, by which files are left out.

A formula with one column is undone step by step from the outside. Exact types are undone exactly; a floating step rounds, so its bound is
moved outward to the next number: whoever computes with rounding keeps the order of numbers, and that is all the steps need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from icesql.expr.formula import FLIPPED, Calculation, Column, Formula, Literal, Value, columns_of
from icesql.expr.formula_types import FLOATING, INTEGERS, exact_decimal, operand_type, type_of
from icesql.expr.tree import TRUE, BoundReference, Expression, Op, Predicate, and_, or_
from icesql.spec.types import DateType, DecimalType, Type
from icesql.spec.values.decimals import from_unscaled
from icesql.spec.values.literals import literal

Compare: TypeAlias = Callable[[Op, BoundReference, object], Expression]
_WITH_EQUAL = {"<": "<=", ">": ">="}
_OPS = {"<": Op.LT, "<=": Op.LT_EQ, ">": Op.GT, ">=": Op.GT_EQ}


def implied_bounds(formula: Formula, compare: Compare) -> Expression:
    """An expression that is true for every row of which the bound formula is true, TRUE where nothing is known.

    ``compare`` makes a predicate of a term and a number, as ``icesql.expr.binding.compare``.
    """
    left, right, symbol = formula.left, formula.right, formula.symbol
    if isinstance(left, Literal):
        left, right, symbol = right, left, FLIPPED[symbol]
    if symbol == "!=" or not isinstance(right, Literal) or len(set(columns_of(left))) != 1:
        return TRUE
    limit = _number(right)
    if limit is None:
        return TRUE
    symbols = ("<=", ">=") if symbol == "=" else (symbol,)
    is_floating = isinstance(type_of(left), FLOATING) or isinstance(type_of(right), FLOATING)
    return and_(*(_undone(left, one, limit, compare, is_floating=is_floating) for one in symbols))


def _number(value: Literal) -> Fraction | None:
    held = literal(type_of(value), value.value)
    if isinstance(held, (str, bool)) or (isinstance(held, float) and not math.isfinite(held)):
        return None
    return Fraction(held) if isinstance(held, (int, float, Decimal)) else None


def _undone(value: Value, symbol: str, limit: Fraction, compare: Compare, *, is_floating: bool) -> Expression:
    while isinstance(value, Calculation):
        is_floating = is_floating or isinstance(type_of(value), FLOATING)
        if is_floating:
            symbol, limit = _outward(symbol, limit)
        step = _step(value, symbol, limit)
        if step is None:
            return TRUE
        value, symbol, limit = step
    if not isinstance(value, Column) or not isinstance(value.reference, BoundReference):
        return TRUE
    return _bound(value.reference, symbol, limit, compare, is_floating=is_floating)


def _outward(symbol: str, limit: Fraction) -> tuple[str, Fraction]:
    """The next double below a lower bound, above an upper one: a result that rounds to within the limit is within this one."""
    try:
        number = float(limit)
    except OverflowError:
        number = math.inf if limit > 0 else -math.inf
    near = math.nextafter(number, -math.inf if symbol in (">", ">=") else math.inf)
    return (_WITH_EQUAL.get(symbol, symbol), Fraction(near)) if math.isfinite(near) else (symbol, limit)


def _step(value: Calculation, symbol: str, limit: Fraction) -> tuple[Value, str, Fraction] | None:
    """The operand that has the column, and the limit that it must keep."""
    if value.function == "negative":
        return value.arguments[0], FLIPPED[symbol], -limit
    if len(value.arguments) != 2 or not _keeps_order(value):
        return None
    left, right = value.arguments
    if isinstance(right, Literal):
        number = _number(right)
        if number is None:
            return None
        match value.function:
            case "+":
                return left, symbol, limit - number
            case "-":
                return left, symbol, limit + number
            case "*" if number != 0:
                return left, symbol if number > 0 else FLIPPED[symbol], limit / number
            case "/" if number != 0:
                return left, symbol if number > 0 else FLIPPED[symbol], limit * number
    elif isinstance(left, Literal):
        number = _number(left)
        if number is None:
            return None
        match value.function:
            case "+":
                return right, symbol, limit - number
            case "-":
                return right, FLIPPED[symbol], number - limit
            case "*" if number != 0:
                return right, symbol if number > 0 else FLIPPED[symbol], limit / number
    return None


def _keeps_order(value: Calculation) -> bool:
    """Whether the result is exact, or a double, which keeps the order of what it rounds."""
    type_ = type_of(value)
    if not isinstance(type_, DecimalType):
        return isinstance(type_, (*INTEGERS, *FLOATING, DateType))
    operands = [operand_type(value, at) for at in (0, 1)]
    if value.function not in ("+", "-", "*") or not all(isinstance(one, DecimalType) for one in operands):
        return False
    left, right = operands
    assert isinstance(left, DecimalType)
    assert isinstance(right, DecimalType)
    return exact_decimal(value.function, left, right)[0] <= 38


def _bound(term: BoundReference, symbol: str, limit: Fraction, compare: Compare, *, is_floating: bool) -> Expression:
    type_: Type = term.type
    if isinstance(type_, FLOATING):
        symbol, limit = _outward(symbol, limit)
        try:
            bound: Expression = compare(_OPS[symbol], term, float(limit))
        except OverflowError:
            return TRUE
        return or_(bound, Predicate(Op.IS_NAN, term))
    if isinstance(type_, DateType):
        return compare(_OPS[symbol], term, math.floor(limit)) if limit.denominator == 1 else TRUE
    if is_floating:
        symbol, limit = _outward(symbol, limit)
    if isinstance(type_, DecimalType):
        scaled = limit * 10**type_.scale
        return compare(_OPS[symbol], term, from_unscaled(int(scaled), type_.scale) if scaled.denominator == 1 else limit)
    return compare(_OPS[symbol], term, int(limit) if limit.denominator == 1 else limit)
