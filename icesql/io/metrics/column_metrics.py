"""Column metrics of data files: which to keep (``write.metadata.metrics.*``), and how footers give them. Spec: "Data File Fields"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from icesql.errors import InvalidArgumentError
from icesql.spec.files import DataFile
from icesql.spec.properties import METRICS_MAX_INFERRED_COLUMN_DEFAULTS, METRICS_MODE_COLUMN_PREFIX, METRICS_MODE_DEFAULT, property_as_int
from icesql.spec.schema import Schema
from icesql.spec.types import BinaryType, ListType, MapType, NestedField, StringType, StructType, Type
from icesql.spec.values.binary import to_bytes, truncate_lower, truncate_upper

DEFAULT_MAX_INFERRED = 100


@dataclass(frozen=True, slots=True)
class MetricsMode:
    """``counts``: keep sizes and counts. ``bounds``: keep bounds as well, cut to ``length`` characters or bytes (``None``: whole)."""

    counts: bool = True
    bounds: bool = True
    length: int | None = None

    def __str__(self) -> str:
        if not self.counts:
            return "none"
        if not self.bounds:
            return "counts"
        return "full" if self.length is None else f"truncate({self.length})"


NONE, COUNTS, FULL = MetricsMode(counts=False, bounds=False), MetricsMode(bounds=False), MetricsMode()
TRUNCATE_16 = MetricsMode(length=16)


def metrics_mode(text: str) -> MetricsMode:
    """Parse ``none``, ``counts``, ``truncate(N)`` or ``full``. Raises InvalidArgumentError."""
    mode = text.strip().lower()
    named = {"none": NONE, "counts": COUNTS, "full": FULL}.get(mode)
    if named is not None:
        return named
    match = re.fullmatch(r"truncate\((\d+)\)", mode)
    if match is None or int(match[1]) == 0:
        raise InvalidArgumentError(f"Cannot read metrics mode: Invalid metrics mode: {text}", mode=text)
    return MetricsMode(length=int(match[1]))


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """The mode of each leaf column by field id; columns it does not name have ``default``."""

    default: MetricsMode = TRUNCATE_16
    modes: Mapping[int, MetricsMode] = field(default_factory=dict)

    def of(self, field_id: int) -> MetricsMode:
        return self.modes.get(field_id, self.default)


def metrics_config(schema: Schema, properties: Mapping[str, str], sorted_ids: Iterable[int] = ()) -> MetricsConfig:
    """The modes a table's properties ask for. Without ``write.metadata.metrics.default`` only the first 100 columns (the
    ``max-inferred-column-defaults``) get the default; sort columns get bounds whatever the default. A mode that cannot be read counts as
    the default."""
    default, modes = _inferred(schema, properties)
    for field_id in sorted_ids:
        if not modes.get(field_id, default).bounds:
            modes[field_id] = TRUNCATE_16
    for key, value in properties.items():
        if key.startswith(METRICS_MODE_COLUMN_PREFIX):
            column_id = schema.field_id(key[len(METRICS_MODE_COLUMN_PREFIX) :])
            if column_id is not None:
                modes[column_id] = _mode_or(value, default)
    return MetricsConfig(default, modes)


def max_inferred_columns(properties: Mapping[str, str]) -> int:
    """The number of columns that have metrics by default. Raises ValidationError unless it is a whole number."""
    limit = property_as_int(properties, METRICS_MAX_INFERRED_COLUMN_DEFAULTS)
    return DEFAULT_MAX_INFERRED if limit < 0 else limit


def _inferred(schema: Schema, properties: Mapping[str, str]) -> tuple[MetricsMode, dict[int, MetricsMode]]:
    if METRICS_MODE_DEFAULT in properties:
        return _mode_or(properties[METRICS_MODE_DEFAULT], TRUNCATE_16), {}
    limit = max_inferred_columns(properties)
    leaves = list(_breadth_first(schema.fields))
    if len(leaves) <= limit:
        return TRUNCATE_16, {}
    return NONE, dict.fromkeys(leaves[:limit], TRUNCATE_16)


def _mode_or(text: str, default: MetricsMode) -> MetricsMode:
    try:
        return metrics_mode(text)
    except InvalidArgumentError:
        return default


def _breadth_first(fields: Sequence[NestedField]) -> Iterator[int]:
    """Leaf ids, those of a level before those below it."""
    nested: list[NestedField] = []
    for each in fields:
        match each.type:
            case StructType(fields=inner):
                nested += inner
            case ListType():
                nested.append(each.type.element_field)
            case MapType():
                nested += (each.type.key_field, each.type.value_field)
            case _:
                yield each.id
    if nested:
        yield from _breadth_first(nested)


def measured_fields(schema: Schema | StructType) -> dict[int, NestedField]:
    """Leaf fields that have counts and bounds: those outside lists and maps."""
    fields: dict[int, NestedField] = {}
    for each in schema.fields:
        match each.type:
            case StructType():
                fields.update(measured_fields(each.type))
            case ListType() | MapType():
                pass
            case _:
                fields[each.id] = each
    return fields


@dataclass(slots=True)
class Metrics:
    """Metrics of one file, keyed by field id. ``split_offsets`` are where its row groups or stripes start."""

    record_count: int = 0
    column_sizes: dict[int, int] = field(default_factory=dict)
    value_counts: dict[int, int] = field(default_factory=dict)
    null_value_counts: dict[int, int] = field(default_factory=dict)
    nan_value_counts: dict[int, int] = field(default_factory=dict)
    lower_bounds: dict[int, bytes] = field(default_factory=dict)
    upper_bounds: dict[int, bytes] = field(default_factory=dict)
    split_offsets: tuple[int, ...] = ()


def with_metrics(file: DataFile, metrics: Metrics) -> DataFile:
    """The entry of a file with its metrics filled in, the record count among them."""
    return replace(
        file,
        record_count=metrics.record_count,
        column_sizes=metrics.column_sizes,
        value_counts=metrics.value_counts,
        null_value_counts=metrics.null_value_counts,
        nan_value_counts=metrics.nan_value_counts,
        lower_bounds=metrics.lower_bounds,
        upper_bounds=metrics.upper_bounds,
        split_offsets=metrics.split_offsets,
    )


def set_bounds(metrics: Metrics, field_id: int, type_: Type, mode: MetricsMode, lower: object, upper: object) -> None:
    """Store bounds given in internal form, cut as the mode says; ``None`` is no bound. An upper bound that cannot be cut upwards is left
    out."""
    if not mode.bounds:
        return
    cuts = mode.length is not None and isinstance(type_, (StringType, BinaryType))
    if lower is not None:
        metrics.lower_bounds[field_id] = to_bytes(type_, truncate_lower(type_, lower, mode.length or 0) if cuts else lower)
    if upper is not None:
        high = truncate_upper(type_, upper, mode.length or 0) if cuts else upper
        if high is not None:
            metrics.upper_bounds[field_id] = to_bytes(type_, high)
