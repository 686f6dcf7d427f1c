"""The same plan again with columns of its own, as if it had been made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from icesql.spark.bridge import bridge_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession


def fresh(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows, but no column is the same as one of ``frame``.

    Spark tells columns of two DataFrames apart by their ids (``a.join(b, a.id == b.parent)``), so frames that are handed out must not
    share them. Its analyzer gives new ones to the right side of a join of a plan with itself.
    """
    bridge = bridge_of(spark)
    plans, plan = bridge.jvm.org.apache.spark.sql.catalyst.plans, frame._jdf.queryExecution().analyzed()
    both = plans.logical.Join(plan, plan, plans.JoinType.apply("inner"), bridge.none, plans.logical.JoinHint.NONE())
    renewed = bridge.module("org.apache.spark.sql.catalyst.analysis.DeduplicateRelations").apply(both).right()
    return DataFrame(bridge.dataset_module.ofRows(bridge.session, renewed), spark)


def under_name(spark: SparkSession, frame: DataFrame, parts: Sequence[str]) -> DataFrame:
    """The frame under a table's full name: its columns are found as ``c``, ``t.c``, ``db.t.c`` and ``catalog.db.t.c``."""
    bridge = bridge_of(spark)
    catalyst = bridge.jvm.org.apache.spark.sql.catalyst
    identifier = catalyst.AliasIdentifier(parts[-1], bridge.seq(*parts[:-1]))
    plan = catalyst.plans.logical.SubqueryAlias(identifier, frame._jdf.queryExecution().analyzed())
    return DataFrame(bridge.dataset_module.ofRows(bridge.session, plan), spark)
