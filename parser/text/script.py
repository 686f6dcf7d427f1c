"""Scripts: one text, many statements."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from icesql.errors import SqlError
from icesql.parser.text.places import sql_error
from icesql.parser.text.tokens import Kind, Token, tokenize


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStatement:
    """One statement of a script: its text without comments around it and without ``;``.

    ``number`` counts from 1. ``offset``, ``line`` and ``column`` (1-based) say where it begins in the script.
    """

    text: str
    number: int
    offset: int
    line: int
    column: int


def split(script: str) -> list[ScriptStatement]:
    """The statements of ``script``, cut at every ``;`` that is not within a string, name, comment or BEGIN ... END block.

    Pieces that hold only comments are left out. Raises SqlError for an unclosed string, name or comment.
    """
    line_starts = [0, *accumulate(len(line) for line in script.splitlines(keepends=True))]
    statements: list[ScriptStatement] = []
    tokens = tokenize(script)
    position = 0
    while tokens[position].kind is not Kind.END:
        if tokens[position].key == ";":
            position += 1
            continue
        end = _statement_end(tokens, position)
        start = tokens[position].start
        line = bisect_right(line_starts, start)
        statements.append(
            ScriptStatement(
                text=script[start : tokens[end - 1].end],
                number=len(statements) + 1,
                offset=start,
                line=line,
                column=start - line_starts[line - 1] + 1,
            )
        )
        position = end
    return statements


def relocate(error: SqlError, statement: ScriptStatement, script: str) -> SqlError:
    """``error``, raised for ``statement.text``, with its place counted in the script. An error without a place points at the statement."""
    message = str(error).partition("\n")[0]
    if error.line is None or error.column is None:
        return sql_error(message, script, statement.offset, statement.offset + len(statement.text.split("\n", 1)[0]))
    message = message.removesuffix(f" (line {error.line}, column {error.column})")
    column = error.column + (statement.column - 1 if error.line == 1 else 0)
    return SqlError(message, text=script, line=statement.line + error.line - 1, column=column, length=error.length)


def is_compound(tokens: tuple[Token, ...], position: int = 0) -> bool:
    """Whether a BEGIN ... END script of Spark's begins here: BEGIN that is not the BEGIN of a transaction, maybe behind a label."""
    if tokens[position].is_identifier and tokens[min(position + 1, len(tokens) - 1)].key == ":":
        position += 2
    if position >= len(tokens) or tokens[position].key != "BEGIN":
        return False
    following = tokens[position + 1]
    if following.key in ("WORK", "TRANSACTION"):
        following = tokens[position + 2]
    return following.kind is not Kind.END and following.key != ";"


def is_script(text: str) -> bool:
    """Whether the text is a BEGIN ... END script of Spark's."""
    return "begin" in text.lower() and is_compound(tokenize(text))


_BLOCKS = frozenset({"IF", "WHILE", "LOOP", "REPEAT", "FOR", "CASE", "BEGIN"})
BEFORE_STATEMENT = frozenset({";", "BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT", "ATOMIC", ":"})


def _statement_end(tokens: tuple[Token, ...], position: int) -> int:
    """Index of the ``;`` or END token behind the statement that begins at ``position``."""
    if is_compound(tokens, position):
        return _compound_end(tokens, position)
    while tokens[position].kind is not Kind.END and tokens[position].key != ";":
        position += 1
    return position


def _compound_end(tokens: tuple[Token, ...], position: int) -> int:
    depth, handler, first = 0, False, position
    while tokens[position].kind is not Kind.END:
        key = tokens[position].key
        before = tokens[position - 1].key if position > first else ";"
        if key == ";" and depth == 0:
            return position
        if key == ";":
            handler = False
        elif key == "HANDLER":
            handler = True
        elif key == "END" and before != ".":
            depth -= 1
            position += tokens[position + 1].key in _BLOCKS
        elif _opens_block(key, before, handler):
            depth += 1
        position += 1
    return position


def _opens_block(key: str, before: str, handler: bool) -> bool:
    if key not in _BLOCKS or before == ".":
        return False
    return key == "CASE" or before in BEFORE_STATEMENT or (handler and key == "BEGIN")
