"""Rows about files, from manifests decoded into columns. File objects are made only for what the columns lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from icesql.expr.metrics import has_ordered_bounds
from icesql.io.arrow.types import to_arrow_value
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.manifests.partition_columns import PartitionColumn
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import (
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
)
from icesql.spec.values.binary import from_bytes
from icesql.table.manifests.column_predicates import Rows
from icesql.table.metadata_tables.base import arrow_type
from icesql.table.metadata_tables.file_columns import READABLE_METRICS, readable_leaves


class FileRows:
    """Arrow arrays about some rows of one manifest."""

    def __init__(self, metadata: TableMetadata, columns: ManifestColumns, rows: Rows) -> None:
        self.metadata, self.columns, self.rows = metadata, columns, rows
        self._files: list[DataFile] | None = None

    @property
    def files(self) -> list[DataFile]:
        if self._files is None:
            self._files = [self.columns.data_file(row) for row in self.rows.tolist()]
        return self._files

    def array(self, field: NestedField) -> pa.Array:
        """The column of a field of ``files``, or of its ``data_file`` struct."""
        light = _LIGHT.get(field.name)
        if light is not None:
            return light(self)
        if field.name == "partition":
            assert isinstance(field.type, StructType)
            return partition_array(self.columns, self.rows, field.type)
        if field.name == READABLE_METRICS:
            assert isinstance(field.type, StructType)
            return readable_array(self.metadata.schema, self.files, field.type)
        values = _HEAVY[field.name]
        return pa.array([values(file) for file in self.files], arrow_type(field.type))

    def struct(self, fields: Sequence[NestedField]) -> pa.Array:
        return struct_array([self.array(field) for field in fields], fields)

    def integers(self, values: np.ndarray[Any, Any], type_: pa.DataType) -> pa.Array:
        """An integer column; -1 in it means null."""
        chosen = values[self.rows]
        return pa.array(chosen, pa.int64(), mask=chosen < 0).cast(type_)


def struct_array(arrays: list[pa.Array], fields: Sequence[NestedField]) -> pa.Array:
    made = [pa.field(f.name, arrow_type(f.type), nullable=f.optional) for f in fields]
    return pa.StructArray.from_arrays(arrays, fields=made)


_LIGHT: dict[str, Callable[[FileRows], pa.Array]] = {
    "content": lambda part: pa.array(part.columns.content[part.rows], pa.int64()).cast(pa.int32()),
    "file_path": lambda part: pa.array(part.columns.paths(part.rows), pa.string()),
    "file_format": lambda part: pa.array([(text or "").upper() for text in part.columns.file_format.texts(part.rows)], pa.string()),
    "spec_id": lambda part: pa.array(part.columns.spec_id[part.rows], pa.int64()).cast(pa.int32()),
    "record_count": lambda part: pa.array(part.columns.record_count[part.rows], pa.int64()),
    "file_size_in_bytes": lambda part: pa.array(part.columns.file_size_in_bytes[part.rows], pa.int64()),
    "sort_order_id": lambda part: part.integers(part.columns.sort_order_id, pa.int32()),
    "first_row_id": lambda part: part.integers(part.columns.first_row_id, pa.int64()),
    "referenced_data_file": lambda part: pa.array(part.columns.referenced_data_file.texts(part.rows), pa.string()),
    "content_offset": lambda part: part.integers(part.columns.content_offset, pa.int64()),
    "content_size_in_bytes": lambda part: part.integers(part.columns.content_size, pa.int64()),
    "status": lambda part: pa.array(part.columns.status[part.rows], pa.int64()).cast(pa.int32()),
    "snapshot_id": lambda part: part.integers(part.columns.snapshot_id, pa.int64()),
    "sequence_number": lambda part: part.integers(part.columns.sequence_number, pa.int64()),
    "file_sequence_number": lambda part: part.integers(part.columns.file_sequence_number, pa.int64()),
}


def is_light(name: str) -> bool:
    """True for columns that are computed without file objects."""
    return name in _LIGHT or name == "partition"


def _map(file: DataFile, metric: Any) -> Any:
    """A metrics map. A file without metrics has null maps, not empty ones; value counts of position deletes are null."""
    measured = file.value_counts or (file.column_sizes and file.content is not FileContent.POSITION_DELETES)
    return list(metric.items()) if metric or measured else None


_HEAVY: dict[str, Callable[[DataFile], Any]] = {
    "column_sizes": lambda file: _map(file, file.column_sizes),
    "value_counts": lambda file: _map(file, file.value_counts),
    "null_value_counts": lambda file: _map(file, file.null_value_counts),
    "nan_value_counts": lambda file: _map(file, file.nan_value_counts),
    "lower_bounds": lambda file: _map(file, file.lower_bounds),
    "upper_bounds": lambda file: _map(file, file.upper_bounds),
    "key_metadata": lambda file: file.key_metadata,
    "split_offsets": lambda file: list(file.split_offsets) or None,
    "equality_ids": lambda file: list(file.equality_ids) or None,
}


# -- partitions --------------------------------------------------------------------------------------------------


def partition_array(columns: ManifestColumns, rows: Rows, struct: StructType) -> pa.Array:
    """Partition tuples in the shape of the union struct; fields the manifest's spec lacks are null."""
    held = columns.partition_columns
    known = None if columns.spec is None else {field.field_id for field in columns.spec.fields}
    arrays = [
        _partition_values(held[field.id], rows, field.type)
        if field.id in held and (known is None or field.id in known)
        else pa.nulls(len(rows), arrow_type(field.type))
        for field in struct.fields
    ]
    return struct_array(arrays, struct.fields)


def _partition_values(column: PartitionColumn, rows: Rows, type_: Type) -> pa.Array:
    target, valid = arrow_type(type_), column.valid[rows]
    if column.integers is not None and not column.is_boolean:
        numbers = pa.array(column.integers[rows], pa.int64(), mask=~valid)
        narrow = numbers.cast(pa.int32()) if target in (pa.int32(), pa.date32()) else numbers
        return narrow.cast(target)
    return pa.array([to_arrow_value(type_, column.value(row)) for row in rows.tolist()], target)


# -- readable metrics --------------------------------------------------------------------------------------------


def readable_array(schema: Schema, files: Sequence[DataFile], struct: StructType) -> pa.Array:
    """``readable_metrics``, for those of its columns and metrics that ``struct`` has."""
    leaves = {name: (field_id, type_) for name, field_id, type_ in readable_leaves(schema)}
    arrays = []
    for field in struct.fields:
        assert isinstance(field.type, StructType)
        field_id, type_ = leaves[field.name]
        parts = [_readable_part(part, files, field_id, type_) for part in field.type.fields]
        arrays.append(struct_array(parts, field.type.fields))
    if not arrays:
        return pa.array([{}] * len(files), pa.struct([]))
    return struct_array(arrays, struct.fields)


_METRICS: dict[str, Callable[[DataFile], Any]] = {
    "column_size": lambda file: file.column_sizes,
    "value_count": lambda file: file.value_counts,
    "null_value_count": lambda file: file.null_value_counts,
    "nan_value_count": lambda file: file.nan_value_counts,
    "lower_bound": lambda file: file.lower_bounds,
    "upper_bound": lambda file: file.upper_bounds,
}


def _readable_part(part: NestedField, files: Sequence[DataFile], field_id: int, type_: Type) -> pa.Array:
    metric = _METRICS[part.name]
    raw = [metric(file).get(field_id) for file in files]
    return _bounds_array(raw, type_) if part.name in ("lower_bound", "upper_bound") else pa.array(raw, arrow_type(part.type))


def _bounds_array(raw: list[bytes | None], type_: Type) -> pa.Array:
    target = arrow_type(type_)
    if not has_ordered_bounds(type_):
        return pa.nulls(len(raw), target)
    if isinstance(type_, StringType):
        return pa.array(raw, pa.binary()).cast(target)
    form = _FORMS.get(type(type_))
    width = 0 if form is None else np.dtype(form).itemsize
    if form is None or any(data is not None and len(data) != width for data in raw):
        return pa.array([None if data is None else to_arrow_value(type_, from_bytes(type_, data)) for data in raw], target)
    absent = bytes(width)
    numbers = np.frombuffer(b"".join([absent if data is None else data for data in raw]), form)
    return pa.array(numbers, mask=np.fromiter((data is None for data in raw), bool, len(raw))).cast(target)


_FORMS: dict[type[Type], str] = {
    IntegerType: "<i4",
    DateType: "<i4",
    FloatType: "<f4",
    DoubleType: "<f8",
    **dict.fromkeys((LongType, TimeType, TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType), "<i8"),
}
"""How bounds of these are stored, but for those from before a promotion."""
