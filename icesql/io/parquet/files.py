"""Parquet data files: written with field ids, metrics from the footer; read by column and row group. Spec: appendix A, "Parquet"."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from icesql.errors import CorruptMetadataError, InvalidArgumentError
from icesql.io.arrow.projection import project, wanted_leaves
from icesql.io.arrow.types import child_fields, to_arrow_schema
from icesql.io.metrics.column_metrics import Metrics, MetricsConfig
from icesql.io.metrics.nan_counts import NanCounter
from icesql.io.metrics.written_counts import GivenCounts, parquet_counts, parquet_names, parquet_nulls
from icesql.io.parquet.dictionaries import dictionary_columns
from icesql.io.parquet.long_values import LongValues
from icesql.io.parquet.metrics import parquet_metrics
from icesql.io.storage.files import discard
from icesql.spec.json.types import schema_to_json
from icesql.spec.properties import (
    PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX,
    PARQUET_BLOOM_FILTER_COLUMN_FPP_PREFIX,
    PARQUET_BLOOM_FILTER_COLUMN_NDV_PREFIX,
    PARQUET_COMPRESSION,
    PARQUET_COMPRESSION_LEVEL,
    PARQUET_DICT_SIZE_BYTES,
    PARQUET_PAGE_ROW_LIMIT,
    PARQUET_PAGE_SIZE_BYTES,
    PARQUET_PAGE_VERSION,
    PARQUET_PREFIX,
    PARQUET_SHRED_VARIANTS,
    PARQUET_VARIANT_INFERENCE_BUFFER_SIZE,
    property_as_bool,
    property_as_float,
    property_as_int,
)
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, NestedField, StructType, Type, UnknownType, UUIDType, VariantType

DEFAULT_ROW_GROUP_BYTES = 128 * 1024 * 1024
_CODECS = {
    "zstd": "zstd",
    "gzip": "gzip",
    "snappy": "snappy",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "brotli": "brotli",
    "uncompressed": "none",
    "none": "none",
}


def parquet_options(schema: pa.Schema, properties: Mapping[str, str]) -> dict[str, Any]:
    """Arguments of ``pyarrow.parquet.ParquetWriter`` for a table's ``write.parquet.*`` properties. Raises InvalidArgumentError."""
    name = properties.get(PARQUET_COMPRESSION, "zstd").lower()
    if name not in _CODECS:
        raise InvalidArgumentError(f"Cannot write Parquet file: unknown compression codec: {name}", codec=name)
    _check_layout(properties)
    _check_structs(schema)
    options: dict[str, Any] = {
        "compression": _CODECS[name],
        "data_page_size": property_as_int(properties, PARQUET_PAGE_SIZE_BYTES, 1024 * 1024),
        "dictionary_pagesize_limit": property_as_int(properties, PARQUET_DICT_SIZE_BYTES, 2 * 1024 * 1024),
        "write_page_index": True,
        "store_schema": False,
        "store_decimal_as_integer": True,
        "version": "2.6",
        "allow_truncated_timestamps": False,
    }
    if PARQUET_COMPRESSION_LEVEL in properties and _CODECS[name] in ("zstd", "gzip", "brotli"):
        options["compression_level"] = _compression_level(_CODECS[name], properties)
    if "max_rows_per_page" in inspect.signature(pq.ParquetWriter.__init__).parameters:  # younger than the oldest pyarrow we take
        options["max_rows_per_page"] = property_as_int(properties, PARQUET_PAGE_ROW_LIMIT, 20_000)
    blooms = bloom_filters(schema, properties)
    if blooms and "bloom_filter_options" in inspect.signature(pq.ParquetWriter.__init__).parameters:
        options["bloom_filter_options"] = blooms
    return options


_POSITIVE = {
    "row-group-size-bytes": "Row group size",
    "page-size-bytes": "Page size",
    "page-row-limit": "Page row count limit",
    "dict-size-bytes": "Dictionary page size",
    "row-group-check-min-record-count": "Row group check minimal record count",
    "row-group-check-max-record-count": "Row group check maximum record count",
    "bloom-filter-max-bytes": "bloom Filter Max Bytes",
}


def _compression_level(codec: str, properties: Mapping[str, str]) -> int:
    """The level that is asked for, of zstd the nearest there is. Raises InvalidArgumentError for one that another codec lacks."""
    level = property_as_int(properties, PARQUET_COMPRESSION_LEVEL)
    lowest, highest = pa.Codec.minimum_compression_level(codec), pa.Codec.maximum_compression_level(codec)
    if codec == "zstd":
        return int(max(lowest, min(level, highest)))
    if not lowest <= level <= highest:
        problem = f"compression level {level} of {codec} is not between {lowest} and {highest}"
        raise InvalidArgumentError(f"Cannot write Parquet file: {problem}", codec=codec, level=level)
    return level


def _check_layout(properties: Mapping[str, str]) -> None:
    """Checks properties that Iceberg validates and pyarrow ignores or accepts unchecked. Raises InvalidArgumentError, and
    ValidationError for what is no number.
    """
    numbers = {key: property_as_int(properties, PARQUET_PREFIX + key) for key in _POSITIVE}
    for key, noun in _POSITIVE.items():
        if numbers[key] <= 0:
            raise InvalidArgumentError(f"Cannot write Parquet file: {noun} must be > 0")
    if numbers["row-group-check-max-record-count"] < numbers["row-group-check-min-record-count"]:
        raise InvalidArgumentError("Cannot write Parquet file: Row group check maximum record count must be >= minimal record count")
    version = properties.get(PARQUET_PAGE_VERSION, "v1")
    if version not in ("v1", "v2"):
        raise InvalidArgumentError(f"Cannot write Parquet file: Unsupported Parquet page version: {version} (must be v1 or v2)")


def _check_shredding(schema: Schema, properties: Mapping[str, str]) -> None:
    """Variants are not shredded; still, the row count from which the runtime would infer types must be above 0. Raises
    InvalidArgumentError.
    """
    rows = property_as_int(properties, PARQUET_VARIANT_INFERENCE_BUFFER_SIZE)
    shreds = property_as_bool(properties, PARQUET_SHRED_VARIANTS) and any(isinstance(field.type, VariantType) for field in schema.fields)
    if shreds and rows <= 0:
        raise InvalidArgumentError(f"Cannot write Parquet file: bufferRowCount must be > 0, got {rows}")


def _check_structs(fields: Iterable[pa.Field], path: str = "") -> None:
    """Parquet has no group without columns. Raises InvalidArgumentError."""
    for field in fields:
        children = child_fields(field.type)
        if pa.types.is_struct(field.type) and not children:
            raise InvalidArgumentError(f"Cannot write Parquet file: struct without fields: {path}{field.name}", column=path + field.name)
        _check_structs(children, f"{path}{field.name}.")


def bloom_filters(schema: pa.Schema, properties: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Top-level columns that ``write.parquet.bloom-filter-enabled.column.<name>`` names, with the wanted rate of false hits.

    Raises InvalidArgumentError for a rate that is none.
    """
    prefix, fpp = PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX, PARQUET_BLOOM_FILTER_COLUMN_FPP_PREFIX
    names = [key[len(prefix) :] for key, value in properties.items() if key.startswith(prefix) and value.lower() == "true"]
    for name in names:
        property_as_int(properties, PARQUET_BLOOM_FILTER_COLUMN_NDV_PREFIX + name, 0)
    rates = {name: property_as_float(properties, fpp + name, 0.01) for name in names if name in schema.names}
    for name, rate in rates.items():
        if not 0 < rate < 1:
            problem = f"the rate of false positives of {name} should be between 0.0 and 1.0: {rate}"
            raise InvalidArgumentError(f"Cannot write Parquet file: {problem}", column=name)
    return {name: {"fpp": rate} for name, rate in rates.items()}


class ParquetFileWriter:
    """One Parquet file. Each ``write`` makes one row group of a table whose columns are those of ``schema``."""

    def __init__(self, sink: BinaryIO, schema: Schema, properties: Mapping[str, str], config: MetricsConfig) -> None:
        self._sink, self._schema, self._config = sink, schema, config
        self._stored = stored_schema(schema)
        _check_shredding(schema, properties)
        plain = to_arrow_schema(self._stored)
        self._arrow = _with_uuids(self._stored, plain)
        self._collected: list[pq.FileMetaData] = []
        self._properties, self._options = properties, parquet_options(plain, properties)
        self._writer: pq.ParquetWriter | None = None
        self._nans, self._long_values = NanCounter(schema, config), LongValues(schema, config)
        self._given = GivenCounts("Parquet", [*parquet_names(self._arrow)])

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return int(self._sink.tell())

    def write(self, table: pa.Table) -> None:
        self._nans.add(table)
        self._long_values.add(table)
        if self._stored is not self._schema:
            given = to_arrow_schema(self._schema)
            kept = [project(batch, self._stored, file_schema=given) for batch in table.to_batches()]
            table = pa.Table.from_batches(kept, to_arrow_schema(self._stored))
        arrays = [
            column if column.type == field.type else _as_extension(column, field.type)
            for column, field in zip(table.columns, self._arrow, strict=True)
        ]
        rows = pa.Table.from_arrays(arrays, schema=self._arrow)
        self._given.add(table.num_rows, *(number for column in table.columns for number in parquet_nulls(column)))
        self._opened(rows).write_table(rows, row_group_size=max(1, table.num_rows))

    def _opened(self, first: pa.Table) -> pq.ParquetWriter:
        """pyarrow's writer; the first rows tell which columns get dictionaries."""
        if self._writer is None:
            options = self._options | {
                "use_dictionary": dictionary_columns(first, self._properties, self._options["dictionary_pagesize_limit"])
            }
            self._writer = pq.ParquetWriter(self._sink, self._arrow, metadata_collector=self._collected, **options)
        return self._writer

    def close(self) -> tuple[Metrics, int]:
        """(metrics, length in bytes). Raises CorruptMetadataError for a file whose footer counts other rows or nulls than were given."""
        writer = self._opened(self._arrow.empty_table())
        writer.add_key_value_metadata({"iceberg.schema": json.dumps(schema_to_json(self._schema))})
        writer.close()
        size = self.size
        self._sink.close()
        footer = self._collected[0]
        self._given.check(parquet_counts(footer))
        file_schema = to_arrow_schema(self._stored)
        metrics = parquet_metrics(
            footer,
            self._schema,
            self._config,
            file_schema=file_schema,
            nan_counts=self._nans.counts,
            long_bounds=self._long_values.row_groups,
        )
        return metrics, size

    def abandon(self) -> None:
        if self._writer is not None:
            with suppress(RuntimeError):  # of rows that could not be written: what refused them is raised, not that the file has no footer
                self._writer.close()
        discard(self._sink)


def stored_schema(schema: Schema) -> Schema:
    """The columns that go into a file: all but those of unknown type, which no file holds. Spec: appendix A, "Parquet"."""
    fields = _stored_fields(schema.fields)
    return schema if fields == schema.fields else Schema(fields, schema.schema_id)


def _stored_fields(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
    return tuple(replace(f, type=_stored_type(f.type)) for f in fields if not isinstance(f.type, UnknownType))


def _stored_type(type_: Type) -> Type:
    match type_:
        case StructType(fields=fields):
            return StructType(_stored_fields(fields))
        case ListType(element=element):
            return replace(type_, element=_stored_type(element))
        case MapType(value=value):
            return replace(type_, value=_stored_type(value))
        case _:
            return type_


def _with_uuids(schema: Schema, plain: pa.Schema) -> pa.Schema:
    """Top-level uuids as Arrow's extension type, which Parquet files mark as UUID."""
    return pa.schema(
        [
            arrow.with_type(pa.uuid()) if isinstance(field.type, UUIDType) else arrow
            for field, arrow in zip(schema.fields, plain, strict=True)
        ]
    )


def _as_extension(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    if not isinstance(type_, pa.BaseExtensionType):
        return column.cast(type_)
    return pa.chunked_array([pa.ExtensionArray.from_storage(type_, chunk) for chunk in column.chunks], type_)


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """An open Parquet file and its Arrow schema, with the ids the file holds."""

    file: pq.ParquetFile
    schema: pa.Schema

    @property
    def footer(self) -> pq.FileMetaData:
        return self.file.metadata


def open_parquet(stream: Any, location: str) -> ParquetSource:
    """Raises CorruptMetadataError for bytes that are not Parquet."""
    try:
        file = pq.ParquetFile(stream)
        return ParquetSource(file, file.schema_arrow)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptMetadataError(f"Cannot read Parquet file {location}: {error}", location=location) from error


def parquet_batches(
    source: ParquetSource,
    schema: Schema,
    location: str,
    *,
    file_schema: pa.Schema,
    keep_row_group: Callable[[int], bool],
    batch_rows: int,
    stream: Any = None,
    window: Callable[[int], range] | None = None,
) -> Iterator[tuple[int, pa.RecordBatch, pa.Schema]]:
    """(position of the first row, batch, its schema with ids) of the wanted columns. Raises CorruptMetadataError.

    ``stream``: what the file is read from. One that can fetch ranges ahead is asked for a row group and the next. ``window``: the rows of a
    row group that are wanted; batches without any are left out.
    """
    footer = source.footer
    columns = _columns_of(source, schema, file_schema)
    kept = [group for group in range(footer.num_row_groups) if keep_row_group(group)]
    starts = [0, *accumulate(footer.row_group(group).num_rows for group in range(footer.num_row_groups))]
    ahead = getattr(stream, "prefetch", None)
    for place, group in enumerate(kept):
        rows = footer.row_group(group).num_rows
        wanted = range(rows) if window is None else window(group)
        if wanted:
            if ahead is not None:
                groups = kept[place : place + (2 if window is None else 1)]
                ahead([chunk for next_group in groups for chunk in _chunks(footer, next_group, columns)])
            batches = _group_batches(source, group, starts[group], rows, columns, location, file_schema, batch_rows)
            yield from batches if window is None else _within(batches, starts[group], wanted)
        if ahead is not None:
            stream.forget(_start_of(footer, kept[place + 1]) if place + 1 < len(kept) else 0)


def _within(
    batches: Iterator[tuple[int, pa.RecordBatch, pa.Schema]], start: int, wanted: range
) -> Iterator[tuple[int, pa.RecordBatch, pa.Schema]]:
    """The rows of the batches in a window, which counts from ``start``; what follows it is not read."""
    for position, batch, schema in batches:
        first, last = max(start + wanted.start - position, 0), min(start + wanted.stop - position, batch.num_rows)
        if first < last:
            yield position + first, batch.slice(first, last - first), schema
        if position + batch.num_rows >= start + wanted.stop:
            return


def column_bytes(source: ParquetSource, schema: Schema, file_schema: pa.Schema) -> int:
    """Bytes of the file's columns that a projection needs, as they are stored."""
    columns = _columns_of(source, schema, file_schema)
    groups = range(source.footer.num_row_groups)
    return sum(end - start for group in groups for start, end in _chunks(source.footer, group, columns))


def _columns_of(source: ParquetSource, schema: Schema, file_schema: pa.Schema) -> list[str]:
    return _physical([".".join(path) for path in wanted_leaves(file_schema, schema)], source.footer)


def starts_within(source: ParquetSource, group: int, byte_range: tuple[int, int]) -> bool:
    """Whether a row group begins in a range of bytes; what precedes the first row group belongs to it."""
    start = 0 if group == 0 else _start_of(source.footer, group)
    return byte_range[0] <= start < byte_range[1]


def _start_of(footer: pq.FileMetaData, group: int) -> int:
    """The first byte of a row group."""
    row_group = footer.row_group(group)
    return min((_chunk(row_group.column(place))[0] for place in range(row_group.num_columns)), default=0)


def _chunks(footer: pq.FileMetaData, group: int, columns: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The bytes (start, end) of the columns of a row group; a column's name may be that of a struct or list around it."""
    row_group, wanted = footer.row_group(group), set(columns)
    for place in range(row_group.num_columns):
        chunk = row_group.column(place)
        if chunk.path_in_schema in wanted or any(prefix in wanted for prefix in _prefixes(chunk.path_in_schema)):
            yield _chunk(chunk)


def _chunk(chunk: pq.ColumnChunkMetaData) -> tuple[int, int]:
    offsets = [offset for offset in (chunk.dictionary_page_offset, chunk.data_page_offset) if offset]
    start = min(offsets, default=0)
    return start, start + chunk.total_compressed_size


def _physical(columns: list[str], footer: pq.FileMetaData) -> list[str]:
    """Arrow names lists ``list.element`` and maps ``key_value``; older files differ (``array``, ``bag.array_element``, ``map``). Where a
    path is
    not in the file, the whole top-level column is read."""
    known = {footer.schema.column(i).path for i in range(footer.num_columns)}
    tops: list[str] = []
    for name in columns:
        tops.append(name if name in known else next((top for top in _prefixes(name) if any(p.startswith(top + ".") for p in known)), name))
    return tops


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(len(parts) - 1, 0, -1)]


def _group_batches(
    source: ParquetSource, group: int, start: int, rows: int, columns: list[str], location: str, file_schema: pa.Schema, batch_rows: int
) -> Iterator[tuple[int, pa.RecordBatch, pa.Schema]]:
    if not columns:
        for offset in range(0, rows, batch_rows):
            yield start + offset, _empty_columns(min(batch_rows, rows - offset)), pa.schema([])
        return
    position = start
    try:
        for batch in source.file.iter_batches(batch_size=batch_rows, row_groups=[group], columns=columns):
            yield position, batch, pruned_schema(batch.schema, file_schema)
            position += batch.num_rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptMetadataError(f"Cannot read Parquet file {location}: {error}", location=location) from error


def _empty_columns(rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))


def pruned_schema(read: pa.Schema, full: pa.Schema) -> pa.Schema:
    """The schema of what was read, with the ids of the whole file's schema (which a name mapping may have given)."""
    return pa.schema([_pruned(field, full.field(field.name)) for field in read])


def _pruned(read: pa.Field, full: pa.Field) -> pa.Field:
    return pa.field(read.name, _pruned_type(read.type, full.type), read.nullable, full.metadata)


def _pruned_type(read: pa.DataType, full: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(read):
        return pa.struct([_pruned(read.field(i), full.field(read.field(i).name)) for i in range(read.num_fields)])
    if pa.types.is_map(read):
        return pa.map_(_pruned(read.key_field, full.key_field), _pruned(read.item_field, full.item_field))
    if pa.types.is_list(read):
        return pa.list_(_pruned(read.value_field, full.value_field))
    if pa.types.is_large_list(read):
        return pa.large_list(_pruned(read.value_field, full.value_field))
    return read
