"""Plans that differ only in the files of their relation: Spark analyses the first, the others are copies of it over other files.

All copies have the same column ids, so that Spark could not tell them apart in a join: they serve within a statement, and no user gets one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from pyspark.sql import DataFrame

from icesql.io.lru import LruCache
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import analysed_plan

_KEPT = 64


class PlanForms:
    """The forms of one Spark session, by what their plans have in common. Thread safe."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._forms: LruCache[Hashable, _Form] = LruCache(_KEPT)

    def plan(self, key: Hashable, files: JavaObject, make: Callable[[DataFrame], DataFrame]) -> JavaObject:
        """The analysed plan of ``make(frame)`` for a frame over the relation ``files``. ``make`` adds projections and filters only, the
        same ones for equal keys.
        """
        form = self._forms.find(key)
        if form is not None:
            return form.over(files)
        relation = self._bridge.logical_relation(files, False)
        plan = analysed_plan(make(self._bridge.frame(relation)))
        self._forms.put(key, _Form(plan))
        return plan


class _Form:
    """Nodes from the relation up: how each is copied, and what it has beside its child (the relation: beside its files)."""

    def __init__(self, plan: JavaObject) -> None:
        self._above: list[tuple[JavaObject, list[JavaObject]]] = []
        while plan.children().nonEmpty():
            self._above.insert(0, (plan.copy, _elements(plan)[:-1]))
            plan = plan.children().head()
        self._relation, self._more = plan.copy, _elements(plan)[1:]

    def over(self, files: JavaObject) -> JavaObject:
        plan = self._relation(files, *self._more)
        for copy, elements in self._above:
            plan = copy(*elements, plan)
        plan.setAnalyzed()
        return plan


def _elements(node: JavaObject) -> list[JavaObject]:
    return [node.productElement(place) for place in range(node.productArity())]


def plan_forms(bridge: Bridge) -> PlanForms:
    forms: PlanForms = bridge.once(("plan forms",), lambda: PlanForms(bridge))
    return forms
