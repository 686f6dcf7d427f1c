"""Which types a column may change to, and whether data of one schema fits another. Spec: "Schema Evolution"."""

from __future__ import annotations

from icesql.spec.partitioning import PartitionSpec
from icesql.spec.transforms import Transform
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    PrimitiveType,
    TimestampNanoType,
    TimestampType,
    Type,
    UnknownType,
)


def can_promote(source: Type, target: Type, format_version: int) -> bool:
    """True if a column of type ``source`` may become ``target`` (equal types included) in that format version.

    Whether a partition field forbids it is ``changes_partitioning``'s question.
    """
    if source == target:
        return isinstance(source, PrimitiveType)
    match source, target:
        case (IntegerType(), LongType()) | (FloatType(), DoubleType()):
            return True
        case DecimalType(), DecimalType():
            return target.scale == source.scale and target.precision >= source.precision
        case DateType(), (TimestampType() | TimestampNanoType()):
            return format_version >= 3
        case UnknownType(), PrimitiveType():
            return format_version >= 3
        case _:
            return False


def changes_partitioning(transform: Transform, source: Type, target: Type) -> bool:
    """True if the transform gives other values once its source has been promoted; such a promotion is not allowed."""
    if source == target or not isinstance(source, DateType):
        return not transform.is_known and source != target
    return transform.name in ("identity", "bucket")


def partition_field_against(specs: tuple[PartitionSpec, ...], field_id: int, source: Type, target: Type) -> str | None:
    """Name of a partition field of any spec that forbids promoting the column ``field_id``, or ``None``."""
    for spec in specs:
        for field in spec.fields:
            if field_id in field.source_ids and changes_partitioning(field.transform, source, target):
                return field.name
    return None
