"""Arrow rows prepared for a table: fitted to the schema by name, and split by the partitions of a spec."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import CorruptMetadataError, ValidationError
from icesql.io.arrow.projection import convert_leaf
from icesql.io.arrow.types import child_fields, constant_array, internal_values, is_list, is_uuid, to_arrow_schema, to_arrow_type
from icesql.spec.partitioning import PartitionField, PartitionSpec, partition_key
from icesql.spec.schema import Schema
from icesql.spec.transforms import transform_function
from icesql.spec.types import ListType, MapType, NestedField, StructType, Type


# -- fitting -----------------------------------------------------------------------------------------------------------
def fitted(rows: pa.Table, schema: Schema) -> pa.Table:
    """The rows in the columns and types of ``schema``, matched by name at every depth.

    A column the rows lack becomes its write default, else null. Numbers widen, and narrow where no value is lost.
    Raises ValidationError for a column the schema lacks, a missing or null required one, and a type or value that does not fit.
    """
    arrays = _columns(list(rows.schema), [column.combine_chunks() for column in rows.columns], schema.fields, rows.num_rows, "", None)
    return pa.Table.from_arrays([_whole(array) for array in arrays], schema=to_arrow_schema(schema))


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _columns(
    given: list[pa.Field], arrays: list[Any], wanted: tuple[NestedField, ...], length: int, prefix: str, present: pa.Array | None
) -> list[Any]:
    by_name = {field.name: array for field, array in zip(given, arrays, strict=True)}
    if len(by_name) < len(given):
        raise _misfit(f"two columns are named alike: {[prefix + field.name for field in given]}")
    known = {field.name for field in wanted}
    for name in by_name:
        if name not in known:
            raise _misfit(f"Field {prefix}{name} not found in source schema")
    return [_column(by_name.get(field.name), field, length, prefix + field.name, present) for field in wanted]


def _column(array: Any, field: NestedField, length: int, path: str, present: pa.Array | None) -> Any:
    if array is None:
        if field.required and field.write_default is None:
            raise _misfit(f"{path} is required, but is missing")
        return constant_array(field.type, field.write_default, length)
    made = _array(array, field.type, path)
    if field.required and _has_null(made, present):
        raise _misfit(f"{path} is required, but holds null")
    return made


def _has_null(array: Any, present: pa.Array | None) -> bool:
    """True for a null that is not merely below a null parent."""
    if array.null_count == 0 or present is None:
        return bool(array.null_count)
    return bool(pc.any(pc.and_(array.is_null(), present)).as_py())


def _array(array: Any, wanted: Type, path: str) -> Any:
    if isinstance(array, pa.ChunkedArray):  # what does not fit into one chunk
        return pa.chunked_array([_array(chunk, wanted, path) for chunk in array.chunks], to_arrow_type(wanted))
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    match wanted:
        case StructType() if pa.types.is_struct(array.type):
            return _struct(array, wanted, path)
        case ListType() if is_list(array.type):
            return _list(array, wanted, path)
        case MapType() if pa.types.is_map(array.type):
            return _map(array, wanted, path)
        case _:
            return _leaf(array, wanted, path)


def _struct(array: pa.StructArray, wanted: StructType, path: str) -> pa.Array:
    fields = list(child_fields(array.type))
    present = array.is_valid() if array.null_count else None
    parts = _columns(fields, [array.field(i) for i in range(len(fields))], wanted.fields, len(array), path + ".", present)
    return pa.StructArray.from_arrays(parts, fields=list(to_arrow_type(wanted)), mask=array.is_null() if array.null_count else None)


def _list(array: pa.Array, wanted: ListType, path: str) -> pa.Array:
    compact = array.cast(pa.list_(array.type.value_field.type)) if not pa.types.is_list(array.type) else array
    compact = pa.concat_arrays([compact]) if compact.offset else compact
    elements = _array(compact.values, wanted.element, f"{path}.element")
    made = pa.ListArray.from_arrays(_offsets(compact), elements, type=to_arrow_type(wanted), mask=_mask(compact))
    if wanted.element_required and made.flatten().null_count:
        raise _misfit(f"{path}.element is required, but holds null")
    return made


def _map(array: pa.MapArray, wanted: MapType, path: str) -> pa.Array:
    keys, items = _array(array.keys, wanted.key, f"{path}.key"), _array(array.items, wanted.value, f"{path}.value")
    if wanted.value_required and items.null_count:
        raise _misfit(f"{path}.value is required, but holds null")
    return pa.MapArray.from_arrays(_offsets(array), keys, items, type=to_arrow_type(wanted), mask=_mask(array))


def _offsets(array: Any) -> pa.Array:
    return pa.array(array.offsets.to_numpy(), pa.int32())


def _mask(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _leaf(array: pa.Array, wanted: Type, path: str) -> pa.Array:
    target = to_arrow_type(wanted)
    if not pa.types.is_null(array.type) and not _is_fit(array.type, target):
        raise _misfit(f"{path}: {array.type} cannot be promoted to {wanted}")
    try:
        if pa.types.is_timestamp(target) and pa.types.is_timestamp(array.type):
            return array.cast(target)  # convert_leaf would cut finer units off
        return convert_leaf(array, wanted)
    except (CorruptMetadataError, pa.ArrowInvalid) as error:
        raise _misfit(f"{path}: a value does not fit {wanted}: {error}") from error


def _is_fit(given: pa.DataType, target: pa.DataType) -> bool:
    """Whether both types are of one family. Values that a type cannot hold are refused by the cast."""
    types = pa.types
    if given == target or is_uuid(given):
        return bool(given == target or target == pa.binary(16))
    if types.is_integer(given):
        return bool(types.is_integer(target) or types.is_floating(target) or types.is_decimal(target))
    if types.is_floating(given):
        return bool(types.is_floating(target) and given.bit_width <= target.bit_width)
    if types.is_timestamp(given):
        return bool(types.is_timestamp(target) and (given.tz is None) == (target.tz is None))
    families = (types.is_decimal, types.is_date, types.is_time, _is_text, _is_bytes)
    return any(bool(family(given) and family(target)) for family in families)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def _is_bytes(type_: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_binary(type_) or types.is_large_binary(type_) or types.is_binary_view(type_) or types.is_fixed_size_binary(type_))


def _misfit(problem: str) -> ValidationError:
    return ValidationError(f"Cannot write incompatible dataset to table with schema: {problem}")


# -- splitting ---------------------------------------------------------------------------------------------------------
def by_partition(rows: pa.Table, schema: Schema, spec: PartitionSpec) -> Iterator[tuple[tuple[object, ...], pa.Table]]:
    """(partition tuple, its rows in their order) of fitted rows, one pair for each partition."""
    if not spec.fields or rows.num_rows == 0:
        if rows.num_rows:
            yield (), rows
        return
    values, codes = zip(*(_partition_values(rows, schema, field) for field in spec.fields), strict=True)
    groups, inverse = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    order = np.argsort(inverse, kind="stable")
    sorted_rows = rows.take(pa.array(order))
    ends = np.cumsum(np.bincount(inverse, minlength=len(groups)))
    start = 0
    for group, end in zip(groups.tolist(), ends.tolist(), strict=True):
        yield tuple(values[i][code] for i, code in enumerate(group)), sorted_rows.slice(start, end - start)
        start = end


def _partition_values(rows: pa.Table, schema: Schema, field: PartitionField) -> tuple[list[Any], Any]:
    """The distinct values of a partition field, and for each row the index of its value.

    The transform runs once for each distinct source value.
    """
    source = schema.field(field.source_id)
    encoded = _source_column(rows, schema, field.source_id).combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    transform = transform_function(field.transform, source.type)
    transformed = [transform(value) for value in internal_values(source.type, encoded.dictionary)]
    values: dict[Any, Any] = {partition_key((value,)): value for value in transformed}
    places = {key: place for place, key in enumerate(values)}
    place_of = np.array([places[partition_key((value,))] for value in transformed], dtype=np.int64)
    return list(values.values()), place_of[encoded.indices.to_numpy(zero_copy_only=False)]


def _source_column(rows: pa.Table, schema: Schema, field_id: int) -> pa.ChunkedArray:
    """The column of a field, which may lie in structs; a null struct gives null."""
    path = [field_id]
    while path[0] in schema.parents:
        path.insert(0, schema.parents[path[0]])
    column = rows.column(schema.fields_by_id[path[0]].name)
    for step in path[1:]:
        column = pc.struct_field(column, schema.fields_by_id[step].name)
    return column
