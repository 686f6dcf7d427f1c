"""Types, schemas, partition specs and sort orders as JSON. Spec: appendix C."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError
from icesql.spec.json.specs import (
    sort_order_from_json,
    sort_order_to_json,
    spec_fields_to_json,
    spec_from_fields,
    spec_from_json,
    spec_to_json,
)
from icesql.spec.json.types import schema_from_json, schema_to_json, type_from_json, type_to_json
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import NullOrder, SortDirection, SortField, SortOrder
from icesql.spec.transforms import DAY, IDENTITY, bucket
from icesql.spec.types import (
    DateType,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzNanoType,
    Type,
    UnknownType,
    VariantType,
)
from tests.effort import examples
from tests.spec.strategies import schemas, types

APPENDIX_C = [
    (LongType(), "long"),
    (DecimalType(9, 2), "decimal(9, 2)"),
    (FixedType(16), "fixed[16]"),
    (TimestamptzNanoType(), "timestamptz_ns"),
    (UnknownType(), "unknown"),
    (VariantType(), "variant"),
    (GeometryType(), "geometry"),
    (GeometryType("srid:3857"), "geometry(srid:3857)"),
    (GeographyType("OGC:CRS84", "vincenty"), "geography(OGC:CRS84, vincenty)"),
    (
        StructType((NestedField(1, "id", LongType(), True, "unique"), NestedField(2, "d", DateType(), False, None, 17486, -1))),
        {
            "type": "struct",
            "fields": [
                {"id": 1, "name": "id", "required": True, "type": "long", "doc": "unique"},
                {
                    "id": 2,
                    "name": "d",
                    "required": False,
                    "type": "date",
                    "initial-default": "2017-11-16",
                    "write-default": "1969-12-31",
                },
            ],
        },
    ),
    (ListType(3, StringType(), True), {"type": "list", "element-id": 3, "element-required": True, "element": "string"}),
    (
        MapType(4, StringType(), 5, LongType()),
        {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value-required": False, "value": "long"},
    ),
]


@pytest.mark.parametrize(("type_", "node"), APPENDIX_C, ids=lambda part: str(part)[:32])
def test_json_forms_of_appendix_c(type_: Type, node: Any) -> None:
    assert type_to_json(type_) == node
    assert type_from_json(node) == type_


@pytest.mark.parametrize("text", ["decimal(9,2)", "DECIMAL( 9 , 2 )", "decimal(9, 2)"])
def test_spaces_and_case_do_not_matter(text: str) -> None:
    assert type_from_json(text) == DecimalType(9, 2)


@given(types)
def test_types_round_trip(type_: Type) -> None:
    node = json.loads(json.dumps(type_to_json(type_)))
    try:
        assert type_from_json(node) == type_
    except CorruptMetadataError:  # a struct nested in a generated type may name a field twice
        pytest.fail(str(type_))


@examples(60)
@given(schemas, st.integers(0, 9))
def test_schemas_round_trip(schema: Schema, schema_id: int) -> None:
    identified = Schema(schema.fields, schema_id, (schema.fields[0].id,))
    assert schema_from_json(json.loads(json.dumps(schema_to_json(identified)))) == identified


@examples(40)
@given(schemas)
def test_schemas_are_read_by_pyiceberg(schema: Schema) -> None:
    from pyiceberg.schema import Schema as PeerSchema

    peer = PeerSchema.model_validate_json(json.dumps(schema_to_json(schema)))
    assert schema_from_json(json.loads(peer.model_dump_json())) == schema


SPEC = PartitionSpec(
    spec_id=3,
    fields=(
        PartitionField(source_ids=(4,), field_id=1000, transform=DAY, name="ts_day"),
        PartitionField(source_ids=(1, 2), field_id=1001, transform=bucket(16), name="both"),
    ),
)
ORDER = SortOrder(
    order_id=1,
    fields=(
        SortField(source_ids=(2,), transform=IDENTITY),
        SortField(source_ids=(3,), transform=bucket(4), direction=SortDirection.DESC, null_order=NullOrder.NULLS_LAST),
    ),
)


def test_specs_and_orders_round_trip() -> None:
    assert spec_from_json(spec_to_json(SPEC)) == SPEC
    assert spec_from_fields(3, spec_fields_to_json(SPEC)) == SPEC
    assert sort_order_from_json(sort_order_to_json(ORDER)) == ORDER
    assert spec_to_json(SPEC)["fields"][0] == {"name": "ts_day", "transform": "day", "source-id": 4, "field-id": 1000}
    assert spec_to_json(SPEC)["fields"][1]["source-ids"] == [1, 2]
    assert sort_order_to_json(ORDER)["fields"][1] == {
        "transform": "bucket[4]",
        "source-id": 3,
        "direction": "desc",
        "null-order": "nulls-last",
    }


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("money", "unknown type: money"),
        ("decimal(39, 2)", "invalid decimal"),
        ("decimal(2, 3)", "invalid decimal"),
        ({"type": "set"}, "unknown type: set"),
        ({"type": "struct"}, "missing required field: fields"),
        ({"type": "list", "element-id": 1, "element": "long"}, "missing required field: element-required"),
        ({"type": "struct", "fields": [{"id": "x"}]}, r"fields\[0\]: missing required field: type"),
        ([], "expected an object, got an array"),
        (None, "expected an object, got null"),
    ],
)
def test_faults_name_their_place(node: Any, message: str) -> None:
    with pytest.raises(CorruptMetadataError, match=message):
        type_from_json(node)
