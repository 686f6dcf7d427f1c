"""Predicates over rows as values. Three-valued logic: a predicate on null is null, and a row is kept only where the whole is true.

Unbound trees name columns; ``icesql.expr.binding.bind`` resolves them against a schema. NaN is larger than every other
value (Spark's order); -0.0 equals 0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from icesql.errors import unknown_case
from icesql.spec.transforms import Transform
from icesql.spec.types import NestedField, Type


class Op(str, Enum):
    """Leaf operators, with the names of the specification's JSON form."""

    IS_NULL = "is-null"
    NOT_NULL = "not-null"
    IS_NAN = "is-nan"
    NOT_NAN = "not-nan"
    LT = "lt"
    LT_EQ = "lt-eq"
    GT = "gt"
    GT_EQ = "gt-eq"
    EQ = "eq"
    NOT_EQ = "not-eq"
    IN = "in"
    NOT_IN = "not-in"
    STARTS_WITH = "starts-with"
    NOT_STARTS_WITH = "not-starts-with"
    LIKE = "like"  # a pattern of SQL, backslash escapes; not in the specification: never written to JSON
    NOT_LIKE = "not-like"
    HOLDS = "holds"  # the literal is a Formula, the term its first column; not in the specification either


@dataclass(frozen=True, slots=True)
class AlwaysTrue:
    pass


@dataclass(frozen=True, slots=True)
class AlwaysFalse:
    pass


@dataclass(frozen=True, slots=True)
class And:
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Or:
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not:
    child: Expression


@dataclass(frozen=True, slots=True)
class Reference:
    """A column by dotted name, under an optional transform (``bucket(16, id)``)."""

    name: str
    transform: Transform | None = None


@dataclass(frozen=True, slots=True)
class BoundReference:
    """A column by field, under an optional transform. ``type`` is the term's type, after the transform."""

    field: NestedField
    type: Type
    transform: Transform | None = None
    name: str = ""  # dotted full name


Term: TypeAlias = Reference | BoundReference


@dataclass(frozen=True, slots=True)
class Predicate:
    """``op`` applied to a term. ``literals``: none for the unary operators, one for comparisons and prefixes, one or more for IN / NOT IN.

    Unbound literals are plain Python values (also ISO strings for dates and times); bound ones are in the term type's internal form.
    Never ``None``: a comparison with null is written ``AlwaysFalse`` (or left out) by whoever builds the tree.
    """

    op: Op
    term: Term
    literals: tuple[object, ...] = ()

    @property
    def literal(self) -> object:
        return self.literals[0]


Expression: TypeAlias = AlwaysTrue | AlwaysFalse | And | Or | Not | Predicate

TRUE = AlwaysTrue()
FALSE = AlwaysFalse()


def and_(*parts: Expression) -> Expression:
    """Conjunction with constants folded; TRUE for no parts."""
    result: Expression = TRUE
    for part in parts:
        if isinstance(part, AlwaysFalse) or isinstance(result, AlwaysFalse):
            return FALSE
        if isinstance(part, AlwaysTrue):
            continue
        result = part if isinstance(result, AlwaysTrue) else And(result, part)
    return result


def or_(*parts: Expression) -> Expression:
    """Disjunction with constants folded; FALSE for no parts."""
    result: Expression = FALSE
    for part in parts:
        if isinstance(part, AlwaysTrue) or isinstance(result, AlwaysTrue):
            return TRUE
        if isinstance(part, AlwaysFalse):
            continue
        result = part if isinstance(result, AlwaysFalse) else Or(result, part)
    return result


def not_(child: Expression) -> Expression:
    match child:
        case AlwaysTrue():
            return FALSE
        case AlwaysFalse():
            return TRUE
        case Not(child=inner):
            return inner
        case And() | Or() | Predicate():
            return Not(child)
        case _:
            raise unknown_case(child)
