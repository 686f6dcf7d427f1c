"""Names of tables and namespaces: parsing, printing, and which characters they may not contain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from icesql.errors import InvalidArgumentError

Identifier: TypeAlias = tuple[str, ...]
Namespace: TypeAlias = tuple[str, ...]

_PLAIN = re.compile(r"[^.`]+")
_QUOTED = re.compile(r"`(?:[^`]|``)*`")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def identifier_of(name: Identifier | str) -> Identifier:
    """``"db.events"`` or ``("db", "events")`` as a tuple; a level that holds a dot is written in back-ticks.

    Raises InvalidArgumentError for an empty name or level.
    """
    levels = _levels(name, "table identifier")
    if not levels or not all(levels):
        raise InvalidArgumentError(f"Cannot read table identifier: a level is empty: {name!r}")
    return levels


def namespace_of(name: Namespace | str) -> Namespace:
    """``"db.sub"`` or ``("db", "sub")`` as a tuple, as ``identifier_of``; ``()`` is the root. Raises InvalidArgumentError."""
    return _levels(name, "namespace")


def _levels(name: tuple[str, ...] | str, noun: str) -> tuple[str, ...]:
    if isinstance(name, str):
        return _split(name, noun)
    if not isinstance(name, tuple | list) or not all(isinstance(level, str) for level in name):
        raise InvalidArgumentError(
            f"Cannot read {noun}: a name must be text or a tuple of text, not {type(name).__name__}: {name!r}", value=name
        )
    return tuple(name)


def _split(text: str, noun: str) -> tuple[str, ...]:
    levels: list[str] = []
    position = 0
    while True:
        match = _QUOTED.match(text, position) or _PLAIN.match(text, position)
        if match is None:
            raise InvalidArgumentError(f"Cannot read {noun}: a level is empty or a back-tick is open: {text!r}")
        part = match.group()
        levels.append(part[1:-1].replace("``", "`") if part.startswith("`") else part)
        position = match.end()
        if position == len(text):
            return tuple(levels)
        if text[position] != ".":
            raise InvalidArgumentError(f"Cannot read {noun}: expected '.' at position {position}: {text!r}")
        position += 1


def dotted(levels: Iterable[str]) -> str:
    """``db.events``, as messages and Java's catalogs print it."""
    return ".".join(levels)


def check_folder_names(levels: Iterable[str]) -> None:
    """Refuse levels that would not be exactly one folder of a path. Raises InvalidArgumentError."""
    for level in levels:
        if not level or level in {".", ".."} or "/" in level or "\\" in level or _CONTROL.search(level):
            raise InvalidArgumentError(f"Cannot use name in a catalog: not the name of a folder: {level!r}")


def check_dotless_names(levels: Iterable[str]) -> None:
    """Refuse levels with dots, which a catalog that joins levels by dots could not tell apart. Raises InvalidArgumentError."""
    for level in levels:
        if "." in level:
            raise InvalidArgumentError(f"Cannot use name in this catalog: a level holds a dot: {level!r}")


def join_location(base: str, *parts: str) -> str:
    """``base`` and ``parts`` with single slashes between; ``base`` keeps its scheme and root."""
    stripped = base if base.endswith("://") else base.rstrip("/")
    if not stripped and base:
        return "/" + "/".join(parts)
    return "/".join((stripped, *parts))


def strip_trailing_slash(location: str) -> str:
    """The location without slashes at its end; roots (``/``, ``s3://``) stay as they are. Raises InvalidArgumentError when empty."""
    if not location:
        raise InvalidArgumentError("Cannot use location: it is empty")
    stripped = location
    while len(stripped) > 1 and stripped.endswith("/") and not stripped.endswith("://"):
        stripped = stripped[:-1]
    return stripped
