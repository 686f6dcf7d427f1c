"""A guard before pyarrow's ORC reader, which trusts the lengths of strings, lists and maps: a negative one, which only damage makes, ends
the whole process.

Lengths are run-length encoded; bounds follow from the headers of runs, so hardly any value is unpacked. ORC specification: "Run Length
Encoding".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from icesql.errors import CorruptMetadataError
from icesql.io.orc.layout import DAMAGE, OrcLayout, read_layout, varint
from icesql.io.orc.runs import WIDTHS, bytes_of, unpacked, width_and_count

MAX_LENGTH = 2**31 - 1  # Arrow's own limit
_LENGTH_STREAM = 2
_VERSION_2 = (2, 3)  # DIRECT_V2, DICTIONARY_V2


class LengthGuard:
    """Checks stripes of one open ORC file. ``file`` is a seekable stream of ``size`` bytes."""

    def __init__(self, file: Any, size: int, location: str) -> None:
        """Raises CorruptMetadataError."""
        self._file, self._location = file, location
        try:
            self.layout: OrcLayout = read_layout(file, size)
        except DAMAGE as error:
            raise self._corrupt(f"damaged footer: {error}") from error

    def check(self, stripe: int, columns: list[str]) -> None:
        """Raises CorruptMetadataError if a length in these columns of the top level is not one."""
        if not self.layout.is_readable:
            return
        try:
            wanted = {column for name in columns for column in self.layout.columns[name]}
            for stream in self.layout.streams(self._file, stripe):
                if stream.kind == _LENGTH_STREAM and stream.column in wanted:
                    check_lengths(self.layout.content(self._file, stream), version_2=stream.encoding in _VERSION_2)
        except DAMAGE as error:
            raise self._corrupt(f"damaged stripe {stripe}: {error}") from error

    def _corrupt(self, why: str) -> CorruptMetadataError:
        return CorruptMetadataError(f"Cannot read ORC file {self._location}: {why}", location=self._location)


def check_lengths(data: bytes, *, version_2: bool) -> None:
    """Every number of a run-length encoded stream is a length. Raises ValueError, IndexError for a stream that ends early."""
    position, run = 0, _run if version_2 else _run_of_version_1
    while position < len(data):
        position = run(data, position)
    if position > len(data):
        raise ValueError("a stream of lengths ends early")


def _bounded(value: int) -> None:
    if not 0 <= value <= MAX_LENGTH:
        raise ValueError(f"not a length: {value}")


def _run(data: bytes, position: int) -> int:
    """Checks a run; the position after it."""
    return _RUNS[data[position] >> 6](data, position)


def _short_repeat(data: bytes, position: int) -> int:
    end = position + 2 + (data[position] >> 3 & 7)
    _bounded(int.from_bytes(data[position + 1 : end], "big"))
    return end


def _direct(data: bytes, position: int) -> int:
    width, count = width_and_count(data, position)
    start, end = position + 2, position + 2 + bytes_of(width * count)
    if width > 31:
        _bounded(int(unpacked(data[start:end], width, count).max()))
    return end


def _patched_base(data: bytes, position: int) -> int:
    width, count = width_and_count(data, position)
    base_bytes, patch_width = (data[position + 2] >> 5) + 1, WIDTHS[data[position + 2] & 31]
    gap_width, patches = (data[position + 3] >> 5) + 1, data[position + 3] & 31
    start = position + 4 + base_bytes
    base = int.from_bytes(data[position + 4 : start], "big")
    _bounded(-1 if base >> (8 * base_bytes - 1) else base)  # the top bit is the sign
    patch_start = start + bytes_of(width * count)
    entry_width = next((w for w in WIDTHS if w >= gap_width + patch_width), 64)
    end = patch_start + bytes_of(entry_width * patches)
    if base + (1 << (width + patch_width)) > MAX_LENGTH:
        low = unpacked(data[start:patch_start], width, count)
        high = unpacked(data[patch_start:end], entry_width, patches) & np.uint64((1 << patch_width) - 1)
        _bounded(base + int(low.max()) + (int(high.max(initial=0)) << width))
    return end


def _delta(data: bytes, position: int) -> int:
    width, count = width_and_count(data, position)
    if not data[position] & 0x3E:
        width = 0  # every step is the first one
    base, at = varint(data, position + 2)
    zigzag, at = varint(data, at)
    step = (zigzag >> 1) ^ -(zigzag & 1)
    steps = max(0, count - 2)
    end = at + bytes_of(width * steps)
    rest = steps * abs(step) if width == 0 else int(unpacked(data[at:end], width, steps).sum(dtype=np.float64))
    _bounded(base)
    if count > 1:  # lengths only rise or only fall
        _bounded(base + step + (rest if step >= 0 else -rest))
    return end


_RUNS = (_short_repeat, _direct, _patched_base, _delta)


def _run_of_version_1(data: bytes, position: int) -> int:
    control = data[position]
    if control < 0x80:
        delta = int.from_bytes(data[position + 1 : position + 2], "big", signed=True)
        base, end = varint(data, position + 2)
        _bounded(base)
        _bounded(base + delta * (control + 2))
        return end
    end = position + 1
    for _ in range(0x100 - control):
        value, end = varint(data, end)
        _bounded(value)
    return end
