"""How names are compared: as they are spelled, or with their case folded, as Spark does unless ``spark.sql.caseSensitive`` is true.

Names of columns, fields, aliases, views, functions and parameters are compared here. Names of catalogs, namespaces and tables are not: a
catalog tells them apart by their exact spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

NameKey: TypeAlias = Callable[[str], str]
"""What two spellings of one name have in common."""


def fold(name: str) -> str:
    """The key of a name whose case does not matter: lower case, as Spark's own."""
    return name.lower()


def folded(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(fold, names))


def name_key(*, case_sensitive: bool) -> NameKey:
    """The key of names: the name itself, or ``fold``."""
    return str if case_sensitive else fold
