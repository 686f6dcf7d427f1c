"""Binding: names become fields, literals become values of the column's type.

A bound tree has no NOT (see ``icesql.expr.rewrite``), no literal that the column's type cannot hold, and no NaN literal: comparisons with
NaN are written with IS_NAN and NOT_NAN, NaN being the largest value.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from icesql.errors import InvalidArgumentError, NotFoundError, ValidationError, nearest
from icesql.expr.formula import Formula
from icesql.expr.formula_bounds import implied_bounds
from icesql.expr.formula_intervals import has_interval, without_interval
from icesql.expr.formula_types import check_comparison
from icesql.expr.rewrite import map_leaves, push_not
from icesql.expr.tree import (
    FALSE,
    TRUE,
    BoundReference,
    Expression,
    Op,
    Predicate,
    Reference,
    and_,
    or_,
)
from icesql.spec.schema import Schema
from icesql.spec.transforms import can_transform, result_type
from icesql.spec.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    Type,
    UnknownType,
)
from icesql.spec.values.decimals import from_unscaled
from icesql.spec.values.literals import ABOVE_MAX, BELOW_MIN, literal

_UNARY = frozenset({Op.IS_NULL, Op.NOT_NULL, Op.IS_NAN, Op.NOT_NAN})
_OP_OF = {"=": Op.EQ, "!=": Op.NOT_EQ, "<": Op.LT, "<=": Op.LT_EQ, ">": Op.GT, ">=": Op.GT_EQ}
_TEXT = frozenset({Op.STARTS_WITH, Op.NOT_STARTS_WITH, Op.LIKE, Op.NOT_LIKE})


def bind(schema: Schema | StructType, expression: Expression, *, case_sensitive: bool = True) -> Expression:
    """The tree over fields of ``schema``: true for the same rows as ``expression``.

    Bound leaves are kept as they are, so binding twice changes nothing. Raises NotFoundError ``Cannot find field '...' in struct`` for an
    unknown column and InvalidArgumentError for a literal or operator the column's type does not allow.
    """
    owner = schema if isinstance(schema, Schema) else Schema(schema.fields)
    return map_leaves(push_not(expression), lambda leaf: _bind_leaf(owner, leaf, case_sensitive))


def is_floating(type_: Type) -> bool:
    return isinstance(type_, (FloatType, DoubleType))


# -- terms -------------------------------------------------------------------------------------------------------


def bind_term(schema: Schema, term: Reference, *, case_sensitive: bool = True) -> BoundReference:
    """Raises NotFoundError, and InvalidArgumentError where the column cannot be transformed or lies inside a list or map."""
    field = schema.find(term.name, case_sensitive=case_sensitive)
    if field is None:
        hint = nearest(term.name, schema.ids_by_name)
        raise NotFoundError(f"Cannot find field '{term.name}' in struct: {schema.as_struct()}.{hint}", field=term.name)
    name = schema.name_of(field.id)
    _refuse_repeated(schema, field, name)
    transform = None if term.transform is None or term.transform.is_identity else term.transform
    if transform is None:
        return BoundReference(field, field.type, None, name)
    if not can_transform(transform, field.type):
        raise InvalidArgumentError(f"Cannot bind: {transform} cannot transform {field.type} values from '{name}'", column=name)
    return BoundReference(field, result_type(transform, field.type), transform, name)


def _refuse_repeated(schema: Schema, field: NestedField, name: str) -> None:
    parent = schema.parents.get(field.id)
    while parent is not None:
        if not isinstance(schema.fields_by_id[parent].type, StructType):
            raise InvalidArgumentError(f"Cannot filter on field: it is inside a list or map: {name}", column=name)
        parent = schema.parents.get(parent)


def always_present(schema: Schema, field: NestedField) -> bool:
    """True if no row can have a null there: the field and every struct around it is required."""
    if not field.required:
        return False
    parent = schema.parents.get(field.id)
    return parent is None or always_present(schema, schema.fields_by_id[parent])


# -- leaves ------------------------------------------------------------------------------------------------------


def _bind_leaf(schema: Schema, leaf: Predicate, case_sensitive: bool) -> Expression:
    if isinstance(leaf.term, BoundReference):
        return leaf
    if isinstance(leaf.literals and leaf.literals[0], Formula):
        return _bind_formula(schema, leaf, case_sensitive)
    term = bind_term(schema, leaf.term, case_sensitive=case_sensitive)
    return map_leaves(_converted(leaf, term), lambda bound: _without_needless_null_check(schema, bound))


def _bind_formula(schema: Schema, leaf: Predicate, case_sensitive: bool) -> Expression:
    """The formula, and before it what it implies for its column."""
    assert isinstance(leaf.literal, Formula)
    formula = leaf.literal.with_columns(lambda term: bind_term(schema, term, case_sensitive=case_sensitive))
    if has_interval(formula):
        term, symbol, moved = without_interval(formula)
        return compare(_OP_OF[symbol], term, moved)
    check_comparison(formula)
    first = formula.columns()[0]
    return and_(implied_bounds(formula, compare), Predicate(Op.HOLDS, first, (formula,)))


def _without_needless_null_check(schema: Schema, leaf: Predicate) -> Expression:
    if leaf.op in (Op.IS_NULL, Op.NOT_NULL) and isinstance(leaf.term, BoundReference) and always_present(schema, leaf.term.field):
        return FALSE if leaf.op is Op.IS_NULL else TRUE
    return leaf


def _converted(leaf: Predicate, term: BoundReference) -> Expression:
    if leaf.op in _UNARY:
        return _bind_unary(leaf.op, term)
    _refuse_unordered(leaf.op, term)
    if isinstance(term.type, UnknownType):
        return FALSE
    if leaf.op in _TEXT:
        return _bind_text_test(leaf, term)
    if leaf.op is Op.IN:
        return _bind_in(leaf.literals, term)
    if leaf.op is Op.NOT_IN:
        return _bind_not_in(leaf.literals, term)
    return compare(leaf.op, term, leaf.literal)


def _bind_unary(op: Op, term: BoundReference) -> Expression:
    if op in (Op.IS_NAN, Op.NOT_NAN):
        if not is_floating(term.type):
            name = "IsNaN" if op is Op.IS_NAN else "NotNaN"
            raise InvalidArgumentError(f"{name} cannot be used with a non-floating-point column: {term.name}", column=term.name)
        return Predicate(op, term)
    if isinstance(term.type, UnknownType) or (term.transform is not None and term.transform.is_void):
        return TRUE if op is Op.IS_NULL else FALSE
    # a transform gives null for null and for nothing else
    return Predicate(op, BoundReference(term.field, term.field.type, None, term.name))


def _refuse_unordered(op: Op, term: BoundReference) -> None:
    if not isinstance(term.type, PrimitiveType) or str(term.type).startswith(("variant", "geometry", "geography")):
        raise InvalidArgumentError(f"Cannot bind {op.value}: values of {term.type} cannot be compared: {term.name}", column=term.name)


def _bind_text_test(leaf: Predicate, term: BoundReference) -> Expression:
    if not isinstance(term.type, StringType) or not isinstance(leaf.literal, str):
        raise InvalidArgumentError(f"Cannot bind {leaf.op.value}: term is not a string: {term.name}", column=term.name)
    if leaf.literal == "" and leaf.op in (Op.STARTS_WITH, Op.NOT_STARTS_WITH):
        return _not_null(term) if leaf.op is Op.STARTS_WITH else FALSE
    return Predicate(leaf.op, term, leaf.literals)


def _not_null(term: BoundReference) -> Expression:
    return Predicate(Op.NOT_NULL, BoundReference(term.field, term.field.type, None, term.name))


def _bind_in(literals: tuple[object, ...], term: BoundReference) -> Expression:
    values, has_nan = _values(literals, term)
    nan: Expression = Predicate(Op.IS_NAN, term) if has_nan else FALSE
    if not values:
        return nan
    return or_(Predicate(Op.EQ, term, values) if len(values) == 1 else Predicate(Op.IN, term, values), nan)


def _bind_not_in(literals: tuple[object, ...], term: BoundReference) -> Expression:
    values, has_nan = _values(literals, term)
    nan: Expression = Predicate(Op.NOT_NAN, term) if has_nan else TRUE
    if not values:
        return and_(_not_null(term), nan)
    return and_(Predicate(Op.NOT_EQ, term, values) if len(values) == 1 else Predicate(Op.NOT_IN, term, values), nan)


def _values(literals: tuple[object, ...], term: BoundReference) -> tuple[tuple[object, ...], bool]:
    """The literals the column can hold, without duplicates and sorted where they can be, and whether NaN is among them."""
    values: dict[object, None] = {}
    has_nan = False
    for raw in literals:
        if _floor(term.type, raw) is not None:
            continue
        value = _convert(term, raw)
        if isinstance(value, float) and math.isnan(value):
            has_nan = True
        elif value is not ABOVE_MAX and value is not BELOW_MIN:
            values[value] = None
    return tuple(values), has_nan


def compare(op: Op, term: BoundReference, raw: object) -> Expression:
    """``term op raw`` with the literal converted to the term's type; literals between two values of the type move to the next one."""
    floor = _floor(term.type, raw)
    if floor is not None:
        return _between_values(op, term, floor)
    value = _convert(term, raw)
    if value is ABOVE_MAX:
        return _compare_infinity(op, term) if is_floating(term.type) else _beyond(op, term, above=True)
    if value is BELOW_MIN:
        return _compare_minus_infinity(op, term) if is_floating(term.type) else _beyond(op, term, above=False)
    if isinstance(value, float) and math.isnan(value):
        return _compare_nan(op, term)
    return Predicate(op, term, (value,))


def _convert(term: BoundReference, raw: object) -> object:
    try:
        return literal(term.type, raw)
    except (InvalidArgumentError, ValidationError) as error:
        raise InvalidArgumentError(f"{error.message} (column {term.name})", column=term.name) from error


def _floor(type_: Type, raw: object) -> object | None:
    """The largest value of an exact numeric type below ``raw``, or ``None`` where ``raw`` needs no such step."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float, Decimal, Fraction)):
        return None
    if isinstance(raw, (float, Decimal)) and not math.isfinite(raw):
        return None
    if isinstance(type_, (IntegerType, LongType)):
        return None if raw == math.floor(raw) else math.floor(raw)
    if isinstance(type_, DecimalType):
        scaled = Fraction(Decimal(repr(raw)) if isinstance(raw, float) else raw) * 10**type_.scale
        return None if scaled.denominator == 1 else from_unscaled(math.floor(scaled), type_.scale)
    return None


def _between_values(op: Op, term: BoundReference, floor: object) -> Expression:
    match op:
        case Op.EQ:
            return FALSE
        case Op.NOT_EQ:
            return _not_null(term)
        case Op.LT | Op.LT_EQ:
            return compare(Op.LT_EQ, term, floor)
        case Op.GT | Op.GT_EQ:
            return compare(Op.GT, term, floor)
        case _:
            raise _no_comparison(op)


def _no_comparison(op: Op) -> AssertionError:
    return AssertionError(f"not a comparison: {op}")


def _beyond(op: Op, term: BoundReference, *, above: bool) -> Expression:
    """Comparison with a literal larger (or smaller) than every value of the type."""
    holds = {Op.LT, Op.LT_EQ} if above else {Op.GT, Op.GT_EQ}
    return _not_null(term) if op in holds or op is Op.NOT_EQ else FALSE


def _compare_infinity(op: Op, term: BoundReference) -> Expression:
    """A literal between the largest finite float and infinity."""
    match op:
        case Op.LT | Op.LT_EQ:
            return Predicate(Op.LT, term, (math.inf,))
        case Op.GT | Op.GT_EQ:
            return Predicate(Op.GT_EQ, term, (math.inf,))
        case Op.EQ:
            return FALSE
        case Op.NOT_EQ:
            return _not_null(term)
        case _:
            raise _no_comparison(op)


def _compare_minus_infinity(op: Op, term: BoundReference) -> Expression:
    match op:
        case Op.LT | Op.LT_EQ:
            return Predicate(Op.LT_EQ, term, (-math.inf,))
        case Op.GT | Op.GT_EQ:
            return Predicate(Op.GT, term, (-math.inf,))
        case Op.EQ:
            return FALSE
        case Op.NOT_EQ:
            return _not_null(term)
        case _:
            raise _no_comparison(op)


def _compare_nan(op: Op, term: BoundReference) -> Expression:
    match op:
        case Op.EQ | Op.GT_EQ:
            return Predicate(Op.IS_NAN, term)
        case Op.GT:
            return FALSE
        case Op.LT_EQ:
            return _not_null(term)
        case Op.LT | Op.NOT_EQ:
            return and_(_not_null(term), Predicate(Op.NOT_NAN, term))
        case _:
            raise _no_comparison(op)
