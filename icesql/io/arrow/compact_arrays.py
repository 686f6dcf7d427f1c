"""Nested Arrow arrays rebuilt so that their children hold their own values only.

An Arrow array may be a slice of longer ones, and children may hold values below a null struct or a null list. pyarrow's ORC writer misreads
such children: it ignores the offsets of a struct's children, and checks for nulls only where the struct itself has some.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def compacted(array: pa.Array) -> pa.Array:
    """The same values, with nested types normalised at every depth: offsets start at 0, a child of a null struct is null, a null list or
    map
    is empty, and children of lists and maps hold only their values. Flat arrays are returned as they are.
    """
    if not pa.types.is_nested(array.type):
        return array
    validity = array.is_valid().buffers()[1] if array.null_count else None
    if pa.types.is_struct(array.type):
        children = [_from_zero(child) for child in array.flatten()]
        return pa.Array.from_buffers(array.type, len(array), [validity], array.null_count, children=children)
    offsets, values = _list_values(array)
    return pa.Array.from_buffers(array.type, len(array), [validity, offsets], array.null_count, children=[_from_zero(values)])


def column_counts(column: pa.ChunkedArray) -> list[int]:
    """The number of non-null values of each column of compacted chunks, parents before their children."""
    chunks = [_value_counts(chunk) for chunk in column.chunks] or [_value_counts(pa.array([], column.type))]
    return [sum(numbers) for numbers in zip(*chunks, strict=True)]


def _value_counts(array: pa.Array) -> list[int]:
    return [len(array) - array.null_count, *(count for child in children_of(array) for count in _value_counts(child))]


def children_of(array: Any) -> list[pa.Array]:
    """The children of a compacted array: a struct's fields, a list's values, a map's keys and values."""
    if isinstance(array, pa.StructArray):
        return [array.field(i) for i in range(array.type.num_fields)]
    if isinstance(array, pa.MapArray):
        return [array.keys, array.items]
    return [array.values] if isinstance(array, pa.ListArray) else []


def with_children(array: pa.Array, type_: pa.DataType, children: list[pa.Array]) -> pa.Array:
    """A compacted array of nested type ``type_`` with its children replaced by others of the same lengths."""
    own = array.buffers()[:1] if pa.types.is_struct(type_) else array.buffers()[:2]
    if pa.types.is_map(type_):
        children = [pa.StructArray.from_arrays(children, fields=[type_.key_field, type_.item_field])]
    return pa.Array.from_buffers(type_, len(array), own, array.null_count, children=children)


def _from_zero(array: pa.Array) -> pa.Array:
    if pa.types.is_nested(array.type):
        return compacted(array)
    return pa.concat_arrays([array]) if array.offset else array


def _list_values(array: Any) -> tuple[pa.Buffer, pa.Array]:
    """(offsets, values) of a list or a map, without what lies before, after and below nulls. The values of a map are structs."""
    starts = array.offsets.to_numpy()
    lengths = np.diff(starts)
    entries = _entries(array).slice(starts[0], starts[-1] - starts[0])
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        if lengths[~valid].any():
            entries = entries.filter(pa.array(np.repeat(valid, lengths)))
            lengths = np.where(valid, lengths, 0)
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.py_buffer(offsets), entries


def _entries(array: Any) -> pa.Array:
    if not isinstance(array, pa.MapArray):
        return array.values
    return pa.StructArray.from_arrays([array.keys, array.items], fields=[array.type.key_field, array.type.item_field])
