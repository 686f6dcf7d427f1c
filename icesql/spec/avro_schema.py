"""Iceberg structs as Avro schemas and back. Spec: appendix A, "Avro".

An Avro schema is plain JSON data here (``dict``, ``list``, ``str``), as fastavro takes it. Columns carry ``field-id``, lists
``element-id``, maps ``key-id`` and ``value-id``; maps with other than string keys are arrays of records with ``logicalType: map``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from icesql.errors import UnsupportedError
from icesql.spec import budgets
from icesql.spec.json.faults import JsonFault, array_field, as_object, each, int_field, kind, required, string_field, within
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

ICEBERG_FIELD_NAME = "iceberg-field-name"
_VALID_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SIMPLE: dict[type[PrimitiveType], str] = {
    BooleanType: "boolean", IntegerType: "int", LongType: "long", FloatType: "float", DoubleType: "double", StringType: "string",
    BinaryType: "bytes", UnknownType: "null", GeometryType: "bytes", GeographyType: "bytes",
}  # fmt: skip


def struct_to_avro(struct: StructType, name: str, record_names: dict[int, str] | None = None) -> dict[str, Any]:
    """The record schema of a struct. ``record_names`` gives the record name of a struct by the id of the field that holds it
    (default ``r<id>``)."""
    return _Writer(record_names or {}).record(struct, name)


@dataclass
class _Writer:
    record_names: dict[int, str]
    defined: set[str] = field(default_factory=set)  # Avro defines a named type once and refers to it by name after

    def record(self, struct: StructType, name: str, prefix: str = "") -> dict[str, Any]:
        self.defined.add(name)
        return {"type": "record", "name": name, "fields": [self.field(f) for f in struct.fields]}

    def field(self, field_: NestedField) -> dict[str, Any]:
        name = compatible_name(field_.name)
        node: dict[str, Any] = {"name": name, "type": self.optional(field_.type, field_.required, field_.id)}
        if field_.doc is not None:
            node["doc"] = field_.doc
        if field_.optional:
            node["default"] = None
        node["field-id"] = field_.id
        if name != field_.name:
            node[ICEBERG_FIELD_NAME] = field_.name
        return node

    def optional(self, type_: Type, required_: bool, field_id: int) -> Any:
        if isinstance(type_, UnknownType):
            return "null"
        avro = self.type(type_, field_id)
        return avro if required_ else ["null", avro]

    def type(self, type_: Type, field_id: int) -> Any:
        match type_:
            case StructType():
                return self.record(type_, self.record_names.get(field_id, f"r{field_id}"))
            case ListType():
                items = self.optional(type_.element, type_.element_required, type_.element_id)
                return {"type": "array", "items": items, "element-id": type_.element_id}
            case MapType(key=StringType()):
                values = self.optional(type_.value, type_.value_required, type_.value_id)
                return {"type": "map", "values": values, "key-id": type_.key_id, "value-id": type_.value_id}
            case MapType():
                entry = StructType((type_.key_field, type_.value_field))
                return {"type": "array", "items": self.record(entry, f"k{type_.key_id}_v{type_.value_id}"), "logicalType": "map"}
            case VariantType():
                return self.variant(field_id)
            case _:
                return self.primitive(type_)

    def variant(self, field_id: int) -> dict[str, Any]:
        parts = [{"name": part, "type": "bytes"} for part in ("metadata", "value")]
        return {"type": "record", "name": f"r{field_id}", "fields": parts, "logicalType": "variant"}

    def primitive(self, type_: PrimitiveType) -> Any:
        match type_:
            case DateType():
                return {"type": "int", "logicalType": "date"}
            case TimeType():
                return {"type": "long", "logicalType": "time-micros"}
            case TimestampType() | TimestamptzType():
                zoned = isinstance(type_, TimestamptzType)
                return {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": zoned}
            case TimestampNanoType() | TimestamptzNanoType():
                zoned = isinstance(type_, TimestamptzNanoType)
                return {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": zoned}
            case UUIDType():
                return self.fixed("uuid_fixed", 16, {"logicalType": "uuid"})
            case FixedType(length=length):
                return self.fixed(f"fixed_{length}", length, {})
            case DecimalType(precision=precision, scale=scale):
                logical = {"logicalType": "decimal", "precision": precision, "scale": scale}
                return self.fixed(f"decimal_{precision}_{scale}", decimal_bytes(precision), logical)
            case _:
                return _SIMPLE[type(type_)]

    def fixed(self, name: str, size: int, logical: dict[str, Any]) -> Any:
        if name in self.defined:
            return name
        self.defined.add(name)
        return {"type": "fixed", "size": size, **logical, "name": name}


def decimal_bytes(precision: int) -> int:
    """Fewest bytes whose two's complement holds any unscaled value of that many digits."""
    return int(10**precision - 1).bit_length() // 8 + 1


def compatible_name(name: str) -> str:
    """The name with characters Avro does not allow replaced as Java replaces them: ``_x3A``, and ``_`` before a leading digit."""
    if _VALID_NAME.fullmatch(name):
        return name
    first, rest = name[:1], name[1:]
    start = f"_{first}" if first.isascii() and first.isdigit() else _sanitized(first)
    return start + "".join(map(_sanitized, rest))


def _sanitized(character: str) -> str:
    if character == "_" or (character.isascii() and character.isalnum()):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"_x{int.from_bytes(units[i : i + 2], 'big'):X}" for i in range(0, len(units), 2))


# -- reading


def struct_from_avro(schema: Any, *, id_for_missing: Callable[[], int] | None = None) -> StructType:
    """The struct of a record schema. Fields without an id take one from ``id_for_missing``, and are an error without it.

    Raises CorruptMetadataError naming the place in the schema, UnsupportedError for Avro types Iceberg does not have.
    """
    try:
        return _Reader(id_for_missing).record(as_object(schema))
    except RecursionError:
        raise JsonFault("the schema refers to itself, or is nested too deep") from None


def has_field_ids(schema: Any) -> bool:
    """True if any field of the record schema has a ``field-id``."""
    match schema:
        case dict():
            return "field-id" in schema or any(has_field_ids(schema.get(part)) for part in ("fields", "type", "items", "values"))
        case list():
            return any(map(has_field_ids, schema))
        case _:
            return False


_AVRO_PRIMITIVES: dict[str, PrimitiveType] = {
    "boolean": BooleanType(), "int": IntegerType(), "long": LongType(), "float": FloatType(), "double": DoubleType(),
    "string": StringType(), "bytes": BinaryType(), "null": UnknownType(), "enum": StringType(),
}  # fmt: skip


@dataclass
class _Reader:
    id_for_missing: Callable[[], int] | None
    named: dict[str, Any] = field(default_factory=dict)
    visited: int = 0  # a named type is read wherever it is referred to: types that refer to each other would make a tree without end

    def id_of(self, node: dict[str, Any], key: str) -> int:
        if node.get(key) is None and self.id_for_missing is not None:
            return self.id_for_missing()
        return int_field(node, key)

    def record(self, node: dict[str, Any]) -> StructType:
        self.define(node)
        fields = []
        for path, item in each(array_field(node, "fields"), "fields"):
            with within(path):
                fields.append(self.field(as_object(item)))
        return StructType(tuple(fields))

    def field(self, node: dict[str, Any]) -> NestedField:
        name = node.get(ICEBERG_FIELD_NAME) or string_field(node, "name")
        field_id = self.id_of(node, "field-id")
        with within("type"):
            type_, required_ = self.optional(required(node, "type"))
        return NestedField(field_id, name, type_, required_, node.get("doc"))

    def optional(self, node: Any) -> tuple[Type, bool]:
        if not isinstance(node, list):
            type_ = self.type(node)
            return type_, not isinstance(type_, UnknownType)
        options = [option for option in node if option != "null"]
        if len(options) != 1:
            raise UnsupportedError(f"Cannot read Avro schema: union of several types: {kind(node)}")
        return self.type(options[0]), len(options) == len(node)

    def type(self, node: Any) -> Type:
        self.visited += 1
        if self.visited > budgets.SCHEMA_NODES:
            raise JsonFault(f"Avro schema of more than {budgets.SCHEMA_NODES} parts")
        if isinstance(node, str):
            if node in _AVRO_PRIMITIVES:
                return _AVRO_PRIMITIVES[node]
            if node not in self.named:
                raise JsonFault(f"unknown Avro type: {node}")
            node = self.named[node]
        avro = as_object(node).get("type")
        if isinstance(avro, dict | list):
            return self.optional(avro)[0]
        match avro:
            case "record" if node.get("logicalType") == "variant":
                return VariantType()
            case "record":
                return self.record(node)
            case "array" if node.get("logicalType") == "map":
                return self.map_of_records(node)
            case "array":
                with within("items"):
                    element, element_required = self.optional(required(node, "items"))
                return ListType(self.id_of(node, "element-id"), element, element_required)
            case "map":
                with within("values"):
                    value, value_required = self.optional(required(node, "values"))
                return MapType(self.id_of(node, "key-id"), StringType(), self.id_of(node, "value-id"), value, value_required)
            case _:
                return self.logical(node, str(avro))

    def map_of_records(self, node: dict[str, Any]) -> MapType:
        with within("items"):
            entry = self.record(as_object(required(node, "items")))
            if len(entry.fields) != 2:
                raise JsonFault(f"expected key and value, got {len(entry.fields)} fields", "fields")
        key, value = entry.fields
        return MapType(key.id, key.type, value.id, value.type, value.required)

    def logical(self, node: dict[str, Any], avro: str) -> Type:
        if avro == "fixed":
            self.define(node)
        match avro, node.get("logicalType"):
            case "int", "date":
                return DateType()
            case "long", "time-micros":
                return TimeType()
            case "long", "timestamp-micros" | "timestamp-millis":
                return TimestamptzType() if node.get("adjust-to-utc", True) else TimestampType()
            case "long", "local-timestamp-micros" | "local-timestamp-millis":
                return TimestampType()
            case "long", "timestamp-nanos":
                return TimestamptzNanoType() if node.get("adjust-to-utc", True) else TimestampNanoType()
            case "long", "local-timestamp-nanos":
                return TimestampNanoType()
            case (("fixed" | "string"), "uuid"):
                return UUIDType()
            case (("fixed" | "bytes"), "decimal"):
                return DecimalType(int_field(node, "precision"), int_field(node, "scale", default=0))
            case "fixed", _:
                if (size := int_field(node, "size")) < 0:
                    raise JsonFault(f"fixed of {size} bytes", "size")
                return FixedType(size)
            case _:
                if avro in _AVRO_PRIMITIVES:
                    return _AVRO_PRIMITIVES[avro]
                if avro in self.named:
                    return self.type(avro)
                raise UnsupportedError(f"Cannot read Avro schema: no such type in Iceberg: {avro}")

    def define(self, node: dict[str, Any]) -> None:
        name = node.get("name")
        if isinstance(name, str):
            self.named[name] = node
            if isinstance(space := node.get("namespace"), str):
                self.named[f"{space}.{name}"] = node
