"""Metrics gathered from Arrow data while it is written, for ORC, whose statistics pyarrow does not show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.arrow.types import internal_values
from icesql.io.metrics.column_metrics import Metrics, MetricsConfig, measured_fields, set_bounds
from icesql.io.metrics.nan_counts import NanCounter
from icesql.spec.schema import Schema
from icesql.spec.types import FixedType, GeographyType, GeometryType, NestedField, StructType, Type, UnknownType, UUIDType, VariantType

_UNORDERED = (FixedType, UUIDType, UnknownType, VariantType, GeometryType, GeographyType)  # no minimum in pyarrow, or in Iceberg


class MetricsCollector:
    """``add`` tables whose columns are those of ``schema``, in order; ``finish`` gives the metrics that the modes keep.

    Counts are those of ORC's own statistics: structs, lists and maps are counted too, and a column inside a null struct has no value there,
    so a required column may count fewer values than the file has rows.
    """

    def __init__(self, schema: Schema, config: MetricsConfig) -> None:
        self._schema, self._config = schema, config
        self._metrics, self._nans = Metrics(), NanCounter(schema, config)
        self._bounds: dict[int, tuple[Any, Any]] = {}
        self._types: dict[int, Type] = {i: f.type for i, f in measured_fields(schema).items()}

    def add(self, table: pa.Table) -> None:
        self._metrics.record_count += table.num_rows
        self._nans.add(table)
        self._visit(self._schema.fields, table.columns)

    def _visit(self, fields: tuple[NestedField, ...], arrays: Iterable[Any]) -> None:
        for field, array in zip(fields, arrays, strict=True):
            mode = self._config.of(field.id)
            if mode.counts and not isinstance(field.type, UnknownType):
                self._count(field, array)
            if isinstance(field.type, StructType):
                for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else [array]:
                    self._visit(field.type.fields, pc.drop_null(chunk).flatten())
            elif field.id in self._types and mode.counts and mode.bounds and not isinstance(field.type, _UNORDERED):
                self._widen(field, array)

    def _count(self, field: NestedField, array: Any) -> None:
        metrics = self._metrics
        metrics.value_counts[field.id] = metrics.value_counts.get(field.id, 0) + len(array)
        metrics.null_value_counts[field.id] = metrics.null_value_counts.get(field.id, 0) + array.null_count

    def _widen(self, field: NestedField, array: Any) -> None:
        if pa.types.is_floating(array.type):
            array = pc.filter(array, pc.invert(pc.is_nan(array)))
        ends = pc.min_max(array)
        low, high = (internal_values(field.type, pa.repeat(ends[end], 1))[0] for end in ("min", "max"))
        if low is None:
            return
        if field.id in self._bounds:
            known_low, known_high = self._bounds[field.id]
            low, high = min(low, known_low), max(high, known_high)
        self._bounds[field.id] = (low, high)

    def finish(self) -> Metrics:
        rows = self._metrics.record_count
        for field_id, nulls in self._metrics.null_value_counts.items():
            if nulls:  # ORC knows only whether there are nulls, so every row without a value counts as one
                self._metrics.null_value_counts[field_id] += rows - self._metrics.value_counts[field_id]
                self._metrics.value_counts[field_id] = rows
        for field_id, (low, high) in self._bounds.items():
            type_ = self._types[field_id]
            # zero has two signs that compare equal; the bounds take the outer one
            low, high = (-0.0 if low == 0 and isinstance(low, float) else low), (0.0 if high == 0 and isinstance(high, float) else high)
            set_bounds(self._metrics, field_id, type_, self._config.of(field_id), low, high)
        self._metrics.nan_value_counts = self._nans.counts
        return self._metrics
