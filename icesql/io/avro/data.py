"""Avro data files. Spec: appendix A, "Avro". They have no metrics but their record count, as elsewhere.

Reading: flat columns by ``icesql.io.avro.flat``, others by ``icesql.io.avro.rows`` with fastavro. Writing is by hand: of six columns given
as Arrow 170,000 rows a second of a core were written with deflate, by fastavro 1.13 120,000; it also has no zstandard before Python 3.14
without another package, and executors have no fastavro.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from typing import Any, BinaryIO

import pyarrow as pa

from icesql.errors import CorruptMetadataError, InvalidArgumentError, UnsupportedError
from icesql.io.arrow.compact_arrays import compacted
from icesql.io.arrow.types import internal_values, to_arrow_schema
from icesql.io.avro.container import AvroFileBuilder, AvroRecords, corrupt
from icesql.io.avro.flat import can_walk, flat_arrays, is_flat
from icesql.io.avro.rows import rows, to_arrays
from icesql.io.avro.shapes import pruned, shape_of
from icesql.io.data.metrics import Metrics, MetricsConfig
from icesql.io.data.written_counts import GivenCounts, avro_counts
from icesql.io.manifests.encode import encode_bytes, encode_long, value_encoder
from icesql.io.storage.files import discard
from icesql.spec.avro_schema import struct_from_avro, struct_to_avro
from icesql.spec.json.types import schema_to_json
from icesql.spec.name_mapping import MappedField, NameMapping
from icesql.spec.properties import AVRO_COMPRESSION, AVRO_COMPRESSION_LEVEL, property_as_int
from icesql.spec.schema import Schema
from icesql.spec.types import (
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    UnknownType,
    VariantType,
)


def _check_level(properties: Mapping[str, str]) -> None:
    """Every codec writes at its own level here; one that is asked for must be one all the same. Raises InvalidArgumentError."""
    codec = properties.get(AVRO_COMPRESSION, "gzip").lower()
    if AVRO_COMPRESSION_LEVEL not in properties or codec not in ("gzip", "zstd"):
        return
    level = property_as_int(properties, AVRO_COMPRESSION_LEVEL)
    if codec == "gzip" and not -1 <= level <= 9:
        raise InvalidArgumentError(f"Cannot write Avro file: gzip has no compression level {level}", level=level)


class AvroFileWriter:
    """One Avro file of tables whose columns are those of ``schema``."""

    def __init__(self, sink: BinaryIO, schema: Schema, properties: Mapping[str, str], config: MetricsConfig) -> None:
        import json

        _check_level(properties)
        self._sink, self._metrics = sink, Metrics()
        self._schema, self._given = schema, GivenCounts("Avro")
        self._encode = [field_encoder(field) for field in schema.fields]
        self._builder = AvroFileBuilder(
            struct_to_avro(schema.as_struct(), "table"),
            {"iceberg.schema": json.dumps(schema_to_json(schema))},
            properties.get(AVRO_COMPRESSION, "gzip"),
        )

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._builder.size

    def write(self, table: pa.Table) -> None:
        self._metrics.record_count += table.num_rows
        self._given.add(table.num_rows)
        columns = [_values(field.type, column) for field, column in zip(self._schema.fields, table.columns, strict=True)]
        encoders = self._encode
        for row in zip(*columns, strict=True) if columns else (() for _ in range(table.num_rows)):
            self._builder.add(b"".join([encode(value) for encode, value in zip(encoders, row, strict=True)]))

    def close(self) -> tuple[Metrics, int]:
        """(metrics, length in bytes). Raises CorruptMetadataError for a file whose blocks count other rows than were given."""
        data = self._builder.finish()
        self._given.check(avro_counts(data))
        self._sink.write(data)
        self._sink.close()
        return self._metrics, len(data)

    def abandon(self) -> None:
        discard(self._sink)


def _values(type_: Type, column: pa.ChunkedArray) -> list[Any]:
    """In internal form. A slice of a list is cut to its own values first, else those of all rows beside it are made too."""
    return [value for chunk in column.chunks for value in internal_values(type_, compacted(chunk))]


def field_encoder(field: NestedField) -> Callable[[Any], bytes]:
    """Encodes a value of internal form, with the union branch before it where the field is optional."""
    if isinstance(field.type, UnknownType):
        return lambda value: b""
    inner = type_encoder(field.type)
    if field.required:
        return inner
    return lambda value: b"\x00" if value is None else b"\x02" + inner(value)


def type_encoder(type_: Type) -> Callable[[Any], bytes]:
    match type_:
        case StructType(fields=fields):
            parts = [field_encoder(field) for field in fields]
            return lambda value: b"".join([encode(v) for encode, v in zip(parts, value, strict=True)])
        case ListType():
            item = field_encoder(type_.element_field)
            return lambda value: b"".join([encode_long(len(value)), *map(item, value), b"\x00"]) if value else b"\x00"
        case MapType():
            key, part = field_encoder(type_.key_field), field_encoder(type_.value_field)
            return lambda value: (
                b"".join([encode_long(len(value)), *(key(k) + part(v) for k, v in value.items()), b"\x00"]) if value else b"\x00"
            )
        case VariantType():
            return lambda value: b"".join(encode_long(len(value[p])) + value[p] for p in ("metadata", "value"))
        case GeometryType() | GeographyType():
            return encode_bytes
    return value_encoder(type_)


# -- reading -----------------------------------------------------------------------------------------------------------
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
        return schema


def avro_batches(
    records: AvroRecords, schema: Any, wanted: Schema, location: str, *, batch_rows: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """(position of the first row, batch of the columns that ``wanted`` has, ids in its schema). Flat columns come from the native module,
    others by fastavro. Raises CorruptMetadataError, UnsupportedError."""
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
