"""Table properties that are refused when they are set, since a later commit or write could not read them."""

from __future__ import annotations

from collections.abc import Mapping

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.io.metrics.column_metrics import max_inferred_columns
from icesql.spec.properties import (
    COMMIT_RETRY_PREFIX,
    COMMIT_STATUS_CHECK_PREFIX,
    METRICS_MODE_COLUMN_PREFIX,
    column_properties,
    whole_number,
)
from icesql.spec.schema import Schema


def check_commit_properties(properties: Mapping[str, str]) -> None:
    """Raises InvalidArgumentError for a ``commit.retry.*`` or ``commit.status-check.*`` value that later commits could not read."""
    for key, value in properties.items():
        if key.startswith((COMMIT_RETRY_PREFIX, COMMIT_STATUS_CHECK_PREFIX)):
            try:
                number = whole_number(value)
            except ValueError:
                raise InvalidArgumentError(f"Cannot set table property {key}: it must have integer value: {value}", key=key) from None
            if number < 0:
                raise InvalidArgumentError(f"Cannot set table property {key}: it must have non negative integer value: {value}", key=key)


def check_metrics(properties: Mapping[str, str], schema: Schema) -> None:
    """Raises ValidationError for a metrics mode of a column that the table does not have, and for a column limit that is no number."""
    max_inferred_columns(properties)
    for column in column_properties(properties, METRICS_MODE_COLUMN_PREFIX):
        if schema.find(column) is None:
            raise ValidationError(
                f"Invalid metrics config, could not find column {column} from table prop {METRICS_MODE_COLUMN_PREFIX}{column} in schema "
                f"{schema.as_struct()}",
                column=column,
            )
