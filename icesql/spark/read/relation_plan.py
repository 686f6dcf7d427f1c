"""The Spark plan that takes the place of a table in a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.plans import analysed_plan, under_name, with_new_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from icesql.spark.jvm.handles import JavaObject


class RelationPlan:
    """``plan``: an analysed logical plan. A DataFrame of it costs Spark an analysis, so one is made only for a caller who needs it.

    ``fallback_reads``: keys of the relations in it that the fallback reader reads, through which Catalyst pushes no filters.
    """

    def __init__(self, bridge: Bridge, plan: JavaObject, fallback_reads: tuple[str, ...] = ()) -> None:
        self.bridge, self.plan, self.fallback_reads = bridge, plan, fallback_reads

    @classmethod
    def of(cls, frame: DataFrame, fallback_reads: tuple[str, ...] = ()) -> RelationPlan:
        return cls(bridge_of(frame.sparkSession), analysed_plan(frame), fallback_reads)

    @property
    def frame(self) -> DataFrame:
        return self.bridge.frame(self.plan)

    def under_name(self, parts: Sequence[str]) -> DataFrame:
        """A frame under a table's full name: its columns are found as ``c``, ``t.c``, ``db.t.c`` and ``catalog.db.t.c``."""
        return self.bridge.frame(under_name(self.bridge, self.plan, parts))

    def with_new_columns(self) -> RelationPlan:
        """The same rows in columns with ids of their own, for another reader: frames that share ids cannot be told apart in a join."""
        return RelationPlan(self.bridge, with_new_columns(self.bridge, self.plan), self.fallback_reads)
