"""Rows of equality deletes as a set that whole columns are looked up in. Null equals null, NaN equals NaN, and -0.0 equals 0.0.

Spec: "Equality Delete Files".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.arrow.types import internal_values
from icesql.spec.types import PrimitiveType, Type

Column: TypeAlias = "pa.Array | pa.ChunkedArray"
Codes: TypeAlias = npt.NDArray[np.int64]


class EqualitySet:
    """The deleted rows of one list of columns. Looking up is independent of the number of rows before it."""

    def __init__(self, types: Sequence[Type], columns: Sequence[Column]) -> None:
        """``columns``: the deleted rows, a column for each type."""
        self._types = tuple(types)
        self._steps: list[tuple[_Values, Codes]] = []
        codes: Codes | None = None
        for type_, column in zip(self._types, columns, strict=True):
            plain = _comparable(type_, column)
            values = _Values(plain)
            pairs = _paired(codes, values.codes(plain), values.count)
            distinct = np.unique(pairs)
            codes = np.searchsorted(distinct, pairs).astype(np.int64)
            self._steps.append((values, distinct))

    def mask(self, columns: Sequence[Column]) -> npt.NDArray[np.bool_]:
        """Which rows are in the set; ``columns`` as for the set itself."""
        codes: Codes | None = None
        for (values, distinct), type_, column in zip(self._steps, self._types, columns, strict=True):
            keys = values.codes(_comparable(type_, column))
            if not len(distinct):
                return np.zeros(len(keys), bool)
            known = keys >= 0 if codes is None else (keys >= 0) & (codes >= 0)
            pairs = _paired(codes, keys, values.count)
            places = np.minimum(np.searchsorted(distinct, pairs), len(distinct) - 1)
            codes = np.where(known & (distinct[places] == pairs), places, -1).astype(np.int64)
            if not (codes >= 0).any():
                break
        assert codes is not None
        return codes >= 0


def _paired(before: Codes | None, codes: Codes, count: int) -> Codes:
    """One number for each pair: both are below 2**31."""
    return codes if before is None else before * count + codes


class _Values:
    """The distinct values of a column, numbered."""

    def __init__(self, column: pa.Array) -> None:
        self._numbers: Codes | None = None
        self._others: pa.Array | None = None
        self._has_null = column.null_count > 0
        if _is_whole_number(column.type):
            self._numbers = np.unique(_numbers(column.drop_null()))
            self.count = len(self._numbers) + 1
        else:
            self._others = column.drop_null().unique()
            self.count = len(self._others) + 1

    def codes(self, column: pa.Array) -> Codes:
        """The number of each value, -1 for one that is not there; nulls have the last number."""
        nulls = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        if self._numbers is not None:
            values = _numbers(column.fill_null(0) if nulls is not None else column)
            if not len(self._numbers):
                codes = np.full(len(values), -1, np.int64)
            else:
                places = np.minimum(np.searchsorted(self._numbers, values), len(self._numbers) - 1)
                codes = np.where(self._numbers[places] == values, places, -1).astype(np.int64)
        else:
            places = pc.index_in(column, value_set=self._others).fill_null(-1)
            codes = places.to_numpy(zero_copy_only=False).astype(np.int64)
        if nulls is not None:
            codes[nulls] = self.count - 1 if self._has_null else -1
        return codes


def _is_whole_number(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_temporal(type_))


def _numbers(array: pa.Array) -> Codes:
    width = pa.int32() if array.type.bit_width == 32 and pa.types.is_temporal(array.type) else pa.int64()
    plain = array.cast(width) if pa.types.is_temporal(array.type) else array
    numbers: Codes = plain.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _comparable(type_: Type, column: Column) -> pa.Array:
    """One array in which equal values are alike."""
    array: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    if not isinstance(type_, PrimitiveType):
        return pa.array([None if value is None else repr(value) for value in internal_values(type_, array)], pa.string())
    if pa.types.is_floating(array.type):
        zeros_alike = pc.add(array, pa.scalar(0.0, array.type))
        return pc.if_else(pc.is_nan(zeros_alike), pa.scalar(float("nan"), array.type), zeros_alike)
    return array
