"""The Arrow schema Spark uses for a Spark schema, over the spellings its releases have had."""

from __future__ import annotations

import inspect
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas import types
from pyspark.sql.types import DataType, StructType

# Spark 4.2 asks for the zone of timestamps by name; before, UTC went without saying.
_IN_UTC: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(types.to_arrow_schema).parameters else {}


def to_arrow_schema(schema: StructType) -> pa.Schema:
    """Timestamps are in UTC, microseconds; nested fields keep their nullability."""
    return types.to_arrow_schema(schema, **_IN_UTC)


def to_arrow_type(type_: DataType) -> pa.DataType:
    """The Arrow type of one Spark type, by the same rules."""
    return types.to_arrow_type(type_, **_IN_UTC)
