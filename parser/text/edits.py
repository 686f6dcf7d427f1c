"""Edits to the user's text that keep track of where every character came from. The text is never regenerated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from icesql.parser.text.names import Span


@dataclass(frozen=True, slots=True)
class Edit:
    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """``text`` after the edits; ``offset`` maps a place in it back to the user's text."""

    text: str
    starts: tuple[int, ...]  # where each piece starts in `text`
    origins: tuple[tuple[int, int], ...]  # for each piece: where it starts in the user's text, and how far places may advance in it

    def offset(self, position: int) -> int:
        """A place inside a replacement maps to the start of what it replaced."""
        at = max(0, bisect_right(self.starts, position) - 1)
        origin, length = self.origins[at]
        return origin + min(position - self.starts[at], length)


def rewrite(text: str, edits: Iterable[Edit], spans: Iterable[Span] | None = None) -> Rewritten:
    """``text`` with the edits done. With ``spans``: only those pieces of it, joined by blanks. Edits must not overlap."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    out: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int]] = []
    length = 0

    def put(piece: str, origin: int, advance: int) -> None:
        nonlocal length
        if piece:
            out.append(piece)
            starts.append(length)
            origins.append((origin, advance))
            length += len(piece)

    for number, span in enumerate(spans if spans is not None else (Span(0, len(text)),)):
        if number:
            put(" ", span.start, 0)
        at = span.start
        for edit in ordered:
            if span.start <= edit.start and edit.end <= span.end:
                put(text[at : edit.start], at, edit.start - at)
                put(edit.replacement, edit.start, 0)
                at = edit.end
        put(text[at : span.end], at, span.end - at)
    return Rewritten("".join(out), tuple(starts) or (0,), tuple(origins) or ((0, 0),))


def quote(*parts: str) -> str:
    """A name in back-ticks, its parts joined by dots."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def padded(replacement: str, width: int) -> str:
    """Blanks behind a replacement shorter than what it replaces, so that places behind it stay what they were."""
    return replacement + " " * max(0, width - len(replacement))
