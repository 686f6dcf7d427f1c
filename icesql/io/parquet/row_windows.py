"""Where in a row group the rows lie that a filter keeps, from the filter's columns alone: what is outside is not decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from icesql.expr.rewrite import referenced_ids
from icesql.expr.tree import Expression
from icesql.io.arrow.filter import row_mask
from icesql.io.arrow.projection import project
from icesql.io.parquet.files import ParquetSource, column_bytes, parquet_batches
from icesql.spec.schema import Schema

RowWindow = Callable[[int], range]
"""From a row group to the rows of it, counted from its first, that hold all that are wanted."""
_TIMES_AS_LARGE = 3  # the filter's columns are decoded twice, which must cost little beside what it spares
_LEAST_FAR_BYTES = 1 << 20  # of a row group in a store: below, another request takes longer than to read all at once


def row_windows(
    source: ParquetSource,
    schema: Schema,
    location: str,
    rows: Expression,
    *,
    file_schema: pa.Schema,
    constants: Mapping[int, Any],
    batch_rows: int,
    stream: Any = None,
) -> RowWindow | None:
    """The windows of the rows for which ``rows`` is true; ``None`` where to look for them costs more than it may spare.

    ``rows`` is bound, and its columns are among those of ``schema``. Raises CorruptMetadataError.
    """
    tops = {_top(schema, field_id) for field_id in referenced_ids(rows)}
    tested = Schema(tuple(field for field in schema.fields if field.id in tops))
    few, all_ = column_bytes(source, tested, file_schema), column_bytes(source, schema, file_schema)
    least = _LEAST_FAR_BYTES * source.footer.num_row_groups if hasattr(stream, "prefetch") else 0
    if not few or few * (1 + _TIMES_AS_LARGE) > all_ or all_ - few < least:
        return None

    def window(group: int) -> range:
        first, last = 0, 0
        start: int | None = None
        for position, batch, batch_schema in parquet_batches(
            source,
            tested,
            location,
            file_schema=file_schema,
            keep_row_group=lambda place: place == group,
            batch_rows=batch_rows,
            stream=stream,
        ):
            start = position if start is None else start
            plain = project(batch, tested, file_schema=batch_schema, constants=constants)
            places = np.flatnonzero(np.asarray(row_mask(plain, tested, rows).to_numpy(zero_copy_only=False), bool))
            if len(places):
                first = first if last else position - start + int(places[0])
                last = position - start + int(places[-1]) + 1
        return range(first, last)

    return window


def _top(schema: Schema, field_id: int) -> int:
    """The column that a field is in."""
    while (parent := schema.parents.get(field_id)) is not None:
        field_id = parent
    return field_id
