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


def sql_error(message: str, text: str, start: int, end: int | None = None) -> SqlError:
    """A SqlError that underlines ``text[start:end]``; at the end of the text it points behind the last visible character."""
    if start >= len(text):
        start = len(text.rstrip())
        end = start + 1
    line, column = line_and_column(text, start)
    return SqlError(message, text=text, line=line, column=column, length=max(1, (end or start + 1) - start))
