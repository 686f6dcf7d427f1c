"""Run-length encoded numbers and bits of ORC as arrays. ORC specification: "Run Length Encoding", versions 1 (bits) and 2 (numbers)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.io.orc.layout import varint

WIDTHS = (*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64)
_RUN = 512
Numbers = npt.NDArray[np.int64]


def width_and_count(data: bytes, at: int) -> tuple[int, int]:
    """(bits of a value, values) of a run of version 2 other than a short repeat."""
    return WIDTHS[data[at] >> 1 & 31], ((data[at] & 1) << 8 | data[at + 1]) + 1


def bytes_of(bit_count: int) -> int:
    return (bit_count + 7) // 8


def unpacked(data: bytes, width: int, count: int) -> npt.NDArray[np.uint64]:
    """Big-endian numbers of ``width`` bits. Raises ValueError if there are too few."""
    bit_rows = np.unpackbits(np.frombuffer(data, np.uint8))[: width * count].reshape(count, width).astype(np.uint64)
    weights = np.uint64(1) << np.arange(width - 1, -1, -1, dtype=np.uint64)
    values: npt.NDArray[np.uint64] = (bit_rows * weights).sum(axis=1, dtype=np.uint64)
    return values


def unzigzag(values: npt.NDArray[np.uint64]) -> Numbers:
    return (values >> np.uint64(1)).astype(np.int64) ^ -(values & np.uint64(1)).astype(np.int64)


def numbers(data: bytes, *, is_signed: bool) -> Numbers:
    """All values of a stream of version 2. Raises ValueError, IndexError for damage."""
    at, parts = 0, []
    while at < len(data):
        part, at = _READERS[data[at] >> 6](data, at, is_signed)
        parts.append(part)
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _values(raw: npt.NDArray[np.uint64], is_signed: bool) -> Numbers:
    return unzigzag(raw) if is_signed else raw.astype(np.int64)


def _short_repeat(data: bytes, at: int, is_signed: bool) -> tuple[Numbers, int]:
    end = at + 2 + (data[at] >> 3 & 7)
    raw = np.array([int.from_bytes(data[at + 1 : end], "big")], np.uint64)
    return np.repeat(_values(raw, is_signed), (data[at] & 7) + 3), end


def _direct(data: bytes, at: int, is_signed: bool) -> tuple[Numbers, int]:
    width, count = width_and_count(data, at)
    end = at + 2 + bytes_of(width * count)
    return _values(unpacked(data[at + 2 : end], width, count), is_signed), end


def _patched_base(data: bytes, at: int, is_signed: bool) -> tuple[Numbers, int]:
    width, count = width_and_count(data, at)
    base_bytes, patch_width = (data[at + 2] >> 5) + 1, WIDTHS[data[at + 2] & 31]
    gap_width, patches = (data[at + 3] >> 5) + 1, data[at + 3] & 31
    start = at + 4 + base_bytes
    base, sign = int.from_bytes(data[at + 4 : start], "big"), 1 << (8 * base_bytes - 1)
    patch_start = start + bytes_of(width * count)
    entry_width = next((w for w in WIDTHS if w >= gap_width + patch_width), 64)
    end = patch_start + bytes_of(entry_width * patches)
    values = unpacked(data[start:patch_start], width, count)
    entries = unpacked(data[patch_start:end], entry_width, patches)
    places = np.cumsum((entries >> np.uint64(patch_width)).astype(np.int64))
    values[places] |= (entries & np.uint64((1 << patch_width) - 1)) << np.uint64(width)
    return values.astype(np.int64) + (-(base ^ sign) if base & sign else base), end


def _delta(data: bytes, at: int, is_signed: bool) -> tuple[Numbers, int]:
    width, count = width_and_count(data, at)
    has_deltas = data[at] & 0x3E
    first, place = varint(data, at + 2)
    step, place = varint(data, place)
    base, delta = int(_values(np.array([first], np.uint64), is_signed)[0]), int(unzigzag(np.array([step], np.uint64))[0])
    if not has_deltas:
        return base + delta * np.arange(count, dtype=np.int64), place
    more = max(0, count - 2)
    end = place + bytes_of(width * more)
    rest = unpacked(data[place:end], width, more).astype(np.int64)
    steps = np.concatenate((np.array([0, delta], np.int64), rest if delta >= 0 else -rest))[:count]
    return base + np.cumsum(steps), end


_READERS: tuple[Any, ...] = (_short_repeat, _direct, _patched_base, _delta)


def direct_runs(values: npt.NDArray[np.uint64]) -> bytes:
    """Values as a stream of version 2, in direct runs only: each as wide as its greatest value."""
    parts = []
    for start in range(0, len(values), _RUN):
        run = values[start : start + _RUN]
        needed = max(1, int(run.max()).bit_length())
        code, width = next((code, width) for code, width in enumerate(WIDTHS) if width >= needed)
        shifts = np.arange(width - 1, -1, -1, dtype=np.uint64)
        count = len(run) - 1
        parts.append(bytes((0x40 | code << 1 | count >> 8, count & 0xFF)))
        parts.append(np.packbits(((run[:, None] >> shifts) & np.uint64(1)).astype(np.uint8)).tobytes())
    return b"".join(parts)


def bits(data: bytes, count: int) -> npt.NDArray[np.bool_]:
    """The first ``count`` bits of a stream of byte runs. Raises ValueError, IndexError for damage."""
    at, parts = 0, []
    while at < len(data):
        control = data[at]
        if control < 0x80:
            parts.append(data[at + 1 : at + 2] * (control + 3))
            at += 2
        else:
            parts.append(data[at + 1 : at + 1 + 0x100 - control])
            at += 1 + 0x100 - control
    flags = np.unpackbits(np.frombuffer(b"".join(parts), np.uint8))[:count].astype(bool)
    if len(flags) != count:
        raise ValueError(f"{len(flags)} bits of {count}")
    return flags
