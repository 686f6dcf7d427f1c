"""Predicates as trees; ``filter_rules`` reads them and ``filters`` makes expressions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from icesql.expr.tree import Reference
from icesql.parser.constants import Constant
from icesql.parser.text.names import Span


@dataclass(frozen=True, slots=True)
class Calculated:
    """``function`` as in ``icesql.expr.formula.Calculation``."""

    function: str
    arguments: tuple[Operand, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first of these that is not null."""

    arguments: tuple[Operand, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition is true, else the default; null without one."""

    branches: tuple[tuple[Node, Operand], ...]
    default: Operand | None


Operand: TypeAlias = Reference | Constant | Calculated | Coalesce | Case


@dataclass(frozen=True, slots=True)
class And:
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Or:
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not:
    child: Node


@dataclass(frozen=True, slots=True)
class Truth:
    """A term or literal standing alone."""

    value: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    symbol: str
    left: Operand
    right: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class In:
    term: Operand
    values: tuple[Operand, ...]
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Between:
    term: Operand
    low: Operand
    high: Operand
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Like:
    term: Reference
    pattern: Constant
    escape: str
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class IsNull:
    term: Reference | Calculated
    negated: bool


@dataclass(frozen=True, slots=True)
class IsNan:
    term: Reference
    negated: bool


@dataclass(frozen=True, slots=True)
class IsTruth:
    child: Node
    expected: bool
    negated: bool
    span: Span


Node: TypeAlias = And | Or | Not | Truth | Comparison | In | Between | Like | IsNull | IsNan | IsTruth
