"""Partition specs and sort orders as JSON objects. Spec: appendix C, "Partition Specs" and "Sort Orders"."""

from __future__ import annotations

from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.spec.json.faults import (
    JsonFault,
    JsonObject,
    JsonValue,
    array_field,
    as_object,
    each,
    int_array,
    int_field,
    string_field,
    within,
)
from icesql.spec.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from icesql.spec.sorting import NullOrder, SortDirection, SortField, SortOrder
from icesql.spec.transforms import Transform, parse_transform


def spec_to_json(spec: PartitionSpec) -> dict[str, Any]:
    return {"spec-id": spec.spec_id, "fields": spec_fields_to_json(spec)}


def spec_fields_to_json(spec: PartitionSpec) -> list[JsonObject]:
    """The bare field list: a v1 document's ``partition-spec`` and a manifest's header."""
    return [{"name": f.name, "transform": str(f.transform), **_source_to_json(f.source_ids), "field-id": f.field_id} for f in spec.fields]


def spec_from_json(node: JsonValue) -> PartitionSpec:
    """The spec of a JSON object. Raises CorruptMetadataError naming the JSON path."""
    spec = as_object(node)
    return spec_from_fields(int_field(spec, "spec-id"), array_field(spec, "fields"))


def spec_from_fields(spec_id: int, nodes: list[Any], path: str = "fields") -> PartitionSpec:
    """The spec of a bare field list. Old v1 writers left out every ``field-id``: then ids count from 1000. Raises CorruptMetadataError."""
    given = sum(1 for node in nodes if isinstance(node, dict) and "field-id" in node)
    if given not in (0, len(nodes)):
        raise JsonFault(f"missing field-id: {given} of {len(nodes)} partition fields have one", path)
    fields: list[PartitionField] = []
    for position, (item_path, node) in enumerate(each(nodes, path)):
        with within(item_path):
            field = _partition_field(as_object(node), PARTITION_FIELD_ID_START + position)
            _check_unused(field, fields)
        fields.append(field)
    return PartitionSpec(spec_id=spec_id, fields=tuple(fields))


def _partition_field(node: JsonObject, default_id: int) -> PartitionField:
    return PartitionField(
        source_ids=_source_ids(node),
        field_id=int_field(node, "field-id", default=default_id),
        transform=_transform(node),
        name=string_field(node, "name"),
    )


def _check_unused(field: PartitionField, earlier: list[PartitionField]) -> None:
    for other in earlier:
        if other.field_id == field.field_id:
            raise JsonFault(f"partition field id used twice: {field.field_id}", "field-id")
        if other.name == field.name:
            raise JsonFault(f"partition field name used twice: {field.name}", "name")


def sort_order_to_json(order: SortOrder) -> dict[str, Any]:
    fields = [
        {
            "transform": str(f.transform),
            **_source_to_json(f.source_ids),
            "direction": f.direction.value,
            "null-order": f.null_order.value,
        }
        for f in order.fields
    ]
    return {"order-id": order.order_id, "fields": fields}


def sort_order_from_json(node: JsonValue) -> SortOrder:
    """The order of a JSON object. Raises CorruptMetadataError naming the JSON path."""
    order = as_object(node)
    order_id, fields = int_field(order, "order-id"), []
    for path, item in each(array_field(order, "fields"), "fields"):
        with within(path):
            fields.append(_sort_field(as_object(item)))
    if order_id == 0 and fields:
        raise JsonFault("order id 0 is reserved for the unsorted order", "order-id")
    return SortOrder(order_id=order_id, fields=tuple(fields))


def _sort_field(node: JsonObject) -> SortField:
    return SortField(
        source_ids=_source_ids(node),
        transform=_transform(node),
        direction=SortDirection(_one_of(node, "direction", [d.value for d in SortDirection])),
        null_order=NullOrder(_one_of(node, "null-order", [n.value for n in NullOrder])),
    )


def _one_of(node: JsonObject, key: str, allowed: list[str]) -> str:
    value = string_field(node, key).lower()
    if value not in allowed:
        raise JsonFault(f"expected {' or '.join(allowed)}, got {value!r}", key)
    return value


def _transform(node: JsonObject) -> Transform:
    text = string_field(node, "transform")
    try:
        return parse_transform(text)
    except InvalidArgumentError as error:
        raise JsonFault(error.message, "transform") from error


def _source_to_json(source_ids: tuple[int, ...]) -> dict[str, Any]:
    return {"source-id": source_ids[0]} if len(source_ids) == 1 else {"source-ids": list(source_ids)}


def _source_ids(node: JsonObject) -> tuple[int, ...]:
    """``source-ids`` (v3) where there, else ``source-id``."""
    if node.get("source-ids") is None:
        return (int_field(node, "source-id"),)
    ids = tuple(int_array(node, "source-ids"))
    if not ids:
        raise JsonFault("expected at least one id", "source-ids")
    return ids
