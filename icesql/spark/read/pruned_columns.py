"""Columns that a query needs, as the schema that files are read with."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from icesql.io.arrow.types import to_arrow_type
from icesql.spec.types import NestedField, StructType, Type


def pruned_fields(fields: Iterable[NestedField], wanted: frozenset[str] | None) -> tuple[NestedField, ...]:
    """The columns that ``wanted`` (dotted names; ``None``: all) names, structs with the wanted fields only."""
    if wanted is None:
        return tuple(fields)
    kept = []
    for field in fields:
        below = frozenset(name[len(field.name) + 1 :] for name in wanted if name.startswith(field.name + "."))
        if field.name in wanted:
            kept.append(field)
        elif below:
            kept.append(_pruned(field, below))
    return tuple(kept)


def _pruned(field: NestedField, wanted: frozenset[str]) -> NestedField:
    if not isinstance(field.type, StructType):
        return field
    fields = pruned_fields(field.type.fields, wanted)
    return NestedField(field.id, field.name, StructType(fields), field.required, field.doc) if fields else field


def widened(array: pa.Array, read: Type, whole: Type) -> pa.Array:
    """An array of a pruned type as one of the whole type; fields that were not read are null."""
    if read == whole or not (isinstance(read, StructType) and isinstance(whole, StructType)):
        return array
    places = {field.id: place for place, field in enumerate(read.fields)}
    parts = []
    for field in whole.fields:
        place = places.get(field.id)
        if place is None:
            parts.append(pa.nulls(len(array), to_arrow_type(field.type)))
        else:
            parts.append(widened(array.field(place), read.fields[place].type, field.type))
    arrow_fields = [pa.field(field.name, part.type) for field, part in zip(whole.fields, parts, strict=True)]
    return pa.StructArray.from_arrays(parts, fields=arrow_fields, mask=array.is_null() if array.null_count else None)
