"""Bound predicates over Arrow data, whole columns at a time. NaN is the largest value, -0.0 equals 0.0, a null predicate keeps no row."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError, unknown_case
from icesql.expr.binding import is_floating
from icesql.expr.formula import Formula
from icesql.expr.rewrite import leaves, push_not, with_not
from icesql.expr.tree import AlwaysFalse, AlwaysTrue, And, BoundReference, Expression, Not, Op, Or, Predicate
from icesql.io.arrow.formula import formula_mask
from icesql.io.arrow.types import internal_values, to_arrow_type, to_arrow_value
from icesql.spec.schema import Schema
from icesql.spec.transforms import transform_function
from icesql.spec.types import Type

Data: TypeAlias = "pa.RecordBatch | pa.Table"
Column: TypeAlias = "pa.Array | pa.ChunkedArray"


def row_mask(data: Data, schema: Schema, expression: Expression) -> Column:
    """Booleans without nulls, one a row. Raises InvalidArgumentError for a predicate that is not bound or a column that is not there."""
    return pc.fill_null(_mask(data, schema, push_not(expression)), False)


def _mask(data: Data, schema: Schema, expression: Expression) -> Column:
    match expression:
        case AlwaysTrue():
            return pa.array([True] * data.num_rows, pa.bool_())
        case And(left=left, right=right):
            first = _mask(data, schema, left)
            return pc.and_kleene(first, _where(data, schema, right, pc.fill_null(first, True)))
        case Or(left=left, right=right):
            first = _mask(data, schema, left)
            return pc.or_kleene(first, _where(data, schema, right, pc.fill_null(pc.invert(first), True)))
        case Predicate(op=Op.HOLDS, literals=(Formula() as formula,)):
            return formula_mask(formula, lambda field_id: column_of(data, schema, field_id), data.num_rows)
        case Predicate(term=BoundReference() as term):
            return _leaf(expression, term, _values(data, schema, term))
        case Predicate():
            raise InvalidArgumentError(f"Cannot filter rows: predicate is not bound: {expression}")
        case AlwaysFalse():
            return pa.array([False] * data.num_rows, pa.bool_())
        case Not():
            raise with_not(expression)
        case _:
            raise unknown_case(expression)


def _where(data: Data, schema: Schema, expression: Expression, is_open: Column) -> Column:
    """The mask where it is still open, null elsewhere: what is decided by the side before is not computed, and is no error."""
    if not any(leaf.op is Op.HOLDS for leaf in leaves(expression)):
        return _mask(data, schema, expression)
    is_open = is_open.combine_chunks() if isinstance(is_open, pa.ChunkedArray) else is_open
    part = _mask(data.filter(is_open), schema, expression)
    part = part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part
    return pc.replace_with_mask(pa.nulls(data.num_rows, pa.bool_()), is_open, part)


def _values(data: Data, schema: Schema, term: BoundReference) -> Column:
    column = column_of(data, schema, term.field.id)
    if term.transform is None:
        return column
    apply = transform_function(term.transform, term.field.type)
    results = [to_arrow_value(term.type, apply(value)) for value in internal_values(term.field.type, column)]
    return pa.array(results, to_arrow_type(term.type))


def column_of(data: Data, schema: Schema, field_id: int) -> Column:
    """The column of a field id, also inside structs; null where a struct around it is. Raises InvalidArgumentError."""
    if field_id not in schema.fields_by_id:
        raise InvalidArgumentError(f"Cannot filter rows: column is not read: field id {field_id}", field_id=field_id)
    path = [field_id]
    while (parent := schema.parents.get(path[0])) is not None:
        path.insert(0, parent)
    column = data.column(next(i for i, field in enumerate(schema.fields) if field.id == path[0]))
    for owner, child in pairwise(path):
        siblings = getattr(schema.fields_by_id[owner].type, "fields", ())
        column = pc.struct_field(column, [i for i, field in enumerate(siblings) if field.id == child])
    return column


_COMPARE = {
    Op.LT: pc.less,
    Op.LT_EQ: pc.less_equal,
    Op.GT: pc.greater,
    Op.GT_EQ: pc.greater_equal,
    Op.EQ: pc.equal,
    Op.NOT_EQ: pc.not_equal,
}


def _leaf(leaf: Predicate, term: BoundReference, column: Column) -> Column:
    match leaf.op:
        case Op.IS_NULL:
            return pc.is_null(column)
        case Op.NOT_NULL:
            return pc.is_valid(column)
        case Op.IS_NAN:
            return pc.is_nan(column)
        case Op.NOT_NAN:
            return pc.fill_null(pc.invert(pc.is_nan(column)), True)
        case Op.STARTS_WITH:
            return pc.starts_with(column, str(leaf.literal))
        case Op.NOT_STARTS_WITH:
            return pc.invert(pc.starts_with(column, str(leaf.literal)))
        case Op.LIKE:
            return pc.match_like(column, str(leaf.literal))
        case Op.NOT_LIKE:
            return pc.invert(pc.match_like(column, str(leaf.literal)))
        case Op.IN:
            return _among(column, term.type, leaf.literals)
        case Op.NOT_IN:
            return pc.invert(_among(column, term.type, leaf.literals))
        case Op.LT | Op.LT_EQ | Op.GT | Op.GT_EQ | Op.EQ | Op.NOT_EQ:
            return _comparison(leaf, term.type, column)
        case Op.HOLDS:
            raise AssertionError(f"a formula is no test of one column: {leaf}")
        case _:
            raise unknown_case(leaf.op)


def _comparison(leaf: Predicate, type_: Type, column: Column) -> Column:
    """NaN is the largest value."""
    holds = _COMPARE[leaf.op](column, _scalar(type_, leaf.literal))
    if leaf.op in (Op.GT, Op.GT_EQ) and is_floating(type_):
        return pc.or_kleene(holds, pc.is_nan(column))
    return holds


def _among(column: Column, type_: Type, literals: tuple[object, ...]) -> Column:
    """Null for null, as SQL's IN."""
    if is_floating(type_):  # hashed sets would tell the two zeros apart
        return reduce(pc.or_kleene, (pc.equal(column, _scalar(type_, literal)) for literal in literals))
    values = pa.array([to_arrow_value(type_, literal) for literal in literals], to_arrow_type(type_))
    return pc.if_else(pc.is_valid(column), pc.is_in(column, value_set=values), pa.scalar(None, pa.bool_()))


def _scalar(type_: Type, literal: Any) -> pa.Scalar:
    return pa.scalar(to_arrow_value(type_, literal), to_arrow_type(type_))
