"""Types and schemas as JSON objects. Spec: appendix C, "Schemas" and "Partition Specs"; key order as Java writes it."""

from __future__ import annotations

import re
from typing import Any

from icesql.spec import budgets
from icesql.spec.json.faults import (
    JsonFault,
    array_field,
    as_object,
    bool_field,
    each,
    int_array,
    int_field,
    kind,
    optional_string,
    required,
    string_field,
    within,
)
from icesql.spec.json.values import from_json, to_json
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    GeographyType,
    GeometryType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UnknownType,
    UUIDType,
    VariantType,
)

MAX_DEPTH = budgets.TYPE_DEPTH
_SIMPLE: dict[str, PrimitiveType] = {
    str(type_): type_
    for type_ in (
        BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DateType(), TimeType(), TimestampType(),
        TimestamptzType(), TimestampNanoType(), TimestamptzNanoType(), StringType(), UUIDType(), BinaryType(), UnknownType(),
        VariantType(), GeometryType(), GeographyType(),
    )
}  # fmt: skip
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)", re.ASCII)
_FIXED = re.compile(r"fixed\[\s*(\d{1,10})\s*\]", re.ASCII)
_GEOMETRY = re.compile(r"geometry\s*\(\s*([^)]*?)\s*\)")
_GEOGRAPHY = re.compile(r"geography\s*\(\s*([^,)]*?)\s*(?:,\s*(\w+)\s*)?\)")


def type_to_json(type_: Type) -> Any:
    """A string for primitives, an object for struct, list and map."""
    match type_:
        case StructType(fields=fields):
            return {"type": "struct", "fields": [_field_to_json(f) for f in fields]}
        case ListType():
            return {
                "type": "list",
                "element-id": type_.element_id,
                "element": type_to_json(type_.element),
                "element-required": type_.element_required,
            }
        case MapType():
            return {
                "type": "map",
                "key-id": type_.key_id,
                "key": type_to_json(type_.key),
                "value-id": type_.value_id,
                "value": type_to_json(type_.value),
                "value-required": type_.value_required,
            }
        case _:
            return str(type_)


def _field_to_json(field: NestedField) -> dict[str, Any]:
    node: dict[str, Any] = {"id": field.id, "name": field.name, "required": field.required, "type": type_to_json(field.type)}
    if field.doc is not None:
        node["doc"] = field.doc
    if field.initial_default is not None:
        node["initial-default"] = to_json(field.type, field.initial_default)
    if field.write_default is not None:
        node["write-default"] = to_json(field.type, field.write_default)
    return node


def schema_to_json(schema: Schema) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "struct", "schema-id": schema.schema_id}
    if schema.identifier_field_ids:
        node["identifier-field-ids"] = list(schema.identifier_field_ids)
    node["fields"] = [_field_to_json(field) for field in schema.fields]
    return node


def schema_from_json(node: Any) -> Schema:
    """The schema of a JSON object; an absent ``schema-id`` is 0.

    Raises CorruptMetadataError naming the JSON path: a wrong JSON type, an unknown type, an id or a sibling name used twice, an
    identifier field that is not there.
    """
    fields = _struct_from_json(_struct_object(node), 1).fields
    identifiers = int_array(node, "identifier-field-ids") if node.get("identifier-field-ids") is not None else []
    schema = Schema(fields, int_field(node, "schema-id", default=0), tuple(sorted(set(identifiers))))
    _check_ids(schema)
    return schema


def _struct_object(node: Any) -> dict[str, Any]:
    if as_object(node).get("type", "struct") != "struct":
        raise JsonFault(f"expected a struct, got {kind(node['type'])}", "type")
    return as_object(node)


def _check_ids(schema: Schema) -> None:
    seen: dict[int, str] = {}
    for name, field, _ in schema.walk():
        if (other := seen.setdefault(field.id, name)) is not name:
            raise JsonFault(f"field id used twice: {field.id} ({other} and {name})", "fields")
    for field_id in schema.identifier_field_ids:
        if field_id not in seen:
            raise JsonFault(f"unknown field id: {field_id}", "identifier-field-ids")


def type_from_json(node: Any) -> Type:
    """The type of a JSON string or object. Raises CorruptMetadataError naming the JSON path."""
    return _type_from_json(node, 1)


def _type_from_json(node: Any, depth: int) -> Type:
    if depth > MAX_DEPTH:
        raise JsonFault(f"types nested more than {MAX_DEPTH} deep")
    if isinstance(node, str):
        return primitive_from_text(node)
    kind_ = string_field(as_object(node), "type")
    match kind_:
        case "struct":
            return _struct_from_json(node, depth + 1)
        case "list":
            element = _child_type(node, "element", depth)
            return ListType(int_field(node, "element-id"), element, bool_field(node, "element-required"))
        case "map":
            key, value = _child_type(node, "key", depth), _child_type(node, "value", depth)
            return MapType(int_field(node, "key-id"), key, int_field(node, "value-id"), value, bool_field(node, "value-required"))
        case _:
            raise JsonFault(f"unknown type: {kind_}", "type")


def _child_type(node: dict[str, Any], key: str, depth: int) -> Type:
    child = required(node, key)
    with within(key):
        return _type_from_json(child, depth + 1)


def _struct_from_json(node: dict[str, Any], depth: int) -> StructType:
    fields: list[NestedField] = []
    names: set[str] = set()
    for path, item in each(array_field(node, "fields"), "fields"):
        with within(path):
            field = _field_from_json(as_object(item), depth)
            if field.name in names:
                raise JsonFault(f"field name used twice: {field.name}", "name")
        names.add(field.name)
        fields.append(field)
    return StructType(tuple(fields))


def _field_from_json(node: dict[str, Any], depth: int) -> NestedField:
    type_ = _child_type(node, "type", depth)
    return NestedField(
        int_field(node, "id"),
        string_field(node, "name"),
        type_,
        bool_field(node, "required"),
        optional_string(node, "doc"),
        _default(node, "initial-default", type_),
        _default(node, "write-default", type_),
    )


def _default(node: dict[str, Any], key: str, type_: Type) -> object:
    with within(key):
        return from_json(type_, node.get(key))


def primitive_from_text(text: str) -> PrimitiveType:
    """The type the specification writes as ``text``. Raises CorruptMetadataError for one it does not have."""
    lower = text.strip().lower()
    if (simple := _SIMPLE.get(lower)) is not None:
        return simple
    if matched := _DECIMAL.fullmatch(lower):
        precision, scale = int(matched[1]), int(matched[2])
        if not 0 < precision <= 38 or scale > precision:
            raise JsonFault(f"invalid decimal, precision must be 1 to 38 and scale at most the precision: {text}")
        return DecimalType(precision, scale)
    if matched := _FIXED.fullmatch(lower):
        if (length := int(matched[1])) > budgets.FIXED_BYTES:
            raise JsonFault(f"invalid fixed, a length is at most {budgets.FIXED_BYTES}: {text}")
        return FixedType(length)
    if matched := _GEOMETRY.fullmatch(text.strip()):
        return GeometryType(matched[1] or None)
    if matched := _GEOGRAPHY.fullmatch(text.strip()):
        return GeographyType(matched[1] or None, matched[2])
    raise JsonFault(f"unknown type: {text}")
