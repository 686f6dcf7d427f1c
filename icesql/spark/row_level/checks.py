"""What Spark refuses in row-level statements before they run."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from icesql.errors import ValidationError


def require_deterministic(frame: DataFrame) -> None:
    """Raises ValidationError ``INVALID_NON_DETERMINISTIC_EXPRESSIONS``: the condition may be evaluated more than once."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        raise ValidationError(
            "[INVALID_NON_DETERMINISTIC_EXPRESSIONS] The operator expects a deterministic expression, "
            "but the condition is not. SQLSTATE: 42K0E"
        )
