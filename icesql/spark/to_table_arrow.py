"""Arrow batches as Spark sends them to Arrow batches as the table's files hold them.

Most types agree and pass through as they are; uuids are text in Spark, fixed is binary, times have nanoseconds, variants put their parts in
another order. Runs in Python workers: only pyarrow and lower rooms.
"""

from __future__ import annotations

import uuid

import pyarrow as pa

from icesql.errors import InvalidArgumentError
from icesql.io.arrow_types import to_arrow_schema
from icesql.spec.schema import Schema
from icesql.spec.types import FixedType, ListType, MapType, StructType, Type, UUIDType


def table_batch(batch: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    """The batch under the table's Arrow schema, field ids included; columns by position."""
    target = to_arrow_schema(schema)
    columns = [
        table_array(array, column.type, field.type) for array, column, field in zip(batch.columns, schema.fields, target, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=target)


def table_array(array: pa.Array, type_: Type, target: pa.DataType) -> pa.Array:
    """One array as ``target``, the Arrow type of the Iceberg type ``type_``. Raises InvalidArgumentError for text that is no uuid."""
    if array.type == target:
        return array
    match type_:
        case UUIDType():
            return _uuids(array)
        case FixedType(length=length):
            return _fixed(array, length)
        case StructType(fields=fields):
            parts = [table_array(array.field(i), f.type, target.field(i).type) for i, f in enumerate(fields)]
            mask = array.is_null() if array.null_count else None
            return pa.StructArray.from_arrays(parts, fields=[target.field(i) for i in range(target.num_fields)], mask=mask)
        case ListType(element=element):
            values = table_array(array.values, element, target.value_type)
            return _list(array, values, target)
        case MapType(key=key, value=value):
            return _map(array, table_array(array.keys, key, target.key_type), table_array(array.items, value, target.item_type), target)
    return array.cast(target)


def _list(array: pa.Array, values: pa.Array, target: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(target, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[values])


def _map(array: pa.Array, keys: pa.Array, items: pa.Array, target: pa.DataType) -> pa.Array:
    entries = pa.StructArray.from_arrays([keys, items], fields=[target.key_field, target.item_field])
    return pa.Array.from_buffers(target, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[entries])


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



