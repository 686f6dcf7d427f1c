"""Least and greatest values of columns that hold values too long for a Parquet footer: pyarrow leaves their statistics out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.metrics.column_metrics import MetricsConfig, measured_fields
from icesql.spec.schema import Schema
from icesql.spec.types import BinaryType, NestedField, StringType, StructType

LONGEST_STATISTIC = 4096
"""Bytes; of longer values pyarrow writes neither minimum nor maximum."""


class LongValues:
    """``row_groups`` gets one mapping for each table added: (least, greatest) by field id, for columns with a long value."""

    def __init__(self, schema: Schema, config: MetricsConfig) -> None:
        self._fields = schema.fields
        self._wanted = {
            i for i, f in measured_fields(schema).items() if isinstance(f.type, (StringType, BinaryType)) and config.of(i).bounds
        }
        self.row_groups: list[dict[int, tuple[Any, Any]]] = []

    def add(self, table: pa.Table) -> None:
        self.row_groups.append({})
        if self._wanted:
            self._visit(self._fields, table.columns)

    def _visit(self, fields: tuple[NestedField, ...], arrays: Iterable[Any]) -> None:
        for field, array in zip(fields, arrays, strict=True):
            if field.id in self._wanted and _has_long(array):
                ends = pc.min_max(array)
                self.row_groups[-1][field.id] = ends["min"].as_py(), ends["max"].as_py()
            elif isinstance(field.type, StructType) and self._wanted & measured_fields(field.type).keys():
                struct = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
                self._visit(field.type.fields, struct.flatten())


def _has_long(array: Any) -> bool:
    if array.nbytes <= LONGEST_STATISTIC:
        return False
    longest = pc.max(pc.binary_length(array)).as_py()
    return longest is not None and longest > LONGEST_STATISTIC
