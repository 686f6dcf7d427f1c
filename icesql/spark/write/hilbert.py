"""Places of rows on a Hilbert curve through several columns: rows next to each other on it are neighbours in every column.

A Z-order jumps where a high bit turns; this curve never does. Each column is an axis of 64 bits that sort like its values (nulls first).
The way from a point to its place is Skilling's (AIP Conference Proceedings 707, 381, 2004), done for all rows of a batch at once.
Runs in Python workers, so it imports only numpy and pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icesql.spark.write.zorder import Bytes, interleaved, ordered_bytes, with_values

AXIS_BITS = 64
Axis = npt.NDArray[np.uint64]


def with_hilbert_values(batches: Iterable[pa.RecordBatch], columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """The batches with one more column, the place of each row on the curve. ``columns``: places of those that are its axes."""
    for batch in batches:
        yield with_values(batch, curve_places([axis(batch.column(place)) for place in columns]))


def axis(values: pa.Array) -> Axis:
    """A number from 0 below 2**64 for each value, in the order of the values. Raises InvalidArgumentError for a type without order."""
    if pa.types.is_decimal(values.type):
        return _decimals(values)
    return ordered_bytes(values, AXIS_BITS // 8).view(">u8")[:, 0].astype(np.uint64)


def curve_places(axes: Sequence[Axis], bits: int = AXIS_BITS) -> Bytes:
    """The place of each point on the curve as big-endian bytes. ``axes``: numbers below 2**bits, one array for each dimension.

    A bijection of the 2**(bits * dimensions) points; points of places that follow each other differ by 1 in one dimension.
    """
    shift = np.uint64(AXIS_BITS - bits)
    left = [(transposed << shift).astype(">u8") for transposed in _transposed(axes, bits)]
    columns = [column.view(np.uint8).reshape(len(column), 8) for column in left]
    return interleaved(columns, -(-bits * len(columns) // 8))


def _transposed(axes: Sequence[Axis], bits: int) -> list[Axis]:
    """The bits of the places, dealt out to the dimensions in turn: Skilling's AxesToTranspose."""
    turned = [column.astype(np.uint64) for column in axes]
    first = turned[0]
    for bit in range(bits - 1, 0, -1):
        lower = np.uint64((1 << bit) - 1)
        for column in turned:
            is_set = (column >> np.uint64(bit)) & np.uint64(1) == 1
            swapped = np.where(is_set, np.uint64(0), (first ^ column) & lower)
            first ^= np.where(is_set, lower, swapped)
            column ^= swapped
    for one, other in pairwise(turned):
        other ^= one
    gray = np.zeros_like(first)
    for bit in range(bits - 1, 0, -1):
        gray ^= np.where((turned[-1] >> np.uint64(bit)) & np.uint64(1) == 1, np.uint64((1 << bit) - 1), np.uint64(0))
    return [column ^ gray for column in turned]


def _decimals(values: pa.Array) -> Axis:
    """The type's range spread over the axis, so that the highest bits tell values apart whatever the precision is."""
    bound, scale = 10**values.type.precision, values.type.scale
    half = 1 << (AXIS_BITS - 1)
    return np.array([0 if value is None else int(value.scaleb(scale)) * half // bound + half for value in values.to_pylist()], np.uint64)
