"""How the rules of the dialect read tokens: keywords, names, literals, lists and pieces of text. Strict where sqlglot is lenient."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from icesql.errors import SqlError
from icesql.parser.dialect.nodes import Verbatim, place
from icesql.parser.dialect.relation_tokens import Tables
from icesql.parser.dialect.sqlglot_source import Spark, exp
from icesql.parser.dialect.tokens import dialect_tokens
from icesql.parser.text import tokens as lexer
from icesql.parser.text.names import NameParts, Span
from icesql.parser.text.places import sql_error
from icesql.parser.text.tokens import Kind, Token

if TYPE_CHECKING:
    from typing_extensions import Self

Value = TypeVar("Value")
MAX_DEPTH = 100
_SPARK = Spark()
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(_CLOSING.values())


class TokenReader(Spark.Parser):
    """sqlglot's parser with a stricter way to read: every failure is a SqlError at the token where it happened.

    The current token is ``token``, as the lexer gave it; behind the last one, and at ``;``, the statement ends.
    ``keeps_text``: expressions and queries stay pieces of the text (Verbatim). Else sqlglot's grammar makes trees of them where it can.
    """

    sql: str
    tokens: list[Any] = []  # of one statement; ``position`` is the index of the current one
    position = 0
    keeps_text = False
    known_tables: Tables | None = None  # in the text, once they were asked for
    is_ours_alone = False  # the statement has a form that Spark does not know

    @classmethod
    def of(cls, text: str, dialect: Any = None) -> Self:
        """A reader at the beginning of ``text``, which keeps text. Raises SqlError for an unclosed string, name or comment."""
        reader = cls(dialect=dialect or _SPARK)
        reader.keeps_text = True
        reader.sql = text
        lexemes = lexer.tokenize(text)
        reader.tokens = dialect_tokens(text, lexemes)
        return reader

    # -- tokens ----------------------------------------------------------------------------------------------------------
    @property
    def token(self) -> Token:
        return self.peek(0)

    def peek(self, ahead: int = 1) -> Token:
        at = self.position + ahead
        return self.tokens[at].lexeme if at < len(self.tokens) else self._end()

    def _end(self) -> Token:
        end = len(self.sql) if self.keeps_text or not self.tokens else self.tokens[-1].lexeme.end
        return Token(Kind.END, "<EOF>", end, end, "<EOF>")

    @property
    def previous(self) -> Token:
        return self.tokens[self.position - 1].lexeme if self.position else Token(Kind.END, "", 0, 0, "")

    @property
    def last_end(self) -> int:
        """Offset behind the token read last."""
        return self.previous.end

    @property
    def at_end(self) -> bool:
        """Whether the statement ends here."""
        return self.position >= len(self.tokens) or self.tokens[self.position].lexeme.key == ";"

    def next(self) -> Token:
        token = self.token
        if self.position < len(self.tokens):
            self.position += 1
        return token

    def at(self, *keys: str) -> bool:
        """Whether the next tokens are these keywords or operators, in this order."""
        tokens, index = self.tokens, self.position
        if index + len(keys) > len(tokens):
            return False
        return all(tokens[index + i].lexeme.key == key for i, key in enumerate(keys))

    def at_any(self, *keys: str) -> bool:
        return self.token.key in keys

    def accept(self, *keys: str) -> bool:
        """Read these keywords if they come next, all or none."""
        if not self.at(*keys):
            return False
        self.position += len(keys)
        return True

    def accept_any(self, *keys: str) -> str | None:
        if self.token.key not in keys or self.token.kind is Kind.END:
            return None
        return self.next().key

    def expect(self, *keys: str) -> None:
        for key in keys:
            if not self.accept(key):
                self.mismatch(key)

    def expect_any(self, *keys: str) -> str:
        keyword = self.accept_any(*keys)
        return keyword if keyword is not None else self.mismatch(*keys)

    def expect_end(self) -> None:
        """Nothing may follow but one ``;``."""
        self.accept(";")
        if self.position < len(self.tokens):
            problem = "mismatched" if self.position + 1 < len(self.tokens) else "extraneous"
            self.fail(f"{problem} input '{self.token.text}' expecting <EOF>")

    # -- errors ----------------------------------------------------------------------------------------------------------
    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        token = token or self.token
        raise sql_error(message, self.sql, token.start, token.end)

    def fail_at(self, message: str, span: Span) -> NoReturn:
        raise sql_error(message, self.sql, span.start, span.end)

    def mismatch(self, *expected: str) -> NoReturn:
        shown = f"'{expected[0]}'" if len(expected) == 1 else "{" + ", ".join(f"'{key}'" for key in expected) + "}"
        self.fail(f"mismatched input '{self.token.text}' expecting {shown}")

    def no_alternative(self) -> NoReturn:
        self.fail(f"no viable alternative at input '{self.token.text}'")

    # -- names and literals ----------------------------------------------------------------------------------------------
    def name(self) -> str:
        """One identifier, keyword or not, quoted or not. A bare number is none."""
        token = self.token
        if not token.is_identifier:
            self.no_alternative()
        if token.kind is Kind.QUOTED and len(token.text) == 2:
            self.fail("Cannot parse identifier: it is empty: ``")
        self.position += 1
        return token.name

    def identifier(self) -> Any:
        """One identifier as a node."""
        token = self.token
        return place(exp.Identifier(this=self.name(), quoted=token.kind is Kind.QUOTED), token.start, token.end)

    def _identifiers(self) -> list[Any]:
        """``a.b.c``; a part after a dot may be any word."""
        parts = [self.identifier()]
        while self.at(".") and self.peek().is_identifier:
            self.position += 1
            parts.append(self.identifier())
        return parts

    def name_parts(self) -> NameParts:
        return tuple(part.name for part in self._identifiers())

    def path(self) -> Any:
        """A column, or a field within one at any depth: an Identifier or a Dot."""
        start = self.token.start
        parts = self._identifiers()
        return parts[0] if len(parts) == 1 else place(exp.Dot.build(parts), start, self.last_end)

    def table(self) -> Any:
        """A dotted name; ``IDENTIFIER('a.b')`` of plain strings counts as what is in them."""
        start = self.token.start
        parts = self._identifier_clause() if self.at("IDENTIFIER", "(") else self._identifiers()
        last, *before = reversed(parts)
        if len(parts) <= 3:
            named = exp.Table(this=last, **dict(zip(("db", "catalog"), before, strict=False)))
        else:
            named = exp.Table(this=exp.Dot.build(parts[2:]), db=parts[1], catalog=parts[0])
        return place(named, start, self.last_end)

    def _identifier_clause(self) -> list[Any]:
        start = self.token.start
        self.expect("IDENTIFIER", "(")
        pieces = [self.text_value()]
        while self.accept("||"):
            pieces.append(self.text_value())
        self.expect(")")
        inner = "".join(pieces)
        try:
            reader = TokenReader.of(inner)
            parts = reader._identifiers()
            reader.expect_end()
        except SqlError:
            self.fail_at(f"Cannot parse identifier: it is not a valid name: {inner}", Span(start, self.last_end))
        return parts

    def text_value(self) -> str:
        """One string; adjacent literals are one."""
        if self.token.kind is not Kind.STRING:
            self.fail(f"mismatched input '{self.token.text}' expecting a string")
        pieces = [self.next().string]
        while self.token.kind is Kind.STRING:
            pieces.append(self.next().string)
        return "".join(pieces)

    def string(self) -> Any:
        """One string as a node."""
        return exp.Literal.string(self.text_value())

    def integer(self) -> int:
        """One plain integer literal."""
        token = self.token
        if token.kind is not Kind.NUMBER or not token.text.isascii() or not token.text.isdigit():
            self.fail(f"mismatched input '{token.text}' expecting an integer")
        self.position += 1
        return int(token.text[:4000])

    # -- lists -----------------------------------------------------------------------------------------------------------
    def listed(self, rule: Callable[[], Value]) -> list[Value]:
        values = [rule()]
        while self.accept(","):
            values.append(rule())
        return values

    def in_brackets(self, rule: Callable[[], Value], *, optional: bool = False) -> list[Value]:
        """``(a, b)``, or where brackets are optional also ``a, b``."""
        if optional and not self.at("("):
            return self.listed(rule)
        self.expect("(")
        values = self.listed(rule)
        self.expect(")")
        return values

    # -- pieces of text --------------------------------------------------------------------------------------------------
    def verbatim(self, start: int, end: int | None = None) -> Any:
        """The text from ``start`` to the token read last."""
        end = self.last_end if end is None else end
        return place(Verbatim(this=self.sql[start:end]), start, end)

    def skip_balanced(self) -> Span:
        """Read a bracketed group whole, whatever is in it; the span includes the brackets."""
        opening = self.token
        if opening.key not in _CLOSING:
            self.mismatch("(")
        stack: list[str] = []
        while True:
            token = self.next()
            if token.kind is Kind.END:
                self.fail(f"Cannot parse statement: the '{opening.text}' that begins here never closes", opening)
            if token.key in _CLOSING:
                stack.append(_CLOSING[token.key])
            elif token.key in _CLOSERS:
                if not stack or stack.pop() != token.key:
                    self.fail(f"extraneous input '{token.text}'", token)
                if not stack:
                    return Span(opening.start, token.end)

    def brackets(self) -> Any:
        span = self.skip_balanced()
        return self.verbatim(span.start)

    def expression_until(self, *stops: str) -> Span:
        """The tokens up to one of the stop words at bracket depth 0 and outside CASE ... END, or to the end; at least one token."""
        start, first, depth, cases = self.token.start, self.position, 0, 0
        while self.position < len(self.tokens):
            key = self.token.key
            if depth == 0 and (key == ";" or (cases == 0 and key in stops and not self._is_name_part())):
                break
            if key in _CLOSING:
                depth += 1
            elif key in _CLOSERS:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and key == "CASE" and not self._is_name_part():
                cases += 1
            elif depth == 0 and key == "END" and cases and not self._is_name_part():
                cases -= 1
            self.position += 1
        if self.position == first:
            self.no_alternative()
        return Span(start, self.last_end)

    def _is_name_part(self) -> bool:
        """Whether the current word follows a dot: a field, never a keyword."""
        return self.previous.key == "."

    def skip_rest(self) -> Span:
        """Everything up to the end (a closing ``;`` left out); at least one token."""
        start = self.token.start
        if self.at_end:
            self.no_alternative()
        self.position = last = len(self.tokens)
        while self.tokens[last - 1].lexeme.key == ";":
            last -= 1
        return Span(start, self.tokens[last - 1].lexeme.end)

    def rest(self) -> Any:
        """As ``skip_rest``, as text."""
        span = self.skip_rest()
        return self.verbatim(span.start, span.end)
