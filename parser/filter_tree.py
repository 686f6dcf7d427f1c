"""The syntax of predicates: text to nodes, by recursive descent in SQL's order of precedence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from icesql.expr.tree import Reference
from icesql.parser.constants import Constant
from icesql.parser.cursor import Cursor
from icesql.parser.folding import read_constant
from icesql.parser.names import Span
from icesql.parser.tokens import Kind
from icesql.parser.transform_terms import transform_term

Operand: TypeAlias = Reference | Constant
_MAX_DEPTH = 100


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
    term: Reference
    values: tuple[Constant, ...]
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
    term: Reference
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

_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
_TRANSFORMS = frozenset({"bucket", "truncate", "year", "years", "month", "months", "day", "days", "hour", "hours", "identity"})
_FLOATING_WORDS = {"nan": float("nan"), "inf": float("inf"), "infinity": float("inf"), "-inf": float("-inf"), "-infinity": float("-inf")}


def read_filter(cursor: Cursor) -> Node:
    """Read one predicate. Raises SqlError."""
    return _Reader(cursor).disjunction()


class _Reader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.depth = 0

    def disjunction(self) -> Node:
        self._deeper()
        nodes = [self.conjunction()]
        while self.cursor.accept("OR"):
            nodes.append(self.conjunction())
        self.depth -= 1
        return _balanced(nodes, Or)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.cursor.fail(f"Cannot use filter: it is nested deeper than {_MAX_DEPTH} levels")

    def conjunction(self) -> Node:
        nodes = [self.negation()]
        while self.cursor.accept("AND"):
            nodes.append(self.negation())
        return _balanced(nodes, And)

    def negation(self) -> Node:
        negations = 0
        while self.cursor.accept("NOT") or (self.cursor.at("!") and self.cursor.accept("!")):
            negations += 1
        node = self.predicate()
        return Not(node) if negations % 2 else node

    def predicate(self) -> Node:
        cursor, start = self.cursor, self.cursor.token.start
        node = self._primary()
        while True:
            if isinstance(node, Truth):
                node, done = self._after_operand(node, start)
            elif cursor.accept("IS"):
                node, done = self._is(node, start), False
            else:
                return node
            if done:
                return node

    def _primary(self) -> Node:
        cursor, start = self.cursor, self.cursor.token.start
        if cursor.at("("):
            cursor.next()
            inner = self.disjunction()
            cursor.expect(")")
            return inner
        function = self._function()
        if function is not None:
            return function
        operand = self.operand()
        return Truth(operand, Span(start, cursor.last_end))

    def _function(self) -> Node | None:
        """``isnan(x)``, ``isnull(x)``, ``isnotnull(x)``, ``startswith(x, 'p')``."""
        cursor = self.cursor
        if cursor.peek().key != "(" or cursor.token.key not in ("ISNAN", "ISNULL", "ISNOTNULL", "STARTSWITH"):
            return None
        start, name = cursor.token.start, cursor.next().key
        cursor.expect("(")
        term = self.term()
        if name == "STARTSWITH":
            cursor.expect(",")
            prefix = self.constant()
            cursor.expect(")")
            escaped = None if prefix.value is None else _escaped(str(prefix.value)) + "%"
            return Like(term, Constant(escaped, "string"), "\\", False, Span(start, cursor.last_end))
        cursor.expect(")")
        return IsNan(term, False) if name == "ISNAN" else IsNull(term, name == "ISNOTNULL")

    def _after_operand(self, left: Truth, start: int) -> tuple[Node, bool]:
        """What follows a term or literal: a comparison, IN, LIKE, BETWEEN, IS, or nothing."""
        cursor = self.cursor
        symbol = cursor.token.key
        if symbol in _COMPARISONS:
            cursor.next()
            right = self.operand()
            return Comparison(_COMPARISONS[symbol], left.value, right, Span(start, cursor.last_end)), True
        if cursor.accept("IS"):
            return self._is(left, start), False
        negated = cursor.at("NOT") and cursor.peek().key in ("IN", "LIKE", "BETWEEN") and cursor.accept("NOT")
        if cursor.accept("IN"):
            return self._in(left, negated, start), True
        if cursor.accept("BETWEEN"):
            low = self.operand()
            cursor.expect("AND")
            high = self.operand()
            return Between(left.value, low, high, negated, Span(start, cursor.last_end)), True
        if cursor.accept("LIKE"):
            return self._like(left, negated, start), True
        return left, True

    def _is(self, left: Node, start: int) -> Node:
        cursor = self.cursor
        negated = cursor.accept("NOT")
        token = cursor.token
        word = cursor.expect_any("NULL", "TRUE", "FALSE", "NAN")
        span = Span(start, cursor.last_end)
        if word in ("TRUE", "FALSE"):
            return IsTruth(left, word == "TRUE", negated, span)
        if isinstance(left, Truth) and isinstance(left.value, Constant) and word == "NULL":
            return Truth(Constant((left.value.value is None) != negated, "boolean"), span)
        if not isinstance(left, Truth) or not isinstance(left.value, Reference):
            cursor.fail(f"Cannot use filter: IS {word} needs a column", token)
        return IsNull(left.value, negated) if word == "NULL" else IsNan(left.value, negated)

    def _in(self, left: Truth, negated: bool, start: int) -> In:
        cursor = self.cursor
        term = self._column(left)
        cursor.expect("(")
        values = [self.constant()]
        while cursor.accept(","):
            values.append(self.constant())
        cursor.expect(")")
        return In(term, tuple(values), negated, Span(start, cursor.last_end))

    def _like(self, left: Truth, negated: bool, start: int) -> Like:
        cursor = self.cursor
        term = self._column(left)
        pattern, escape = self.constant(), "\\"
        if cursor.accept("ESCAPE"):
            token = cursor.token
            escape = cursor.string()
            if len(escape) != 1:
                cursor.fail("Cannot use filter: the escape of LIKE must be one character", token)
        return Like(term, pattern, escape, negated, Span(start, cursor.last_end))

    def _column(self, left: Truth) -> Reference:
        if not isinstance(left.value, Reference):
            self.cursor.fail_at("Cannot use filter: a column is needed here", left.span)
        return left.value

    # -- operands --------------------------------------------------------------------------------------------------------
    def operand(self) -> Operand:
        cursor = self.cursor
        if cursor.at("("):
            cursor.next()
            self._deeper()
            inner = self.operand()
            self.depth -= 1
            cursor.expect(")")
            return inner
        if self._begins_constant():
            return self.constant()
        return self.term()

    def _begins_constant(self) -> bool:
        token, following = self.cursor.token, self.cursor.peek()
        if token.kind in (Kind.STRING, Kind.NUMBER) or token.key in ("-", "+", "TRUE", "FALSE", "NULL"):
            return following.key != "."
        if token.kind is not Kind.WORD:
            return False
        return following.kind is Kind.STRING or (following.key == "(" and token.key in ("CAST", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP"))

    def constant(self) -> Constant:
        cursor = self.cursor
        mark = cursor.position
        special = self._floating_word() or self._converted()
        if special is not None:
            return special
        cursor.position = mark
        found = read_constant(cursor)
        if found is None:
            cursor.position = mark
            cursor.fail(f"Cannot use filter: a literal is needed here: {cursor.token.text}")
        return found

    def _floating_word(self) -> Constant | None:
        """``double('NaN')`` and ``cast('Infinity' as float)``."""
        cursor = self.cursor
        if cursor.token.key not in ("DOUBLE", "FLOAT", "CAST") or cursor.peek().key != "(" or cursor.peek(2).kind is not Kind.STRING:
            return None
        type_ = cursor.next().key
        cursor.next()
        word = cursor.string().strip().lower()
        if type_ == "CAST":
            if not cursor.accept("AS"):
                return None
            type_ = cursor.next().key
        if type_ not in ("DOUBLE", "FLOAT") or word not in _FLOATING_WORDS or not cursor.accept(")"):
            return None
        return Constant(_FLOATING_WORDS[word], type_.lower())

    def _converted(self) -> Constant | None:
        """``date('2020-01-01')`` and ``timestamp('...')``."""
        cursor = self.cursor
        if cursor.token.key not in ("DATE", "TIMESTAMP") or cursor.peek().key != "(" or cursor.peek(2).kind is not Kind.STRING:
            return None
        type_ = cursor.next().key
        cursor.next()
        text = cursor.string()
        return Constant(text, type_.lower()) if cursor.accept(")") else None

    def term(self) -> Reference:
        """A column, or a partition transform of one, maybe under ``system.`` or ``catalog.system.``."""
        cursor = self.cursor
        start, mark = cursor.token, cursor.position
        parts = cursor.name_parts()
        if not cursor.at("("):
            return Reference(".".join(parts))
        if parts[-1].lower() not in _TRANSFORMS or (len(parts) > 1 and parts[-2].lower() != "system"):
            cursor.fail(f"Cannot use filter: the function is not understood: {'.'.join(parts)}", start)
        if parts[-1].lower() in ("bucket", "truncate") and cursor.peek().kind is not Kind.NUMBER:
            cursor.fail(f"Cannot use filter: the width comes first: {parts[-1]}", start)
        cursor.position = mark + 2 * (len(parts) - 1)
        term = transform_term(cursor)
        return Reference(".".join(term.column), None if term.transform.is_identity else term.transform)


def _escaped(prefix: str) -> str:
    return "".join("\\" + character if character in "\\%_" else character for character in prefix)


def _balanced(nodes: list[Node], join: type[And] | type[Or]) -> Node:
    """Long chains as a balanced tree, so that thousands of terms nest a dozen levels deep."""
    while len(nodes) > 1:
        nodes = [join(nodes[i], nodes[i + 1]) if i + 1 < len(nodes) else nodes[i] for i in range(0, len(nodes), 2)]
    return nodes[0]
