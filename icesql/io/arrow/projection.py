"""Projects Arrow data of a file to the columns a reader wants, by field id. Spec: "Column Projection", "Schema Evolution", "Default
values".

Renamed, reordered, dropped and re-added columns are handled at any depth, because only ids are compared. A wanted column that the file
lacks is a constant the caller gives (identity partition values), else its initial default, else null. Promoted types are widened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import CorruptMetadataError
from icesql.io.arrow.types import FIELD_ID_KEY, child_fields, constant_array, field_id_of, is_list, is_uuid, to_arrow_schema, to_arrow_type
from icesql.spec.name_mapping import MappedField, NameMapping
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, NestedField, StringType, StructType, Type, UUIDType, VariantType


# -- ids for files that have none ------------------------------------------------------------------------------------
def with_mapped_ids(schema: pa.Schema, mapping: NameMapping) -> pa.Schema:
    """The file's schema with ids given by a name mapping; fields it does not name get none. Spec: "Name Mapping Serialization"."""
    return pa.schema([_mapped(field, mapping.fields) for field in schema])


def with_ordinal_ids(schema: pa.Schema) -> pa.Schema:
    """Ids 1, 2, ... for the top-level columns, as the reference implementation falls back to for files without ids and without a
    mapping."""
    return pa.schema([_with_id(field, number) for number, field in enumerate(schema, 1)])


def _mapped(field: pa.Field, known: tuple[MappedField, ...], name: str | None = None) -> pa.Field:
    wanted = field.name if name is None else name
    mapping = next((m for m in known if wanted in m.names), None)
    inner = () if mapping is None else mapping.fields
    return _with_id(field.with_type(_mapped_type(field.type, inner)), None if mapping is None else mapping.field_id)


def _mapped_type(type_: pa.DataType, known: tuple[MappedField, ...]) -> pa.DataType:
    if pa.types.is_struct(type_):
        return pa.struct([_mapped(field, known) for field in child_fields(type_)])
    if pa.types.is_map(type_):
        return pa.map_(_mapped(type_.key_field, known, "key"), _mapped(type_.item_field, known, "value"))
    if is_list(type_):
        element = _mapped(type_.value_field, known, "element")
        return pa.large_list(element) if pa.types.is_large_list(type_) else pa.list_(element)
    return type_


def _with_id(field: pa.Field, field_id: int | None) -> pa.Field:
    return field.with_metadata({} if field_id is None else {FIELD_ID_KEY: str(field_id)})


# -- which columns of a file to read ---------------------------------------------------------------------------------
def wanted_leaves(file_fields: Any, struct: Schema | StructType) -> list[tuple[str, ...]]:
    """Paths of the file's leaf columns that a projection needs. Of a wanted struct without wanted leaves the first leaf is read,
    to tell null structs from others.
    """
    by_id = {field.id: field for field in struct.fields}
    paths: list[tuple[str, ...]] = []
    for field in file_fields:
        wanted = by_id.get(field_id_of(field) or 0)
        if wanted is not None:
            paths += [(field.name, *path) for path in _leaves_of(field.type, wanted.type)]
    return paths


def _leaves_of(type_: pa.DataType, wanted: Type) -> list[tuple[str, ...]]:
    if isinstance(wanted, VariantType):
        return _all_leaves(type_)
    if pa.types.is_struct(type_) and isinstance(wanted, StructType):
        return wanted_leaves(child_fields(type_), wanted) or _all_leaves(type_)[:1]
    if is_list(type_) and isinstance(wanted, ListType):
        return [("list", "element", *path) for path in _leaves_of(type_.value_field.type, wanted.element)]
    if pa.types.is_map(type_) and isinstance(wanted, MapType):
        keys = [("key_value", "key", *path) for path in _leaves_of(type_.key_field.type, wanted.key)]
        return keys + [("key_value", "value", *path) for path in _leaves_of(type_.item_field.type, wanted.value)]
    return [()]


def _all_leaves(type_: pa.DataType) -> list[tuple[str, ...]]:
    if not pa.types.is_struct(type_):
        return [()]
    return [(field.name, *path) for field in child_fields(type_) for path in _all_leaves(field.type)]


# -- the projection itself -------------------------------------------------------------------------------------------
def project(
    batch: pa.RecordBatch, schema: Schema, *, file_schema: pa.Schema | None = None, constants: Mapping[int, Any] | None = None
) -> pa.RecordBatch:
    """The batch's rows in the columns of ``schema``. ``file_schema`` carries the ids if the batch's own does not; ``constants`` are
    values of
    internal form for columns the file lacks. Raises CorruptMetadataError where the file holds a type that cannot be read as the wanted
    one."""
    fields = list(batch.schema if file_schema is None else file_schema)
    arrays = _columns(fields, batch.columns, schema.fields, batch.num_rows, constants or {})
    return pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(schema))


def _columns(
    file_fields: list[pa.Field], arrays: list[pa.Array], wanted: tuple[NestedField, ...], length: int, constants: Mapping[int, Any]
) -> list[pa.Array]:
    by_id = {field_id: i for i, field in enumerate(file_fields) if (field_id := field_id_of(field)) is not None}
    made = []
    for field in wanted:
        index = by_id.get(field.id)
        if index is None:
            made.append(constant_array(field.type, constants.get(field.id, field.initial_default), length))
        else:
            made.append(convert(arrays[index], file_fields[index].type, field.type))
    return made


def convert(array: pa.Array, file_type: pa.DataType, wanted: Type) -> pa.Array:
    """An array of a file as the wanted type; ``file_type`` carries the ids of nested fields. Raises CorruptMetadataError."""
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([convert(chunk, file_type, wanted) for chunk in array.chunks], to_arrow_type(wanted))
    match wanted:
        case StructType() if pa.types.is_struct(file_type):
            return _struct(array, file_type, wanted)
        case ListType() if is_list(file_type):
            return _list(array, file_type, wanted)
        case MapType() if pa.types.is_map(file_type):
            return _map(array, file_type, wanted)
    return convert_leaf(array, wanted)


def _struct(array: pa.StructArray, file_type: pa.DataType, wanted: StructType) -> pa.Array:
    fields = list(child_fields(file_type))
    parts = _columns(fields, [array.field(i) for i in range(len(fields))], wanted.fields, len(array), {})
    made = list(to_arrow_type(wanted))
    if not parts:
        return pa.array([{} if valid else None for valid in array.is_valid().to_pylist()], pa.struct([]))
    return pa.StructArray.from_arrays(parts, fields=made, mask=array.is_null() if array.null_count else None)


def _list(array: pa.Array, file_type: pa.DataType, wanted: ListType) -> pa.Array:
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    elements = convert(array.values, file_type.value_field.type, wanted.element)
    offsets = array.offsets.cast(pa.int32()) if pa.types.is_large_list(array.type) else array.offsets
    mask = array.is_null() if array.null_count else None
    return pa.ListArray.from_arrays(_owned(offsets, mask), elements, type=to_arrow_type(wanted), mask=mask)


def _map(array: pa.MapArray, file_type: pa.DataType, wanted: MapType) -> pa.Array:
    keys = convert(array.keys, file_type.key_field.type, wanted.key)
    items = convert(array.items, file_type.item_field.type, wanted.value)
    mask = array.is_null() if array.null_count else None
    return pa.MapArray.from_arrays(_owned(array.offsets, mask), keys, items, type=to_arrow_type(wanted), mask=mask)


def _owned(offsets: pa.Array, mask: pa.Array | None) -> pa.Array:
    """``from_arrays`` refuses a mask together with sliced offsets."""
    return pa.array(offsets.to_numpy(), pa.int32()) if mask is not None and offsets.offset else offsets


def convert_leaf(array: pa.Array, wanted: Type) -> pa.Array:
    """A primitive array as the wanted type. Raises CorruptMetadataError where that cannot be."""
    target = to_arrow_type(wanted)
    if is_uuid(array.type):
        array = array.storage
    if array.type == target:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    try:
        if isinstance(wanted, UUIDType):
            return _uuids(array)
        if isinstance(wanted, StringType) and (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
            return array.cast(pa.string())
        if pa.types.is_timestamp(target) and pa.types.is_timestamp(array.type):
            return _timestamps(array, target)
        return array.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise CorruptMetadataError(f"Cannot read column: {array.type} is not {wanted}: {error}") from error


def _timestamps(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Units are converted, the zone is only relabelled: the numbers are UTC either way."""
    return array.cast(pa.timestamp(target.unit, array.type.tz), safe=False).cast(pa.int64()).cast(target)


def _uuids(array: pa.Array) -> pa.Array:
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return array.cast(pa.binary(16))
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        raw = pc.replace_substring(array, "-", "")
        return pa.array([None if text is None else bytes.fromhex(text) for text in raw.to_pylist()], pa.binary(16))
    return array.cast(pa.binary(16))
