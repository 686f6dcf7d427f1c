"""Arrow batches as Spark sends them to Arrow batches as the table's files hold them.

Most types agree and pass through as they are; uuids are text in Spark, fixed is binary, times have nanoseconds, variants put their parts in
another order. Runs in Python workers: only pyarrow and lower rooms.
"""

from __future__ import annotations

import uuid
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError
from icesql.io.arrow.types import to_arrow_schema
from icesql.spec.schema import Schema
from icesql.spec.types import DecimalType, FixedType, ListType, MapType, NestedField, StructType, Type, UUIDType, VariantType, children


def table_batch(batch: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    """The batch under the table's Arrow schema, field ids included; columns by position."""
    target = to_arrow_schema(schema)
    columns = [
        table_array(array, column.type, field.type) for array, column, field in zip(batch.columns, schema.fields, target, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=target)


def table_array(array: pa.Array, type_: Type, target: pa.DataType) -> pa.Array:
    """One array as ``target``, the Arrow type of the Iceberg type ``type_``. Raises InvalidArgumentError for text that is no uuid."""
    if array.type == target and not _has_required_below(type_):
        return array
    match type_:
        case UUIDType():
            return _uuids(array)
        case FixedType(length=length):
            return _fixed(array, length)
        case StructType(fields=fields):
            return _struct(array, fields, target)
        case VariantType():
            return _variants(array, target)
        case ListType(element=element):
            return _list(array, table_array(array.values, element, target.value_type), target)
        case MapType(key=key, value=value):
            return _map(array, table_array(array.keys, key, target.key_type), table_array(array.items, value, target.item_type), target)
        case DecimalType() if pa.types.is_int64(array.type):
            return _from_unscaled(array, target)
    return array.cast(target)


def _from_unscaled(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Unscaled longs as decimals: a decimal is its unscaled value in 128 bits."""
    wide = array.cast(pa.decimal128(19, 0))
    return pa.Array.from_buffers(target, len(wide), wide.buffers(), wide.null_count, wide.offset)


def _has_required_below(type_: Type) -> bool:
    return any((isinstance(type_, StructType) and f.required) or _has_required_below(f.type) for f in children(type_))


def _struct(array: pa.Array, fields: tuple[NestedField, ...], target: pa.DataType) -> pa.Array:
    """Required fields of a null struct are null in what Spark sends; Parquet's writer wants some value there, which is never read."""
    parts = []
    for i, field in enumerate(fields):
        part = table_array(array.field(i), field.type, target.field(i).type)
        parts.append(_without_nulls(part) if field.required and array.null_count else part)
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(parts, fields=[target.field(i) for i in range(target.num_fields)], mask=mask)


def _variants(array: pa.Array, target: pa.DataType) -> pa.Array:
    """The two parts, which are required, in the target's order."""
    parts = [_without_nulls(array.field(target.field(i).name).cast(target.field(i).type)) for i in range(target.num_fields)]
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(parts, fields=[target.field(i) for i in range(target.num_fields)], mask=mask)


def _without_nulls(array: pa.Array) -> pa.Array:
    if array.null_count == 0:
        return array
    if pa.types.is_struct(array.type):
        fields = [array.type.field(i) for i in range(array.type.num_fields)]
        parts = [array.field(i) if f.nullable else _without_nulls(array.field(i)) for i, f in enumerate(fields)]
        return pa.StructArray.from_arrays(parts, fields=fields)
    if pa.types.is_list(array.type) or pa.types.is_map(array.type):
        return pa.array([[] if value is None else value for value in array.to_pylist()], array.type)
    return pc.fill_null(array, _placeholder(array.type))


def _placeholder(type_: pa.DataType) -> pa.Scalar:
    if pa.types.is_fixed_size_binary(type_):
        return pa.scalar(bytes(type_.byte_width), type_)
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return pa.scalar("" if pa.types.is_string(type_) else b"", type_)
    if pa.types.is_date32(type_):
        return pa.scalar(0, pa.int32()).cast(type_)
    if pa.types.is_decimal(type_):
        return pa.scalar(Decimal(0), type_)
    return pa.scalar(0, pa.int64()).cast(type_)


def _list(array: pa.Array, values: pa.Array, target: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(
        target, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[values]
    )


def _map(array: pa.Array, keys: pa.Array, items: pa.Array, target: pa.DataType) -> pa.Array:
    entries = pa.StructArray.from_arrays([keys, items], fields=[target.key_field, target.item_field])
    return pa.Array.from_buffers(
        target, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[entries]
    )


def _uuids(array: pa.Array) -> pa.Array:
    try:
        return pa.array([None if text is None else uuid.UUID(text).bytes for text in array.to_pylist()], pa.binary(16))
    except (ValueError, AttributeError, TypeError):
        raise InvalidArgumentError("Cannot write column: not a uuid") from None


def _fixed(array: pa.Array, length: int) -> pa.Array:
    try:
        return array.cast(pa.binary(length))
    except pa.ArrowInvalid:
        raise InvalidArgumentError(f"Cannot write column: values of fixed[{length}] must have {length} bytes") from None
