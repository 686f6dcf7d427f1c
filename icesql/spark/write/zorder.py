"""Z-values: the bits of several columns interleaved, so that rows near in all of them lie together.

Each column becomes bytes that sort like its values (nulls first): numbers 8 big-endian bytes with the sign turned, text its first bytes.
Runs in Python workers, so it imports only numpy and pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError

CURVE_VALUE = "__icesql_curve_value"
_SIGN = np.uint64(1 << 63)
Bytes = npt.NDArray[np.uint8]


def with_z_values(batches: Iterable[pa.RecordBatch], columns: Sequence[int], text_bytes: int, max_bytes: int) -> Iterator[pa.RecordBatch]:
    """The batches with one more column, the Z-values. ``columns``: places of those that are interleaved, the first one's bits leading."""
    for batch in batches:
        yield with_values(batch, interleaved([ordered_bytes(batch.column(place), text_bytes) for place in columns], max_bytes))


def with_values(batch: pa.RecordBatch, values: Bytes) -> pa.RecordBatch:
    """The batch with one more column, ``CURVE_VALUE``, that its rows are to be sorted by."""
    return pa.RecordBatch.from_arrays([*batch.columns, _binary(values)], names=[*batch.schema.names, CURVE_VALUE])


def ordered_bytes(values: pa.Array, text_bytes: int) -> Bytes:
    """One row of bytes a value. Raises InvalidArgumentError for a type that has no order here."""
    kind = values.type
    if pa.types.is_boolean(kind):
        data = np.zeros((len(values), 8), np.uint8)
        data[:, 0] = np.where(_numpy(values, False), 0x81, 0)
    elif pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        data = _big_endian(_numpy(_as_int64(values), 0).view(np.uint64) ^ _SIGN)
    elif pa.types.is_floating(kind):
        data = _big_endian(_ordered_floats(_numpy(values.cast(pa.float64()), 0.0)))
    elif pa.types.is_decimal(kind):
        data = _decimals(values)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        data = _texts(values, text_bytes)
    else:
        raise InvalidArgumentError(f"Cannot use column of type {kind} in ZOrdering, the type is unsupported", type=str(kind))
    if values.null_count:
        data[np.asarray(values.is_null().to_numpy(zero_copy_only=False), bool)] = 0
    return data


def interleaved(columns: Sequence[Bytes], max_bytes: int) -> Bytes:
    """Bits taken in turn from every column that has some left, cut after ``max_bytes``."""
    bits = [np.unpackbits(column, axis=1) for column in columns]
    order = sorted(((place, which) for which, column in enumerate(bits) for place in range(column.shape[1])))
    chosen = order[: max_bytes * 8]
    woven = np.stack([bits[which][:, place] for place, which in chosen], axis=1)
    return np.packbits(woven, axis=1)


def _as_int64(values: pa.Array) -> pa.Array:
    if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
        return values.cast(pa.int32()).cast(pa.int64())
    return values.cast(pa.int64())


def _numpy(values: pa.Array, missing: Any) -> npt.NDArray[Any]:
    filled = pc.fill_null(values, missing) if values.null_count else values
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _ordered_floats(values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    canonical = np.where(np.isnan(values), np.nan, values)
    bits = canonical.view(np.int64)
    return (bits ^ ((bits >> 63) | np.int64(-(1 << 63)))).view(np.uint64)


def _big_endian(values: npt.NDArray[np.uint64]) -> Bytes:
    return values.astype(">u8").view(np.uint8).reshape(len(values), 8).copy()


def _decimals(values: pa.Array) -> Bytes:
    """The unscaled number as 16 big-endian bytes with the sign turned."""
    scale = values.type.scale
    numbers = [0 if value is None else int(value.scaleb(scale)) for value in values.to_pylist()]
    data = b"".join((number + (1 << 127)).to_bytes(16, "big") for number in numbers)
    return np.frombuffer(data, np.uint8).reshape(len(numbers), 16).copy()


def _texts(values: pa.Array, width: int) -> Bytes:
    raw = [b"" if value is None else value[:width] for value in values.cast(pa.large_binary()).to_pylist()]
    return np.frombuffer(b"".join(value.ljust(width, b"\0") for value in raw), np.uint8).reshape(len(raw), width).copy()


def _binary(values: Bytes) -> pa.Array:
    width = values.shape[1]
    offsets = np.arange(0, (len(values) + 1) * width, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))])
