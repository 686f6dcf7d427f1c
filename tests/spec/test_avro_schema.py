"""Avro schemas. Spec: appendix A, "Avro"."""

from __future__ import annotations

from itertools import count
from typing import Any

import fastavro
import pytest
from hypothesis import given

from icesql.errors import CorruptMetadataError, UnsupportedError
from icesql.spec.avro_schema import compatible_name, decimal_bytes, has_field_ids, struct_from_avro, struct_to_avro
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BinaryType,
    DateType,
    DecimalType,
    FixedType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UnknownType,
    UUIDType,
    VariantType,
)
from tests.effort import examples
from tests.spec.strategies import schemas

STRUCT = StructType(
    (
        NestedField(1, "a:b", DecimalType(9, 2)),
        NestedField(2, "u", UUIDType()),
        NestedField(3, "u2", UUIDType(), True, "doc"),
        NestedField(4, "m", MapType(5, IntegerType(), 6, StructType((NestedField(7, "x", TimestamptzType()),)))),
        NestedField(8, "l", ListType(9, StructType((NestedField(10, "y", TimestampNanoType(), True),)))),
        NestedField(11, "n", UnknownType()),
        NestedField(12, "v", VariantType()),
        NestedField(13, "f", FixedType(5)),
        NestedField(14, "t", TimeType()),
        NestedField(15, "s", MapType(16, StringType(), 17, DateType(), True)),
    )
)
JAVA: dict[str, Any] = {  # what Iceberg 1.11's AvroSchemaUtil.convert gives
    "type": "record",
    "name": "table",
    "fields": [
        {"name": "a_x3Ab", "type": ["null", {"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal", "precision": 9,
                                             "scale": 2}], "default": None, "iceberg-field-name": "a:b", "field-id": 1},
        {"name": "u", "type": ["null", {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}], "default": None,
         "field-id": 2},
        {"name": "u2", "type": "uuid_fixed", "doc": "doc", "field-id": 3},
        {"name": "m", "type": ["null", {"type": "array", "items": {"type": "record", "name": "k5_v6", "fields": [
            {"name": "key", "type": "int", "field-id": 5},
            {"name": "value", "type": ["null", {"type": "record", "name": "r6", "fields": [
                {"name": "x", "type": ["null", {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}],
                 "default": None, "field-id": 7}]}], "default": None, "field-id": 6}]}, "logicalType": "map"}],
         "default": None, "field-id": 4},
        {"name": "l", "type": ["null", {"type": "array", "items": ["null", {"type": "record", "name": "r9", "fields": [
            {"name": "y", "type": {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False}, "field-id": 10}]}],
            "element-id": 9}], "default": None, "field-id": 8},
        {"name": "n", "type": "null", "default": None, "field-id": 11},
        {"name": "v", "type": ["null", {"type": "record", "name": "r12", "fields": [
            {"name": "metadata", "type": "bytes"}, {"name": "value", "type": "bytes"}], "logicalType": "variant"}],
         "default": None, "field-id": 12},
        {"name": "f", "type": ["null", {"type": "fixed", "name": "fixed_5", "size": 5}], "default": None, "field-id": 13},
        {"name": "t", "type": ["null", {"type": "long", "logicalType": "time-micros"}], "default": None, "field-id": 14},
        {"name": "s", "type": ["null", {"type": "map", "values": {"type": "int", "logicalType": "date"}, "key-id": 16, "value-id": 17}],
         "default": None, "field-id": 15},
    ],
}  # fmt: skip


def test_schemas_are_javas() -> None:
    assert struct_to_avro(STRUCT, "table") == JAVA
    assert struct_from_avro(JAVA) == STRUCT


@examples(60)
@given(schemas)
def test_structs_round_trip_and_fastavro_takes_them(schema: Schema) -> None:
    avro = struct_to_avro(schema.as_struct(), "table")
    fastavro.parse_schema(avro, {})
    assert struct_from_avro(avro) == schema.as_struct()
    assert has_field_ids(avro)


def test_record_names_can_be_given() -> None:
    struct = StructType((NestedField(2, "data_file", StructType((NestedField(102, "partition", StructType(()), True),)), True),))
    avro = struct_to_avro(struct, "manifest_entry", {2: "r2"})
    inner = avro["fields"][0]["type"]
    assert (inner["name"], inner["fields"][0]["type"]["name"]) == ("r2", "r102")


@pytest.mark.parametrize(("precision", "size"), [(1, 1), (2, 1), (3, 2), (4, 2), (9, 4), (10, 5), (18, 8), (19, 9), (38, 16)])
def test_decimals_take_the_fewest_bytes(precision: int, size: int) -> None:
    assert decimal_bytes(precision) == size
    (10**precision - 1).to_bytes(size, "big", signed=True)
    with pytest.raises(OverflowError):
        (10**precision - 1).to_bytes(size - 1, "big", signed=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a_1", "a_1"), ("1a", "_1a"), ("a:b", "a_x3Ab"), ("a b", "a_x20b"), ("\U0001f600", "_xD83D_xDE00")],
)
def test_names_avro_does_not_allow(name: str, expected: str) -> None:
    assert compatible_name(name) == expected


def test_foreign_schemas_get_ids() -> None:
    ids = count(1)
    avro = {
        "type": "record",
        "name": "x",
        "fields": [
            {"name": "a", "type": ["null", "string"]},
            {"name": "b", "type": {"type": "array", "items": {"type": "long", "logicalType": "local-timestamp-micros"}}},
            {"name": "c", "type": {"type": "bytes", "logicalType": "decimal", "precision": 5}},
            {"name": "d", "type": {"type": "map", "values": "bytes"}},
        ],
    }
    assert not has_field_ids(avro)
    assert struct_from_avro(avro, id_for_missing=lambda: next(ids)) == StructType(
        (
            NestedField(1, "a", StringType()),
            NestedField(2, "b", ListType(3, TimestampType(), True), True),
            NestedField(4, "c", DecimalType(5, 0), True),
            NestedField(5, "d", MapType(6, StringType(), 7, BinaryType(), True), True),
        )
    )
    with pytest.raises(CorruptMetadataError, match=r"fields\[0\]: missing required field: field-id"):
        struct_from_avro(avro)


def test_unreadable_schemas() -> None:
    def record(type_: Any) -> dict[str, Any]:
        return {"type": "record", "name": "x", "fields": [{"name": "a", "type": type_, "field-id": 1}]}

    assert struct_from_avro(record("long")) == StructType((NestedField(1, "a", LongType(), True),))
    with pytest.raises(UnsupportedError, match="union"):
        struct_from_avro(record(["int", "string"]))
    with pytest.raises(CorruptMetadataError, match="unknown Avro type: nope"):
        struct_from_avro(record("nope"))
    with pytest.raises(CorruptMetadataError, match="refers to itself"):
        struct_from_avro(record("x"))
    with pytest.raises(CorruptMetadataError, match="expected an object"):
        struct_from_avro([])
