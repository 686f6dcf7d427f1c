"""Offsets to lines and columns, and errors that point into the user's text."""

from __future__ import annotations

from icesql.errors import SqlError


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of ``offset``; lines end as ``str.splitlines`` ends them."""
    before = text[:offset].splitlines(keepends=True)
    if not before:
        return 1, 1
    if len((before[-1] + "x").splitlines()) > 1:
        return len(before) + 1, 1
    return len(before), len(before[-1]) + 1


def offset_of(text: str, line: int, column: int) -> int:
    """The place of a 1-based line and a 0-based column (Spark's ``line 1 pos 7``)."""
    at = 0
    for _ in range(line - 1):
        line_break = text.find("\n", at)
        if line_break < 0:
            break
        at = line_break + 1
    return min(len(text), at + column)


def sql_error(message: str, text: str, start: int, end: int | None = None) -> SqlError:
    """A SqlError that underlines ``text[start:end]``; at the end of the text it points behind the last visible character."""
    if start >= len(text):
        start = len(text.rstrip())
        end = start + 1
    line, column = line_and_column(text, start)
    return SqlError(message, text=text, line=line, column=column, length=max(1, (end or start + 1) - start))
