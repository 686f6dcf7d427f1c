"""What all statements have in common."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One SQL statement. ``text`` is what the user wrote; every offset in the value counts its characters."""

    text: str
