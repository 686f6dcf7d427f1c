"""The rules for predicates, in SQL's order of precedence."""

from __future__ import annotations

from icesql.expr.tree import Reference
from icesql.parser.clauses.filter_tree import And, Between, Calculated, Comparison, In, IsNan, IsNull, IsTruth, Like, Node, Not, Or, Truth
from icesql.parser.clauses.operand_rules import Operands
from icesql.parser.constants import Constant
from icesql.parser.text.names import Span

_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}


class Filters(Operands):
    """Each rule raises SqlError at what is not understood."""

    def disjunction(self) -> Node:
        self._deeper()
        nodes = [self.conjunction()]
        while self.accept("OR"):
            nodes.append(self.conjunction())
        self._filter_depth -= 1
        return _balanced(nodes, Or)

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
            if isinstance(inner, Truth):  # a value in brackets, with which one may go on computing
                return Truth(self.sums_from(inner.value, start), Span(start, self.last_end))
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
        if self.at("IS") and self._is_distinct():
            return self._distinct(left, start), True
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

    def _is_distinct(self) -> bool:
        return "DISTINCT" in (self.peek().key, self.peek(2).key if self.peek().key == "NOT" else "")

    def _distinct(self, left: Truth, start: int) -> Node:
        """``IS [NOT] DISTINCT FROM``: ``<=>``, which is never null, or its opposite."""
        self.expect("IS")
        negated = self.accept("NOT")
        self.expect("DISTINCT")
        self.expect("FROM")
        right = self.operand()
        equal = Comparison("<=>", left.value, right, Span(start, self.last_end))
        return equal if negated else Not(equal)

    def _is(self, left: Node, start: int) -> Node:
        negated = self.accept("NOT")
        token = self.token
        word = self.expect_any("NULL", "TRUE", "FALSE", "NAN")
        span = Span(start, self.last_end)
        if word in ("TRUE", "FALSE"):
            return IsTruth(left, word == "TRUE", negated, span)
        if isinstance(left, Truth) and isinstance(left.value, Constant) and word == "NULL":
            return Truth(Constant((left.value.value is None) != negated, "boolean"), span)
        if isinstance(left, Truth) and isinstance(left.value, Calculated) and word == "NULL":
            return IsNull(left.value, negated)
        if not isinstance(left, Truth) or not isinstance(left.value, Reference):
            self.fail(f"Cannot use filter: IS {word} needs a column", token)
        return IsNull(left.value, negated) if word == "NULL" else IsNan(left.value, negated)

    def _in_list(self, left: Truth, negated: bool, start: int) -> In:
        if isinstance(left.value, Constant):
            self._column(left)
        self.expect("(")
        values = [self.operand()]
        while self.accept(","):
            values.append(self.operand())
        self.expect(")")
        return In(left.value, tuple(values), negated, Span(start, self.last_end))

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


_TEXT_TESTS = {"STARTSWITH": "{}%", "ENDSWITH": "%{}", "CONTAINS": "%{}%"}  # as patterns of LIKE


def _escaped(prefix: str) -> str:
    return "".join("\\" + character if character in "\\%_" else character for character in prefix)


def _balanced(nodes: list[Node], join: type[And] | type[Or]) -> Node:
    """Long chains as a balanced tree, so that thousands of terms nest a dozen levels deep."""
    while len(nodes) > 1:
        nodes = [join(nodes[i], nodes[i + 1]) if i + 1 < len(nodes) else nodes[i] for i in range(0, len(nodes), 2)]
    return nodes[0]
