"""Timestamps that nanoseconds cannot hold (before 1677, after 2262), which pyarrow's ORC reader refuses: read here.

Only columns of the top level, in stripes whose writer counted in UTC. ORC specification: "Timestamp Columns", "Run Length Encoding",
"Stripes".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from icesql.io.orc.layout import OrcLayout, OrcStream
from icesql.io.orc.runs import Numbers, bits, numbers

_PRESENT, _DATA, _SECONDARY = 0, 1, 5
_EPOCH_2015 = 1_420_070_400  # seconds
_UTC = (b"", b"UTC", b"GMT")
_DIRECT_V2 = 2
_SECOND = 1_000_000_000
_FIRST_NANO, _LAST_NANO = -(2**63), 2**63 - 1


def wide_timestamps(layout: OrcLayout, file: Any, stripe: int, name: str, rows: int, zone: str | None) -> pa.Array | None:
    """A timestamp column of one stripe, in nanoseconds if they hold all its values, else cut to microseconds; ``None`` if it is not stored
    as said above. Raises ``DAMAGE``."""
    if layout.writer_zone(file, stripe) not in _UTC:
        return None
    column = layout.columns[name].start
    streams = {stream.kind: stream for stream in layout.streams(file, stripe) if stream.column == column}
    if not {_DATA, _SECONDARY} <= streams.keys() or any(stream.encoding != _DIRECT_V2 for stream in streams.values()):
        return None

    def content(stream: OrcStream) -> bytes:
        return layout.content(file, stream)

    present = bits(content(streams[_PRESENT]), rows) if _PRESENT in streams else np.ones(rows, bool)
    seconds = numbers(content(streams[_DATA]), is_signed=True)
    unit, times = _times(seconds, numbers(content(streams[_SECONDARY]), is_signed=False))
    values = np.zeros(rows, np.int64)
    values[present] = times[: int(present.sum())]
    return pa.array(values, pa.int64(), mask=~present).cast(pa.timestamp(unit, zone))


def _times(since_2015: Numbers, packed: Numbers) -> tuple[str, Numbers]:
    """(unit, numbers). The low three bits of ``packed`` tell how many zeros (less one) were cut from the nanoseconds above them."""
    zeros = packed & 7
    nanos = (packed >> 3) * np.where(zeros > 0, 10 ** (zeros + 1), 1)
    seconds = since_2015 + _EPOCH_2015
    seconds = seconds - ((seconds < 0) & (nanos > 999_999))  # as the C++ and the Java reader do
    seconds, nanos = seconds + nanos // _SECOND, nanos % _SECOND  # pyarrow wrote negative fractions
    first, last = _FIRST_NANO // _SECOND, _LAST_NANO // _SECOND
    early = (seconds < first) | ((seconds == first) & (nanos < _FIRST_NANO % _SECOND))
    late = (seconds > last) | ((seconds == last) & (nanos > _LAST_NANO % _SECOND))
    if (early | late).any():
        return "us", seconds * 1_000_000 + nanos // 1000
    return "ns", seconds * _SECOND + nanos
