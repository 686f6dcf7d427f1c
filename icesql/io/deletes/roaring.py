"""64-bit roaring bitmaps with numpy alone: executors have no pyroaring. Roaring specification: "portable format", "Extension for 64-bit
Implementations".

A bitmap is checked whole and never expanded whole: 100 kB of runs may hold a thousand million positions.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Positions: TypeAlias = npt.NDArray[np.int64]

_COOKIE_WITH_RUNS, _COOKIE = 12347, 12346
_OFFSETS_FROM = 4  # with runs, offsets are there from so many containers on
_ARRAY_MAX = 4096  # values of an array container; more are bits
_BITMAP_BYTES = 8192
_LARGEST = 65536  # values of a container


class _Container(NamedTuple):
    at: int
    cardinality: int
    is_run: bool


class RoaringBitmap:
    """Positions in a serialized bitmap, of which only the containers that are asked for are ever expanded. ``len()`` is exact.

    Raises ValueError and struct.error for damaged bytes, also where a container holds other than it says, or is not ascending.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._containers: dict[int, _Container] = {}  # by the upper 48 bits of their positions, ascending
        (count,), at = struct.unpack_from("<Q", data), 8
        before = -1
        for _ in range(count):
            (key,) = struct.unpack_from("<I", data, at)
            if key >> 31:
                raise ValueError(f"position beyond 63 bits: {key << 32}")
            if key <= before:
                raise ValueError(f"bitmaps out of order: {key} after {before}")
            before, at = key, self._read_32(key, at + 4)
        self._count = sum(container.cardinality for container in self._containers.values())

    def __len__(self) -> int:
        return self._count

    def positions(self) -> Positions:
        """All of them, ascending: eight bytes each, so look at ``len()`` before."""
        parts = [(key << 16) + _values(self._data, container) for key, container in self._containers.items()]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def contains(self, positions: Positions) -> npt.NDArray[np.bool_]:
        """Which of the positions, in any order, are in the bitmap."""
        hits = np.zeros(len(positions), bool)
        keys = positions >> 16
        for key in np.unique(keys).tolist():
            if (container := self._containers.get(key)) is not None:
                bits = np.zeros(_LARGEST, bool)
                bits[_values(self._data, container)] = True
                asked = keys == key
                hits[asked] = bits[positions[asked] & _LARGEST - 1]
        return hits

    def _read_32(self, upper: int, at: int) -> int:
        """Note and check the containers of one 32-bit bitmap; gives the place after it."""
        data, (heads, flags, at), before = self._data, _heads(self._data, at), -1
        for (key, less_one), is_run in zip(heads, flags, strict=True):
            if key <= before:
                raise ValueError(f"containers out of order: {key} after {before}")
            before, container = key, _Container(at, less_one + 1, is_run)
            at = _end_of(data, container)
            self._containers[(upper << 16) + key] = container
        return at


def positions_in(data: bytes) -> Positions:
    """The positions of a serialized bitmap, ascending. Raises ValueError and struct.error for damaged bytes."""
    return RoaringBitmap(data).positions()


def _heads(data: bytes, at: int) -> tuple[list[list[int]], list[bool], int]:
    """((key, cardinality - 1) of each container of a 32-bit bitmap, which are runs, the place of the first)."""
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
    heads = _items(data, at, "<u2", 2 * count).reshape(count, 2)
    return heads.tolist(), flags.tolist(), at + 4 * count + (4 * count if has_offsets else 0)


def _end_of(data: bytes, container: _Container) -> int:
    """The place after a container. Raises ValueError where it holds other than it says, or is not ascending."""
    at, cardinality, is_run = container
    if is_run:
        firsts, lengths, at = _runs(data, at)
        if np.any(firsts[1:] <= firsts[:-1] + lengths[:-1] - 1) or (len(firsts) and firsts[-1] + lengths[-1] > _LARGEST):
            raise ValueError("runs overlap or are out of order")
        held = int(lengths.sum())
    elif cardinality <= _ARRAY_MAX:
        values, held = _items(data, at, "<u2", cardinality), cardinality
        at += 2 * cardinality
        if np.any(values[1:] <= values[:-1]):
            raise ValueError("positions out of order")
    else:
        held = int(np.unpackbits(_items(data, at, "u1", _BITMAP_BYTES)).sum(dtype=np.int64))
        at += _BITMAP_BYTES
    if held != cardinality:
        raise ValueError(f"container of {held} positions says {cardinality}")
    return at


def _values(data: bytes, container: _Container) -> Positions:
    """The lower 16 bits of the positions of a container that was checked, ascending."""
    at, cardinality, is_run = container
    if is_run:
        firsts, lengths, _ = _runs(data, at)
        return np.repeat(firsts - (np.cumsum(lengths) - lengths), lengths) + np.arange(cardinality)
    if cardinality <= _ARRAY_MAX:
        return _items(data, at, "<u2", cardinality).astype(np.int64)
    bits = np.unpackbits(_items(data, at, "u1", _BITMAP_BYTES), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64)


def _runs(data: bytes, at: int) -> tuple[Positions, Positions, int]:
    """(first value of each run, its length, the place after them)."""
    (count,) = struct.unpack_from("<H", data, at)
    pairs = _items(data, at + 2, "<u2", 2 * count).reshape(count, 2).astype(np.int64)
    return pairs[:, 0], pairs[:, 1] + 1, at + 2 + 4 * count


def _items(data: bytes, at: int, form: str, count: int) -> npt.NDArray[Any]:
    """Raises ValueError where the bytes end before."""
    return np.frombuffer(data, form, count, at)
