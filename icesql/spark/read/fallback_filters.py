"""Filters and columns for the fallback reader. Catalyst pushes neither through ``mapInArrow``, so those right above it are taken from the
optimised plan of a query; the session then makes the query again over reads that plan their files and read their columns by them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from icesql.expr.tree import TRUE, Expression, or_
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.plans import optimised_plan, relations_with_needs
from icesql.spark.read.filters import pushed_expression


class _Made(threading.local):
    """Keys of the fallback relations made in this thread, while someone listens."""

    keys: list[str] | None = None


_made = _Made()


@contextmanager
def relations_made() -> Iterator[list[str]]:
    """Collects the keys of fallback relations that this thread makes inside the block."""
    outer, _made.keys = _made.keys, []
    try:
        yield _made.keys
    finally:
        _made.keys = outer


def note_relation(key: str) -> None:
    if _made.keys is not None:
        _made.keys.append(key)


@dataclass(frozen=True, slots=True)
class Need:
    """What a query needs of a relation: rows for which ``where`` is true, and of those ``columns`` (dotted names; ``None``: all)."""

    where: Expression = TRUE
    columns: frozenset[str] | None = None

    def __or__(self, other: Need) -> Need:
        columns = None if self.columns is None or other.columns is None else self.columns | other.columns
        return Need(or_(self.where, other.where), columns)


def needs_above(spark: SparkSession, frame: DataFrame) -> dict[str, Need]:
    """By key of each fallback relation, what the frame needs of it, wherever it occurs."""
    needs: dict[str, Need] = {}
    for key, filters, columns in relations_with_needs(bridge_of(spark), optimised_plan(frame)):
        need = Need(pushed_expression(filters), columns)
        needs[key] = need if key not in needs else needs[key] | need
    return needs
