"""Partition directories."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.paths import HIVE_NULL, escape, partition_path, partition_value
from icesql.spec.schema import Schema
from icesql.spec.transforms import (
    DAY,
    HOUR,
    IDENTITY,
    MONTH,
    YEAR,
    Transform,
    bucket,
    can_transform,
    result_type,
    transform_function,
    truncate,
)
from icesql.spec.types import DateType, LongType, NestedField, StringType, TimestampType, Type
from tests.spec.strategies import primitives, values_of


def spec_of(transform: Transform, name: str = "p") -> PartitionSpec:
    return PartitionSpec(fields=(PartitionField(source_ids=(1,), field_id=1000, transform=transform, name=name),))


def schema_of(type_: Type) -> Schema:
    return Schema((NestedField(1, "c", type_),))


def parsed(spec: PartitionSpec, schema: Schema, path: str) -> tuple[object, ...]:
    """The partition tuple of a directory."""
    parts = [part.partition("=")[2] for part in path.split("/") if part]
    return tuple(
        partition_value(field, schema.field(field.source_id).type, unquote_plus(text))
        for field, text in zip(spec.fields, parts, strict=True)
    )


def test_names_and_values_are_escaped_as_java_escapes_them() -> None:
    value = "a b/c=d%~*-._é+\U0001f600"
    path = partition_path(spec_of(IDENTITY, "p ~"), schema_of(StringType()), (value,))
    assert path == "p+%7E=a+b%2Fc%3Dd%25%7E*-._%C3%A9%2B%F0%9F%98%80"
    assert parsed(spec_of(IDENTITY, "p ~"), schema_of(StringType()), path) == (value,)


def test_several_fields_are_several_directories() -> None:
    schema = Schema((NestedField(1, "ts", TimestampType()), NestedField(2, "id", LongType())))
    fields = (
        PartitionField(source_ids=(1,), field_id=1000, transform=DAY, name="ts_day"),
        PartitionField(source_ids=(2,), field_id=1001, transform=bucket(16), name="b"),
    )
    spec = PartitionSpec(fields=fields)
    day = transform_function(DAY, TimestampType())(1_633_046_400_000_000)
    assert partition_path(spec, schema, (day, 3)) == "ts_day=2021-10-01/b=3"
    assert parsed(spec, schema, "ts_day=2021-10-01/b=3") == (day, 3)
    assert partition_path(PartitionSpec(), schema, ()) == ""
    assert parsed(PartitionSpec(), schema, "") == ()


@given(st.data(), primitives, st.sampled_from([IDENTITY, YEAR, MONTH, DAY, HOUR, bucket(7), truncate(3)]))
def test_paths_parse_back(data: st.DataObject, type_: Type, transform: Transform) -> None:
    if not can_transform(transform, type_):
        return
    value = transform_function(transform, type_)(data.draw(st.none() | values_of(type_)))
    if value in ("null", HIVE_NULL):
        return
    path = partition_path(spec_of(transform), schema_of(type_), (value,))
    is_string = isinstance(result_type(transform, type_), StringType)
    expected = "null" if value is None and is_string else value
    assert "/" not in path
    assert parsed(spec_of(transform), schema_of(type_), path) == (expected,)


@pytest.mark.parametrize(
    ("path", "message"),
    [("p=x", "not a long"), ("p=99999999999999999999", "range")],
)
def test_values_that_do_not_fit_are_refused(path: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        parsed(spec_of(IDENTITY), schema_of(LongType()), path)


@pytest.mark.parametrize(("transform", "text", "expected"), [(YEAR, "51", 51), (DAY, "2021-10-01", 18901), (IDENTITY, HIVE_NULL, None)])
def test_other_forms_of_values(transform: Transform, text: str, expected: Any) -> None:
    assert partition_value(spec_of(transform).fields[0], DateType(), text) == expected


@pytest.mark.parametrize("text", ["2021-13", "2021-1", "x", "2021-10-01"])
def test_wrong_months_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="not a month"):
        partition_value(spec_of(MONTH).fields[0], DateType(), text)


@given(st.text(st.characters(codec="utf-8")))
def test_escaped_text_is_plain(text: str) -> None:
    assert set(escape(text)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*_+%")
