"""The switch for DEFAULT values in DDL, which Iceberg's runtime refuses and format version 3 has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from icesql.errors import UnsupportedError
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

SETTING = "spark.icesql.column-defaults"


def defaults_allowed(session: SessionState) -> bool:
    return (session.conf(SETTING) or "false").lower() == "true"


def refuse_defaults(session: SessionState, columns: Iterable[Any], table: str) -> None:
    """Raises UnsupportedError for a DEFAULT in CREATE TABLE unless the session allows it."""
    if any(column.default_text is not None for column in columns) and not defaults_allowed(session):
        raise UnsupportedError(
            spark_message(
                "UNSUPPORTED_FEATURE.TABLE_OPERATION",
                f"The feature is not supported: Table {table} does not support column default value. "
                f"SET {SETTING}=true to use it with format version 3.",
            )
        )
