"""Filters for the fallback reader. Catalyst pushes no filter through ``mapInArrow``, so the filters right above it are taken from the
optimised plan of a query; the session then makes the query again over reads that plan their files with them.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from icesql.expr.tree import Expression, or_
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.plans import optimised_plan, relations_with_filters
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


def filters_above(spark: SparkSession, frame: DataFrame) -> dict[str, Expression]:
    """By key of each fallback relation, which rows the frame needs: those that pass the filters right above it, wherever it occurs."""
    conditions: defaultdict[str, list[Expression]] = defaultdict(list)
    for key, filters in relations_with_filters(bridge_of(spark), optimised_plan(frame)):
        conditions[key].append(pushed_expression(filters))
    return {key: or_(*parts) for key, parts in conditions.items()}
