"""Temporary views that live for a statement, put into Spark's session catalog as they are.

``createOrReplaceTempView`` runs a command of Spark's, with an analysis and listeners of its own, which takes as long as a small query's
planning; and ``dropTempView`` removes what is cached of the same plan.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_numbers = itertools.count(1)


def show(frame: DataFrame, name: str) -> None:
    """Make ``name`` a temporary view of the frame; one that is there gives way."""
    show_plan(bridge_of(frame.sparkSession), frame._jdf.logicalPlan(), name)


def show_plan(bridge: Bridge, plan: JavaObject, name: str) -> None:
    """As ``show`` for an analysed logical plan."""
    views = bridge.once(("short views",), lambda: _Views(bridge))
    views.catalog.createTempView(name, views.view(name, plan), True)


def hide(spark: SparkSession, name: str) -> None:
    """Drop a view that ``show`` made, if it is there."""
    bridge = bridge_of(spark)
    bridge.once(("short views",), lambda: _Views(bridge)).catalog.dropTempView(name)


class _Views:
    """The session's catalog, and what it keeps of a view: how Spark itself describes one of a DataFrame, under another name."""

    def __init__(self, bridge: Bridge) -> None:
        self.catalog = bridge.state.catalog()
        name = f"_ice_model{next(_numbers)}"
        bridge.session.emptyDataFrame().createOrReplaceTempView(name)
        model = self.catalog.getRawTempView(name).get()
        self.catalog.dropTempView(name)
        described = model.tableMeta()
        values = [described.productElement(place) for place in range(described.productArity())]
        names = [described.productElementName(place) for place in range(len(values))]
        self._kind, self._more = values[1 : names.index("schema")], values[names.index("schema") + 1 :]
        self._described, self._relation, self._some = (
            described.copy,
            bridge.module(classes.TEMPORARY_VIEW_RELATION).apply,
            bridge.java_class(classes.SOME).apply,
        )
        self._identifier = bridge.module(classes.TABLE_IDENTIFIERS).apply

    def view(self, name: str, plan: JavaObject) -> JavaObject:
        described = self._described(self._identifier(name), *self._kind, plan.schema(), *self._more)
        return self._relation(described, self._some(plan))
