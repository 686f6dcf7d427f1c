"""How rows are spread over write tasks and ordered within them: ``write.distribution-mode``, the sort order, and fan-out.

Spark rebalances adaptively: small partitions are put together, so a small insert into many partitions makes one file each; skewed ones
are split, so large ones are written in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from icesql.errors import InvalidArgumentError
from icesql.spark.functions.transforms import transform_column
from icesql.spark.jvm.plans import range_partitioned, rebalanced
from icesql.spec import properties as P
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.properties import whole_number
from icesql.spec.schema import Schema
from icesql.spec.sorting import NullOrder, SortDirection, SortField, SortOrder

MODES = ("none", "hash", "range")
PARTITION_PREFIX = "__partition_value_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """``clustered``: rows of a partition come together within a task, so each task needs one open file only."""

    mode: str
    fanout: bool
    sort_order: SortOrder
    advisory_size_bytes: int

    @property
    def clustered(self) -> bool:
        return not self.fanout


def distribution_of(
    metadata: TableMetadata,
    spec: PartitionSpec,
    *,
    verb: str = "write",
    options: Mapping[str, str] | None = None,
    session: Mapping[str, str] | None = None,
) -> Distribution:
    """What a write asks: option, then session setting, then table property, then the default.

    ``verb``: write, delete, update or merge; the last three have modes of their own, hash by default.
    Raises InvalidArgumentError for an unknown mode.
    """
    options, session, properties = options or {}, session or {}, metadata.properties
    asked = (
        options.get("distribution-mode"),
        session.get("spark.sql.iceberg.distribution-mode"),
        properties.get(P.DISTRIBUTION_MODES[verb]),
    )
    mode = next((mode for mode in asked if mode is not None), None)
    if mode is None:
        mode = _default_mode(metadata, spec) if verb == "write" else "hash"
    if mode.lower() not in MODES:
        raise InvalidArgumentError(f"Invalid distribution mode: {mode}", mode=mode)
    fanout = options.get("fanout-enabled") or properties.get(P.SPARK_WRITE_PARTITIONED_FANOUT_ENABLED, "false")
    ordered = (options.get("use-table-distribution-and-ordering") or "true").lower() == "true"
    return Distribution(
        mode=mode.lower() if ordered else "none",
        fanout=fanout.lower() == "true",
        sort_order=metadata.sort_order if ordered else SortOrder(),
        advisory_size_bytes=_advisory(metadata, options, session),
    )


def _default_mode(metadata: TableMetadata, spec: PartitionSpec) -> str:
    if not metadata.sort_order.is_unsorted:
        return "range"
    return "none" if spec.is_unpartitioned else "hash"


def _advisory(metadata: TableMetadata, options: Mapping[str, str], session: Mapping[str, str]) -> int:
    """Bytes of shuffled rows a task should write: about one target file, since shuffle data is compressed as well."""
    text = (
        options.get("advisory-partition-size")
        or session.get("spark.sql.iceberg.advisory-partition-size")
        or metadata.properties.get(P.SPARK_WRITE_ADVISORY_PARTITION_SIZE_BYTES)
    )
    target = options.get("target-file-size-bytes")
    given = text or target
    return integer(given) if given else P.property_as_int(metadata.properties, P.WRITE_TARGET_FILE_SIZE_BYTES)


def integer(text: str) -> int:
    """The number that an option states. Raises InvalidArgumentError, as Java words it."""
    try:
        return whole_number(text)
    except ValueError:
        raise InvalidArgumentError(f'For input string: "{text}"', value=text) from None


def with_partition_values(spark: SparkSession, frame: DataFrame, schema: Schema, spec: PartitionSpec) -> DataFrame:
    """The frame with one more column a spec field, in internal form, named ``__partition_value_<n>``."""
    values = partition_columns(spark, schema, spec, lambda field_id: source_column(frame, schema, field_id))
    return frame.select("*", *values) if values else frame


def partition_columns(spark: SparkSession, schema: Schema, spec: PartitionSpec, column_of: Callable[[int], Column]) -> list[Column]:
    """A row's partition values, as ``with_partition_values`` adds them; ``column_of``: the column of a field of the table, by its id."""
    columns = []
    for place, field in enumerate(spec.fields):
        source = schema.find(field.source_id)
        if source is None or field.transform.is_void:
            value = F.lit(None).cast("int")
        else:
            value = transform_column(spark, field.transform, source.type, column_of(field.source_id))
        columns.append(value.alias(f"{PARTITION_PREFIX}{place}"))
    return columns


def source_column(frame: DataFrame, schema: Schema, field_id: int) -> Column:
    """The column of a field, also of one nested in structs."""
    path = [field_id]
    while path[0] in schema.parents:
        path.insert(0, schema.parents[path[0]])
    names = [schema.fields_by_id[i].name for i in path]
    column = frame["`" + names[0].replace("`", "``") + "`"]
    for name in names[1:]:
        column = column.getField(name)
    return column


def sort_columns(spark: SparkSession, frame: DataFrame, schema: Schema, order: SortOrder) -> list[Column]:
    return [_sort_column(spark, frame, schema, field) for field in order.fields if schema.find(field.source_id) is not None]


def _sort_column(spark: SparkSession, frame: DataFrame, schema: Schema, field: SortField) -> Column:
    source = schema.field(field.source_id)
    value = transform_column(spark, field.transform, source.type, source_column(frame, schema, field.source_id))
    first = field.null_order is NullOrder.NULLS_FIRST
    if field.direction is SortDirection.ASC:
        return value.asc_nulls_first() if first else value.asc_nulls_last()
    return value.desc_nulls_first() if first else value.desc_nulls_last()


def distributed(spark: SparkSession, frame: DataFrame, schema: Schema, spec: PartitionSpec, wanted: Distribution) -> DataFrame:
    """``frame`` (with its partition values) spread and sorted for writing."""
    parts = [frame[f"{PARTITION_PREFIX}{i}"] for i, field in enumerate(spec.fields) if not field.transform.is_void]
    order = sort_columns(spark, frame, schema, wanted.sort_order)
    keys = [part.asc_nulls_first() for part in parts]
    if wanted.mode == "range" and (keys or order):
        frame = range_partitioned(frame, [*keys, *order], wanted.advisory_size_bytes)
    elif wanted.mode == "hash" and parts:
        frame = rebalanced(frame, parts, wanted.advisory_size_bytes)
    local = [*([] if wanted.fanout else keys), *order]
    return frame.sortWithinPartitions(*local) if local else frame
