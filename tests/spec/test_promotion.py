"""Type promotion and compatibility of written data. Spec: "Schema Evolution"."""

from __future__ import annotations

import pytest

from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.promotion import can_promote, changes_partitioning, partition_field_against
from icesql.spec.transforms import DAY, IDENTITY, YEAR, bucket, can_transform, parse_transform, transform_function
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    PrimitiveType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzType,
    UnknownType,
)

TYPES: list[PrimitiveType] = [
    IntegerType(), LongType(), FloatType(), DoubleType(), DateType(), TimestampType(), TimestamptzType(), TimestampNanoType(), StringType(),
    DecimalType(9, 2), DecimalType(10, 2), DecimalType(10, 3), UnknownType(),
]  # fmt: skip
V1 = {("int", "long"), ("float", "double"), ("decimal(9, 2)", "decimal(10, 2)")}
V3 = V1 | {("date", "timestamp"), ("date", "timestamp_ns")} | {("unknown", str(t)) for t in TYPES if not isinstance(t, UnknownType)}


@pytest.mark.parametrize(("version", "allowed"), [(1, V1), (2, V1), (3, V3)])
def test_each_version_allows_its_promotions_and_no_others(version: int, allowed: set[tuple[str, str]]) -> None:
    found = {(str(a), str(b)) for a in TYPES for b in TYPES if a != b and can_promote(a, b, version)}
    assert found == allowed
    assert all(can_promote(t, t, version) for t in TYPES)


def test_nested_types_are_never_promoted() -> None:
    assert not can_promote(ListType(1, IntegerType()), ListType(1, LongType()), 3)
    assert not can_promote(UnknownType(), StructType(()), 3)


@pytest.mark.parametrize("text", ["identity", "bucket[16]", "year", "month", "day"])
def test_promotions_that_change_partition_values_are_those_that_do(text: str) -> None:
    transform = parse_transform(text)
    before, after = transform_function(transform, DateType()), transform_function(transform, TimestampType())
    differs = any(before(day) != after(day * 86_400_000_000) for day in range(-500, 500))
    assert changes_partitioning(transform, DateType(), TimestampType()) == differs
    for source, target in ((IntegerType(), LongType()), (DecimalType(9, 2), DecimalType(10, 2))):
        if can_transform(transform, source):
            assert not changes_partitioning(transform, source, target)


def test_the_field_that_forbids_a_promotion_is_named() -> None:
    fields = (
        PartitionField(source_ids=(1,), field_id=1000, transform=YEAR, name="d_year"),
        PartitionField(source_ids=(2,), field_id=1001, transform=IDENTITY, name="e"),
        PartitionField(source_ids=(3,), field_id=1002, transform=bucket(4), name="f_bucket"),
        PartitionField(source_ids=(4,), field_id=1003, transform=DAY, name="g_day"),
    )
    specs = (PartitionSpec(), PartitionSpec(spec_id=1, fields=fields))
    found = [partition_field_against(specs, i, DateType(), TimestampType()) for i in (1, 2, 3, 4, 5)]
    assert found == [None, "e", "f_bucket", None, None]
