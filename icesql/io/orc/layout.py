"""Where an ORC file keeps its streams: postscript, footer and stripe footers as plain values, and streams inflated.

Reads only the parts of the ORC specification ("File Tail", "Stripes", "Compression") that ``icesql.io.orc`` needs; pyarrow reads the data.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

NONE, ZLIB, SNAPPY, LZ4, ZSTD = 0, 1, 2, 4, 5
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}
_TAIL_BYTES = 16 * 1024

Message = dict[int, list[Any]]

DAMAGE = (ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError, zlib.error, pa.ArrowException, OSError)
"""What reading a damaged tail or stream raises, where a number stands for bytes, a place lies outside, or a codec fails."""


@dataclass(frozen=True, slots=True)
class OrcStripe:
    """Rows and bytes of one stripe: ``start`` of its first stream, and its footer."""

    rows: int
    start: int
    footer_start: int
    footer_length: int


@dataclass(frozen=True, slots=True)
class OrcStream:
    """One stream of a stripe; ``encoding`` is the column's (ORC's ``ColumnEncoding.Kind``)."""

    kind: int
    column: int
    encoding: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class OrcLayout:
    """``columns`` maps names of the top level to the ids of the column and all below it."""

    stripes: tuple[OrcStripe, ...]
    columns: dict[str, range]
    compression: int
    block_bytes: int

    @property
    def is_readable(self) -> bool:
        """False for a codec that is not available (LZO)."""
        return self.compression in (NONE, ZLIB, SNAPPY, LZ4, ZSTD)

    def streams(self, file: Any, stripe: int) -> Iterator[OrcStream]:
        """All streams of a stripe, index streams too. Raises ``DAMAGE``."""
        footer = self.footer(file, stripe)
        encodings = [_number(message(entry), 1) for entry in footer.get(2, [])]
        start = self.stripes[stripe].start
        for entry in footer.get(1, []):
            stream = message(entry)
            column, length = _number(stream, 2), _number(stream, 3)
            yield OrcStream(_number(stream, 1), column, encodings[column], start, length)
            start += length

    def column_ranges(self, file: Any, stripe: int, names: Iterable[str]) -> list[tuple[int, int]]:
        """The bytes (start, end) of the streams of columns of the top level. Raises ``DAMAGE``."""
        wanted = {column for name in names for column in self.columns[name]}
        return [(one.start, one.start + one.length) for one in self.streams(file, stripe) if one.column in wanted]

    def writer_zone(self, file: Any, stripe: int) -> bytes:
        """The time zone a stripe's timestamps count in, empty if it does not say. Raises ``DAMAGE``."""
        zone: bytes = self.footer(file, stripe).get(3, [b""])[-1]
        return zone

    def footer(self, file: Any, stripe: int) -> Message:
        """A stripe's footer. Raises ``DAMAGE``."""
        footer = self.stripes[stripe]
        return message(self.inflated(_at(file, footer.footer_start, footer.footer_length)))

    def content(self, file: Any, stream: OrcStream) -> bytes:
        """A stream, inflated. Raises ``DAMAGE``."""
        return self.inflated(self.stored(file, stream))

    def stored(self, file: Any, stream: OrcStream) -> bytes:
        """A stream as stored in the file. Raises ``DAMAGE``."""
        return _at(file, stream.start, stream.length)

    def inflated(self, data: bytes) -> bytes:
        if self.compression == NONE:
            return data
        parts, position = [], 0
        while position < len(data):
            header = int.from_bytes(data[position : position + 3], "little")
            chunk = data[position + 3 : position + 3 + (header >> 1)]
            parts.append(chunk if header & 1 else self._chunk(chunk))
            position += 3 + (header >> 1)
        return b"".join(parts)

    def _chunk(self, chunk: bytes) -> bytes:
        if self.compression == ZLIB:
            return zlib.decompressobj(-15).decompress(chunk, self.block_bytes)
        if self.compression == ZSTD:
            return bytes(pa.CompressedInputStream(pa.BufferReader(chunk), "zstd").read(self.block_bytes))
        if self.compression == SNAPPY:
            size, _ = varint(chunk, 0)
            return bytes(pa.Codec("snappy").decompress(chunk, min(size, self.block_bytes)))
        return bytes(pa.Codec("lz4_raw").decompress(chunk, min(_lz4_size(chunk), self.block_bytes)))


def _lz4_size(block: bytes) -> int:
    """The inflated size of a block, which LZ4 does not store: the sum of its literals and matches."""
    size = position = 0
    while position < len(block):
        token = block[position]
        literals, position = _lz4_length(block, position + 1, token >> 4)
        size, position = size + literals, position + literals
        if position < len(block):  # the last sequence has no match
            match, position = _lz4_length(block, position + 2, token & 15)
            size += match + 4
    return size


def _lz4_length(block: bytes, position: int, nibble: int) -> tuple[int, int]:
    length = nibble
    more = 255 if nibble == 15 else 0
    while more == 255:
        more = block[position]
        length, position = length + more, position + 1
    return length, position


def read_layout(file: Any, size: int) -> OrcLayout:
    """The layout of an ORC file that pyarrow could open. Raises ``DAMAGE``."""
    bare, footer_start, footer_length = _tail(file, size)
    if not bare.is_readable:
        return bare
    footer = message(bare.inflated(_at(file, footer_start, footer_length)))
    types = [message(entry) for entry in footer.get(4, [])]
    stripes = tuple(_stripe(message(entry)) for entry in footer.get(3, []))
    return OrcLayout(stripes, _top_columns(types), bare.compression, bare.block_bytes)


def read_footer(file: Any, size: int) -> Message:
    """The footer as it stands, of a codec that is at hand; ``file`` may be the last ``size`` bytes alone. Raises ``DAMAGE``."""
    bare, footer_start, footer_length = _tail(file, size)
    return message(bare.inflated(_at(file, footer_start, footer_length)))


def _tail(file: Any, size: int) -> tuple[OrcLayout, int, int]:
    """(a layout of the codec alone, start and length of the footer)."""
    tail = _at(file, max(0, size - _TAIL_BYTES), min(size, _TAIL_BYTES))
    postscript = read_postscript(tail)
    footer_length = _number(postscript, 1)
    bare = OrcLayout((), {}, _number(postscript, 2), _number(postscript, 3))
    return bare, size - 1 - tail[-1] - footer_length, footer_length


def read_postscript(tail: bytes) -> Message:
    """The postscript at the end of a file's last bytes. Raises ``DAMAGE``."""
    return message(tail[-1 - tail[-1] : -1])


def _stripe(fields: Message) -> OrcStripe:
    start = _number(fields, 1)
    footer_start = start + _number(fields, 2) + _number(fields, 3)
    return OrcStripe(_number(fields, 5), start, footer_start, _number(fields, 4))


def _top_columns(types: list[Message]) -> dict[str, range]:
    root = types[0]
    names = [name.decode() for name in root.get(3, [])]
    starts = [*_packed(root.get(2, [])), len(types)]
    return {name: range(start, end) for name, (start, end) in zip(names, pairwise(starts), strict=True)}


# -- protobuf ----------------------------------------------------------------------------------------------------------
def message(data: bytes) -> Message:
    """Values by field number: integers, and bytes of whatever has a length. Raises ValueError, IndexError."""
    fields: Message = {}
    position = 0
    while position < len(data):
        key, position = varint(data, position)
        value: Any
        wire = key & 7
        if wire == _VARINT:
            value, position = varint(data, position)
        elif wire == _BYTES or wire in _FIXED_BYTES:
            length, position = varint(data, position) if wire == _BYTES else (_FIXED_BYTES[wire], position)
            value, position = data[position : position + length], position + length
        else:
            raise ValueError(f"wire type {wire} at byte {position}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def varint(data: bytes, position: int) -> tuple[int, int]:
    """A base-128 number of at most 64 bits, and the position after it. Raises ValueError, IndexError."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
        if shift > 63:
            raise ValueError(f"number beyond 64 bits at byte {position}")


def varint_of(value: int) -> bytes:
    """A number from 0 on as ``varint`` reads it."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def encoded(fields: Message) -> bytes:
    """A message of numbers and bytes, as ``message`` reads it."""
    parts = []
    for field in sorted(fields):
        for value in fields[field]:
            if isinstance(value, int):
                parts.append(varint_of(field << 3) + varint_of(value))
            else:
                parts.append(varint_of(field << 3 | _BYTES) + varint_of(len(value)) + value)
    return b"".join(parts)


def _number(fields: Message, field: int) -> int:
    value = fields.get(field, [0])[-1]
    if not isinstance(value, int):
        raise ValueError(f"field {field} is not a number")
    return value


def _packed(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        position = 0
        if isinstance(value, int):
            yield value
            continue
        while position < len(value):
            number, position = varint(value, position)
            yield number


def _at(file: Any, start: int, length: int) -> bytes:
    if start < 0:
        raise ValueError(f"bytes before the file's start: {start}")
    file.seek(start)
    data: bytes = file.read(length)
    if len(data) != length:
        raise ValueError(f"bytes past the end: {start} to {start + length}")
    return data
