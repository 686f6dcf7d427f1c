"""Rows from whatever speaks Arrow's stream protocol: pyarrow, polars, pandas, duckdb, readers of record batches."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import pyarrow as pa

from icesql.errors import InvalidArgumentError


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that exports its rows by the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def arrow_table(rows: ArrowStream) -> pa.Table:
    """All rows of a stream, which is used up by it. Raises InvalidArgumentError for a stream whose batches are not rows of columns."""
    if isinstance(rows, pa.Table):
        return rows
    try:
        return pa.RecordBatchReader.from_stream(rows).read_all()
    except pa.ArrowException as error:
        raise InvalidArgumentError(f"Cannot read rows: the Arrow stream of {type(rows).__name__} failed: {error}") from error
