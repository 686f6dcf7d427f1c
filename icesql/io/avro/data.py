"""Reading Avro data files. Spec: appendix A, "Avro". They have no metrics but their record count, as elsewhere.

Flat columns are decoded by ``icesql.io.avro.flat``, others by ``icesql.io.avro.rows``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

import pyarrow as pa

from icesql.errors import CorruptMetadataError, UnsupportedError
from icesql.io.arrow.types import to_arrow_schema
from icesql.io.avro.container import AvroRecords, corrupt
from icesql.io.avro.flat import can_walk, flat_arrays, is_flat
from icesql.io.avro.rows import rows, to_arrays
from icesql.io.avro.shapes import pruned, shape_of
from icesql.spec.avro_schema import struct_from_avro
from icesql.spec.name_mapping import MappedField, NameMapping
from icesql.spec.schema import Schema
from icesql.spec.types import StructType


def with_ids(schema: Any, mapping: NameMapping | None) -> Any:
    """A copy of a writer schema in which every field has an id: its own, the mapping's, or a negative one that matches no column."""
    return _Ids(count(-1, -1)).record(schema, () if mapping is None else mapping.fields)


class _Ids:
    def __init__(self, unmatched: Iterator[int]) -> None:
        self._unmatched = unmatched

    def _id(self, node: Mapping[str, Any], key: str, known: tuple[MappedField, ...], name: str) -> tuple[int, tuple[MappedField, ...]]:
        mapping = next((m for m in known if name in m.names), None)
        own = node.get(key)
        if own is None:
            own = mapping.field_id if mapping is not None and mapping.field_id is not None else next(self._unmatched)
        return int(own), () if mapping is None else mapping.fields

    def record(self, schema: Any, known: tuple[MappedField, ...]) -> Any:
        if schema.get("logicalType") == "variant":
            return schema
        fields = []
        for field in schema["fields"]:
            field_id, inner = self._id(field, "field-id", known, field.get("iceberg-field-name", field["name"]))
            fields.append({**field, "field-id": field_id, "type": self.type(field["type"], inner)})
        return {**schema, "fields": fields}

    def type(self, schema: Any, known: tuple[MappedField, ...]) -> Any:
        if isinstance(schema, list):
            return [self.type(branch, known) for branch in schema]
        if not isinstance(schema, dict):
            return schema
        match schema.get("type"):
            case "record":
                return self.record(schema, known)
            case "array" if schema.get("logicalType") == "map":
                return {**schema, "items": self.type(schema["items"], known)}
            case "array":
                element_id, inner = self._id(schema, "element-id", known, "element")
                return {**schema, "element-id": element_id, "items": self.type(schema["items"], inner)}
            case "map":
                key_id, _ = self._id(schema, "key-id", known, "key")
                value_id, inner = self._id(schema, "value-id", known, "value")
                return {**schema, "key-id": key_id, "value-id": value_id, "values": self.type(schema["values"], inner)}
            case dict() | list() as nested:
                return self.type(nested, known)
            case _:
                return schema


def avro_batches(
    records: AvroRecords, schema: Any, wanted: Schema, location: str, *, batch_rows: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """(position of the first row, batch of the columns that ``wanted`` has, ids in its schema). Flat columns come from the native module,
    others row by row. Raises CorruptMetadataError, UnsupportedError."""
    try:
        whole = shape_of(schema)
        struct, shape = pruned(struct_from_avro(schema), whole, wanted.as_struct())
        flat = _flat_fields(records, struct, shape)
    except UnsupportedError as error:
        raise UnsupportedError(f"Cannot read Avro file {location}: {error}", location=location) from error
    except (CorruptMetadataError, StopIteration, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(location, f"schema is not readable: {error!r}") from error
    arrow, position = to_arrow_schema(struct), 0
    for length, arrays in _arrays(records, whole, struct, shape, flat, location, batch_rows):
        batch = _batch(arrays, arrow, length)
        for start in range(0, length, batch_rows):
            yield position + start, batch.slice(start, batch_rows)
        position += length


def _flat_fields(records: AvroRecords, struct: StructType, shape: Any) -> tuple[int, ...]:
    """The fields that the native module decodes."""
    if not can_walk(records):
        return ()
    return tuple(i for i, (f, part) in enumerate(zip(struct.fields, shape["fields"], strict=True)) if is_flat(f.type, part["type"]))


def _arrays(
    records: AvroRecords, whole: Any, struct: StructType, shape: Any, flat: tuple[int, ...], location: str, batch_rows: int
) -> Iterator[tuple[int, list[pa.Array]]]:
    """(rows, one array a field): flat fields by the native module, others by rows."""
    others = tuple(i for i in range(len(struct.fields)) if i not in flat)
    other_struct, other_shape = _of_fields(struct, shape, others)
    rest = rows(records, whole, other_shape, location) if others or not can_walk(records) else iter(())
    if not flat and (struct.fields or not can_walk(records)):
        while part := list(islice(rest, batch_rows)):
            yield len(part), to_arrays(part, other_struct, other_shape, location)
        return
    for length, columns in flat_arrays(records, whole, *_of_fields(struct, shape, flat), location, batch_rows):
        nested = to_arrays(list(islice(rest, length)), other_struct, other_shape, location) if others else []
        by_place = dict(zip((*flat, *others), (*columns, *nested), strict=True))
        yield length, [by_place[i] for i in range(len(struct.fields))]


def _of_fields(struct: StructType, shape: Any, places: tuple[int, ...]) -> tuple[StructType, Any]:
    return StructType(tuple(struct.fields[i] for i in places)), {**shape, "fields": [shape["fields"][i] for i in places]}


def _batch(arrays: list[pa.Array], arrow: pa.Schema, length: int) -> pa.RecordBatch:
    if not arrays:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * length, pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=arrow)
