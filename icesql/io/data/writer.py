"""Write data files of any format: one file at a time, rolling over at the target size, metrics at once. Runs in Spark tasks as well as in
the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import BinaryIO, Protocol, TypeAlias

import pyarrow as pa

from icesql.errors import InvalidArgumentError
from icesql.io.arrow.projection import project, with_mapped_ids
from icesql.io.arrow.sizes import table_bytes
from icesql.io.arrow.types import to_arrow_schema
from icesql.io.metrics.column_metrics import Metrics, MetricsConfig, metrics_config, with_metrics
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.storage.files import FileIO, discard
from icesql.spec.files import DataFile, FileContent
from icesql.spec.name_mapping import mapping_for
from icesql.spec.properties import (
    DEFAULT_FILE_FORMAT,
    ORC_STRIPE_SIZE_BYTES,
    PARQUET_ROW_GROUP_SIZE_BYTES,
    WRITE_TARGET_FILE_SIZE_BYTES,
    property_as_int,
)
from icesql.spec.schema import Schema
from icesql.spec.types import TimestampType, TimestamptzType

DEFAULT_TARGET_BYTES = 512 * 1024 * 1024
DEFAULT_ROW_GROUP_BYTES = 128 * 1024 * 1024
DEFAULT_STRIPE_BYTES = 64 * 1024 * 1024
_MIN_CHUNK_BYTES = 16 * 1024
Rows: TypeAlias = "pa.RecordBatch | pa.Table"


class FormatWriter(Protocol):
    """One open file of a format."""

    @property
    def size(self) -> int: ...

    def write(self, table: pa.Table) -> None: ...

    def close(self) -> tuple[Metrics, int]: ...

    def abandon(self) -> None: ...


def format_writer(file_format: str, sink: BinaryIO, schema: Schema, properties: Mapping[str, str], config: MetricsConfig) -> FormatWriter:
    """Raises InvalidArgumentError for a format other than parquet, orc and avro."""
    match file_format.lower():
        case "parquet":
            from icesql.io.parquet.files import ParquetFileWriter

            return ParquetFileWriter(sink, schema, properties, config)
        case "orc":
            from icesql.io.orc.files import OrcFileWriter

            return OrcFileWriter(sink, schema, properties, config)
        case "avro":
            from icesql.io.avro.writer import AvroFileWriter

            return AvroFileWriter(sink, schema, properties, config)
        case _:
            raise InvalidArgumentError(f"Cannot write data file: unknown file format: {file_format}", file_format=file_format)


def default_format(properties: Mapping[str, str]) -> str:
    """``write.format.default`` in lower case; parquet without it."""
    return properties.get(DEFAULT_FILE_FORMAT, "parquet").lower()


def conform(rows: Rows, schema: Schema) -> pa.Table:
    """Rows as a table with exactly the columns of ``schema``: matched by name, cast to their types; a column the rows lack is null.

    Raises InvalidArgumentError for a column the schema does not have, a value that cannot be cast, or a null in a required column.
    """
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    wanted = to_arrow_schema(schema)
    if not table.schema.equals(wanted, check_metadata=False):
        table = _cast(table, schema)
    for field, column in zip(schema.fields, table.columns, strict=True):
        if field.required and column.null_count:
            raise InvalidArgumentError(f"Cannot write null to required column: {field.name}", field=field.name)
    return table.cast(wanted) if table.schema != wanted else table


def _cast(table: pa.Table, schema: Schema) -> pa.Table:
    known = {field.name for field in schema.fields}
    extra = [name for name in table.column_names if name not in known]
    if extra or len(set(table.column_names)) != table.num_columns:
        raise InvalidArgumentError(f"Cannot write rows: columns are not in the schema, or twice: {extra or table.column_names}")
    table = _without_nanos(table, schema)
    file_schema = with_mapped_ids(table.schema, mapping_for(schema))
    wanted = to_arrow_schema(schema)
    try:
        return pa.Table.from_batches([project(batch, schema, file_schema=file_schema) for batch in table.to_batches()], wanted)
    except Exception as error:
        raise InvalidArgumentError(f"Cannot write rows: {error}") from error


def _without_nanos(table: pa.Table, schema: Schema) -> pa.Table:
    """Nanoseconds for a microsecond column only if none are lost."""
    for index, field in enumerate(table.schema):
        wanted = next(f for f in schema.fields if f.name == field.name)
        if isinstance(wanted.type, (TimestampType, TimestamptzType)) and pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            micros = pa.timestamp("us", field.type.tz)
            try:
                table = table.set_column(index, field.with_type(micros), table.column(index).cast(micros))
            except pa.ArrowInvalid as error:
                raise InvalidArgumentError(f"Cannot write rows: nanoseconds would be lost in column {field.name}: {error}") from error
    return table


class DataFileWriter:
    """Files of one partition. ``write`` rows, then ``close`` for the DataFile values; ``abort`` removes what was written.

    Rolls to the next location at ``write.target-file-size-bytes`` (files end within a fifth of it). One instance is not thread safe.
    """

    def __init__(
        self,
        location_for_next_file: Callable[[], str],
        schema: Schema,
        properties: Mapping[str, str] | None = None,
        spec_id: int = 0,
        partition: tuple[object, ...] = (),
        sort_order_id: int | None = None,
        file_format: str | None = None,
        *,
        io: FileIO | None = None,
        sorted_ids: Iterable[int] = (),
        target_size_bytes: int | None = None,
        content: FileContent = FileContent.DATA,
        equality_ids: tuple[int, ...] = (),
        config: MetricsConfig | None = None,
    ) -> None:
        self._next_location, self._schema, self._io = location_for_next_file, schema, io or ArrowFileIO()
        self._properties = dict(properties or {})
        self._spec_id, self._partition, self._sort_order_id = spec_id, partition, sort_order_id
        self._format = (file_format or default_format(self._properties)).lower()
        self._content, self._equality_ids = content, equality_ids
        self._config = config or metrics_config(schema, self._properties, sorted_ids)
        self._target = target_size_bytes or property_as_int(self._properties, WRITE_TARGET_FILE_SIZE_BYTES, DEFAULT_TARGET_BYTES)
        self._group_bytes = property_as_int(self._properties, PARQUET_ROW_GROUP_SIZE_BYTES, DEFAULT_ROW_GROUP_BYTES)
        if self._format == "orc":  # an open stripe's size is hidden, so stripes must be small against the target
            key = ORC_STRIPE_SIZE_BYTES
            stripe = property_as_int(self._properties, key, DEFAULT_STRIPE_BYTES)
            if stripe > 0:  # else the writer says what is wrong
                self._properties[key] = str(max(_MIN_CHUNK_BYTES, min(stripe, self._target // 8)))
        self._pending: list[pa.Table] = []
        self._pending_bytes = 0
        self._ratio: float | None = None  # bytes in the file for each byte of Arrow data
        self._flushed_bytes = 0  # Arrow bytes in the open file
        self._writer: FormatWriter | None = None
        self._location = ""
        self._files: list[DataFile] = []

    def write(self, rows: Rows) -> None:
        """Add rows; see ``conform`` for how columns are matched. Raises InvalidArgumentError."""
        table = conform(rows, self._schema)
        start = 0
        while start < table.num_rows:
            room = self._chunk_bytes() - self._pending_bytes
            rest = table.slice(start)
            size = max(1, table_bytes(rest))
            take = rest.num_rows if size <= room else max(1, rest.num_rows * max(room, 1) // size)
            piece = rest.slice(0, take)
            self._pending.append(piece)
            self._pending_bytes += max(1, size * take // rest.num_rows)
            start += take
            if self._pending_bytes >= self._chunk_bytes() * 0.99:
                self._flush()
                if self._is_full():
                    self._finish_file()

    def _chunk_bytes(self) -> int:
        """Arrow bytes of the next row group: a quarter of the target at first, then what the target leaves at the compression seen so
        far."""
        if self._ratio is None:
            return max(_MIN_CHUNK_BYTES, min(self._group_bytes, self._target // 4))
        left = max(0.0, self._target - self._flushed_bytes * self._ratio) / max(self._ratio, 1e-6)
        return max(_MIN_CHUNK_BYTES, int(min(self._group_bytes, left)))

    def _is_full(self) -> bool:
        written = self._writer.size if self._writer is not None else 0
        return max(written, int(self._flushed_bytes * (self._ratio or 0))) >= self._target * 0.95

    def _flush(self) -> None:
        if not self._pending:
            return
        if self._writer is None:
            self._writer = self._opened()
        self._writer.write(pa.concat_tables(self._pending))
        self._flushed_bytes += self._pending_bytes
        if self._writer.size > _MIN_CHUNK_BYTES // 4:
            self._ratio = self._writer.size / self._flushed_bytes
        self._pending, self._pending_bytes = [], 0

    def _opened(self) -> FormatWriter:
        """A writer of the next file; where the properties are refused no file stays."""
        self._location = self._next_location()
        sink = self._io.open_output(self._location)
        try:
            return format_writer(self._format, sink, self._schema, self._properties, self._config)
        except BaseException:
            discard(sink)
            self._io.delete(self._location)
            raise

    def _finish_file(self) -> None:
        if self._writer is None:
            return
        metrics, size = self._writer.close()
        self._files.append(self._data_file(metrics, size))
        if size and self._flushed_bytes:
            self._ratio = size / self._flushed_bytes
        self._writer, self._flushed_bytes = None, 0

    def _data_file(self, metrics: Metrics, size: int) -> DataFile:
        file = DataFile(
            content=self._content,
            file_path=self._location,
            file_format=self._format,
            spec_id=self._spec_id,
            partition=self._partition,
            record_count=metrics.record_count,
            file_size_in_bytes=size,
            equality_ids=self._equality_ids,
            sort_order_id=self._sort_order_id,
        )
        return with_metrics(file, metrics)

    def close(self) -> list[DataFile]:
        """The files, none for no rows. The writer must not be used after. If it fails, what was written is removed."""
        try:
            self._flush()
            self._finish_file()
        except BaseException:
            self.abort()
            raise
        return self._files

    def abort(self) -> None:
        """Remove every file of this writer."""
        if self._writer is not None:
            self._writer.abandon()
            self._io.delete(self._location)
            self._writer = None
        self._io.delete_many([file.file_path for file in self._files])
        self._files, self._pending, self._pending_bytes = [], [], 0


def write_data_file(
    io: FileIO,
    location: str,
    file_format: str,
    rows: pa.Table | Iterable[pa.RecordBatch],
    schema: Schema,
    properties: Mapping[str, str] | None = None,
    spec_id: int = 0,
    partition: tuple[object, ...] = (),
    sort_order_id: int | None = None,
) -> DataFile:
    """Write one file of any size, also an empty one. Raises InvalidArgumentError."""
    writer = DataFileWriter(
        lambda: location, schema, properties, spec_id, partition, sort_order_id, file_format, io=io, target_size_bytes=1 << 62
    )
    empty = True
    for batch in [rows] if isinstance(rows, pa.Table) else rows:
        empty = empty and batch.num_rows == 0
        writer.write(batch)
    return (
        writer.close()[0]
        if not empty
        else _empty_file(io, location, file_format, schema, dict(properties or {}), spec_id, partition, sort_order_id)
    )


def _empty_file(
    io: FileIO,
    location: str,
    file_format: str,
    schema: Schema,
    properties: dict[str, str],
    spec_id: int,
    partition: tuple[object, ...],
    sort_order_id: int | None,
) -> DataFile:
    writer = format_writer(file_format, io.open_output(location), schema, properties, metrics_config(schema, properties))
    _, size = writer.close()
    return DataFile(
        file_path=location, file_format=file_format.lower(), spec_id=spec_id, partition=partition, record_count=0, file_size_in_bytes=size,
        sort_order_id=sort_order_id,
    )  # fmt: skip
