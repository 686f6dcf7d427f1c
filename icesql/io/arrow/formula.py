"""Formulas over Arrow columns: whole columns at a time for numbers that are no decimals, else row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError
from icesql.expr.formula import Calculation, Column, Formula, Literal, Value, text_of
from icesql.expr.formula_types import FLOATING, INTEGERS, type_of, wider
from icesql.expr.formula_values import row_test
from icesql.expr.tree import BoundReference
from icesql.io.arrow.types import internal_values, to_arrow_type
from icesql.spec.types import DoubleType, Type
from icesql.spec.values.literals import literal

Columns: TypeAlias = "Callable[[int], Any]"  # the Arrow column of a field id
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_COMPARE = {"=": pc.equal, "!=": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}


def formula_mask(formula: Formula, columns: Columns, rows: int) -> Any:
    """Booleans, null where a column is null. Raises InvalidArgumentError for rows that cannot be computed."""
    if _is_vector(formula.left) and _is_vector(formula.right):
        return _compared(formula, columns, rows)
    test = row_test(formula)
    terms = [term for term in formula.columns() if isinstance(term, BoundReference)]
    lists = [internal_values(term.type, columns(term.field.id)) for term in terms]
    ids = [term.field.id for term in terms]
    return pa.array([test(dict(zip(ids, row, strict=True))) for row in zip(*lists, strict=True)], pa.bool_())


def _is_vector(value: Value) -> bool:
    if isinstance(value, Calculation) and not all(map(_is_vector, value.arguments)):
        return False
    return isinstance(type_of(value), (*INTEGERS, *FLOATING)) and not (isinstance(value, Calculation) and value.function == "length")


def _compared(formula: Formula, columns: Columns, rows: int) -> Any:
    common = wider(type_of(formula.left), type_of(formula.right))
    left, right = (_cast(_value(side, columns, rows), common) for side in (formula.left, formula.right))
    holds = _COMPARE[formula.symbol](left, right)
    if not isinstance(common, FLOATING):
        return holds
    first, second = pc.is_nan(left), pc.is_nan(right)
    nan = _COMPARE[formula.symbol](first.cast(pa.int8()), second.cast(pa.int8()))  # NaN is the largest value and equal to itself
    return pc.if_else(pc.or_(first, second), nan, holds)


def _value(value: Value, columns: Columns, rows: int) -> pa.Array:
    match value:
        case Column(reference=BoundReference() as term):
            column = columns(term.field.id)
            return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        case Column(reference=reference):
            raise InvalidArgumentError(f"Cannot filter rows: predicate is not bound: {reference.name}")
        case Literal(value=constant):
            type_ = type_of(value)
            return pa.repeat(pa.scalar(literal(type_, constant), to_arrow_type(type_)), rows)
        case Calculation(function=function, arguments=(argument,)):
            apply = pc.negate_checked if function == "negative" else pc.abs_checked
            return _checked(value, apply, _value(argument, columns, rows))
        case Calculation(function=function, arguments=(first, second)):
            taken = DoubleType() if function == "/" else wider(type_of(first), type_of(second))
            left, right = (_cast(_value(one, columns, rows), taken) for one in (first, second))
            if function in _CHECKED:
                apply = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}[function] if isinstance(taken, FLOATING) else _CHECKED[function]
                return _checked(value, apply, left, right)
            return _divided(value, taken, left, right)
        case Calculation():
            raise AssertionError(f"arguments of {value.function}")


def _cast(array: pa.Array, type_: Type) -> pa.Array:
    return array.cast(to_arrow_type(type_), safe=False)  # the largest whole numbers are rounded, as Spark does


def _checked(value: Calculation, apply: Callable[..., Any], *arguments: pa.Array) -> Any:
    try:
        return apply(*arguments)
    except pa.ArrowInvalid:
        raise InvalidArgumentError(f"Cannot filter rows: the result is beyond {type_of(value)}: {text_of(value)}") from None


def _divided(value: Calculation, taken: Type, left: pa.Array, right: pa.Array) -> Any:
    present = np.asarray(pc.and_(left.is_valid(), right.is_valid()))
    first, second = (np.asarray(side.fill_null(1)) for side in (left, right))
    if (present & (second == 0)).any():
        raise InvalidArgumentError(f"Cannot filter rows: division by zero: {text_of(value)}")
    second = np.where(second == 0, 1, second)
    with np.errstate(all="ignore"):
        if value.function == "/":
            result = first / second
        elif value.function == "%":
            result = np.fmod(first, np.where(second == -1, 1, second) if not isinstance(taken, FLOATING) else second)
        else:
            result = _quotients(value, first.astype(np.int64), second.astype(np.int64), present)
    return pa.array(result, to_arrow_type(type_of(value)), mask=~present, from_pandas=False)


def _quotients(value: Calculation, left: Any, right: Any, present: Any) -> Any:
    """Rounded towards zero."""
    smallest = np.iinfo(np.int64).min
    if (present & (left == smallest) & (right == -1)).any():
        raise InvalidArgumentError(f"Cannot filter rows: the result is beyond long: {text_of(value)}")
    right = np.where((left == smallest) & (right == -1), 1, right)
    return (left - np.fmod(left, right)) // right
