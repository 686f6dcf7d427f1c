"""What Spark refuses in row-level statements before they run."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from icesql.errors import ValidationError
from icesql.spark_errors import spark_message


def is_deterministic(frame: DataFrame) -> bool:
    """Whether computing the frame twice gives the same, as far as its expressions tell."""
    return bool(frame._jdf.queryExecution().analyzed().deterministic())


def require_deterministic(frame: DataFrame) -> None:
    """Raises ValidationError ``INVALID_NON_DETERMINISTIC_EXPRESSIONS``: the condition may be evaluated more than once."""
    if not is_deterministic(frame):
        raise _by_chance()


def require_deterministic_columns(frame: DataFrame, name: str | None = None) -> None:
    """As ``require_deterministic``, for what the frame computes of a join, or for the column ``name`` of it alone: what is joined may be
    up to chance."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if plan.deterministic():
        return
    while plan.children().size() == 1:
        expressions = plan.expressions()
        for column in map(expressions.apply, range(expressions.size())):
            is_meant = name is None or (column.nodeName() == "Alias" and column.name() == name)
            if is_meant and not column.deterministic():
                raise _by_chance()
        plan = plan.children().head()


def _by_chance() -> ValidationError:
    return ValidationError(
        spark_message("INVALID_NON_DETERMINISTIC_EXPRESSIONS", "The operator expects a deterministic expression, but the condition is not.")
    )
