"""The rules for values in predicates: literals, columns, and what is computed of them, in SQL's order of precedence."""

from __future__ import annotations

from icesql.expr.tree import Reference
from icesql.parser.clauses.computed_constants import calculated
from icesql.parser.clauses.filter_tree import Case, Coalesce, Node, Operand
from icesql.parser.clauses.intervals import interval_of
from icesql.parser.constants import Constant
from icesql.parser.dialect.token_reader import MAX_DEPTH
from icesql.parser.frozen.columns import ColumnValues
from icesql.parser.frozen.folding import Constants
from icesql.parser.text.names import Span
from icesql.parser.text.tokens import Kind

_TRANSFORMS = frozenset({"bucket", "truncate", "year", "years", "month", "months", "day", "days", "hour", "hours", "identity"})
_FLOATING_WORDS = {"nan": float("nan"), "inf": float("inf"), "infinity": float("inf"), "-inf": float("-inf"), "-infinity": float("-inf")}
_FUNCTIONS = {"ABS": "abs", "LENGTH": "length", "CHAR_LENGTH": "length", "LEN": "length"}
_FIRST_PRESENT = frozenset({"COALESCE", "IFNULL", "NVL"})


class Operands(Constants):
    """Each rule raises SqlError at what is not understood."""

    _filter_depth = 0

    def _deeper(self) -> None:
        self._filter_depth += 1
        if self._filter_depth > MAX_DEPTH:
            self.fail(f"Cannot use filter: it is nested deeper than {MAX_DEPTH} levels")

    def disjunction(self) -> Node:
        """A condition, for CASE."""
        raise NotImplementedError

    # -- what is computed ------------------------------------------------------------------------------------------------
    def operand(self) -> Operand:
        start = self.token.start
        return self.sums_from(self._product(), start)

    def sums_from(self, left: Operand, start: int) -> Operand:
        """Goes on behind a value: ``* 2 + 1``."""
        left = self._products_from(left, start)
        while self.token.key in ("+", "-"):
            function = self.next().key
            left = calculated(function, (left, self._product()), Span(start, self.last_end), self.sql)
        return left

    def _product(self) -> Operand:
        start = self.token.start
        return self._products_from(self._signed(), start)

    def _products_from(self, left: Operand, start: int) -> Operand:
        while self.token.key in ("*", "/", "%", "DIV"):
            function = self.next().key.lower()
            left = calculated(function, (left, self._signed()), Span(start, self.last_end), self.sql)
        return left

    def _signed(self) -> Operand:
        start = self.token.start
        if self.token.key not in ("-", "+") or self.peek().kind is Kind.NUMBER:
            return self._value()
        sign = self.next().key
        self._deeper()
        inner = self._signed()
        self._filter_depth -= 1
        return inner if sign == "+" else calculated("negative", (inner,), Span(start, self.last_end), self.sql)

    def _value(self) -> Operand:
        if self.at("("):
            self.next()
            self._deeper()
            inner = self.operand()
            self._filter_depth -= 1
            self.expect(")")
            return inner
        if self.at("INTERVAL") and (self.peek().kind in (Kind.STRING, Kind.NUMBER) or self.peek().key == "-"):
            return self._interval_literal()
        if self.at("CASE") and (self.peek().kind is not Kind.OPERATOR or self.peek().key == "("):
            return self._case()
        if self.peek().key == "(" and self.token.key in (*_FUNCTIONS, *_FIRST_PRESENT, "IF"):
            return self._call()
        if self._begins_constant():
            return self.constant()
        return self.term()

    def _call(self) -> Operand:
        start, name = self.token.start, self.next().key
        self.expect("(")
        self._deeper()
        if name == "IF":
            condition = self.disjunction()
            self.expect(",")
            arguments = self._arguments()
            if len(arguments) != 2:
                self.fail_at("Cannot use filter: IF takes a condition and two values", Span(start, self.last_end))
            result: Operand = Case(((condition, arguments[0]),), arguments[1])
        else:
            arguments = self._arguments()
            span = Span(start, self.last_end)
            if name in _FIRST_PRESENT:
                result = Coalesce(arguments, span)
            elif len(arguments) == 1:
                result = calculated(_FUNCTIONS[name], arguments, span, self.sql)
            else:
                self.fail_at(f"Cannot use filter: {name} takes one value", span)
        self._filter_depth -= 1
        return result

    def _arguments(self) -> tuple[Operand, ...]:
        """To the closing bracket."""
        arguments = [self.operand()]
        while self.accept(","):
            arguments.append(self.operand())
        self.expect(")")
        return tuple(arguments)

    def _case(self) -> Case:
        self.expect("CASE")
        self._deeper()
        if not self.at("WHEN"):
            self.fail(f"Cannot use filter: CASE is understood with conditions, CASE WHEN ...: {self.token.text}")
        branches: list[tuple[Node, Operand]] = []
        while self.accept("WHEN"):
            condition = self.disjunction()
            self.expect("THEN")
            branches.append((condition, self.operand()))
        default = self.operand() if self.accept("ELSE") else None
        self.expect("END")
        self._filter_depth -= 1
        return Case(tuple(branches), default)

    def _interval_literal(self) -> Constant:
        start = self.next().start
        words: list[str] = []
        while self.token.kind in (Kind.STRING, Kind.NUMBER) or (self.at("-") and self.peek().kind is Kind.NUMBER):
            sign = "-" if self.accept("-") else ""
            words.append(self.text_value() if self.token.kind is Kind.STRING else sign + self.next().text)
            if self.token.kind is Kind.WORD and self.token.key.rstrip("S") in _UNITS:
                words.append(self.next().text)
        interval = interval_of(" ".join(words))
        if interval is None:
            self.fail_at("Cannot use filter: the interval is not understood, write INTERVAL '1' DAY", Span(start, self.last_end))
        return Constant(interval, "interval")

    # -- literals and columns --------------------------------------------------------------------------------------------
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


_UNITS = frozenset({"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"})
