"""Count NaN values of the float columns of Arrow batches; other columns are never touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.metrics.column_metrics import MetricsConfig, measured_fields
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, FloatType, NestedField, StructType


class NanCounter:
    """Adds up over batches whose columns are those of ``schema``, in its order."""

    def __init__(self, schema: Schema, config: MetricsConfig) -> None:
        self._fields = schema.fields
        self._wanted = {
            i for i, f in measured_fields(schema).items() if isinstance(f.type, (FloatType, DoubleType)) and config.of(i).counts
        }
        self._counts: Counter[int] = Counter(dict.fromkeys(self._wanted, 0))

    def add(self, batch: pa.RecordBatch | pa.Table) -> None:
        if self._wanted:
            self._visit(self._fields, batch.columns)

    def _visit(self, fields: tuple[NestedField, ...], arrays: Iterable[pa.Array | pa.ChunkedArray]) -> None:
        for field, array in zip(fields, arrays, strict=True):
            if field.id in self._wanted:
                self._counts[field.id] += pc.sum(pc.is_nan(array)).as_py() or 0
            elif isinstance(field.type, StructType) and self._wanted & measured_fields(field.type).keys():
                for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else [array]:
                    self._visit(field.type.fields, chunk.flatten())

    @property
    def counts(self) -> dict[int, int]:
        return dict(self._counts)
