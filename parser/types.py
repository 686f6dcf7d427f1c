"""SQL types given as text of their own to Iceberg types: Spark's names, and Iceberg's own for what Spark cannot name."""

from __future__ import annotations

from icesql.parser.columns import Columns
from icesql.parser.frozen_columns import ColumnValues
from icesql.spec.types import Type


def parse_type(text: str) -> Type:
    """The Iceberg type of a SQL type such as ``struct<a: int not null, b: array<decimal(9,2)>>``.

    byte and short become int, char and varchar string (lengths are not kept), timestamp an instant. Nested field ids are unique within the
    type and meant to be reassigned. Raises SqlError, ``Not a supported type: ...`` for intervals and the like.
    """
    reader = Columns.of(text)
    found = reader.data_type()
    reader.expect_end()
    return ColumnValues(text).type(found)
