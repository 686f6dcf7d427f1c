"""The closed sum of statements has every statement in it."""

from __future__ import annotations

from typing import Any, get_args

from icesql.parser.statements import AlterTable, Statement
from icesql.parser.statements.families import Alteration, AnyStatement


def _below(kind: Any) -> set[str]:
    """The names of all classes below one; a dataclass with slots is made twice, under one name."""
    return {name for each in kind.__subclasses__() for name in (each.__name__, *_below(each))}


def _names(union: object) -> set[str]:
    return {kind.__name__ for kind in get_args(union)}


def test_every_statement_is_in_the_sum() -> None:
    assert _names(AnyStatement) == _below(Statement) - {"AlterTable"}


def test_every_alteration_is_in_its_sum() -> None:
    assert _names(Alteration) == _below(AlterTable)
