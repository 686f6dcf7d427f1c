"""Columns of byte strings as spans of one shared buffer, decoded a whole column at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.io.avro import columns_python as avro_columns_python
from icesql.io.native import native
from icesql.spec.types import (
    BooleanType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
)

_FOUR: dict[type, str] = {IntegerType: "<i4", DateType: "<i4", FloatType: "<f4"}
_EIGHT: dict[type, str] = {
    LongType: "<i8",
    TimeType: "<i8",
    DoubleType: "<f8",
    **dict.fromkeys((TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType), "<i8"),
}
_PROMOTED_FROM = {"<i8": "<i4", "<f8": "<f4"}


@dataclass(frozen=True, slots=True, eq=False)
class BytesColumn:
    """``lengths`` is -1 where the value is null."""

    buffer: bytes
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> bytes | None:
        length = int(self.lengths[row])
        if length < 0:
            return None
        offset = int(self.offsets[row])
        return self.buffer[offset : offset + length]

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        return self.lengths >= 0

    def texts(self, rows: Any = None) -> list[str | None]:
        """The values of some rows (indices or a mask; all if ``None``) as text. Raises UnicodeDecodeError."""
        offsets, lengths = self.offsets, self.lengths
        if rows is not None:
            chosen = np.asarray(rows if isinstance(rows, np.ndarray) else list(rows))
            chosen = chosen if chosen.size else chosen.astype(np.int64)
            offsets, lengths = offsets[chosen], lengths[chosen]
        texts: list[str | None] = (native or avro_columns_python).texts(
            self.buffer, np.ascontiguousarray(offsets), np.ascontiguousarray(lengths)
        )
        return texts

    def numbers(self, type_: Type) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]] | None:
        """(values, valid) of a column of single-value bytes of a fixed-width number type, ``None`` for other types.

        Bounds written before a promotion (int to long, float to double) are widened; a value of a wrong width counts as missing.
        """
        if isinstance(type_, BooleanType):
            return self._gather("u1", 1)
        form = _FOUR.get(type(type_))
        if form is not None:
            return self._gather(form, 4)
        form = _EIGHT.get(type(type_))
        if form is None:
            return None
        values, valid = self._gather(form, 8)
        narrow, narrow_valid = self._gather(_PROMOTED_FROM[form], 4)
        if narrow_valid.any():
            values = np.where(narrow_valid, narrow, values)
        return values, valid | narrow_valid

    def _gather(self, form: str, width: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        valid = self.lengths == width
        values = np.zeros(len(self), np.dtype(form))
        if valid.any():
            starts = self.offsets[valid]
            data = np.frombuffer(self.buffer, np.uint8)
            values[valid] = data[starts[:, None] + np.arange(width)].view(form)[:, 0]
        return values, valid
