"""Reading one object in few requests: its end first, whole if it is small, and ranges that are known beforehand all at once."""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

TAIL_BYTES = 256 << 10
"""Read with the first request: Parquet's, ORC's and Puffin's footers are there, and small files are whole."""
_AT_LEAST_BYTES = 128 << 10
_GAP_BYTES = 512 << 10
_PART_BYTES = 8 << 20

Fetch = Callable[[int, int], Any]
"""The bytes from a start to an end."""

_threads = ThreadPoolExecutor(16, "icesql-fetch")


class ObjectInput(io.RawIOBase):
    """A seekable stream over one object. Not thread safe, as files are not.

    ``tail``: the object's size and its last bytes. ``fetch``: a range in one request; called from several threads.
    """

    def __init__(self, tail: Callable[[int], tuple[int, Any]], fetch: Fetch) -> None:
        self._tail_of, self._fetch = tail, fetch
        self._position = 0
        self._size: int | None = None
        self._starts: list[int] = []
        self._blocks: list[tuple[int, Any]] = []  # (end, bytes or a future of them), by start
        self._next_least = _AT_LEAST_BYTES

    # -- what is held ------------------------------------------------------------------------------------------------
    def _open(self) -> int:
        if self._size is None:
            self._size, data = self._tail_of(TAIL_BYTES)
            if len(data):
                self._hold(self._size - len(data), self._size, data)
        return self._size

    def _hold(self, start: int, end: int, data: Any) -> None:
        place = bisect_right(self._starts, start)
        self._starts.insert(place, start)
        self._blocks.insert(place, (end, data))

    def _held(self, position: int) -> tuple[int, int, Any] | None:
        """(start, end, bytes) of the block with a position. Blocks never overlap."""
        place = bisect_right(self._starts, position) - 1
        if place < 0 or self._blocks[place][0] <= position:
            return None
        end, data = self._blocks[place]
        if isinstance(data, Future):
            data = data.result()
            self._blocks[place] = (end, data)
        return self._starts[place], end, data

    def prefetch(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Begin to read ranges (start, end) that will be asked for; near ones in one request, far ones side by side."""
        size = self._open()
        wanted = sorted((max(0, start), min(end, size)) for start, end in ranges)
        for start, end in coalesced([r for r in wanted if r[0] < r[1]]):
            for gap_start, gap_end in self._gaps(start, end):
                for piece in range(gap_start, gap_end, _PART_BYTES):
                    stop = min(piece + _PART_BYTES, gap_end)
                    self._hold(piece, stop, _threads.submit(self._one, piece, stop))

    def _gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of a range that no block has."""
        gaps = []
        for block_start, (block_end, _) in zip(self._starts, self._blocks, strict=True):
            if block_end <= start or block_start >= end:
                continue
            if start < block_start:
                gaps.append((start, block_start))
            start = max(start, block_end)
        return [*gaps, (start, end)] if start < end else gaps

    def _one(self, start: int, end: int) -> Any:
        return memoryview(self._fetch(start, end))

    def forget(self, before: int) -> None:
        """Let go of blocks that end before a position."""
        while self._starts and self._blocks[0][0] <= before:
            del self._starts[0], self._blocks[0]

    # -- a file ------------------------------------------------------------------------------------------------------
    def read(self, size: int | None = -1) -> bytes:
        end = self._open() if size is None or size < 0 else min(self._position + size, self._open())
        parts: list[Any] = []
        while self._position < end:
            start, stop, data = self._held(self._position) or self._read_ahead(end)
            piece = memoryview(data)[self._position - start : min(end, stop) - start]
            parts.append(piece)
            self._position += len(piece)
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)

    def _read_ahead(self, end: int) -> tuple[int, int, Any]:
        """Read what is asked for, and more where reads follow one another; up to the next block at most."""
        start = self._position
        stop = min(self._open(), max(end, start + self._next_least))
        place = bisect_right(self._starts, start)
        if place < len(self._starts):
            stop = min(stop, self._starts[place])
        self._next_least = min(self._next_least * 2, _PART_BYTES)
        data = self._one(start, stop)
        self._hold(start, stop, data)
        return start, stop, data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self.read()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        self._position = max(0, offset + (self._open() if base is None else base))
        return self._position

    def tell(self) -> int:
        return self._position

    def size(self) -> int:
        """Length in bytes. Raises NotFoundError."""
        return self._open()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        for _, data in self._blocks:
            if isinstance(data, Future):
                data.cancel()
        self._starts, self._blocks = [], []
        super().close()


def coalesced(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted ranges with those nearer than half a megabyte made one."""
    made: list[tuple[int, int]] = []
    for start, end in ranges:
        if made and start - made[-1][1] <= _GAP_BYTES:
            made[-1] = (made[-1][0], max(made[-1][1], end))
        else:
            made.append((start, end))
    return made
