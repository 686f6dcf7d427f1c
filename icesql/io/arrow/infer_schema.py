"""The Iceberg schema of Arrow columns that have no field ids: what a new table made from them gets."""

from __future__ import annotations

from itertools import count

import pyarrow as pa

from icesql.io.arrow.types import FIELD_ID_KEY, from_arrow_type, is_list
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField


def inferred_schema(schema: pa.Schema, *, format_version: int) -> Schema:
    """The columns with ids from 1 on, whatever ids they had; columns that may not be null become required.

    Nanosecond timestamps become microsecond ones below format version 3, which has no others; a value that this would change is refused
    when it is written. Raises UnsupportedError for a type that Iceberg does not have.
    """
    ids = count(1)
    numbered = [_numbered(field, ids, format_version) for field in schema]
    return Schema(
        tuple(
            NestedField(int(field.metadata[FIELD_ID_KEY]), field.name, from_arrow_type(field.type, f"{field.name}."), not field.nullable)
            for field in numbered
        )
    )


def _numbered(field: pa.Field, ids: count[int], version: int) -> pa.Field:
    own = str(next(ids))
    return pa.field(field.name, _numbered_type(field.type, ids, version), field.nullable, {FIELD_ID_KEY: own})


def _numbered_type(type_: pa.DataType, ids: count[int], version: int) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return _numbered_type(type_.value_type, ids, version)
    if pa.types.is_struct(type_):
        return pa.struct([_numbered(type_.field(i), ids, version) for i in range(type_.num_fields)])
    if pa.types.is_map(type_):
        return pa.map_(_numbered(type_.key_field, ids, version), _numbered(type_.item_field, ids, version))
    if is_list(type_):
        return pa.list_(_numbered(type_.value_field, ids, version))
    if pa.types.is_timestamp(type_) and type_.unit == "ns" and version < 3:
        return pa.timestamp("us", type_.tz)
    return type_
