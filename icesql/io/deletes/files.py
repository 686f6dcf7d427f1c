"""Position delete files and equality delete files, in any format. Spec: "Position Delete Files", "Equality Delete Files".

A position delete file is sorted by path and position. Bounds of the path are kept whole, so that a file whose bounds are equal is known
to serve one data file only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from icesql.errors import CorruptMetadataError, InvalidArgumentError
from icesql.io.arrow.types import to_arrow_schema
from icesql.io.data.files import read_data_file
from icesql.io.data.writer import DataFileWriter
from icesql.io.deletes.roaring import Positions
from icesql.io.metrics.column_metrics import COUNTS, FULL, MetricsConfig, metrics_config
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent
from icesql.spec.name_mapping import NameMapping
from icesql.spec.properties import DEFAULT_FILE_FORMAT, DELETE_DEFAULT_FILE_FORMAT, DELETE_PREFIX, WRITE_PREFIX
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType

if TYPE_CHECKING:
    from pyroaring import BitMap64

DELETE_FILE_PATH = NestedField(2147483546, "file_path", StringType(), True)
DELETE_POS = NestedField(2147483545, "pos", LongType(), True)
FILE_FORMATS = ("parquet", "avro", "orc", "puffin", "metadata")
"""Every file format that Iceberg names; rows are in the first three."""
POSITION_SCHEMA = Schema((DELETE_FILE_PATH, DELETE_POS))
_POSITION_METRICS = MetricsConfig(default=COUNTS, modes={DELETE_FILE_PATH.id: FULL, DELETE_POS.id: FULL})


def delete_format(properties: Mapping[str, str]) -> str:
    """``write.delete.format.default``, else ``write.format.default``, else parquet; lower case."""
    return (properties.get(DELETE_DEFAULT_FILE_FORMAT) or properties.get(DEFAULT_FILE_FORMAT) or "parquet").lower()


def check_delete_format(properties: Mapping[str, str], option: str | None = None) -> None:
    """Raises InvalidArgumentError for a format, of the table or of a write's option, that Iceberg does not know."""
    for wanted in (delete_format(properties), (option or "parquet").lower()):
        if wanted not in FILE_FORMATS:
            raise InvalidArgumentError(f"Invalid file format: {wanted}", format=wanted)


def delete_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties, with ``write.delete.<format>.*`` replacing ``write.<format>.*`` where a table sets them."""
    renamed = dict(properties)
    for key, value in properties.items():
        if key.startswith(DELETE_PREFIX) and key != DELETE_DEFAULT_FILE_FORMAT:
            renamed[WRITE_PREFIX + key[len(DELETE_PREFIX) :]] = value
    return renamed


# -- position deletes --------------------------------------------------------------------------------------------------
def write_position_deletes(
    io: FileIO,
    location: str,
    positions: Mapping[str, Iterable[int]] | pa.Table,
    *,
    file_format: str | None = None,
    properties: Mapping[str, str] | None = None,
    spec_id: int = 0,
    partition: tuple[object, ...] = (),
) -> DataFile:
    """Write one file of positions by data file path, or of a table with columns ``file_path`` and ``pos``; rows are sorted, duplicates
    dropped.

    Where all positions are of one file, equal path bounds say so, or ``referenced_data_file`` in a format without bounds.
    Raises InvalidArgumentError for no positions.
    """
    table = sorted_positions(positions)
    if table.num_rows == 0:
        raise InvalidArgumentError(f"Cannot write position deletes: no positions: {location}", location=location)
    options = delete_properties(properties or {})
    writer = DataFileWriter(
        lambda: location, POSITION_SCHEMA, options, spec_id, partition, None, file_format or delete_format(properties or {}), io=io,
        target_size_bytes=1 << 62, content=FileContent.POSITION_DELETES, config=_POSITION_METRICS,
    )  # fmt: skip
    writer.write(table)
    (file,) = writer.close()
    first, last = table["file_path"][0].as_py(), table["file_path"][-1].as_py()
    referenced = first if first == last and not file.lower_bounds else None
    return replace(file, value_counts={}, null_value_counts={}, nan_value_counts={}, referenced_data_file=referenced)


def sorted_positions(positions: Mapping[str, Iterable[int]] | pa.Table) -> pa.Table:
    """A table of (file_path, pos), sorted, each pair once."""
    if isinstance(positions, pa.Table):
        table = positions.select(["file_path", "pos"])
        table = pa.table({"file_path": table["file_path"].cast(pa.string()), "pos": table["pos"].cast(pa.int64())})
        return table.group_by(["file_path", "pos"]).aggregate([]).sort_by([("file_path", "ascending"), ("pos", "ascending")])
    paths: list[pa.Array] = []
    numbers: list[pa.Array] = []
    for path in sorted(positions, key=lambda p: p.encode()):
        given = positions[path]
        distinct = np.unique(given.astype(np.int64) if isinstance(given, np.ndarray) else np.fromiter(given, np.int64))
        if len(distinct):
            paths.append(pa.repeat(pa.scalar(path, pa.string()), len(distinct)))
            numbers.append(pa.array(distinct))
    return pa.table({"file_path": pa.chunked_array(paths, pa.string()), "pos": pa.chunked_array(numbers, pa.int64())})


def read_position_deletes(io: FileIO, file: DataFile, data_path: str | None = None) -> dict[str, BitMap64]:
    """Deleted positions by data file path, of ``data_path`` only if given. Raises NotFoundError, CorruptMetadataError,
    InvalidArgumentError."""
    from pyroaring import BitMap64

    by_path: dict[str, BitMap64] = {}
    for path, positions in _runs(io, file):
        if data_path is None or path == data_path:
            bitmap = by_path.setdefault(path, BitMap64())
            try:
                bitmap.update(positions.tolist())
            except (OverflowError, TypeError) as error:
                raise CorruptMetadataError(f"Cannot read position deletes {file.file_path}: {error}", location=file.file_path) from error
    return by_path


def read_positions(io: FileIO, file: DataFile, data_path: str) -> Positions:
    """Deleted positions of one data file in a position delete file, in any order, and without pyroaring. Raises NotFoundError,
    CorruptMetadataError, InvalidArgumentError."""
    parts = [positions for path, positions in _runs(io, file) if path == data_path]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _runs(io: FileIO, file: DataFile) -> Iterable[tuple[str, np.ndarray[Any, Any]]]:
    """(path, positions) of each run of rows with one path."""
    if file.content is not FileContent.POSITION_DELETES or file.is_deletion_vector:
        raise InvalidArgumentError(f"Cannot read position deletes: not a position delete file: {file.file_path}", location=file.file_path)
    for batch in read_data_file(io, file, POSITION_SCHEMA):
        if batch.num_rows == 0:
            continue
        if batch.column(0).null_count or batch.column(1).null_count:
            raise CorruptMetadataError(f"Cannot read position deletes {file.file_path}: path or position is null", location=file.file_path)
        encoded = batch.column(0).dictionary_encode()
        codes, positions = encoded.indices.to_numpy(zero_copy_only=False), batch.column(1).to_numpy(zero_copy_only=False)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(codes)) + 1, [len(codes)]))
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            yield _text(encoded.dictionary[int(codes[start])], file), positions[start:end]


def _text(value: pa.StringScalar, file: DataFile) -> str:
    try:
        text: str = value.as_py()
    except UnicodeDecodeError as error:
        raise CorruptMetadataError(f"Cannot read position deletes {file.file_path}: {error}", location=file.file_path) from error
    return text


# -- equality deletes --------------------------------------------------------------------------------------------------
def equality_schema(schema: Schema, equality_ids: Sequence[int]) -> Schema:
    """The columns of an equality delete file, in the order of ``equality_ids``. Raises NotFoundError."""
    return Schema(tuple(schema.field(field_id) for field_id in equality_ids))


def write_equality_deletes(
    io: FileIO,
    next_location: Callable[[], str],
    rows: pa.Table | Iterable[pa.RecordBatch],
    schema: Schema,
    equality_ids: Sequence[int],
    *,
    file_format: str | None = None,
    properties: Mapping[str, str] | None = None,
    spec_id: int = 0,
    partition: tuple[object, ...] = (),
    sort_order_id: int | None = None,
) -> list[DataFile]:
    """Write rows whose ``equality_ids`` columns tell which rows are deleted. Other columns of ``rows`` are left out."""
    columns = equality_schema(schema, equality_ids)
    options = delete_properties(properties or {})
    writer = DataFileWriter(
        next_location, columns, options, spec_id, partition, sort_order_id, file_format or delete_format(properties or {}), io=io,
        content=FileContent.EQUALITY_DELETES, equality_ids=tuple(equality_ids), config=metrics_config(schema, options, equality_ids),
    )  # fmt: skip
    names = [field.name for field in columns.fields]
    for batch in [rows] if isinstance(rows, pa.Table) else rows:
        writer.write(batch.select(names))
    return writer.close()


def read_equality_deletes(io: FileIO, file: DataFile, schema: Schema, *, name_mapping: NameMapping | None = None) -> pa.Table:
    """The deleted rows in the columns of the file's ``equality_ids``, found in ``schema`` by id. Raises NotFoundError,
    CorruptMetadataError."""
    if file.content is not FileContent.EQUALITY_DELETES:
        raise InvalidArgumentError(f"Cannot read equality deletes: not an equality delete file: {file.file_path}", location=file.file_path)
    columns = equality_schema(schema, file.equality_ids)
    return pa.Table.from_batches(list(read_data_file(io, file, columns, name_mapping=name_mapping)), to_arrow_schema(columns))
