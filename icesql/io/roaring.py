"""64-bit roaring bitmaps to positions with numpy alone: executors have no pyroaring. Roaring specification: "portable format",
"Extension for 64-bit Implementations"."""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Positions: TypeAlias = npt.NDArray[np.int64]

_COOKIE_WITH_RUNS, _COOKIE = 12347, 12346
_OFFSETS_FROM = 4  # with runs, offsets are there from so many containers on
_ARRAY_MAX = 4096  # values of an array container; more are bits
_BITMAP_BYTES = 8192


def positions_in(data: bytes) -> Positions:
    """The positions of a serialized bitmap, ascending. Raises ValueError and struct.error for damaged bytes."""
    (count,), at = struct.unpack_from("<Q", data), 8
    found: list[Positions] = []
    for _ in range(count):
        (key,) = struct.unpack_from("<I", data, at)
        if key >> 31:
            raise ValueError(f"position beyond 63 bits: {key << 32}")
        values, at = _bitmap_32(data, at + 4)
        found += [(key << 32) + part for part in values]
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _bitmap_32(data: bytes, at: int) -> tuple[list[Positions], int]:
    """(values of each container, the place after the bitmap)."""
    (cookie,) = struct.unpack_from("<I", data, at)
    at += 4
    if cookie & 0xFFFF == _COOKIE_WITH_RUNS:
        count = (cookie >> 16) + 1
        flags = np.unpackbits(_items(data, at, "u1", (count + 7) // 8), bitorder="little")[:count].astype(bool)
        at += (count + 7) // 8
        has_offsets = count >= _OFFSETS_FROM
    elif cookie == _COOKIE:
        (count,) = struct.unpack_from("<I", data, at)
        if count > 1 << 16:
            raise ValueError(f"{count} containers")
        at, flags, has_offsets = at + 4, np.zeros(count, bool), True
    else:
        raise ValueError(f"no bitmap: cookie {cookie}")
    heads = _items(data, at, "<u2", 2 * count).reshape(count, 2).astype(np.int64)
    at += 4 * count + (4 * count if has_offsets else 0)
    found = []
    for (key, less_one), is_run in zip(heads.tolist(), flags.tolist(), strict=True):
        values, at = _container(data, at, less_one + 1, is_run=is_run)
        found.append((key << 16) + values)
    return found, at


def _container(data: bytes, at: int, cardinality: int, *, is_run: bool) -> tuple[Positions, int]:
    if is_run:
        (runs,) = struct.unpack_from("<H", data, at)
        pairs = _items(data, at + 2, "<u2", 2 * runs).reshape(runs, 2).astype(np.int64)
        lengths = pairs[:, 1] + 1
        firsts = pairs[:, 0] - (np.cumsum(lengths) - lengths)
        return np.repeat(firsts, lengths) + np.arange(int(lengths.sum())), at + 2 + 4 * runs
    if cardinality <= _ARRAY_MAX:
        return _items(data, at, "<u2", cardinality).astype(np.int64), at + 2 * cardinality
    bits = np.unpackbits(_items(data, at, "u1", _BITMAP_BYTES), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64), at + _BITMAP_BYTES


def _items(data: bytes, at: int, form: str, count: int) -> npt.NDArray[Any]:
    """Raises ValueError where the bytes end before."""
    return np.frombuffer(data, form, count, at)
