"""The LIKE patterns of SHOW statements: ``*`` for anything, ``|`` between choices, case ignored (Spark's ``StringUtils.filterPattern``)."""

from __future__ import annotations

import re


def matches(name: str, pattern: str | None) -> bool:
    """``True`` for no pattern. Other characters are those of a regular expression, as in Spark; a choice that is none matches nothing."""
    if pattern is None:
        return True
    for choice in pattern.strip().split("|"):
        try:
            if re.fullmatch(choice.replace("*", ".*"), name, re.IGNORECASE):
                return True
        except re.error:
            continue
    return False
