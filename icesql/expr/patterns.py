"""LIKE's patterns: ``%`` is any text, ``_`` one character, and a backslash makes the character behind it stand for itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache


def pattern_parts(pattern: str, escape: str = "\\") -> Iterator[tuple[str, bool]]:
    """The characters of a pattern, and whether each is a wildcard. An escape at the end stands for itself."""
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            yield next(characters, character), False
        else:
            yield character, character in "%_"


def with_backslashes(pattern: str, escape: str) -> str:
    """The same pattern with the backslash as its escape."""
    return "".join(part if is_wildcard or part not in "%_\\" else f"\\{part}" for part, is_wildcard in pattern_parts(pattern, escape))


@lru_cache(maxsize=256)
def like_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression whose ``fullmatch`` is LIKE."""
    wildcards = {"%": ".*", "_": "."}
    parts = (wildcards[part] if is_wildcard else re.escape(part) for part, is_wildcard in pattern_parts(pattern))
    return re.compile("".join(parts), re.DOTALL)
