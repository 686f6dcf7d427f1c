"""What a mention of a table shows: an analysed plan. A DataFrame of it, which takes Spark an analysis, is made only to be handed out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from icesql.spark.jvm.bridge import Bridge, bridge_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame


class Shown:
    """``plan``: an analysed logical plan of the JVM. ``second_path``: keys of its relations through which Catalyst pushes no filters."""

    def __init__(self, bridge: Bridge, plan: Any, second_path: tuple[str, ...] = ()) -> None:
        self.bridge, self.plan, self.second_path = bridge, plan, second_path

    @classmethod
    def of(cls, frame: DataFrame, second_path: tuple[str, ...] = ()) -> Shown:
        return cls(bridge_of(frame.sparkSession), frame._jdf.queryExecution().analyzed(), second_path)

    @property
    def frame(self) -> DataFrame:
        return self.bridge.frame(self.plan)

    def under_name(self, parts: Sequence[str]) -> DataFrame:
        """A frame under a table's full name: its columns are found as ``c``, ``t.c``, ``db.t.c`` and ``catalog.db.t.c``."""
        catalyst = self.bridge.jvm.org.apache.spark.sql.catalyst
        identifier = catalyst.AliasIdentifier(parts[-1], self.bridge.seq(*parts[:-1]))
        return self.bridge.frame(catalyst.plans.logical.SubqueryAlias(identifier, self.plan))

    def again(self) -> Shown:
        """The same rows for another reader, but no column is the same as one of this plan.

        Spark tells columns of two DataFrames apart by their ids (``a.join(b, a.id == b.parent)``), so frames that are handed out must
        not share them. A relation gives itself new ones; else Spark's analyzer does, to the right side of a join of a plan with itself.
        """
        if self._is_relation:
            renewed = self.plan.newInstance()
        else:
            join, inner, no_hint, deduplicated = self.bridge.once(("self join",), lambda: _self_join(self.bridge))
            renewed = deduplicated(join(self.plan, self.plan, inner, self.bridge.none, no_hint)).right()
        renewed.setAnalyzed()
        return Shown(self.bridge, renewed, self.second_path)

    @cached_property
    def _is_relation(self) -> bool:
        return str(self.plan.getClass().getSimpleName()) in ("LocalRelation", "LogicalRelation")


def _self_join(bridge: Bridge) -> tuple[Any, Any, Any, Any]:
    """What a join is made of, and what gives its right side columns of its own."""
    plans = bridge.jvm.org.apache.spark.sql.catalyst.plans
    rule = bridge.module("org.apache.spark.sql.catalyst.analysis.DeduplicateRelations")
    return plans.logical.Join, plans.JoinType.apply("inner"), plans.logical.JoinHint.NONE(), rule.apply
