"""Plans that differ in nothing but the files of their relation: Spark analyses the first, and of it the others are made.

The columns of all plans of a form are the same ones to Spark, so such plans serve within a statement and are never handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from pyspark.sql import DataFrame

from icesql.io.lru import LruCache
from icesql.spark.jvm.bridge import Bridge

_KEPT = 64


class PlanForms:
    """The forms of one Spark session, by what their plans have in common. Thread safe."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._forms: LruCache[Hashable, _Form] = LruCache(_KEPT)

    def plan(self, key: Hashable, files: Any, make: Callable[[DataFrame], DataFrame]) -> Any:
        """The analysed plan of what ``make`` makes of a frame over the relation ``files``, by projections and filters alone.

        ``make`` does the same for everything with this key.
        """
        form = self._forms.find(key)
        if form is not None:
            return form.over(files)
        relation = self._bridge.logical_relation(files, False)
        plan = make(self._bridge.frame(relation))._jdf.queryExecution().analyzed()
        self._forms.put(key, _Form(plan))
        return plan


class _Form:
    """Nodes from the relation up: how each is copied, and what it has beside its child (the relation: beside its files)."""

    def __init__(self, plan: Any) -> None:
        self._above: list[tuple[Any, list[Any]]] = []
        while plan.children().nonEmpty():
            self._above.insert(0, (plan.copy, _elements(plan)[:-1]))
            plan = plan.children().head()
        self._relation, self._more = plan.copy, _elements(plan)[1:]

    def over(self, files: Any) -> Any:
        plan = self._relation(files, *self._more)
        for copy, elements in self._above:
            plan = copy(*elements, plan)
        plan.setAnalyzed()
        return plan


def _elements(node: Any) -> list[Any]:
    return [node.productElement(place) for place in range(node.productArity())]


def plan_forms(bridge: Bridge) -> PlanForms:
    forms: PlanForms = bridge.once(("plan forms",), lambda: PlanForms(bridge))
    return forms
