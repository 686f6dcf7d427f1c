"""Timestamps before 1970 with fractions of a second as Java's ORC stores them.

pyarrow's writer stores such fractions as negative numbers, which Java takes for another second. So pyarrow is given whole seconds, and the
stream of fractions is put in their place. A reader takes one second off a negative number of seconds where the fraction is above 999,999
ns: the writer adds one. For the last second of 1969 that makes 0, which no reader corrects. ORC specification: "Timestamp Columns".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icesql.errors import UnsupportedError
from icesql.io.arrow.compact_arrays import children_of, with_children

Numbers = npt.NDArray[np.int64]
_MILLISECOND = 1_000_000  # in nanoseconds


def has_early_fractions(array: pa.Array) -> bool:
    """True if a compacted array holds, at any depth, a timestamp before 1970 with milliseconds; below those all readers agree."""
    if not pa.types.is_timestamp(array.type):
        return any(has_early_fractions(child) for child in children_of(array))
    values = _values(array)
    early = values[values < 0]
    return bool((-np.fmod(early, _second(array.type)) >= _second(array.type) // 1000).any())


def parted(columns: Sequence[pa.ChunkedArray]) -> tuple[list[pa.ChunkedArray], dict[int, Numbers]]:
    """(the columns with whole seconds in place of timestamps, fractions in nanoseconds of the values by ORC's column id).

    Chunks are compacted. Raises UnsupportedError for the last second of 1969.
    """
    made, fractions, first = [], dict[int, list[Numbers]](), 1
    for column in columns:
        chunks = []
        for chunk in column.chunks:
            whole, after = _parted(chunk, first, fractions)
            chunks.append(whole)
        made.append(pa.chunked_array(chunks, column.type))
        first = after
    return made, {column: np.concatenate(parts) for column, parts in fractions.items()}


def _parted(array: pa.Array, column: int, fractions: dict[int, list[Numbers]]) -> tuple[pa.Array, int]:
    """(the array with whole seconds, the column id after it and its children)."""
    if pa.types.is_timestamp(array.type):
        seconds, nanos = _seconds_and_nanos(array)
        valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), bool)
        fractions.setdefault(column, []).append(nanos[valid])
        return pa.array(seconds * _second(array.type), pa.int64(), mask=~valid).cast(array.type), column + 1
    after, children = column + 1, []
    for child in children_of(array):
        whole, after = _parted(child, after, fractions)
        children.append(whole)
    return with_children(array, array.type, children) if children else array, after


def _seconds_and_nanos(array: pa.Array) -> tuple[Numbers, Numbers]:
    """As they are stored. Times less than a millisecond before 1970 are negative fractions, which all readers take."""
    second = _second(array.type)
    values = np.asarray(array.cast(pa.int64()).fill_null(0).to_numpy(), np.int64)
    nanos = (values % second) * (1_000_000_000 // second)
    seconds = values // second
    lost = (seconds == -1) & (nanos >= _MILLISECOND) & (nanos <= 1_000_000_000 - _MILLISECOND)
    if lost.any():
        value = pa.scalar(int(values[lost][0]), array.type)
        raise UnsupportedError(f"Cannot write ORC file: ORC has no times of the last second of 1969, use Parquet or Avro: {value}")
    just_before = (seconds == -1) & (nanos > 1_000_000_000 - _MILLISECOND)
    raised = (seconds < 0) & (nanos >= _MILLISECOND)
    return seconds + raised, np.where(just_before, nanos - 1_000_000_000, nanos)


def packed_nanos(nanos: Numbers) -> npt.NDArray[np.uint64]:
    """Nanoseconds without their zeros at the end; how many of those (less one) there were stands in the low three bits."""
    rest, zeros = nanos.copy(), np.zeros(len(nanos), np.int64)
    short = (rest % 100 == 0) & (rest != 0)
    rest[short] //= 100
    zeros[short] = 1
    for _ in range(6):
        more = short & (rest % 10 == 0)
        rest[more] //= 10
        zeros[more] += 1
    return ((rest << 3) | zeros).view(np.uint64)


def _values(array: pa.Array) -> Numbers:
    return np.asarray(array.cast(pa.int64()).drop_null().to_numpy(), np.int64)


def _second(type_: Any) -> int:
    return 1_000_000_000 if type_.unit == "ns" else 1_000_000
