"""The values of one partition field over the rows of a manifest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.io.manifests.byte_columns import BytesColumn

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PartitionColumn:
    """A partition field's values over the rows: ``integers`` (also booleans, dates and times) or ``spans``, and which rows are not null.

    ``read`` turns a span into a value of internal form.
    """

    valid: Mask
    integers: Ints | None = None
    spans: BytesColumn | None = None
    read: Callable[[bytes], Any] | None = None
    is_boolean: bool = False

    def value(self, row: int) -> object:
        if not self.valid[row]:
            return None
        if self.integers is not None:
            number = int(self.integers[row])
            return bool(number) if self.is_boolean else number
        data = None if self.spans is None else self.spans[row]
        return None if data is None or self.read is None else self.read(data)

    def pick(self, rows: npt.NDArray[np.int64]) -> list[object]:
        """The values of some rows (indices), null as ``None``."""
        picked: list[object] = self.values()[rows].tolist()
        valid = self.valid[rows]
        return picked if valid.all() else [value if ok else None for value, ok in zip(picked, valid.tolist(), strict=True)]

    def values(self) -> npt.NDArray[Any]:
        """One array: int64 or bool where the field is such (0 in null rows), float64, else an object array with ``None`` for null."""
        if self.integers is not None:
            return self.integers.astype(bool) if self.is_boolean else self.integers
        decoded = np.empty(len(self.valid), dtype=object)
        memo: dict[bytes, Any] = {}
        for row in np.flatnonzero(self.valid).tolist():
            data = None if self.spans is None else self.spans[row]
            if data is not None and self.read is not None:
                if data not in memo:
                    memo[data] = self.read(data)
                decoded[row] = memo[data]
        return decoded
