"""Decompression that stops at a budget (``icesql.spec.budgets``): of Avro blocks, Puffin blobs and metadata files.

Data that cannot exceed the remaining budget even at the codec's best ratio is decompressed in one call; other data piece by piece, with the
output checked against the bytes read so far.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

from icesql.spec import budgets

_PIECE_BYTES = 64 << 10
_ROOM_BYTES = 1 << 20  # what one call may give when a stream is read to its end
_DEFLATE_RATIO, _LZ4_RATIO = 1033, 256  # the most that the formats can do

Limit: TypeAlias = Callable[[int], int]


class OverBudgetError(ValueError):
    """The data inflates to more than its file may."""


class Inflation:
    """Decompresses the parts of one file in turn; ``limit`` gives the bytes that may result from the bytes read so far.

    A call raises OverBudgetError (a ValueError), or the codec's own error for damaged data.
    """

    def __init__(self, codec: str, limit: Limit = budgets.inflated_bytes) -> None:
        """``codec``: one of ``CODECS``. Raises KeyError for another."""
        self.codec, self._decode, self._limit = codec, CODECS[codec], limit
        self.read = self.made = 0

    def __call__(self, body: bytes) -> bytes:
        plain = self._decode(self, body)
        self.made += len(plain)
        return plain

    def room(self) -> int:
        """The bytes that may still be produced."""
        return self._limit(self.read) - self.made

    def take(self, size: int) -> int:
        """Count bytes as read; returns the remaining budget."""
        self.read += size
        return self.room()

    def check(self, size: int) -> None:
        """Raises OverBudgetError for a part that claims this many bytes."""
        if size > self.room():
            raise OverBudgetError(budgets.over("bytes or more when decompressed", self.made + size, self.made + self.room()))


def _plain(state: Inflation, body: bytes) -> bytes:
    state.take(len(body))
    state.check(len(body))
    return bytes(body)


def _deflate(state: Inflation, body: bytes) -> bytes:
    if len(body) * _DEFLATE_RATIO <= state.room():
        state.take(len(body))
        plain: bytes = _one_shot()(body, -15)
        return plain
    return _whole(state, body, lambda: _Zlib(-15))


def _gzip(state: Inflation, body: bytes) -> bytes:
    return _whole(state, body, lambda: _Zlib(31), many=True)


def _bzip2(state: Inflation, body: bytes) -> bytes:
    import bz2

    return _whole(state, body, bz2.BZ2Decompressor, many=True)


def _xz(state: Inflation, body: bytes) -> bytes:
    import lzma

    return _whole(state, body, lambda: lzma.LZMADecompressor(memlimit=budgets.XZ_MEMORY_BYTES), many=True)


def _zstandard(state: Inflation, body: bytes) -> bytes:
    from icesql.io.zstd import zstd

    size = zstd.get_frame_info(body).decompressed_size
    if size is None:
        return _whole(state, body, zstd.ZstdDecompressor)
    state.take(len(body))
    state.check(size)
    stream = zstd.ZstdDecompressor()
    plain: bytes = stream.decompress(body, max_length=size + 1)
    if not stream.eof:
        raise EOFError("compressed data ends early")
    return plain


def _snappy(state: Inflation, body: bytes) -> bytes:
    import cramjam

    state.take(len(body))
    state.check(cramjam.snappy.decompress_raw_len(body))
    return bytes(cramjam.snappy.decompress_raw(body))


def _lz4(state: Inflation, body: bytes) -> bytes:
    if len(body) * _LZ4_RATIO <= state.room():
        import cramjam

        state.take(len(body))
        return bytes(cramjam.lz4.decompress(body))
    import pyarrow as pa

    source = pa.BufferReader(body)
    with pa.CompressedInputStream(source, "lz4") as stream:
        return _read(state, stream, source)


CODECS: dict[str, Callable[[Inflation, bytes], bytes]] = {
    "null": _plain, "deflate": _deflate, "gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstandard": _zstandard, "snappy": _snappy, "lz4": _lz4,
}  # fmt: skip


def _one_shot() -> Callable[..., bytes]:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.decompress
    decompress: Callable[..., bytes] = isal_zlib.decompress
    return decompress


class _Zlib:
    """zlib's stream with the interface that those of bz2 and lzma have."""

    def __init__(self, bits: int) -> None:
        self._stream = zlib.decompressobj(bits)
        self._has_more = False  # the last call stopped at its most

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._has_more

    def decompress(self, piece: bytes, max_length: int) -> bytes:
        part = self._stream.decompress(self._stream.unconsumed_tail + piece, max_length)
        self._has_more = len(part) == max_length
        return part


def _whole(state: Inflation, body: bytes, start: Callable[[], Any], *, many: bool = False) -> bytes:
    """All streams of the data (the first if not ``many``), piece by piece. Raises OverBudgetError, EOFError where the last ends early."""
    parts: list[bytes] = []
    stream, at, made, rest = start(), 0, 0, b""
    while True:
        piece = rest
        if not piece and stream.needs_input:
            piece = body[at : at + _PIECE_BYTES]
            at += len(piece)
            state.take(len(piece))
            if not piece:
                raise EOFError("compressed data ends early")
        room = state.room() - made
        part = stream.decompress(piece, min(room + 1, _ROOM_BYTES))
        made += len(part)
        if len(part) > room:
            state.check(made)
        parts.append(part)
        rest = b""
        if stream.eof:
            rest = stream.unused_data or body[at : at + _PIECE_BYTES]
            if rest and not stream.unused_data:
                at += len(rest)
                state.take(len(rest))
            if not many or not rest.strip(b"\0"):
                return b"".join(parts) if len(parts) != 1 else parts[0]
            stream = start()


def _read(state: Inflation, stream: Any, source: Any) -> bytes:
    """A stream read to its end, checked against the bytes read of its source. Raises OverBudgetError."""
    parts: list[bytes] = []
    made = at = 0
    while part := stream.read(_ROOM_BYTES):
        state.take(source.tell() - at)
        made, at = made + len(part), source.tell()
        state.check(made)
        parts.append(part)
    return b"".join(parts)
