"""COUNT, MIN and MAX from metadata, where that is exact: no delete applies, no residual is left, and bounds are values, not prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from icesql.expr.binding import is_floating
from icesql.expr.field_stats import sound_bounds
from icesql.expr.metrics import strict_metrics
from icesql.spec.files import DataFile
from icesql.spec.metadata_columns import POS
from icesql.spec.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
)
from icesql.spec.values.binary import from_bytes

if TYPE_CHECKING:
    from icesql.table.scan.table_scan import ScanPlan, TableScan

_EXACT_BOUNDS = (
    BooleanType, IntegerType, LongType, FloatType, DoubleType, DecimalType, DateType, TimeType,
    TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType,
)  # fmt: skip
"""Bounds of strings and binary may be cut."""
_MOST_FILES = 1000
"""Of more files reading a few is likely cheaper than testing the metrics of all."""


class AggregateFunction(Enum):
    COUNT_STAR = "count(*)"
    COUNT = "count"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``column`` is a dotted name, ``None`` for COUNT_STAR."""

    function: AggregateFunction
    column: str | None = None


class _Unknown(Exception):
    """Metadata cannot give the value."""


def aggregate_from_metadata(scan: TableScan, aggregates: Sequence[Aggregate]) -> tuple[object, ...] | None:
    """One value for each aggregate (internal form; ``None`` for MIN and MAX of no values), or ``None`` if metadata lacks one of them.

    NaN is the largest value. Raises NotFoundError for an unknown column.
    """
    fields = [None if a.column is None else scan.table_schema.field(a.column, case_sensitive=scan.case_sensitive) for a in aggregates]
    plan = scan.plan_files()
    if scan.limit is not None or not _takes_whole_files(scan, plan):
        return None
    if all(a.function is AggregateFunction.COUNT_STAR for a in aggregates):
        return (plan.total_rows,) * len(aggregates)
    files = [task.data_file for task in plan.tasks]
    try:
        return tuple(_value(scan, a, field, files) for a, field in zip(aggregates, fields, strict=True))
    except _Unknown:
        return None


def _takes_whole_files(scan: TableScan, plan: ScanPlan) -> bool:
    """True if every row of every planned file is a result, by its partition or by its metrics."""
    if plan.is_exact:
        return True
    if plan.has_deletes or len(plan.paths) > _MOST_FILES:
        return False
    matches = strict_metrics(scan.table_schema, scan.bound_filter, case_sensitive=scan.case_sensitive)
    return all(matches(task.data_file) for task in plan.tasks)


def _value(scan: TableScan, aggregate: Aggregate, field: NestedField | None, files: Sequence[DataFile]) -> object:
    if aggregate.function is AggregateFunction.COUNT_STAR or field is None:
        return sum(file.record_count for file in files)
    nested = field.id in scan.table_schema.parents
    if aggregate.function is AggregateFunction.COUNT:
        return sum(_present(file, field, nested) for file in files)
    extremes = [extreme for file in files if (extreme := _extreme(file, field, nested, aggregate.function)) is not None]
    if not extremes:
        return None
    return (min if aggregate.function is AggregateFunction.MIN else max)(extremes, key=_order)


def _order(value: Any) -> tuple[bool, Any]:
    return (True, 0) if value != value else (False, value)


def _present(file: DataFile, field: NestedField, nested: bool) -> int:
    """The number of values that are not null."""
    values, nulls = file.value_counts.get(field.id), file.null_value_counts.get(field.id)
    if values is None or nulls is None or (not nested and values != file.record_count):
        raise _Unknown
    return values - nulls


def _extreme(file: DataFile, field: NestedField, nested: bool, function: AggregateFunction) -> Any:
    if not isinstance(field.type, _EXACT_BOUNDS):
        raise _Unknown
    present = _present(file, field, nested)
    if present == 0:
        return None
    nans = file.nan_value_counts.get(field.id) if is_floating(field.type) else 0
    if nans is None:
        raise _Unknown
    if nans and (function is AggregateFunction.MAX or nans == present):
        return float("nan")
    lower, upper = (_decoded(bounds.get(field.id), field) for bounds in (file.lower_bounds, file.upper_bounds))
    lower, upper = sound_bounds(lower, upper)
    bound = lower if function is AggregateFunction.MIN else upper
    if bound is None:
        raise _Unknown
    return bound


def _decoded(data: bytes | None, field: NestedField) -> Any:
    return None if data is None else from_bytes(field.type, data)


def count_rows(scan: TableScan) -> int:
    """The number of rows the scan returns: from metadata where that is exact, else by reading as few columns as possible."""
    known = aggregate_from_metadata(scan, (Aggregate(AggregateFunction.COUNT_STAR),))
    if known is not None:
        assert isinstance(known[0], int)
        return known[0]
    from icesql.table.scan.arrow_scan import scan_to_batches

    counted: int = sum(batch.num_rows for batch in scan_to_batches(replace(scan, select=(POS.name,))))
    return counted if scan.limit is None else min(counted, scan.limit)
