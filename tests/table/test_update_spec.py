"""Partition evolution: names, reuse, void fields of version 1, refusals; and sort orders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import IcesqlError, InvalidArgumentError, NotFoundError, ValidationError
from icesql.expr.tree import Reference
from icesql.spec.schema import Schema
from icesql.spec.sorting import NullOrder, SortDirection
from icesql.spec.transforms import DAY, HOUR, YEAR, Transform, bucket, truncate
from icesql.spec.types import LongType, NestedField, StringType, StructType, TimestampType
from icesql.table.changes.replace_sort_order import ReplaceSortOrder
from icesql.table.changes.update_schema import UpdateSchema
from icesql.table.changes.update_spec import UpdatePartitionSpec
from tests.table.memory import MemoryOperations, new_table

SCHEMA = Schema(
    (
        NestedField(1, "id", LongType()),
        NestedField(2, "data", StringType()),
        NestedField(3, "ts", TimestampType()),
        NestedField(4, "s", StructType((NestedField(5, "b", LongType()),))),
    )
)


def table(tmp_path: Path, version: int = 2) -> MemoryOperations:
    return new_table(tmp_path, schema=SCHEMA, version=version)


def fields(t: MemoryOperations) -> list[tuple[int, str, str]]:
    return [(f.field_id, f.name, str(f.transform)) for f in t.metadata.spec.fields]


def term(name: str, transform: Transform | None = None) -> Reference:
    return Reference(name, transform)


def test_default_names(tmp_path: Path) -> None:
    t = table(tmp_path)
    update = UpdatePartitionSpec(t).add_field("id").add_field(term("id", bucket(16))).add_field(term("data", truncate(4)))
    update.add_field(term("ts", DAY)).add_field(term("s.b", bucket(8))).commit()
    assert [name for _, name, _ in fields(t)] == ["id", "id_bucket_16", "data_trunc_4", "ts_day", "s.b_bucket_8"]
    assert [field_id for field_id, _, _ in fields(t)] == [1000, 1001, 1002, 1003, 1004]
    assert t.metadata.last_partition_id == 1004


def test_a_dropped_field_is_reused_with_its_id_and_name(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdatePartitionSpec(t).add_field(term("id", bucket(16)), "shard").add_field(term("ts", DAY)).commit()
    UpdatePartitionSpec(t).remove_field("shard").commit()
    assert fields(t) == [(1001, "ts_day", "day")]
    UpdatePartitionSpec(t).add_field(term("id", bucket(16))).commit()
    assert fields(t) == [(1001, "ts_day", "day"), (1000, "shard", "bucket[16]")]
    UpdatePartitionSpec(t).remove_field("shard").commit()
    UpdatePartitionSpec(t).add_field(term("id", bucket(16)), "other").commit()
    assert fields(t)[1] == (1002, "other", "bucket[16]")


def test_version_1_keeps_void_fields(tmp_path: Path) -> None:
    t = table(tmp_path, 1)
    UpdatePartitionSpec(t).add_field("data").commit()
    UpdatePartitionSpec(t).remove_field("data").commit()
    assert fields(t) == [(1000, "data", "void")]
    UpdatePartitionSpec(t).add_field("data").commit()
    assert fields(t) == [(1000, "data_1000", "void"), (1001, "data", "identity")]


def test_replacing_a_field_in_one_change(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdatePartitionSpec(t).add_field(term("ts", DAY)).commit()
    UpdatePartitionSpec(t).remove_field("ts_day").add_field(term("ts", HOUR), "ts_day").commit()
    assert fields(t) == [(1001, "ts_day", "hour")]
    UpdatePartitionSpec(t).remove_field("ts_day").add_field(term("ts", HOUR)).commit()  # dropped and added again: nothing changes
    assert fields(t) == [(1001, "ts_day", "hour")]
    UpdatePartitionSpec(t).rename_field("ts_day", "hours").commit()
    assert fields(t) == [(1001, "hours", "hour")]


def test_an_equal_spec_is_found_again(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdatePartitionSpec(t).add_field("id").commit()
    UpdatePartitionSpec(t).remove_field("id").commit()
    assert (t.metadata.default_spec_id, len(t.metadata.partition_specs)) == (0, 2)
    UpdatePartitionSpec(t).add_field("id").commit()
    assert (t.metadata.default_spec_id, len(t.metadata.partition_specs)) == (1, 2)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda u: u.add_field("nope"), NotFoundError, "Cannot find field 'nope' in struct"),
        (lambda u: u.add_field(term("data", DAY)), ValidationError, "Cannot bind: day cannot transform string values from .data."),
        (
            lambda u: u.add_field(term("id", bucket(8))),
            InvalidArgumentError,
            "Cannot add duplicate partition field null=bucket.8.*conflicts with 1000",
        ),
        (lambda u: u.add_field("data", "shard"), InvalidArgumentError, "Cannot add duplicate partition field name: shard"),
        (lambda u: u.add_field("id", "data").commit(), InvalidArgumentError, "sourced from different field in schema: data"),
        (lambda u: u.add_field(term("id", bucket(4)), "data").commit(), InvalidArgumentError, "name that exists in schema: data"),
        (
            lambda u: u.add_field(term("ts", DAY)).add_field(term("ts", YEAR)),
            InvalidArgumentError,
            "Cannot add redundant partition field: .* conflicts with",
        ),
        (lambda u: u.add_field("id").add_field("id"), InvalidArgumentError, "already added"),
        (lambda u: u.remove_field("nope"), InvalidArgumentError, "Cannot find partition field to remove: nope"),
        (lambda u: u.remove_field(term("ts", DAY)), InvalidArgumentError, "Cannot find partition field to remove: day"),
        (lambda u: u.add_field("data").remove_field("data"), InvalidArgumentError, "Cannot delete newly added field"),
        (lambda u: u.rename_field("nope", "x"), InvalidArgumentError, "Cannot find partition field to rename: nope"),
        (
            lambda u: u.rename_field("shard", "x").remove_field("shard"),
            InvalidArgumentError,
            "Cannot rename and delete partition field: shard",
        ),
        (
            lambda u: u.remove_field("shard").rename_field("shard", "x"),
            InvalidArgumentError,
            "Cannot delete and rename partition field: shard",
        ),
    ],
)
def test_refusals(tmp_path: Path, change: Callable[..., Any], error: type[IcesqlError], words: str) -> None:
    t = table(tmp_path)
    UpdatePartitionSpec(t).add_field(term("id", bucket(8)), "shard").commit()
    before = t.load()
    with pytest.raises(error, match=words):
        change(UpdatePartitionSpec(t))
    assert t.load() == before


def test_a_spec_is_added_without_becoming_the_default(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdatePartitionSpec(t).add_field("id").add_non_default_spec().commit()
    assert (t.metadata.default_spec_id, fields(t)) == (0, [])
    assert [[f.name for f in spec.fields] for spec in t.metadata.partition_specs] == [[], ["id"]]
    UpdatePartitionSpec(t).add_field("id").commit()
    assert (t.metadata.default_spec_id, len(t.metadata.partition_specs)) == (1, 2)


def test_a_transform_may_be_named_like_its_own_column(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdatePartitionSpec(t).add_field(term("id", bucket(4)), "id").commit()
    assert fields(t) == [(1000, "id", "bucket[4]")]


def test_sort_orders_are_replaced_and_listed(tmp_path: Path) -> None:
    t = table(tmp_path)
    ReplaceSortOrder(t).asc("id").desc(term("ts", DAY), NullOrder.NULLS_FIRST).desc("data").commit()
    order = t.metadata.sort_order
    assert [(f.source_id, f.direction, f.null_order) for f in order.fields] == [
        (1, SortDirection.ASC, NullOrder.NULLS_FIRST),
        (3, SortDirection.DESC, NullOrder.NULLS_FIRST),
        (2, SortDirection.DESC, NullOrder.NULLS_LAST),
    ]
    ReplaceSortOrder(t).commit()
    assert (t.metadata.default_sort_order_id, len(t.metadata.sort_orders)) == (0, 2)
    with pytest.raises(NotFoundError, match="Cannot find field 'nope' in struct"):
        ReplaceSortOrder(t).asc("nope").commit()
    ReplaceSortOrder(t).asc("data").commit()
    with pytest.raises(ValidationError, match="Cannot find source column for sort field"):
        UpdateSchema(t).delete_column("data").commit()
