"""Arrow data reduced to fewer columns, also inside structs, after a filter was tested on the others."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from icesql.io.arrow.types import to_arrow_field, to_arrow_schema
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField, StructType


def narrow_table(data: pa.Table, have: Schema, want: Schema, *, with_ids: bool = False) -> pa.Table:
    """The columns of ``want``; ``have`` (the schema of ``data``) holds all of them, whole or in part."""
    places = {field.id: place for place, field in enumerate(have.fields)}
    arrays = [narrow(data.column(places[field.id]), have.fields[places[field.id]], field, with_ids=with_ids) for field in want.fields]
    schema = to_arrow_schema(want, with_ids=with_ids)
    if not arrays:
        return data.select([])
    return pa.Table.from_arrays(arrays, schema=schema)


def narrow(array: Any, have: NestedField, want: NestedField, *, with_ids: bool = False) -> Any:
    """A column with the fields of ``want`` only."""
    if have.type == want.type or not (isinstance(have.type, StructType) and isinstance(want.type, StructType)):
        return array
    if isinstance(array, pa.ChunkedArray):
        chunks = [narrow(chunk, have, want, with_ids=with_ids) for chunk in array.chunks]
        return pa.chunked_array(chunks, to_arrow_field(want, with_ids=with_ids).type)
    places = {field.id: place for place, field in enumerate(have.type.fields)}
    parts = [narrow(array.field(places[f.id]), have.type.fields[places[f.id]], f, with_ids=with_ids) for f in want.type.fields]
    fields = [to_arrow_field(f, with_ids=with_ids) for f in want.type.fields]
    return pa.StructArray.from_arrays(parts, fields=fields, mask=array.is_null() if array.null_count else None)
