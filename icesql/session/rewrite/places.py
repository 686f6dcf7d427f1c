"""Places in the user's text, and replacements that keep them: where a view's name is shorter than the table's it is padded, so that
positions behind it stay what they were."""

from __future__ import annotations

from icesql.parser.text.edits import Edit, Rewritten, quote, rewrite

__all__ = ["Edit", "Rewritten", "line_and_column", "offset_of", "padded", "quote", "rewrite"]


def padded(replacement: str, width: int) -> str:
    """Blanks behind a replacement shorter than what it replaces."""
    return replacement + " " * max(0, width - len(replacement))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a place."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def offset_of(text: str, line: int, column: int) -> int:
    """The place of a 1-based line and a 0-based column (Spark's ``line 1 pos 7``)."""
    at = 0
    for _ in range(line - 1):
        following = text.find("\n", at)
        if following < 0:
            break
        at = following + 1
    return min(len(text), at + column)
