"""Whether a view shows a table as it is: what Spark's optimiser leaves of its query decides, as it does for a DELETE through the view."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame


def shows_whole(view: DataFrame, table: DataFrame) -> bool:
    """True if the view's optimised plan is the table's own: all its rows, and its columns under their names and in their order."""
    plan, wanted = (frame._jdf.queryExecution().optimizedPlan() for frame in (view, table))
    return _names(plan) == _names(wanted) and bool(_below_projections(plan).sameResult(_below_projections(wanted)))


def _names(plan: Any) -> list[str]:
    output = plan.output()
    return [str(output.apply(i).name()) for i in range(output.size())]


def _below_projections(plan: Any) -> Any:
    """What is below projections that give columns under their own names."""
    while plan.nodeName() == "Project" and all(map(_keeps_its_name, _expressions(plan))):
        plan = plan.child()
    return plan


def _expressions(project: Any) -> list[Any]:
    listed = project.projectList()
    return [listed.apply(i) for i in range(listed.size())]


def _keeps_its_name(expression: Any) -> bool:
    inside = expression.child() if expression.nodeName() == "Alias" else expression
    return bool(inside.nodeName() == "AttributeReference" and expression.name() == inside.name())
