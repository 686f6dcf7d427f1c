"""The rules for predicates, in SQL's order of precedence."""

from __future__ import annotations

from icesql.expr.tree import Reference
from icesql.parser.clauses.filter_tree import And, Between, Comparison, In, IsNan, IsNull, IsTruth, Like, Node, Not, Operand, Or, Truth
from icesql.parser.constants import Constant
from icesql.parser.dialect.token_reader import MAX_DEPTH
from icesql.parser.frozen.columns import ColumnValues
from icesql.parser.frozen.folding import Constants
from icesql.parser.text.names import Span
from icesql.parser.text.tokens import Kind

_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
_TRANSFORMS = frozenset({"bucket", "truncate", "year", "years", "month", "months", "day", "days", "hour", "hours", "identity"})
_FLOATING_WORDS = {"nan": float("nan"), "inf": float("inf"), "infinity": float("inf"), "-inf": float("-inf"), "-infinity": float("-inf")}


class Filters(Constants):
    """Each rule raises SqlError at what is not understood."""

    _filter_depth = 0

    def disjunction(self) -> Node:
        self._deeper()
        nodes = [self.conjunction()]
        while self.accept("OR"):
            nodes.append(self.conjunction())
        self._filter_depth -= 1
        return _balanced(nodes, Or)

    def _deeper(self) -> None:
        self._filter_depth += 1
        if self._filter_depth > MAX_DEPTH:
            self.fail(f"Cannot use filter: it is nested deeper than {MAX_DEPTH} levels")

    def conjunction(self) -> Node:
        nodes = [self.negation()]
        while self.accept("AND"):
            nodes.append(self.negation())
        return _balanced(nodes, And)

    def negation(self) -> Node:
        negations = 0
        while self.accept("NOT") or (self.at("!") and self.accept("!")):
            negations += 1
        node = self.predicate()
        return Not(node) if negations % 2 else node

    def predicate(self) -> Node:
        start = self.token.start
        node = self._primary()
        while True:
            if isinstance(node, Truth):
                node, done = self._after_operand(node, start)
            elif self.accept("IS"):
                node, done = self._is(node, start), False
            else:
                return node
            if done:
                return node

    def _primary(self) -> Node:
        start = self.token.start
        if self.at("("):
            self.next()
            inner = self.disjunction()
            self.expect(")")
            return inner
        function = self._function()
        if function is not None:
            return function
        operand = self.operand()
        return Truth(operand, Span(start, self.last_end))

    def _function(self) -> Node | None:
        """``isnan(x)``, ``isnull(x)``, ``isnotnull(x)``, ``startswith(x, 'p')``, ``endswith``, ``contains``."""
        if self.peek().key != "(" or self.token.key not in ("ISNAN", "ISNULL", "ISNOTNULL", *_TEXT_TESTS):
            return None
        start, name = self.token.start, self.next().key
        self.expect("(")
        term = self.term()
        if name in _TEXT_TESTS:
            self.expect(",")
            text = self.constant()
            self.expect(")")
            pattern = None if text.value is None else _TEXT_TESTS[name].format(_escaped(str(text.value)))
            return Like(term, Constant(pattern, "string"), "\\", False, Span(start, self.last_end))
        self.expect(")")
        return IsNan(term, False) if name == "ISNAN" else IsNull(term, name == "ISNOTNULL")

    def _after_operand(self, left: Truth, start: int) -> tuple[Node, bool]:
        """What follows a term or literal: a comparison, IN, LIKE, BETWEEN, IS, or nothing."""
        symbol = self.token.key
        if symbol in _COMPARISONS:
            self.next()
            right = self.operand()
            return Comparison(_COMPARISONS[symbol], left.value, right, Span(start, self.last_end)), True
        if self.accept("IS"):
            return self._is(left, start), False
        negated = self.at("NOT") and self.peek().key in ("IN", "LIKE", "BETWEEN") and self.accept("NOT")
        if self.accept("IN"):
            return self._in_list(left, negated, start), True
        if self.accept("BETWEEN"):
            low = self.operand()
            self.expect("AND")
            high = self.operand()
            return Between(left.value, low, high, negated, Span(start, self.last_end)), True
        if self.accept("LIKE"):
            return self._like(left, negated, start), True
        return left, True

    def _is(self, left: Node, start: int) -> Node:
        negated = self.accept("NOT")
        token = self.token
        word = self.expect_any("NULL", "TRUE", "FALSE", "NAN")
        span = Span(start, self.last_end)
        if word in ("TRUE", "FALSE"):
            return IsTruth(left, word == "TRUE", negated, span)
        if isinstance(left, Truth) and isinstance(left.value, Constant) and word == "NULL":
            return Truth(Constant((left.value.value is None) != negated, "boolean"), span)
        if not isinstance(left, Truth) or not isinstance(left.value, Reference):
            self.fail(f"Cannot use filter: IS {word} needs a column", token)
        return IsNull(left.value, negated) if word == "NULL" else IsNan(left.value, negated)

    def _in_list(self, left: Truth, negated: bool, start: int) -> In:
        term = self._column(left)
        self.expect("(")
        values = [self.constant()]
        while self.accept(","):
            values.append(self.constant())
        self.expect(")")
        return In(term, tuple(values), negated, Span(start, self.last_end))

    def _like(self, left: Truth, negated: bool, start: int) -> Like:
        term = self._column(left)
        pattern, escape = self.constant(), "\\"
        if self.accept("ESCAPE"):
            token = self.token
            escape = self.text_value()
            if len(escape) != 1:
                self.fail("Cannot use filter: the escape of LIKE must be one character", token)
        return Like(term, pattern, escape, negated, Span(start, self.last_end))

    def _column(self, left: Truth) -> Reference:
        if not isinstance(left.value, Reference):
            self.fail_at("Cannot use filter: a column is needed here", left.span)
        return left.value

    # -- operands --------------------------------------------------------------------------------------------------------
    def operand(self) -> Operand:
        if self.at("("):
            self.next()
            self._deeper()
            inner = self.operand()
            self._filter_depth -= 1
            self.expect(")")
            return inner
        if self._begins_constant():
            return self.constant()
        return self.term()

    def _begins_constant(self) -> bool:
        token, following = self.token, self.peek()
        if token.kind in (Kind.STRING, Kind.NUMBER) or token.key in ("-", "+", "TRUE", "FALSE", "NULL"):
            return following.key != "."
        if token.kind is not Kind.WORD:
            return False
        return following.kind is Kind.STRING or (following.key == "(" and token.key in ("CAST", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP"))

    def constant(self) -> Constant:
        mark = self.position
        special = self._floating_word() or self._converted()
        if special is not None:
            return special
        self.position = mark
        constant = self.constant_or_none()
        if constant is None:
            self.position = mark
            self.fail(f"Cannot use filter: a literal is needed here: {self.token.text}")
        return constant

    def _floating_word(self) -> Constant | None:
        """``double('NaN')`` and ``cast('Infinity' as float)``."""
        if self.token.key not in ("DOUBLE", "FLOAT", "CAST") or self.peek().key != "(" or self.peek(2).kind is not Kind.STRING:
            return None
        type_ = self.next().key
        self.next()
        word = self.text_value().strip().lower()
        if type_ == "CAST":
            if not self.accept("AS"):
                return None
            type_ = self.next().key
        if type_ not in ("DOUBLE", "FLOAT") or word not in _FLOATING_WORDS or not self.accept(")"):
            return None
        return Constant(_FLOATING_WORDS[word], type_.lower())

    def _converted(self) -> Constant | None:
        """``date('2020-01-01')`` and ``timestamp('...')``."""
        if self.token.key not in ("DATE", "TIMESTAMP") or self.peek().key != "(" or self.peek(2).kind is not Kind.STRING:
            return None
        type_ = self.next().key
        self.next()
        text = self.text_value()
        return Constant(text, type_.lower()) if self.accept(")") else None

    def term(self) -> Reference:
        """A column, or a partition transform of one, maybe under ``system.`` or ``catalog.system.``."""
        start, mark = self.token, self.position
        parts = self.name_parts()
        if not self.at("("):
            return Reference(".".join(parts))
        if parts[-1].lower() not in _TRANSFORMS or (len(parts) > 1 and parts[-2].lower() != "system"):
            self.fail(f"Cannot use filter: the function is not understood: {'.'.join(parts)}", start)
        if parts[-1].lower() in ("bucket", "truncate") and self.peek().kind is not Kind.NUMBER:
            self.fail(f"Cannot use filter: the width comes first: {parts[-1]}", start)
        self.position = mark + 2 * (len(parts) - 1)
        term = ColumnValues(self.sql).term(self.transform())
        return Reference(".".join(term.column), None if term.transform.is_identity else term.transform)


_TEXT_TESTS = {"STARTSWITH": "{}%", "ENDSWITH": "%{}", "CONTAINS": "%{}%"}  # as patterns of LIKE


def _escaped(prefix: str) -> str:
    return "".join("\\" + character if character in "\\%_" else character for character in prefix)


def _balanced(nodes: list[Node], join: type[And] | type[Or]) -> Node:
    """Long chains as a balanced tree, so that thousands of terms nest a dozen levels deep."""
    while len(nodes) > 1:
        nodes = [join(nodes[i], nodes[i + 1]) if i + 1 < len(nodes) else nodes[i] for i in range(0, len(nodes), 2)]
    return nodes[0]
