"""Whether a view shows a table as it is: what Spark's optimiser leaves of its query decides, as it does for a DELETE through the view."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame


def shows_whole(view: DataFrame, table: DataFrame) -> bool:
    """True if the view's optimised plan is the table's own: all its rows, and its columns under their names and in their order."""
    plan, wanted = (frame._jdf.queryExecution().optimizedPlan() for frame in (view, table))
    if _names(plan) != _names(wanted):
        return False
    while not plan.sameResult(wanted):
        if not _is_as_its_child(plan):
            return False
        plan = plan.child()
    return True


def _names(plan: Any) -> list[str]:
    output = plan.output()
    return [str(output.apply(i).name()) for i in range(output.size())]


def _is_as_its_child(plan: Any) -> bool:
    """Whether it is a projection that only gives its child's columns new identities."""
    if plan.nodeName() != "Project" or plan.projectList().size() != plan.child().output().size():
        return False
    pairs = [(plan.projectList().apply(i), plan.child().output().apply(i)) for i in range(plan.projectList().size())]
    return all(_is_same(expression, attribute) for expression, attribute in pairs)


def _is_same(expression: Any, attribute: Any) -> bool:
    inside = expression.child() if expression.nodeName() == "Alias" else expression
    is_column = inside.nodeName() == "AttributeReference" and inside.exprId().equals(attribute.exprId())
    return bool(is_column and expression.name() == attribute.name())
