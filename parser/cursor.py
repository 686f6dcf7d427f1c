"""A cursor over tokens: what every small grammar of ours is written with."""

from __future__ import annotations

from typing import NoReturn

from icesql.errors import SqlError
from icesql.parser.names import NameParts, Span, TableName
from icesql.parser.places import sql_error
from icesql.parser.tokens import Kind, Token, tokenize


class Cursor:
    """Reads tokens of ``text`` from ``position``; every failure is a SqlError at the token where it happened.

    ``timestamp_ntz``: the type ``TIMESTAMP`` means one without time zone.
    """

    def __init__(self, text: str, position: int = 0, tokens: tuple[Token, ...] | None = None, *, timestamp_ntz: bool = False) -> None:
        self.text = text
        self.timestamp_ntz = timestamp_ntz
        self.tokens = tokenize(text) if tokens is None else tokens
        self.position = position

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        return self.token.kind is Kind.END

    @property
    def last_end(self) -> int:
        """Offset behind the token read last."""
        return self.tokens[self.position - 1].end if self.position else 0

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def next(self) -> Token:
        token = self.token
        if token.kind is not Kind.END:
            self.position += 1
        return token

    def at(self, *keys: str) -> bool:
        """Whether the next tokens are these keywords or operators, in this order."""
        tokens, position = self.tokens, self.position
        if position + len(keys) > len(tokens):
            return False
        return all(tokens[position + i].key == key for i, key in enumerate(keys))

    def at_any(self, *keys: str) -> bool:
        """Whether the next token is one of these."""
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
        found = self.accept_any(*keys)
        return found if found is not None else self.mismatch(*keys)

    def expect_end(self) -> None:
        """Nothing may follow but one ``;``."""
        self.accept(";")
        if not self.at_end:
            problem = "mismatched" if self.position + 2 < len(self.tokens) else "extraneous"
            self.fail(f"{problem} input '{self.token.text}' expecting <EOF>")

    # -- errors ----------------------------------------------------------------------------------------------------------
    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        token = token or self.token
        raise sql_error(message, self.text, token.start, token.end)

    def fail_at(self, message: str, span: Span) -> NoReturn:
        raise sql_error(message, self.text, span.start, span.end)

    def mismatch(self, *expected: str) -> NoReturn:
        shown = f"'{expected[0]}'" if len(expected) == 1 else "{" + ", ".join(f"'{key}'" for key in expected) + "}"
        self.fail(f"mismatched input '{self.token.text}' expecting {shown}")

    def no_alternative(self) -> NoReturn:
        self.fail(f"no viable alternative at input '{self.token.text}'")

    # -- names and literals ----------------------------------------------------------------------------------------------
    def identifier(self) -> str:
        """One identifier, keyword or not, quoted or not. A bare number is none."""
        token = self.token
        if not token.is_identifier:
            self.no_alternative()
        if token.kind is Kind.QUOTED and len(token.text) == 2:
            self.fail("Cannot parse identifier: it is empty: ``")
        self.position += 1
        return token.name

    def name_parts(self) -> NameParts:
        """``a.b.c``; a part after a dot may be any word."""
        parts = [self.identifier()]
        while self.at(".") and self.peek().is_identifier:
            self.position += 1
            parts.append(self.identifier())
        return tuple(parts)

    def table_name(self) -> TableName:
        """A dotted name; ``IDENTIFIER('a.b')`` of one plain string counts as what is in the string."""
        start = self.token.start
        if self.at("IDENTIFIER", "("):
            return self._identifier_clause(start)
        parts = self.name_parts()
        return TableName(parts=parts, start=start, end=self.last_end)

    def _identifier_clause(self, start: int) -> TableName:
        self.expect("IDENTIFIER", "(")
        pieces = [self.string()]
        while self.accept("||"):
            pieces.append(self.string())
        self.expect(")")
        inner = "".join(pieces)
        try:
            cursor = Cursor(inner)
            parts = cursor.name_parts()
            cursor.expect_end()
        except SqlError:
            self.fail_at(f"Cannot parse identifier: it is not a valid name: {inner}", Span(start, self.last_end))
        return TableName(parts=parts, start=start, end=self.last_end)

    def string(self) -> str:
        """One string; adjacent literals are one."""
        if self.token.kind is not Kind.STRING:
            self.fail(f"mismatched input '{self.token.text}' expecting a string")
        pieces = [self.next().string]
        while self.token.kind is Kind.STRING:
            pieces.append(self.next().string)
        return "".join(pieces)

    def integer(self) -> int:
        """One plain integer literal."""
        token = self.token
        if token.kind is not Kind.NUMBER or not token.text.isascii() or not token.text.isdigit():
            self.fail(f"mismatched input '{token.text}' expecting an integer")
        self.position += 1
        return int(token.text[:4000])

    # -- pieces ----------------------------------------------------------------------------------------------------------
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

    def expression_until(self, *stops: str) -> Span:
        """The tokens up to one of the stop words at bracket depth 0 and outside CASE ... END, or to the end; at least one token."""
        start, depth, cases = self.token.start, 0, 0
        first = self.position
        while not self.at_end and not (depth == 0 and self.at(";")):
            key = self.token.key
            if depth == 0 and cases == 0 and key in stops and not self._is_name_part():
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
        return self.position > 0 and self.tokens[self.position - 1].key == "."


_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(_CLOSING.values())
