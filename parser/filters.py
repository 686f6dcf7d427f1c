"""Predicates in SQL text (``where="device_id = 74 AND days(ts) >= DATE '2021-10-01'"``) to expressions, without an engine."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NoReturn

from icesql.expr.formula import Calculation, Column, Formula, Literal, Value
from icesql.expr.patterns import pattern_parts, with_backslashes
from icesql.expr.tree import FALSE, TRUE, Expression, Op, Predicate, Reference, and_, or_
from icesql.parser.clauses.filter_tree import (
    And,
    Between,
    Calculated,
    Case,
    Coalesce,
    Comparison,
    In,
    IsNan,
    IsNull,
    IsTruth,
    Like,
    Node,
    Not,
    Operand,
    Or,
    Truth,
)
from icesql.parser.clauses.filter_truth import choices, is_null, untrue
from icesql.parser.constants import Constant
from icesql.parser.text.names import Span
from icesql.parser.text.places import sql_error


@lru_cache(maxsize=256)
def parse_filter(text: str, *, patterns: bool = True) -> Expression:
    """The expression that a SQL predicate is, with SQL's three-valued logic: what is not true for a row does not keep it.

    Understood: comparisons of a column or a partition transform of one (``bucket(16, id) = 3``, ``system.days(ts) > ...``) with a
    literal, either way round, ``<=>``, IN, BETWEEN, LIKE, startswith, IS [NOT] NULL / TRUE / FALSE / NAN, isnan, boolean columns,
    NOT, AND, OR; arithmetic, abs, length, intervals, two columns, CASE and COALESCE (``icesql.expr.formula``).
    Dates and times are literals as ISO text. ``patterns``: whether LIKE may have other patterns than prefixes (``'x%'``), as only filters
    of rows may. Raises SqlError that points at what is not understood.
    """
    from icesql.parser.clauses.filter_rules import Filters  # sqlglot is loaded when it is first needed

    reader = Filters.of(text)
    node = reader.disjunction()
    reader.expect_end()
    return _Lowering(text, patterns).lower(node, negated=False)


_COMPARED: dict[str, Op] = {"=": Op.EQ, "!=": Op.NOT_EQ, "<": Op.LT, "<=": Op.LT_EQ, ">": Op.GT, ">=": Op.GT_EQ}
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Lowering:
    """Nodes to expressions; a negation is pushed down to the leaves, because null stays null under NOT."""

    def __init__(self, text: str, patterns: bool) -> None:
        self.text, self.patterns = text, patterns

    def lower(self, node: Node, *, negated: bool) -> Expression:
        match node:
            case And(left=left, right=right):
                join = or_ if negated else and_
                return join(self.lower(left, negated=negated), self.lower(right, negated=negated))
            case Or(left=left, right=right):
                join = and_ if negated else or_
                return join(self.lower(left, negated=negated), self.lower(right, negated=negated))
            case Not(child=child):
                return self.lower(child, negated=not negated)
            case Truth():
                return self._truth(node, negated)
            case Comparison():
                return self._comparison(node, negated)
            case In():
                return self._in(node, negated)
            case Between(term=term, low=low, high=high, negated=reverse, span=span):
                above = Comparison(">=", term, low, span)
                below = Comparison("<=", term, high, span)
                return self.lower(And(above, below), negated=negated != reverse)
            case Like():
                return self._like(node, negated)
            case IsNull(term=term, negated=reverse):
                if isinstance(term, Calculated):
                    return self.lower(_any([is_null(argument) for argument in term.arguments]), negated=negated != reverse)
                return Predicate(Op.NOT_NULL if negated != reverse else Op.IS_NULL, term)
            case IsNan(term=term, negated=reverse):
                if negated != reverse:
                    return or_(Predicate(Op.NOT_NAN, term), Predicate(Op.IS_NULL, term))
                return Predicate(Op.IS_NAN, term)
            case IsTruth():
                return self._is_truth(node, negated)

    def _truth(self, node: Truth, negated: bool) -> Expression:
        """A boolean column or literal standing alone."""
        if isinstance(node.value, Reference):
            return Predicate(Op.EQ, node.value, (not negated,))
        if isinstance(node.value, (Case, Coalesce)):
            parts = [And(condition, Truth(value, node.span)) for condition, value in choices(node.value)]
            return self.lower(_any(parts), negated=negated) if not negated else self._chosen(node.value, node.span)
        if isinstance(node.value, Calculated):
            self._refuse("it is not a condition", node.span)
        if node.value.value is None:
            return FALSE
        if not isinstance(node.value.value, bool):
            self._refuse("it is not a condition", node.span)
        return TRUE if node.value.value != negated else FALSE

    def _is_truth(self, node: IsTruth, negated: bool) -> Expression:
        """IS [NOT] TRUE | FALSE, which is never null."""
        if negated == node.negated:
            return self.lower(node.child, negated=not node.expected)
        return self.lower(untrue(node.child, negated=not node.expected), negated=False)

    def _comparison(self, node: Comparison, negated: bool) -> Expression:
        left, right, symbol = node.left, node.right, node.symbol
        if isinstance(left, (Case, Coalesce)) or isinstance(right, (Case, Coalesce)):
            return self._chosen_comparison(node, negated)
        if isinstance(left, Constant) and isinstance(right, Constant):
            return self._constants(symbol, left, right, negated, node.span)
        if isinstance(left, Constant):
            left, right = right, left
            symbol = _FLIPPED.get(symbol, symbol)
        if not isinstance(left, Reference) or not isinstance(right, Constant):
            return self._computed(symbol, left, right, negated, node.span)
        if symbol == "<=>":
            return self._null_safe(left, right, negated)
        if right.value is None:
            return FALSE
        if negated:
            symbol = _NEGATED[symbol]
        if isinstance(right.value, float) and right.value != right.value:
            return _compare_with_nan(left, symbol)
        return Predicate(_COMPARED[symbol], left, (self._value(right, node.span),))

    def _chosen_comparison(self, node: Comparison, negated: bool) -> Expression:
        """With CASE or COALESCE: the comparison of each value that it may be, under its condition."""
        parts: list[Node] = []
        for left_is, left in choices(node.left):
            for right_is, right in choices(node.right):
                comparison: Node = Comparison(node.symbol, left, right, node.span)
                parts.append(And(And(left_is, right_is), Not(comparison) if negated else comparison))
        return self.lower(_any(parts), negated=False)

    def _chosen(self, value: Case | Coalesce, span: Span) -> Expression:
        """The values under their conditions, each false."""
        parts: list[Node] = [And(condition, Not(Truth(one, span))) for condition, one in choices(value)]
        return self.lower(_any(parts), negated=False)

    def _computed(self, symbol: str, left: Operand, right: Operand, negated: bool, span: Span) -> Expression:
        """A comparison of what is computed, or of two columns."""
        if not self.patterns:
            self._refuse("columns are compared with literals only", span)
        if symbol == "<=>":
            equal: Node = Comparison("=", left, right, span)
            one, other = is_null(left), is_null(right)
            if negated:
                return self.lower(Or(Not(equal), Or(And(one, Not(other)), And(other, Not(one)))), negated=False)
            return self.lower(Or(equal, And(one, other)), negated=False)
        values = [self._formula_value(side, span) for side in (left, right)]
        if any(value is None for value in values):
            return FALSE
        formula = Formula(_NEGATED[symbol] if negated else symbol, *values)  # type: ignore[arg-type]
        return Predicate(Op.HOLDS, formula.columns()[0], (formula,))

    def _formula_value(self, operand: Operand, span: Span) -> Value | None:
        """None for null."""
        match operand:
            case Reference(transform=None):
                return Column(operand)
            case Constant(value=None):
                return None
            case Constant(value=tuple(), type=type_) if type_ != "interval":
                self._refuse("arrays and maps cannot be compared", span)
            case Constant(value=value, type=type_):
                return Literal(value, type_)
            case Calculated(function=function, arguments=arguments):
                values = [self._formula_value(argument, span) for argument in arguments]
                return None if None in values else Calculation(function, tuple(value for value in values if value is not None))
            case Reference():
                why = "a partition transform cannot be computed with"
            case Case() | Coalesce():
                why = "CASE and COALESCE are compared, not computed with"
        raise sql_error(f"Cannot use filter: {why}: {span.of(self.text)}", self.text, span.start, span.end)

    def _null_safe(self, term: Reference, constant: Constant, negated: bool) -> Expression:
        if constant.value is None:
            return Predicate(Op.NOT_NULL if negated else Op.IS_NULL, term)
        if isinstance(constant.value, float) and constant.value != constant.value:
            equal, different = _compare_with_nan(term, "="), _compare_with_nan(term, "!=")
        else:
            equal, different = Predicate(Op.EQ, term, (constant.value,)), Predicate(Op.NOT_EQ, term, (constant.value,))
        return or_(different, Predicate(Op.IS_NULL, term)) if negated else equal

    def _constants(self, symbol: str, left: Constant, right: Constant, negated: bool, span: Span) -> Expression:
        if symbol == "<=>":
            symbol = "="
            if left.value is None or right.value is None:
                return TRUE if (left.value is right.value) != negated else FALSE
        if left.value is None or right.value is None:
            return FALSE
        numbers = (int, Decimal, float)
        same = type(left.value) is type(right.value) or (isinstance(left.value, numbers) and isinstance(right.value, numbers))
        if not same:
            self._refuse("constants of different types cannot be compared", span)
        return TRUE if _FUNCTIONS[symbol](left.value, right.value) != negated else FALSE

    def _in(self, node: In, negated: bool) -> Expression:
        outside = negated != node.negated
        constants = [value for value in node.values if isinstance(value, Constant)]
        if not isinstance(node.term, Reference) or len(constants) < len(node.values):
            return self.lower(_any([Comparison("=", node.term, value, node.span) for value in node.values]), negated=outside)
        if outside and any(constant.value is None for constant in constants):
            return FALSE
        literals: dict[tuple[type, object], object] = {}
        nan = False
        for constant in constants:
            if constant.value is None:
                continue
            if isinstance(constant.value, float) and constant.value != constant.value:
                nan = True
                continue
            value = self._value(constant, node.span)
            literals[type(value), value] = value
        parts: list[Expression] = [Predicate(Op.NOT_IN if outside else Op.IN, node.term, tuple(literals.values()))] if literals else []
        if nan:
            parts.append(_compare_with_nan(node.term, "!=" if outside else "="))
        return and_(*parts) if outside else or_(*parts)

    def _like(self, node: Like, negated: bool) -> Expression:
        outside = negated != node.negated
        if node.pattern.value is None:
            return FALSE
        prefix, rest = _prefix(str(node.pattern.value), node.escape)
        if rest == "":
            return Predicate(Op.NOT_EQ if outside else Op.EQ, node.term, (prefix,))
        if rest.strip("%"):
            return self._pattern(node, prefix, outside)
        if not prefix:
            return FALSE if outside else Predicate(Op.NOT_NULL, node.term)
        return Predicate(Op.NOT_STARTS_WITH if outside else Op.STARTS_WITH, node.term, (prefix,))

    def _pattern(self, node: Like, prefix: str, outside: bool) -> Expression:
        """A pattern prunes files by the text before its first wildcard."""
        if not self.patterns:
            self._refuse("LIKE is understood for prefixes only, such as LIKE 'x%'", node.span)
        pattern = (with_backslashes(str(node.pattern.value), node.escape),)
        if outside:
            return Predicate(Op.NOT_LIKE, node.term, pattern)
        begins = Predicate(Op.STARTS_WITH, node.term, (prefix,)) if prefix else TRUE
        return and_(begins, Predicate(Op.LIKE, node.term, pattern))

    def _value(self, constant: Constant, span: Span) -> object:
        if isinstance(constant.value, tuple):
            self._refuse("arrays and maps cannot be compared", span)
        return constant.value

    def _refuse(self, why: str, span: Span) -> NoReturn:
        raise sql_error(f"Cannot use filter: {why}: {span.of(self.text)}", self.text, span.start, span.end)


def _any(nodes: Sequence[Node]) -> Node:
    joined = nodes[0]
    for node in nodes[1:]:
        joined = Or(joined, node)
    return joined


def _compare_with_nan(term: Reference, symbol: str) -> Expression:
    """NaN equals itself and is larger than every other value."""
    if symbol in ("=", ">="):
        return Predicate(Op.IS_NAN, term)
    if symbol in ("!=", "<"):
        return and_(Predicate(Op.NOT_NAN, term), Predicate(Op.NOT_NULL, term))
    return FALSE if symbol == ">" else Predicate(Op.NOT_NULL, term)


def _prefix(pattern: str, escape: str) -> tuple[str, str]:
    """The literal beginning of a LIKE pattern and what follows it, from the first wildcard on."""
    parts = list(pattern_parts(pattern, escape))
    first = next((place for place, (_, is_wildcard) in enumerate(parts) if is_wildcard), len(parts))
    return "".join(part for part, _ in parts[:first]), "".join(part if is_wildcard else "x" for part, is_wildcard in parts[first:])
