"""Metrics from Parquet footers, with no look at the data."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from icesql.io.arrow.types import child_fields, field_id_of, is_list
from icesql.io.metrics.column_metrics import Metrics, MetricsConfig, measured_fields, set_bounds
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)
from icesql.spec.values.decimals import from_unscaled

_INTEGERS = (IntegerType, LongType, DateType)
_TIMES = (TimeType, TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType)
_PER_SECOND = {"milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}


def leaf_ids(schema: pa.Schema) -> list[int | None]:
    """The field id of each leaf column of a file, in column order. ``schema`` is the file's Arrow schema, with ids in metadata."""
    ids: list[int | None] = []
    for field in schema:
        ids += _leaf_ids(field)
    return ids


def _leaf_ids(field: pa.Field) -> list[int | None]:
    type_ = field.type
    if pa.types.is_struct(type_) or pa.types.is_map(type_) or is_list(type_):
        return [leaf for child in child_fields(type_) for leaf in _leaf_ids(child)]
    return [field_id_of(field)]


def parquet_metrics(
    footer: pq.FileMetaData,
    schema: Schema,
    config: MetricsConfig,
    *,
    file_schema: pa.Schema | None = None,
    nan_counts: Mapping[int, int] | None = None,
    row_groups: range | None = None,
    long_bounds: Sequence[Mapping[int, tuple[Any, Any]]] | None = None,
) -> Metrics:
    """Metrics of the columns of ``schema``. ``file_schema`` gives ids to the footer's columns (default: those in the footer).

    ``nan_counts``: what the writer counted, by field id. ``row_groups`` limits the work to some row groups. ``long_bounds``: for each row
    group, (least, greatest) of columns for which the footer has none.
    """
    ids = leaf_ids(footer.schema.to_arrow_schema() if file_schema is None else file_schema)
    chosen = range(footer.num_row_groups) if row_groups is None else row_groups
    groups = [footer.row_group(i) for i in chosen]
    metrics = Metrics(record_count=sum(group.num_rows for group in groups))
    measured = measured_fields(schema)
    for index, field_id in enumerate(ids[: footer.num_columns]):
        if field_id is None or schema.find(field_id) is None or not config.of(field_id).counts:
            continue
        chunks = [group.column(index) for group in groups]
        metrics.column_sizes[field_id] = sum(chunk.total_compressed_size for chunk in chunks)
        if field_id in measured:
            column = footer.schema.column(index)
            known = None if long_bounds is None else [long_bounds[i].get(field_id) for i in chosen]
            _measure(metrics, chunks, field_id, measured[field_id].type, config, column, known)
            if nan_counts is not None and field_id in nan_counts:
                metrics.nan_value_counts[field_id] = nan_counts[field_id]
    metrics.split_offsets = split_offsets(footer) if row_groups is None else ()
    return metrics


def split_offsets(footer: pq.FileMetaData) -> tuple[int, ...]:
    """Where row groups start, ascending; ``()`` if the footer's offsets are not."""
    offsets = []
    for i in range(footer.num_row_groups):
        group = footer.row_group(i)
        if group.num_columns == 0:
            continue
        column = group.column(0)
        start, dictionary = column.data_page_offset, column.dictionary_page_offset
        offsets.append(min(start, dictionary) if dictionary else start)
    return tuple(offsets) if offsets == sorted(offsets) else ()


def _measure(metrics: Metrics, chunks: list[Any], field_id: int, type_: Type, config: MetricsConfig, column: Any, known: Any) -> None:
    metrics.value_counts[field_id] = sum(chunk.num_values for chunk in chunks)
    statistics = [chunk.statistics if chunk.is_stats_set else None for chunk in chunks]
    nulls: list[int] = [of_chunk.null_count for of_chunk in statistics if of_chunk is not None and of_chunk.has_null_count]
    if len(nulls) == len(chunks):
        metrics.null_value_counts[field_id] = sum(nulls)
    lows, highs = [], []
    for chunk, of_chunk, ends in zip(chunks, statistics, known or [None] * len(chunks), strict=True):
        if ends is not None:
            lows.append(ends[0])
            highs.append(ends[1])
        elif of_chunk is not None and of_chunk.has_min_max:
            low, high = _internal(type_, of_chunk.min_raw, column), _internal(type_, of_chunk.max_raw, column)
            if low is None or high is None:
                return
            lows.append(low)
            highs.append(high)
        elif not (of_chunk is not None and of_chunk.has_null_count and of_chunk.null_count == chunk.num_values):
            return  # a row group with values and without statistics: nothing is known of the file
    if lows and not _has_nan(lows) and not _has_nan(highs):
        set_bounds(metrics, field_id, type_, config.of(field_id), min(lows), max(highs))


def _has_nan(values: list[Any]) -> bool:
    return any(value != value for value in values)


def _internal(type_: Type, raw: Any, column: Any) -> Any:
    """A statistic's physical value in internal form; ``None`` if the file's column cannot give bounds of the type."""
    physical = column.physical_type
    match type_:
        case BooleanType():
            return raw if physical == "BOOLEAN" else None
        case FloatType() | DoubleType():
            return float(raw) if physical in ("FLOAT", "DOUBLE") else None
        case StringType():
            return raw.decode("utf-8", "replace") if physical == "BYTE_ARRAY" and _is_text(raw) else None
        case BinaryType():
            return raw if physical in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") else None
        case FixedType() | UUIDType():
            return _fixed(type_, raw) if physical == "FIXED_LEN_BYTE_ARRAY" else None
        case DecimalType(scale=scale):
            return _decimal(raw, scale, column)
        case _:
            if isinstance(type_, _INTEGERS):
                return raw if physical in ("INT32", "INT64") else None
            return _time(type_, raw, column) if isinstance(type_, _TIMES) and physical in ("INT32", "INT64") else None


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _fixed(type_: FixedType | UUIDType, raw: bytes) -> Any:
    return uuid.UUID(bytes=raw) if isinstance(type_, UUIDType) else raw


def _decimal(raw: Any, scale: int, column: Any) -> Any:
    if column.scale != scale:
        return None
    return from_unscaled(int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else raw, scale)


def _time(type_: Type, raw: int, column: Any) -> int | None:
    text = str(column.logical_type)  # Timestamp(isAdjustedToUTC=true, timeUnit=microseconds, ...)
    unit = next((per for name, per in _PER_SECOND.items() if f"timeUnit={name}" in text), None)
    if unit is None:
        return None
    target = 10**9 if isinstance(type_, (TimestampNanoType, TimestamptzNanoType)) else 10**6
    if unit > target:
        return None  # bounds would have to be rounded outwards
    return raw * (target // unit)
