"""Compares the counts in a finished file's footer with what its writer was given: a file that differs is not committed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from icesql.errors import CorruptMetadataError
from icesql.io.arrow.types import child_fields
from icesql.io.avro.container import SYNC_LENGTH, read_header, read_long
from icesql.io.orc.layout import DAMAGE, message, read_footer

_KEPT_BYTES = 4 * 1024 * 1024


class GivenCounts:
    """Counts the rows given to the writer of one file, and one more number for each of ``names``."""

    def __init__(self, file_format: str, names: Sequence[str] = ()) -> None:
        self._format, self._names, self._numbers = file_format, ("rows", *names), [0] * (1 + len(names))

    def add(self, *numbers: int) -> None:
        """Add rows, and the numbers in the order of the names."""
        self._numbers = [a + b for a, b in zip(self._numbers, numbers, strict=True)]

    def check(self, counts: Sequence[int | None]) -> None:
        """Compare with the numbers of the footer, ``None`` where it has none. Raises CorruptMetadataError."""
        for name, given, number in zip(self._names, self._numbers, counts, strict=False):
            if number is not None and number != given:
                why = f"{given} {name} were given, the file holds {number}; it is removed and nothing is committed"
                raise CorruptMetadataError(f"Cannot write {self._format} file: {why}", given=given, found=number)


# -- ORC ---------------------------------------------------------------------------------------------------------------
class KeptTail:
    """A sink that passes everything on and keeps the last bytes, so that the footer can be read without the store."""

    def __init__(self, sink: Any) -> None:
        self._sink, self._parts, self._size = sink, list[bytes](), 0
        self.closed = False

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._sink.write(part)
        self._parts.append(part)
        self._size += len(part)
        while self._size - len(self._parts[0]) >= _KEPT_BYTES:
            self._size -= len(self._parts.pop(0))
        return len(part)

    def tell(self) -> int:
        return int(self._sink.tell())

    def flush(self) -> None:
        """The stream below flushes when it is closed."""

    def close(self) -> None:
        """The stream below stays open."""
        self.closed = True

    @property
    def tail(self) -> bytes:
        return b"".join(self._parts)


def orc_names(fields: Iterable[pa.Field], prefix: str = "") -> Iterator[str]:
    """The counted columns of ORC: values of every column at every depth, in the order of column ids."""
    for field in fields:
        yield f"values of {prefix}{field.name}"
        yield from orc_names(child_fields(field.type), f"{prefix}{field.name}.")


def orc_counts(tail: bytes) -> list[int | None]:
    """Rows and values from a file's last bytes; no values if the footer is longer. Raises CorruptMetadataError."""
    try:
        footer = read_footer(io.BytesIO(tail), len(tail))
    except DAMAGE as error:
        if len(tail) >= _KEPT_BYTES:
            return []
        raise CorruptMetadataError(f"Cannot write ORC file: its footer cannot be read: {error}") from error
    values = [message(entry).get(1, [0])[-1] for entry in footer.get(7, [])]
    return [footer.get(6, [0])[-1], *values[1:]]


# -- Parquet -----------------------------------------------------------------------------------------------------------
def parquet_names(fields: Iterable[pa.Field], prefix: str = "") -> Iterator[str]:
    """The counted columns of Parquet: nulls of every leaf column, in the file's order."""
    for field in fields:
        if pa.types.is_nested(field.type):
            yield from parquet_names(child_fields(field.type), f"{prefix}{field.name}.")
        else:
            yield f"nulls of {prefix}{field.name}"


def parquet_nulls(column: pa.ChunkedArray) -> list[int]:
    """Nulls of a column's leaves; 0 for leaves of lists and maps."""
    if pa.types.is_struct(column.type):
        fields = child_fields(column.type)
        parts = [chunk.flatten() for chunk in column.chunks]
        children = (pa.chunked_array([part[i] for part in parts], field.type) for i, field in enumerate(fields))
        return [number for child in children for number in parquet_nulls(child)]
    if pa.types.is_nested(column.type):
        return [0 for _ in parquet_names(child_fields(column.type))]
    return [column.null_count]


def parquet_counts(footer: pq.FileMetaData) -> list[int | None]:
    """Rows and nulls; leaves of lists and maps, which count differently, are left out."""
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    nulls = [_nulls(groups, i) if footer.schema.column(i).max_repetition_level == 0 else None for i in range(footer.num_columns)]
    return [sum(group.num_rows for group in groups), *nulls]


def _nulls(groups: list[pq.RowGroupMetaData], place: int) -> int | None:
    statistics = [group.column(place).statistics for group in groups]
    told = [chunk.null_count for chunk in statistics if chunk is not None and chunk.has_null_count]
    return sum(told) if len(told) == len(groups) else None


# -- Avro --------------------------------------------------------------------------------------------------------------
def avro_counts(data: bytes) -> list[int | None]:
    """The number of rows according to a file's blocks."""
    position, rows = read_header(data, "that is written").start, 0
    while position < len(data):
        count, position = read_long(data, position)
        length, position = read_long(data, position)
        rows, position = rows + count, position + length + SYNC_LENGTH
    return [rows]
