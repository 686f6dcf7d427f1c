"""sqlglot's tokens from the project's lexer: Spark's lexical rules, exact offsets, comments kept.

Rules of our own read one token for each that Spark's lexer has. sqlglot's grammar wants some of them joined or cut (``GROUP BY`` is one
token to it, ``3L`` three): ``for_sqlglot`` does that just before its grammar takes over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from icesql.errors import SqlError
from icesql.parser.dialect.sqlglot_source import Spark, SqlglotToken, TokenError, TokenType
from icesql.parser.text import tokens as lexer
from icesql.parser.text.tokens import Kind


class DialectToken(SqlglotToken):
    """A token of sqlglot's: ``text`` is the value, ``end`` is inside. ``lexeme``: the token as the lexer gave it."""

    __slots__ = ("lexeme",)

    def __init__(self, type_: Any, text: str, line: int, column: int, lexeme: lexer.Token) -> None:
        super().__init__(type_, text, line, column, lexeme.start, max(lexeme.start, lexeme.end - 1))
        self.lexeme = lexeme


def with_text(token: DialectToken, text: str, comments: Sequence[str]) -> DialectToken:
    """A plain name in the place of ``token``."""
    lexeme = token.lexeme
    joined = DialectToken(TokenType.VAR, text, token.line, token.col, lexer.Token(Kind.WORD, text, lexeme.start, lexeme.end, ""))
    joined.comments.extend(comments)
    return joined


class Tokenizer(Spark.Tokenizer):
    """The tokenizer of the dialect. Raises sqlglot's TokenError for an unclosed string, name or comment."""

    def tokenize(self, sql: str) -> list[DialectToken]:
        try:
            lexemes = lexer.tokenize(sql)
        except SqlError as error:
            raise TokenError(str(error)) from None
        return _with_comments(sql, dialect_tokens(sql, lexemes))


_TYPES = {**Tokenizer.SINGLE_TOKENS, **Tokenizer.KEYWORDS}
_OF_KINDS = {
    Kind.QUOTED: TokenType.IDENTIFIER, Kind.STRING: TokenType.STRING, Kind.NUMBER: TokenType.NUMBER, Kind.VARIABLE: TokenType.VAR,
}  # fmt: skip


def dialect_tokens(sql: str, lexemes: Sequence[lexer.Token]) -> list[DialectToken]:
    """One token for each lexeme but the last, which is the end."""
    tokens: list[DialectToken] = []
    line, line_start, scanned = 1, 0, 0
    several_lines = "\n" in sql
    for lexeme in lexemes[:-1]:
        if several_lines and (newline := sql.rfind("\n", scanned, lexeme.end)) >= 0:
            line += sql.count("\n", scanned, lexeme.end)
            line_start = newline + 1
        scanned = lexeme.end
        kind = lexeme.kind
        text = lexeme.text
        if kind is Kind.WORD:
            type_ = _TYPES.get(lexeme.key, TokenType.VAR)
        elif kind is Kind.OPERATOR:
            type_ = _TYPES.get(text, TokenType.UNKNOWN)
        else:
            type_ = _OF_KINDS[kind]
            text = lexeme.string if kind is Kind.STRING else lexeme.name
        tokens.append(DialectToken(type_, text, line, lexeme.end - line_start, lexeme))
    return tokens


# -- comments ------------------------------------------------------------------------------------------------------------
_COMMENT = re.compile(r"--[^\r\n\\]*(?:\\\n?[^\r\n\\]*)*|/\*")


def _with_comments(sql: str, tokens: list[DialectToken]) -> list[DialectToken]:
    """Comments stand between the tokens. One behind a token on its line belongs to that token, else to the next."""
    at = 0
    before: DialectToken | None = None
    waiting: list[str] = []
    for token in tokens:
        if token.lexeme.start > at:
            for start, end in comments_in(sql, at, token.lexeme.start):
                same_line = before is not None and "\n" not in sql[at:start]
                (before.comments if before is not None and same_line else waiting).append(_body(sql[start:end]))
        token.comments.extend(waiting)
        waiting.clear()
        before, at = token, token.lexeme.end
    if before is not None:
        before.comments.extend(_body(sql[start:end]) for start, end in comments_in(sql, at, len(sql)))
    return tokens


def comments_in(sql: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where comments stand in a piece of the text that has no tokens but ``;``."""
    while (comment := _COMMENT.search(sql, start, end)) is not None:
        start = lexer.comment_end(sql, comment.start()) if comment[0] == "/*" else comment.end()
        yield comment.start(), start


def _body(comment: str) -> str:
    return comment[2:-2] if comment.startswith("/*") else comment[2:]


# -- for sqlglot's own grammar -------------------------------------------------------------------------------------------
_PHRASES: dict[str, list[tuple[tuple[str, ...], Any]]] = {}
for _words, _type in sorted(Tokenizer.KEYWORDS.items(), key=lambda item: -len(item[0])):
    if " " in _words:
        _PHRASES.setdefault(_words.split()[0], []).append((tuple(_words.split()), _type))
_SUFFIXES = {"L": "BIGINT", "S": "SMALLINT", "Y": "TINYINT", "D": "DOUBLE", "F": "FLOAT"}
_SUFFIX = re.compile(r"(?<=[\d.])[LSYDF]$", re.IGNORECASE)  # BD stays: the digits say which decimal it is


def for_sqlglot(tokens: Sequence[DialectToken], sql: str) -> list[Any]:
    """The tokens as sqlglot's grammar expects them."""
    read: list[Any] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        lexeme = token.lexeme
        phrase = _phrase(tokens, at) if lexeme.kind is Kind.WORD and lexeme.key in _PHRASES else None
        if phrase is not None:
            words, type_ = phrase
            read.append(_joined(type_, " ".join(words), tokens[at : at + len(words)]))
            at += len(words)
        elif lexeme.key == "/*+":
            close = next((i for i in range(at, len(tokens)) if tokens[i].lexeme.key == "*/"), len(tokens) - 1)
            _add_hint(read, tokens[at : close + 1], sql)
            at = close + 1
        elif lexeme.key == "X" and at + 1 < len(tokens) and tokens[at + 1].lexeme.kind is Kind.STRING:
            read.append(_joined(TokenType.HEX_STRING, tokens[at + 1].text, tokens[at : at + 2]))
            at += 2
        else:
            read.extend(_cut_number(token) if lexeme.kind is Kind.NUMBER else (token,))
            at += 1
    return read


def _phrase(tokens: Sequence[DialectToken], at: int) -> tuple[tuple[str, ...], Any] | None:
    if at and tokens[at - 1].lexeme.key == ".":
        return None
    for words, type_ in _PHRASES[tokens[at].lexeme.key]:
        following = tokens[at : at + len(words)]
        if len(following) == len(words) and all(token.lexeme.key == word for token, word in zip(following, words, strict=True)):
            return words, type_
    return None


def _joined(type_: Any, text: str, pieces: Sequence[DialectToken]) -> Any:
    last = pieces[-1]
    comments = [comment for piece in pieces for comment in piece.comments]
    return SqlglotToken(type_, text, last.line, last.col, pieces[0].start, last.end, comments)


def _cut_number(token: DialectToken) -> tuple[Any, ...]:
    suffix = _SUFFIX.search(token.text)
    if suffix is None:
        return (token,)
    place = (token.line, token.col, token.start, token.end)
    name = _SUFFIXES[suffix[0].upper()]
    return (
        SqlglotToken(TokenType.NUMBER, token.text[: suffix.start()], *place),
        SqlglotToken(TokenType.DCOLON, "::", *place),
        SqlglotToken(_TYPES[name], name, *place, token.comments),
    )


def _add_hint(tokens: list[Any], pieces: Sequence[DialectToken], sql: str) -> None:
    """A hint is a token whose comment is what it says; where none may stand it is a comment."""
    body = sql[pieces[0].lexeme.end : pieces[-1].lexeme.start]
    if tokens and tokens[-1].token_type in Tokenizer.TOKENS_PRECEDING_HINT:
        hint = _joined(TokenType.HINT, "/*+", pieces)
        hint.comments = [body]
        tokens.append(hint)
    elif tokens:
        tokens[-1].comments.append(f"+{body}")
