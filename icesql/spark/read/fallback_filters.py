"""Filters for the second path. Catalyst pushes none through ``mapInArrow``, so the optimised plan of a query is asked which filters lie
right above it; the session then makes the query again over reads that plan their files with them.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from icesql.expr.tree import TRUE, Expression, or_
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.read.filters import pushed_expression


class _Made(threading.local):
    """Keys of the second-path relations made in this thread, while someone listens."""

    keys: list[str] | None = None


_made = _Made()


@contextmanager
def relations_made() -> Iterator[list[str]]:
    """Collects the keys of second-path relations that this thread makes inside the block."""
    outer, _made.keys = _made.keys, []
    try:
        yield _made.keys
    finally:
        _made.keys = outer


def note_relation(key: str) -> None:
    if _made.keys is not None:
        _made.keys.append(key)


def filters_above(spark: SparkSession, frame: DataFrame) -> dict[str, Expression]:
    """Which rows of each second-path relation (by key) the frame needs: those that pass the filters right above it, wherever it occurs."""
    found: defaultdict[str, list[Expression]] = defaultdict(list)
    for key, condition in _occurrences(spark, frame._jdf.queryExecution().optimizedPlan()):
        found[key].append(condition)
    return {key: or_(*conditions) for key, conditions in found.items()}


def _occurrences(spark: SparkSession, plan: Any) -> Iterator[tuple[str, Expression]]:
    """(key of the relation, filter right above) of each ``mapInArrow`` over one of our relations, subqueries included."""
    bridge = bridge_of(spark)
    waiting: list[tuple[Any, Expression]] = [(plan, TRUE), *((query, TRUE) for query in bridge.as_java(plan.subqueriesAll()))]
    while waiting:
        node, condition = waiting.pop()
        name = node.nodeName()
        if name == "MapInArrow" and (key := _relation_key(node)) is not None:
            yield key, condition
        above = pushed_expression(bridge.seq(node.condition())) if name == "Filter" else TRUE
        waiting.extend((child, above) for child in bridge.as_java(node.children()))


def _relation_key(node: Any) -> str | None:
    """The key of the file index below a node of single children, ``None`` if it is not over files."""
    while node.children().size() == 1:
        node = node.children().apply(0)
    return str(node.relation().location().toString()) if node.getClass().getSimpleName() == "LogicalRelation" else None
