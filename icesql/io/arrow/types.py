"""Iceberg schemas as Arrow schemas and back. Field ids travel in field metadata under ``PARQUET:field_id``, as Parquet files give them.

    uuid -> fixed_size_binary[16]        unknown -> null        variant -> struct<metadata: binary, value: binary>
    time -> time64[us]                   geometry, geography -> binary (WKB)

Reading accepts Arrow's other forms too: large and view types, dictionaries, the uuid extension, other units of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import pyarrow as pa

from icesql.errors import InvalidArgumentError, UnsupportedError
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

FIELD_ID_KEY = b"PARQUET:field_id"

_SIMPLE: dict[type, pa.DataType] = {
    BooleanType: pa.bool_(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    FloatType: pa.float32(),
    DoubleType: pa.float64(),
    DateType: pa.date32(),
    TimeType: pa.time64("us"),
    TimestampType: pa.timestamp("us"),
    TimestamptzType: pa.timestamp("us", "UTC"),
    TimestampNanoType: pa.timestamp("ns"),
    TimestamptzNanoType: pa.timestamp("ns", "UTC"),
    StringType: pa.string(),
    BinaryType: pa.binary(),
    UUIDType: pa.binary(16),
    UnknownType: pa.null(),
    GeometryType: pa.binary(),
    GeographyType: pa.binary(),
    VariantType: pa.struct([pa.field("metadata", pa.binary(), False), pa.field("value", pa.binary(), False)]),
}


# -- Iceberg to Arrow ------------------------------------------------------------------------------------------------
def to_arrow_type(type_: Type, *, with_ids: bool = True) -> pa.DataType:
    """The Arrow type of an Iceberg type; nested fields keep their ids if ``with_ids``."""
    match type_:
        case DecimalType(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case FixedType(length=length):
            return pa.binary(length)
        case StructType(fields=fields):
            return pa.struct([to_arrow_field(field, with_ids=with_ids) for field in fields])
        case ListType():
            return pa.list_(to_arrow_field(type_.element_field, with_ids=with_ids))
        case MapType():
            return pa.map_(to_arrow_field(type_.key_field, with_ids=with_ids), to_arrow_field(type_.value_field, with_ids=with_ids))
        case _:
            return _SIMPLE[type(type_)]


def to_arrow_field(field: NestedField, *, with_ids: bool = True) -> pa.Field:
    metadata = {FIELD_ID_KEY: str(field.id)} if with_ids else None
    return pa.field(field.name, to_arrow_type(field.type, with_ids=with_ids), nullable=field.optional, metadata=metadata)


def to_arrow_schema(schema: Schema | StructType, *, with_ids: bool = True) -> pa.Schema:
    return pa.schema([to_arrow_field(field, with_ids=with_ids) for field in schema.fields])


# -- Arrow to Iceberg ------------------------------------------------------------------------------------------------
def field_id_of(field: pa.Field) -> int | None:
    """The id in a field's metadata, or ``None``."""
    raw = None if field.metadata is None else field.metadata.get(FIELD_ID_KEY)
    if raw is None:
        return None
    number = int(raw)
    return None if number < 0 else number


def has_ids(schema: pa.Schema) -> bool:
    """True if any field, at any depth, has an id."""
    return bool(field_ids(schema))


def field_ids(fields: Iterable[pa.Field]) -> frozenset[int]:
    """The ids of fields, at any depth."""
    ids: set[int] = set()
    for field in fields:
        own = field_id_of(field)
        ids |= field_ids(child_fields(field.type)) | ({own} if own is not None else set())
    return frozenset(ids)


def child_fields(type_: pa.DataType) -> tuple[pa.Field, ...]:
    """The direct fields of a nested Arrow type: of a struct, a list's element, a map's key and value."""
    if pa.types.is_struct(type_):
        return tuple(type_.field(i) for i in range(type_.num_fields))
    if pa.types.is_map(type_):
        return (type_.key_field, type_.item_field)
    if is_list(type_):
        return (type_.value_field,)
    return ()


def is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_))


def from_arrow_type(type_: pa.DataType, prefix: str = "") -> Type:
    """Raises InvalidArgumentError for a nested field without an id, UnsupportedError for a type Iceberg does not have."""
    if pa.types.is_struct(type_):
        return StructType(tuple(_from_field(field, prefix) for field in child_fields(type_)))
    if pa.types.is_map(type_):
        key, value = _from_field(type_.key_field.with_name("key"), prefix), _from_field(type_.item_field.with_name("value"), prefix)
        return MapType(key.id, key.type, value.id, value.type, value.required)
    if is_list(type_):
        element = _from_field(type_.value_field.with_name("element"), prefix)
        return ListType(element.id, element.type, element.required)
    return _from_primitive(type_, prefix)


def _from_field(field: pa.Field, prefix: str) -> NestedField:
    name = prefix + field.name
    field_id = field_id_of(field)
    if field_id is None:
        raise InvalidArgumentError(f"Cannot convert Arrow schema: field has no id: {name}", field=name)
    return NestedField(field_id, field.name, from_arrow_type(field.type, f"{name}."), not field.nullable)


def _from_primitive(type_: pa.DataType, prefix: str) -> Type:
    kinds = pa.types
    if kinds.is_dictionary(type_):
        return _from_primitive(type_.value_type, prefix)
    if kinds.is_boolean(type_):
        return BooleanType()
    if kinds.is_integer(type_):
        if type_ == pa.uint64():
            raise UnsupportedError(f"Cannot convert Arrow schema: unsigned 64-bit integers: {prefix.rstrip('.')}")
        return LongType() if type_ in (pa.int64(), pa.uint32()) else IntegerType()
    if kinds.is_floating(type_):
        return DoubleType() if type_ == pa.float64() else FloatType()
    if kinds.is_decimal(type_) and type_.precision <= 38:
        return DecimalType(type_.precision, type_.scale)
    if kinds.is_date(type_):
        return DateType()
    if kinds.is_time(type_):
        return TimeType()
    if kinds.is_timestamp(type_):
        if type_.unit == "ns":
            return TimestampNanoType() if type_.tz is None else TimestamptzNanoType()
        return TimestampType() if type_.tz is None else TimestamptzType()
    return _from_bytes(type_, prefix)


def _from_bytes(type_: pa.DataType, prefix: str) -> Type:
    kinds = pa.types
    if kinds.is_string(type_) or kinds.is_large_string(type_) or type_ == pa.string_view():
        return StringType()
    if kinds.is_fixed_size_binary(type_):
        return FixedType(type_.byte_width)
    if kinds.is_binary(type_) or kinds.is_large_binary(type_) or type_ == pa.binary_view():
        return BinaryType()
    if kinds.is_null(type_):
        return UnknownType()
    if is_uuid(type_):
        return UUIDType()
    raise UnsupportedError(f"Cannot convert Arrow schema: no Iceberg type for {type_}: {prefix.rstrip('.')}", type=str(type_))


def is_uuid(type_: pa.DataType) -> bool:
    return isinstance(type_, pa.BaseExtensionType) and type_.extension_name == "arrow.uuid"


# -- values ----------------------------------------------------------------------------------------------------------
def to_arrow_value(type_: Type, value: Any) -> Any:
    """A value of internal form as ``pyarrow.array`` takes it for ``to_arrow_type``: structs as dicts, maps as pairs, uuids as bytes."""
    if value is None:
        return None
    match type_:
        case UUIDType():
            return value.bytes if isinstance(value, UUID) else bytes(value)
        case StructType(fields=fields):
            return {field.name: to_arrow_value(field.type, part) for field, part in zip(fields, value, strict=True)}
        case ListType(element=element):
            return [to_arrow_value(element, part) for part in value]
        case MapType(key=key, value=item):
            return [(to_arrow_value(key, k), to_arrow_value(item, v)) for k, v in value.items()]
        case _:
            return value


def constant_array(type_: Type, value: Any, length: int) -> pa.Array:
    """``length`` copies of a value of internal form (null for ``None``), in the type ``to_arrow_type`` gives."""
    made = to_arrow_type(type_)
    if value is None and not pa.types.is_nested(made):
        return pa.nulls(length, made)
    if value is None:
        one = pa.array([None], made)  # not pa.nulls: it puts nulls into required fields of the struct, too, which Parquet's writer refuses
        return one.take(pa.repeat(pa.scalar(0, pa.int64()), length))
    one = pa.array([to_arrow_value(type_, value)], made)
    return one if length == 1 else one.take(pa.repeat(pa.scalar(0, pa.int64()), length))


_AS_INTEGER: Mapping[type, pa.DataType] = {
    DateType: pa.int32(),
    TimeType: pa.int64(),
    TimestampType: pa.int64(),
    TimestamptzType: pa.int64(),
    TimestampNanoType: pa.int64(),
    TimestamptzNanoType: pa.int64(),
}


def internal_values(type_: Type, array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of an array of type ``to_arrow_type(type_)`` in internal form."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in internal_values(type_, chunk)]
    integer = _AS_INTEGER.get(type(type_))
    if integer is not None:
        return list(array.cast(integer).to_pylist())
    match type_:
        case UUIDType():
            storage = array.storage if is_uuid(array.type) else array
            return [None if raw is None else UUID(bytes=raw) for raw in storage.to_pylist()]
        case StructType(fields=fields):
            parts = [internal_values(field.type, part) for field, part in zip(fields, array.flatten(), strict=True)]
            rows = zip(*parts, strict=True) if parts else (() for _ in range(len(array)))
            return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]
        case ListType(element=element):
            return _spans(array, internal_values(element, array.values))
        case MapType(key=key, value=item):
            keys, items = internal_values(key, array.keys), internal_values(item, array.items)
            pairs = _spans(array, list(zip(keys, items, strict=True)))
            return [None if row is None else _map_of(row) for row in pairs]
        case _:
            return list(array.to_pylist())


class Entries(tuple[tuple[Any, Any], ...]):
    """A map whose keys have no hash, such as structs with lists."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self


def _map_of(pairs: list[tuple[Any, Any]]) -> dict[Any, Any] | Entries:
    try:
        return dict(pairs)
    except TypeError:
        return Entries(pairs)


def _spans(array: pa.Array, values: list[Any]) -> list[Any]:
    offsets, valid = array.offsets.to_pylist(), array.is_valid().to_pylist()
    return [values[offsets[i] : offsets[i + 1]] if valid[i] else None for i in range(len(array))]
