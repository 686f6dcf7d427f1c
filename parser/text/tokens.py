"""Spark's lexical rules: text to tokens with exact offsets.

The one lexer of the project; ``dialect_tokens`` makes sqlglot's tokens of its. sqlglot's own tokenizer cannot be told all that Spark's
lexer accepts: continued line comments, nested comments, dollar quotes, raw strings, identifiers that begin with a digit, parameter markers.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from icesql.errors import SqlError
from icesql.parser.text.places import sql_error


class Kind(str, Enum):
    WORD = "word"  # keyword or plain identifier
    QUOTED = "quoted"  # `identifier`
    STRING = "string"
    NUMBER = "number"
    OPERATOR = "operator"  # punctuation; also `?` and `:` of parameter markers, `/*+` and `*/` of hints
    VARIABLE = "variable"  # ${name}, not yet substituted
    END = "end"


class Token:
    """``key``: upper-case text of a word, the text itself of an operator, else ``""``: what keyword tests compare."""

    __slots__ = ("end", "key", "kind", "start", "text")

    def __init__(self, kind: Kind, text: str, start: int, end: int, key: str) -> None:
        self.kind, self.text, self.start, self.end, self.key = kind, text, start, end, key

    @property
    def is_identifier(self) -> bool:
        return self.kind is Kind.WORD or self.kind is Kind.QUOTED

    @property
    def name(self) -> str:
        """The identifier without its back-ticks."""
        return self.text[1:-1].replace("``", "`") if self.kind is Kind.QUOTED else self.text

    @property
    def string(self) -> str:
        """The value of a string token, escapes undone."""
        return string_value(self.text)

    def __repr__(self) -> str:
        return f"{self.kind.value}:{self.text}"


_EXPONENT = r"[eE][+-]?\d+"
_LEXEME = re.compile(
    rf"""
    (?P<space>\s+|--[^\r\n\\]*(?:\\\n?[^\r\n\\]*)*)
  | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
  | (?P<number>(?:\d+\.\d*|\.\d+)(?:{_EXPONENT})?(?:BD|bd|Bd|bD|[dDfF])?(?![\w])
      | \d+{_EXPONENT}(?:BD|bd|Bd|bD|[dDfF])?(?![\w])
      | \d+(?:BD|bd|Bd|bD|[dDfFlLsSyY])?(?![\w]))
  | (?P<word>[^\W\d]+://[\w/\-.?=&\#%]+|\w+)
  | (?P<string>'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*")
  | (?P<quoted>`[^`]*(?:``[^`]*)*`)
  | (?P<hint>/\*\+)
  | (?P<comment>/\*)
  | (?P<variable>\$\{{[^}}]*\}})
  | (?P<dollar>\$\w*\$)
  | (?P<operator>\*/|<=>|<>|!=|<=|>=|=>|->|\|\||\|>|::|==|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_KINDS = {
    "raw": Kind.STRING, "number": Kind.NUMBER, "word": Kind.WORD, "string": Kind.STRING, "quoted": Kind.QUOTED,
    "hint": Kind.OPERATOR, "variable": Kind.VARIABLE, "dollar": Kind.STRING, "operator": Kind.OPERATOR,
}  # fmt: skip


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of ``text``, comments left out, closed by one END token. Raises SqlError for an unclosed string, name or comment."""
    return _tokenize_cached(text) if len(text) <= _CACHED_SIZE else _tokenize(text)


def _tokenize(text: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    position, size = 0, len(text)
    match = _LEXEME.match
    while position < size:
        lexeme = match(text, position)
        assert lexeme is not None  # the last alternative takes any character
        group, end = lexeme.lastgroup or "", lexeme.end()
        if group == "space":
            position = end
            continue
        if group == "comment":
            position = comment_end(text, position)
            continue
        piece = lexeme[0]
        if group == "dollar":
            group, end, piece = _dollar_quoted(text, position, piece)
        elif group == "operator" and piece in "'\"`":
            raise _unclosed(text, position)
        key = piece.upper() if group == "word" else piece if group in ("operator", "hint") else ""
        tokens.append(Token(_KINDS[group], piece, position, end, key))
        position = end
    tokens.append(Token(Kind.END, "<EOF>", size, size, "<EOF>"))
    return tuple(tokens)


_CACHED_SIZE = 20_000  # characters; a long script is read once
_tokenize_cached = lru_cache(maxsize=256)(_tokenize)


def comment_end(text: str, start: int) -> int:
    """Behind the bracketed comment that begins at ``start``; they nest. Raises SqlError where it never closes."""
    depth, position = 0, start
    while True:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            raise sql_error("Found an unclosed bracketed comment. Please, append */ at the end of the comment.", text, start, start + 2)
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
        if depth == 0:
            return position


def _dollar_quoted(text: str, start: int, tag: str) -> tuple[str, int, str]:
    close = text.find(tag, start + len(tag))
    if close < 0:
        return "operator", start + 1, "$"
    end = close + len(tag)
    return "dollar", end, text[start:end]


def _unclosed(text: str, start: int) -> SqlError:
    what = "quoted name" if text[start] == "`" else "string"
    return sql_error(f"Cannot parse statement: the {what} that begins here never ends", text, start, start + 1)


_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def string_value(literal: str) -> str:
    """What a string literal stands for: quotes removed, escapes undone as Spark does, raw and dollar-quoted strings as they are."""
    if literal[0] in "rR":
        return literal[2:-1]
    if literal[0] == "$":
        tag = literal.index("$", 1) + 1
        return literal[tag:-tag]
    quote, body = literal[0], literal[1:-1]
    if "\\" not in body:
        return body.replace(quote * 2, quote)
    pieces = re.split(r"(\\.)", body, flags=re.DOTALL)
    doubled = "".join(piece if piece.startswith("\\") else piece.replace(quote * 2, quote) for piece in pieces)
    return _ESCAPE.sub(_unescape, doubled)


def _unescape(match: re.Match[str]) -> str:
    if match[1] or match[2]:
        code = int(match[1] or match[2], 16)
        return chr(code) if code <= 0x10FFFF else "�"
    if match[3]:
        return chr(int(match[3], 8))
    return _ESCAPED.get(match[4], match[4])
