"""``locations.is_location`` over a whole column of paths."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icesql.io.manifests.byte_columns import BytesColumn
from icesql.io.storage.locations import is_location

_SCHEME_BYTES = 16  # schemes are shorter; what is not told by so many bytes is read as text


def first_stray(column: BytesColumn) -> str | None:
    """The first value that is neither an absolute path nor a URI, ``None`` if there is none. No value may be null.

    Null bytes are not looked for. Raises UnicodeDecodeError for a value that may be stray.
    """
    data = np.frombuffer(column.buffer, np.uint8)
    starts = np.minimum(column.offsets, max(0, len(data) - 1))
    rest = np.flatnonzero((column.lengths == 0) | (data[starts] != ord("/"))) if len(data) else np.arange(len(column))
    unsure = rest[~_begins_with_scheme(data, column, rest)]
    return next((text for text in column.texts(unsure) if not is_location(text)), None)


def _begins_with_scheme(data: npt.NDArray[np.uint8], column: BytesColumn, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Rows with a colon before any slash, within the first bytes."""
    places = column.offsets[rows][:, None] + np.arange(min(_SCHEME_BYTES, len(data)))
    inside = places < (column.offsets[rows] + column.lengths[rows])[:, None]
    head = np.where(inside, data[np.minimum(places, len(data) - 1)], 0) if len(data) else np.zeros((len(rows), 1), np.uint8)
    colon, slash = head == ord(":"), head == ord("/")
    at, slash_at = colon.argmax(axis=1), np.where(slash.any(axis=1), slash.argmax(axis=1), _SCHEME_BYTES)
    has_scheme: npt.NDArray[np.bool_] = colon.any(axis=1) & (at > 0) & (at < slash_at)
    return has_scheme
