"""The same plan again with columns of its own, as if it had been made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from icesql.spark.bridge import Bridge, bridge_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession


def fresh(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows, but no column is the same as one of ``frame``.

    Spark tells columns of two DataFrames apart by their ids (``a.join(b, a.id == b.parent)``), so frames that are handed out must not
    share them. Its analyzer gives new ones to the right side of a join of a plan with itself.
    """
    bridge = bridge_of(spark)
    join, inner, no_hint, deduplicated = bridge.once(("self join",), lambda: _self_join(bridge))
    plan = frame._jdf.queryExecution().analyzed()
    renewed = deduplicated(join(plan, plan, inner, bridge.none, no_hint)).right()
    return bridge.frame(renewed)


def _self_join(bridge: Bridge) -> tuple[Any, Any, Any, Any]:
    """What a join is made of, and what gives its right side columns of its own."""
    plans = bridge.jvm.org.apache.spark.sql.catalyst.plans
    rule = bridge.module("org.apache.spark.sql.catalyst.analysis.DeduplicateRelations")
    return plans.logical.Join, plans.JoinType.apply("inner"), plans.logical.JoinHint.NONE(), rule.apply


def under_name(spark: SparkSession, frame: DataFrame, parts: Sequence[str]) -> DataFrame:
    """The frame under a table's full name: its columns are found as ``c``, ``t.c``, ``db.t.c`` and ``catalog.db.t.c``."""
    bridge = bridge_of(spark)
    catalyst = bridge.jvm.org.apache.spark.sql.catalyst
    identifier = catalyst.AliasIdentifier(parts[-1], bridge.seq(*parts[:-1]))
    plan = catalyst.plans.logical.SubqueryAlias(identifier, frame._jdf.queryExecution().analyzed())
    return bridge.frame(plan)
