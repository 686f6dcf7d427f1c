"""What the rules of the dialect read with besides tokens: queries and expressions, which are Spark's to judge, and property lists."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from icesql.errors import SqlError
from icesql.parser.dialect.nodes import place
from icesql.parser.dialect.relation_tokens import Tables, hide_tables, put_tables_back, tables_of
from icesql.parser.dialect.sqlglot_source import ParseError, exp
from icesql.parser.dialect.token_reader import TokenReader
from icesql.parser.dialect.tokens import dialect_tokens, for_sqlglot
from icesql.parser.text import tokens as lexer
from icesql.parser.text.names import Span
from icesql.parser.text.tokens import Kind
from icesql.spark_errors import spark_message

OWN_FAILURES = (LookupError, ValueError, TypeError, AttributeError, RecursionError)
"""How sqlglot's grammar fails besides ParseError: ``map('a')`` is an IndexError."""
_SELECT = dialect_tokens("SELECT", lexer.tokenize("SELECT"))


class Reader(TokenReader):
    """See ``TokenReader``."""

    # -- what is Spark's to judge ----------------------------------------------------------------------------------------
    def expression_in(self, span: Span) -> Any:
        """The expression that stands there."""
        return self.tree(span, before=_SELECT, pick=lambda query: query.expressions[0].pop() if len(query.expressions) == 1 else None)

    def query(self) -> Any:
        """The query from here to the end of the statement."""
        return self.tree(self.skip_rest())

    def tree(
        self,
        span: Span,
        *,
        before: Sequence[Any] = (),
        behind: Sequence[Any] = (),
        pick: Callable[[Any], Any] = lambda query: query,
        reads_stock: bool = True,
    ) -> Any:
        """What sqlglot makes of a piece of the text, which stays text where it makes nothing of it.

        ``before`` and ``behind``: tokens around it that make a query of it, of which ``pick`` takes what is wanted.
        ``reads_stock``: it is a query of Spark's, else any statement.
        """
        text = self.verbatim(span.start, span.end)
        if self.keeps_text:
            return text
        first, last = (bisect_left(self.tokens, offset, key=lambda token: token.lexeme.start) for offset in (span.start, span.end))
        tokens = [*before, *self.tokens[first:last], *behind]
        parser = self.dialect.parser()
        parser.reads_stock, parser.known_tables = reads_stock, self.tables_in_text()
        try:
            (query,) = parser.parse(self.stock_tokens(tokens) if reads_stock else tokens, self.sql)
            tree = pick(query)
            if tree is None or tree.find(exp.Command):
                return text
            put_tables_back(tree, self.sql, self.tables_in_text(), self.expression_in)
        except (ParseError, SqlError, *OWN_FAILURES):
            return text
        for token in self.tokens[first:last]:
            token.comments = []  # sqlglot has read them
        return place(tree, span.start, span.end)

    def stock_tokens(self, tokens: Sequence[Any]) -> list[Any]:
        """The tokens as sqlglot's grammar reads them; ``put_tables_back`` is for its tree."""
        return for_sqlglot(hide_tables(tokens, self.tables_in_text()), self.sql)

    def tables_in_text(self) -> Tables:
        if self.known_tables is None:
            self.known_tables = tables_of(self.sql)
        return self.known_tables

    def commented(self, node: Any, first: int) -> Any:
        """``node``, read from the token at index ``first`` on, with the comments there; also with one behind the comma that follows it."""
        if not self.keeps_text:
            last = self.position + self.at(",")
            for token in self.tokens[first:last]:
                node.add_comments(token.comments)
                token.comments = []
        return node

    # -- property lists --------------------------------------------------------------------------------------------------
    def properties(self) -> list[Any]:
        """``('k' = 'v', a.b = 5, c true)``: Property nodes, values as text. Raises SqlError for a key without a value or given twice."""
        properties: dict[str, Any] = {}
        missing: list[str] = []
        self.expect("(")
        while not self.at(")") or not (properties or missing):
            if properties or missing:
                self.expect(",")
            first, key = self.position, self._property_key()
            if key in properties:
                self.fail(spark_message("DUPLICATE_KEY", f"Found duplicate keys `{key}`."))
            value = self._property_value()
            if value is None:
                missing.append(key)
            else:
                pair = exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value))
                properties[key] = self.commented(pair, first)
        self.expect(")")
        if missing:
            self.fail(f"Operation not allowed: Values must be specified for key(s): [{','.join(missing)}].")
        return list(properties.values())

    def property_keys(self) -> list[Any]:
        """``('k', a.b)``."""
        keys: dict[str, None] = {}
        self.expect("(")
        while not self.at(")") or not keys:
            if keys:
                self.expect(",")
            key = self._property_key()
            if key in keys:
                self.fail(spark_message("DUPLICATE_KEY", f"Found duplicate keys `{key}`."))
            keys[key] = None
            if self.at("="):
                self.fail(f"Operation not allowed: Values should not be specified for key(s): [{key}].")
        self.expect(")")
        return [exp.Literal.string(key) for key in keys]

    def _property_key(self) -> str:
        """One string, not several side by side: the next may be the value, as ``=`` may be left out."""
        return self.next().string if self.token.kind is Kind.STRING else ".".join(self.name_parts())

    def _property_value(self) -> str | None:
        equals = self.accept_any("=", "==") is not None
        token = self.token
        if token.kind is Kind.STRING:
            return self.text_value()
        if token.kind is Kind.NUMBER:
            if not token.text.replace(".", "", 1).isdigit():
                self.no_alternative()
            return self.next().text
        if token.key in ("TRUE", "FALSE"):
            return self.next().key.lower()
        return self.no_alternative() if equals else None

    # -- clauses that many statements share ------------------------------------------------------------------------------
    def if_exists(self) -> bool:
        return self.accept("IF", "EXISTS")

    def if_not_exists(self) -> bool:
        return self.accept("IF", "NOT", "EXISTS")

    def dotted_text(self) -> Any:
        """A dotted name as one string, such as a provider's."""
        return exp.Var(this=".".join(self.name_parts()))
