"""What Spark refuses in row-level statements before they run."""

from __future__ import annotations

from pyspark.sql import DataFrame

from icesql.errors import ValidationError
from icesql.spark.jvm.plans import computes_deterministically, is_deterministic
from icesql.spark_errors import spark_message


def require_deterministic(frame: DataFrame) -> None:
    """Raises ValidationError ``INVALID_NON_DETERMINISTIC_EXPRESSIONS``: the condition may be evaluated more than once."""
    if not is_deterministic(frame):
        raise _not_deterministic()


def require_deterministic_columns(frame: DataFrame, name: str | None = None) -> None:
    """As ``require_deterministic``, for what the frame computes of a join, or for its column ``name`` alone: the sides of the join may be
    non-deterministic."""
    if not computes_deterministically(frame, name):
        raise _not_deterministic()


def _not_deterministic() -> ValidationError:
    return ValidationError(
        spark_message("INVALID_NON_DETERMINISTIC_EXPRESSIONS", "The operator expects a deterministic expression, but the condition is not.")
    )
