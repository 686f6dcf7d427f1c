"""Data files of any format: read by field id, row groups pruned, and footers of existing files turned into DataFile values.

Writing is in ``icesql.io.data.writer``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.expr.metrics import inclusive_metrics
from icesql.expr.tree import TRUE, Expression
from icesql.io.arrow.projection import project, wanted_leaves, with_mapped_ids, with_ordinal_ids
from icesql.io.arrow.types import has_ids, to_arrow_schema
from icesql.io.avro.container import corrupt, read_records
from icesql.io.data.writer import DataFileWriter, conform, default_format, write_data_file
from icesql.io.metrics.column_metrics import FULL, MetricsConfig, metrics_config, with_metrics
from icesql.io.parquet.files import ParquetSource, open_parquet, parquet_batches, starts_within
from icesql.io.parquet.metrics import parquet_metrics
from icesql.io.parquet.row_windows import row_windows
from icesql.io.storage.files import FileIO
from icesql.spec.avro_schema import has_field_ids
from icesql.spec.budgets import data_file_bytes
from icesql.spec.files import DataFile
from icesql.spec.metadata_columns import FILE, POS, ROW_ID, SEQUENCE, SPEC_ID
from icesql.spec.name_mapping import NameMapping
from icesql.spec.schema import Schema

__all__ = [
    "DataFileWriter",
    "conform",
    "data_file_of",
    "default_format",
    "read_data_file",
    "write_data_file",
]

DEFAULT_BATCH_ROWS = 65_536


def read_data_file(
    io: FileIO,
    data_file: DataFile,
    schema: Schema,
    *,
    name_mapping: NameMapping | None = None,
    filter: Expression | None = None,
    constants: Mapping[int, object] | None = None,
    data_sequence_number: int | None = None,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    byte_range: tuple[int, int] | None = None,
    rows: Expression = TRUE,
) -> Iterator[pa.RecordBatch]:
    """The file's rows in the columns of ``schema``, in file order, as batches of ``to_arrow_schema(schema)``.

    Columns are found by field id; files without ids go by ``name_mapping``, else by position. ``constants`` (internal form, by field id)
    stand for
    columns the file lacks: identity partition values. The columns ``FILE``, ``POS``, ``SPEC_ID``, ``ROW_ID`` and ``SEQUENCE`` may be
    part of ``schema``. ``filter`` only skips row groups none of whose rows can match; it does not filter rows.
    ``byte_range`` (start, end): of a Parquet file only the row groups that start there. ``rows``: those for which it is not true may be
    left out.
    Raises NotFoundError, CorruptMetadataError, UnsupportedError.
    """
    for position, batch, file_schema in _batches(
        io, data_file, schema, name_mapping, filter, batch_rows, byte_range, rows, constants or {}
    ):
        plain = project(batch, schema, file_schema=file_schema, constants=constants)
        yield _with_metadata_columns(plain, schema, position, data_file, data_sequence_number)


def _batches(
    io: FileIO,
    data_file: DataFile,
    schema: Schema,
    mapping: NameMapping | None,
    filter_: Expression | None,
    batch_rows: int,
    byte_range: tuple[int, int] | None,
    rows: Expression,
    constants: Mapping[int, object],
) -> Iterator[tuple[int, pa.RecordBatch, pa.Schema]]:
    location = data_file.file_path
    match data_file.file_format.lower():
        case "parquet":
            with io.open_input(location) as stream:
                source = open_parquet(stream, location)
                file_schema = resolved(source.schema, mapping)
                keep = _row_group_test(source, schema, file_schema, filter_)
                windows = None
                if rows != TRUE:
                    shape = {"file_schema": file_schema, "constants": constants, "batch_rows": batch_rows, "stream": stream}
                    windows = row_windows(source, schema, location, rows, **shape)
                yield from parquet_batches(
                    source,
                    schema,
                    location,
                    file_schema=file_schema,
                    keep_row_group=keep if byte_range is None else lambda group: starts_within(source, group, byte_range) and keep(group),
                    batch_rows=batch_rows,
                    stream=stream,
                    window=windows,
                )
        case "orc":
            yield from _orc(io, location, schema, mapping)
        case "avro":
            yield from _avro(io, location, schema, mapping, batch_rows)
        case other:
            raise UnsupportedError(f"Cannot read data file: unknown file format {other}: {location}", location=location)


def resolved(schema: pa.Schema, mapping: NameMapping | None) -> pa.Schema:
    """A file's schema with ids: its own, else the mapping's, else its columns' positions."""
    if has_ids(schema):
        return schema
    return with_ordinal_ids(schema) if mapping is None else with_mapped_ids(schema, mapping)


def _orc(io: FileIO, location: str, schema: Schema, mapping: NameMapping | None) -> Iterator[tuple[int, pa.RecordBatch, pa.Schema]]:
    from icesql.io.orc.files import open_orc, orc_batches, schema_with_ids

    with io.open_input(location) as stream:
        file = open_orc(stream, location)
        file_schema = resolved(schema_with_ids(file.schema, location), mapping)
        names = list(dict.fromkeys(path[0] for path in wanted_leaves(file_schema, schema)))
        read_schema = pa.schema([field for field in file_schema if field.name in names])
        for position, batch in orc_batches(file, stream, names, location):
            yield position, batch, read_schema


def _avro(
    io: FileIO, location: str, wanted: Schema, mapping: NameMapping | None, batch_rows: int
) -> Iterator[tuple[int, pa.RecordBatch, pa.Schema]]:
    from icesql.io.avro.data import avro_batches, with_ids

    records = read_records(io.read(location), location, data_file_bytes)
    written = records.header.schema
    try:
        schema = with_ids(written, None if has_field_ids(written) else mapping)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise corrupt(location, f"schema is not readable: {error!r}") from error
    for position, batch in avro_batches(records, schema, wanted, location, batch_rows=batch_rows):
        yield position, batch, batch.schema


def _row_group_test(source: ParquetSource, schema: Schema, file_schema: pa.Schema, filter_: Expression | None) -> Callable[[int], bool]:
    if filter_ is None or source.footer.num_row_groups == 0:
        return lambda group: True
    test, config = inclusive_metrics(schema, filter_), MetricsConfig(default=FULL)

    def keep(group: int) -> bool:
        metrics = parquet_metrics(source.footer, schema, config, file_schema=file_schema, row_groups=range(group, group + 1))
        return bool(test(with_metrics(DataFile(file_path="", file_format="parquet", record_count=0, file_size_in_bytes=0), metrics)))

    return keep


def _with_metadata_columns(
    batch: pa.RecordBatch, schema: Schema, position: int, file: DataFile, sequence_number: int | None
) -> pa.RecordBatch:
    ids = {field.id: i for i, field in enumerate(schema.fields)}
    if not ids.keys() & {FILE.id, POS.id, SPEC_ID.id, ROW_ID.id, SEQUENCE.id}:
        return batch
    arrays, rows = list(batch.columns), batch.num_rows
    made: dict[int, Callable[[], Any]] = {
        FILE.id: lambda: pa.repeat(pa.scalar(file.file_path, pa.string()), rows),
        POS.id: lambda: _range(position, rows),
        SPEC_ID.id: lambda: pa.repeat(pa.scalar(file.spec_id, pa.int32()), rows),
    }
    for field_id, make in made.items():
        if field_id in ids:
            arrays[ids[field_id]] = make()
    # Spec, "Row Lineage": values stored in the file win, the rest is inherited
    if ROW_ID.id in ids and file.first_row_id is not None:
        arrays[ids[ROW_ID.id]] = _filled(arrays[ids[ROW_ID.id]], _range(file.first_row_id + position, rows))
    if SEQUENCE.id in ids and sequence_number is not None and file.first_row_id is not None:
        arrays[ids[SEQUENCE.id]] = _filled(arrays[ids[SEQUENCE.id]], pa.repeat(pa.scalar(sequence_number, pa.int64()), rows))
    return pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(schema))


def _range(start: int, length: int) -> pa.Array:
    return pa.array(np.arange(start, start + length, dtype=np.int64))


def _filled(stored: pa.Array, inherited: pa.Array) -> pa.Array:
    return inherited if stored.null_count == len(stored) else pc.coalesce(stored, inherited)


def data_file_of(
    io: FileIO,
    location: str,
    schema: Schema,
    *,
    file_format: str = "parquet",
    spec_id: int = 0,
    partition: tuple[object, ...] = (),
    properties: Mapping[str, str] | None = None,
    name_mapping: NameMapping | None = None,
    sort_order_id: int | None = None,
) -> DataFile:
    """The DataFile of a file that is there already, from its footer. Files without ids go by ``name_mapping``.

    Raises NotFoundError, CorruptMetadataError, InvalidArgumentError for an unknown format.
    """
    file = DataFile(
        file_path=location, file_format=file_format.lower(), spec_id=spec_id, partition=partition, record_count=0,
        file_size_in_bytes=io.size(location), sort_order_id=sort_order_id,
    )  # fmt: skip
    config = metrics_config(schema, properties or {})
    match file.file_format:
        case "parquet":
            with io.open_input(location) as stream:
                source = open_parquet(stream, location)
                return with_metrics(file, parquet_metrics(source.footer, schema, config, file_schema=resolved(source.schema, name_mapping)))
        case "orc":
            from icesql.io.orc.files import open_orc

            with io.open_input(location) as stream:
                return replace(file, record_count=open_orc(stream, location).nrows)
        case "avro":
            return replace(file, record_count=read_records(io.read(location), location, data_file_bytes).record_count)
        case _:
            raise InvalidArgumentError(f"Cannot add file: unknown file format: {file_format}", file_format=file_format)
