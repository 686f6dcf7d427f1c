"""ORC data files: ids and Iceberg types in type attributes, as appendix A of the spec ("ORC") asks; metrics from what is written."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import orc

from icesql.errors import CorruptMetadataError, InvalidArgumentError, UnsupportedError
from icesql.io.arrow.compact_arrays import children_of, column_counts, compacted, with_children
from icesql.io.arrow.metrics import MetricsCollector
from icesql.io.arrow.types import FIELD_ID_KEY, child_fields, is_list, to_arrow_type
from icesql.io.metrics.column_metrics import Metrics, MetricsConfig
from icesql.io.metrics.written_counts import GivenCounts, KeptTail, orc_counts, orc_names
from icesql.io.orc.assembly import OrcAssembly
from icesql.io.orc.early_times import has_early_fractions, packed_nanos, parted
from icesql.io.orc.layout import DAMAGE, OrcLayout
from icesql.io.orc.lengths import LengthGuard
from icesql.io.orc.timestamps import wide_timestamps
from icesql.io.storage.files import discard
from icesql.spec.properties import (
    ORC_BLOOM_FILTER_FPP,
    ORC_COMPRESSION,
    ORC_COMPRESSION_STRATEGY,
    ORC_PREFIX,
    property_as_float,
    property_as_int,
)
from icesql.spec.schema import Schema
from icesql.spec.types import (
    FixedType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UnknownType,
    UUIDType,
    VariantType,
)

ID, REQUIRED = b"iceberg.id", b"iceberg.required"
_CODECS = {
    "zlib": "zlib",
    "gzip": "zlib",
    "zstd": "zstd",
    "snappy": "snappy",
    "lz4": "lz4",
    "none": "uncompressed",
    "uncompressed": "uncompressed",
}


def _positive(properties: Mapping[str, str], key: str, noun: str) -> int:
    """The ``write.orc.*`` property. Raises ValidationError for what is no number, InvalidArgumentError for one below 1."""
    number = property_as_int(properties, ORC_PREFIX + key)
    if number <= 0:
        raise InvalidArgumentError(f"Cannot write ORC file: {noun} must be > 0")
    return number


class OrcFileWriter:
    """One ORC file of tables whose columns are those of ``schema``. A column of unknown type is not stored.

    pyarrow writes it, up to the first rows with times before 1970 that it would store wrongly: their stripes are mended, and from there on
    the file is put together here. ``write`` raises UnsupportedError for times of the last second of 1969, which ORC does not have.
    """

    def __init__(self, sink: BinaryIO, schema: Schema, properties: Mapping[str, str], config: MetricsConfig) -> None:
        codec = properties.get(ORC_COMPRESSION, "zlib").lower()
        if codec not in _CODECS:
            raise InvalidArgumentError(f"Cannot write ORC file: unknown compression codec: {codec}", codec=codec)
        stripe_size = _positive(properties, "stripe-size-bytes", "Stripe size")
        _positive(properties, "block-size-bytes", "Block size")  # asked for, though pyarrow knows no blocks
        _positive(properties, "vectorized.batch-size", "VectorizedRow batch size")
        strategy = properties.get(ORC_COMPRESSION_STRATEGY, "speed").lower()
        if strategy not in ("speed", "compression"):
            raise InvalidArgumentError(f"Cannot write ORC file: unknown compression strategy: {strategy}")
        if not 0 < property_as_float(properties, ORC_BLOOM_FILTER_FPP, 0.05) < 1:
            raise InvalidArgumentError("Cannot write ORC file: Bloom filter fpp must be > 0.0 and < 1.0")
        self._sink, self._kept, self._collector = sink, KeptTail(sink), MetricsCollector(schema, config)
        self._stored = [i for i, field in enumerate(schema.fields) if not isinstance(field.type, UnknownType)]
        self._arrow = pa.schema([_orc_field(schema.fields[i]) for i in self._stored])
        self._given = GivenCounts("ORC", [*orc_names(self._arrow)])
        self._options = {"compression": _CODECS[codec], "stripe_size": stripe_size, "compression_strategy": strategy}
        self._writer: orc.ORCWriter | None = None
        self._assembly: OrcAssembly | None = None

    @property
    def size(self) -> int:
        """Bytes written so far; an open stripe is not in it."""
        return int(self._sink.tell())

    def write(self, table: pa.Table) -> None:
        self._collector.add(table)
        columns = [_cast(table.column(i), field.type) for i, field in zip(self._stored, self._arrow, strict=True)]
        self._given.add(table.num_rows, *(number for column in columns for number in column_counts(column)))
        if self._assembly is None and any(has_early_fractions(chunk) for column in columns for chunk in column.chunks):
            self._assembly = OrcAssembly(self._kept, self._finished())
        if self._assembly is not None:
            self._write_early(self._assembly, columns)
        else:
            self._opened().write(pa.Table.from_arrays(columns, schema=self._arrow))

    def _opened(self) -> orc.ORCWriter:
        if self._writer is None:
            self._writer = orc.ORCWriter(self._kept, **self._options)
        return self._writer

    def _finished(self) -> bytes:
        """The last bytes of what pyarrow's writer wrote; empty if it wrote nothing."""
        if self._writer is not None:
            self._writer.close()
        return self._kept.tail

    def _write_early(self, assembly: OrcAssembly, columns: list[pa.ChunkedArray]) -> None:
        whole, fractions = parted(columns)
        part = io.BytesIO()
        with orc.ORCWriter(part, **self._options) as writer:
            writer.write(pa.Table.from_arrays(whole, schema=self._arrow))
        assembly.add(part.getvalue(), {column: packed_nanos(nanos) for column, nanos in fractions.items()})

    def close(self) -> tuple[Metrics, int]:
        """(metrics, length in bytes). Raises CorruptMetadataError for a file whose footer counts other values than were given."""
        if self._assembly is not None:
            self._assembly.finish()
        else:
            if self._writer is None:
                self._opened().write(self._arrow.empty_table())
            self._finished()
        size = self.size
        self._given.check(orc_counts(self._kept.tail))
        self._sink.close()
        return self._collector.finish(), size

    def abandon(self) -> None:
        discard(self._sink)


def _orc_field(field: NestedField) -> pa.Field:
    attributes = {ID: str(field.id), REQUIRED: str(field.required).lower(), **_marks(field.type)}
    return pa.field(field.name, _orc_type(field.type), nullable=field.optional, metadata=attributes)


def _marks(type_: Type) -> dict[bytes, str]:
    """Attributes that distinguish Iceberg types which are one type in ORC."""
    match type_:
        case UUIDType():
            return {b"iceberg.binary-type": "UUID"}
        case FixedType(length=length):
            return {b"iceberg.binary-type": "FIXED", b"iceberg.length": str(length)}
        case TimeType():
            return {b"iceberg.long-type": "TIME"}
        case LongType():
            return {b"iceberg.long-type": "LONG"}
        case TimestampType() | TimestamptzType():
            return {b"iceberg.timestamp-unit": "MICROS"}
        case TimestampNanoType() | TimestamptzNanoType():
            return {b"iceberg.timestamp-unit": "NANOS"}
        case _:
            return {}


def _orc_type(type_: Type) -> pa.DataType:
    match type_:
        case UUIDType() | FixedType():
            return pa.binary()
        case TimeType():
            return pa.int64()
        case StructType(fields=fields):
            return pa.struct([_orc_field(field) for field in fields])
        case ListType():
            return pa.list_(_orc_field(type_.element_field))
        case MapType():
            return pa.map_(_orc_field(type_.key_field), _orc_field(type_.value_field))
        case UnknownType() | VariantType():
            raise UnsupportedError(f"Cannot write ORC file: no such type in ORC: {type_}", type=str(type_))
        case _:
            return to_arrow_type(type_)


def _cast(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([_as(compacted(chunk), type_) for chunk in column.chunks], type_)


def _as(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """A compacted array's values with ORC's types and attributes, at any depth."""
    if not pa.types.is_nested(type_):
        return array if array.type == type_ else array.cast(type_)
    children = [_as(child, field.type) for child, field in zip(children_of(array), child_fields(type_), strict=True)]
    return with_children(array, type_, children)


# -- reading -----------------------------------------------------------------------------------------------------------
def open_orc(stream: Any, location: str) -> orc.ORCFile:
    """Raises CorruptMetadataError for bytes that are not ORC."""
    try:
        file = orc.ORCFile(stream)
        _ = file.schema  # a foreign file is told by its schema
        return file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptMetadataError(f"Cannot read ORC file {location}: {error}", location=location) from error


def schema_with_ids(schema: pa.Schema, location: str) -> pa.Schema:
    """The file's schema with the ids of its type attributes where the rest of the engine looks for them. Raises CorruptMetadataError."""
    try:
        return pa.schema([_with_id(field) for field in schema])
    except ValueError as error:  # a name that is not UTF-8, an id that is no number
        raise CorruptMetadataError(f"Cannot read ORC file {location}: {error}", location=location) from error


def _with_id(field: pa.Field) -> pa.Field:
    field_id = None if field.metadata is None else field.metadata.get(ID)
    metadata = {} if field_id is None else {FIELD_ID_KEY: str(int(field_id))}
    return pa.field(field.name, _type_with_ids(field.type), field.nullable, metadata)


def _type_with_ids(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(type_):
        return pa.struct([_with_id(field) for field in child_fields(type_)])
    if pa.types.is_map(type_):
        return pa.map_(_with_id(type_.key_field), _with_id(type_.item_field))
    if is_list(type_):
        return pa.list_(_with_id(type_.value_field))
    return type_


def _is_out_of_range(error: Exception) -> bool:
    return "out of range for nanosecond" in str(error)  # pyarrow reads every ORC timestamp as nanoseconds


def _read_stripe(file: orc.ORCFile, layout: OrcLayout, stream: Any, stripe: int, columns: list[str]) -> pa.RecordBatch:
    """The columns of a stripe; timestamps in microseconds where nanoseconds cannot hold them, which pyarrow then refuses."""
    try:
        return file.read_stripe(stripe, columns=columns)
    except pa.ArrowInvalid as error:
        if not _is_out_of_range(error):
            raise
        fields = [field for field in file.schema if field.name in columns]
        others = [field.name for field in fields if not pa.types.is_timestamp(field.type)]
        read = file.read_stripe(stripe, columns=others) if others else None
        arrays = []
        for field in fields:
            array = read.column(field.name) if read is not None and field.name in others else _wide(layout, stream, stripe, field)
            if array is None:
                raise
            arrays.append(array)
        return pa.RecordBatch.from_arrays(arrays, [field.name for field in fields])


def _wide(layout: OrcLayout, stream: Any, stripe: int, field: pa.Field) -> pa.Array | None:
    return wide_timestamps(layout, stream, stripe, field.name, layout.stripes[stripe].rows, field.type.tz)


def orc_batches(file: orc.ORCFile, stream: Any, columns: list[str], location: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    """(position of the first row, batch) of each stripe. ``stream`` is what ``file`` was opened from. Raises CorruptMetadataError,
    UnsupportedError."""
    position = 0
    try:
        if not columns:
            yield 0, pa.RecordBatch.from_struct_array(pa.array([{}] * file.nrows, pa.struct([])))
            return
        guard = LengthGuard(stream, file.file_length, location)
        ahead = getattr(stream, "prefetch", None) if guard.layout.is_readable else None
        if ahead is not None:
            ahead([(one.footer_start, one.footer_start + one.footer_length) for one in guard.layout.stripes])
        for stripe in range(file.nstripes):
            if ahead is not None:
                next_ones = range(stripe, min(stripe + 2, file.nstripes))
                ahead([part for one in next_ones for part in guard.layout.column_ranges(stream, one, columns)])
            guard.check(stripe, columns)
            batch = _read_stripe(file, guard.layout, stream, stripe, columns)
            yield position, batch
            position += batch.num_rows
            if ahead is not None:
                stream.forget(guard.layout.stripes[stripe].footer_start)
    except DAMAGE as error:
        if _is_out_of_range(error):
            reason = f"timestamps before 1677-09-22 or after 2262-04-11 are read at the top level and in UTC only: {error}"
            raise UnsupportedError(f"Cannot read ORC file {location}: {reason}", location=location) from error
        raise CorruptMetadataError(f"Cannot read ORC file {location}: {error}", location=location) from error
