"""Makes an ORC file from the stripes of others, in which streams may be replaced.

Stripes do not record their place in the file, so they are copied; the footer lists where they are. ORC specification: "File Tail",
"Stripes", "Compression".
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icesql.io.orc.layout import (
    LZ4,
    NONE,
    SNAPPY,
    ZLIB,
    ZSTD,
    Message,
    OrcLayout,
    encoded,
    message,
    read_footer,
    read_layout,
    read_postscript,
)
from icesql.io.orc.runs import direct_runs, numbers

_SECONDARY = 5  # the stream of a timestamp's fractions
_INDEXES = (6, 7, 8)  # streams of places in others
_LEVELS = {ZSTD: "zstd", SNAPPY: "snappy", LZ4: "lz4_raw"}
_CONTENT, _STRIPES, _ROWS, _STATISTICS, _STRIDE = 2, 3, 6, 7, 8  # fields of the footer
_FOOTER_LENGTH, _METADATA_LENGTH = 1, 5  # fields of the postscript
_VALUES, _HAS_NULL = 1, 10  # fields of column statistics
_START, _INDEX, _DATA, _FOOTER, _STRIPE_ROWS = 1, 2, 3, 4, 5  # fields of a stripe's entry
Replaced = Mapping[int, npt.NDArray[np.uint64]]


class OrcAssembly:
    """Appends to ``sink``, which is empty or holds a finished ORC file, whose last bytes are ``tail``."""

    def __init__(self, sink: Any, tail: bytes = b"") -> None:
        self._sink, self._stripes, self._rows = sink, list[Any](), 0
        self._values: list[int] = []
        self._has_null: list[bool] = []
        if tail:
            footer = read_footer(io.BytesIO(tail), len(tail))
            self._stripes += footer.get(_STRIPES, [])
            self._count(footer)
        else:
            sink.write(b"ORC")

    def add(self, file: bytes, replaced: Replaced) -> None:
        """Append the stripes of a file with the same columns, without indexes. ``replaced``: new secondary streams by column id."""
        stream = io.BytesIO(file)
        layout, self._footer = read_layout(stream, len(file)), read_footer(stream, len(file))
        self._postscript = read_postscript(file)
        used = dict.fromkeys(replaced, 0)
        for stripe in range(len(layout.stripes)):
            self._add_stripe(stream, layout, stripe, replaced, used)
        self._count(self._footer)

    def _add_stripe(self, file: Any, layout: OrcLayout, stripe: int, replaced: Replaced, used: dict[int, int]) -> None:
        start, streams = self._sink.tell(), []
        for stream in layout.streams(file, stripe):
            if stream.kind in _INDEXES:
                continue
            data = layout.stored(file, stream)
            if stream.kind == _SECONDARY and stream.column in replaced:
                first = used[stream.column]
                used[stream.column] += len(numbers(layout.content(file, stream), is_signed=False))
                data = deflated(layout, direct_runs(replaced[stream.column][first : used[stream.column]]))
            self._sink.write(data)
            streams.append(encoded({1: [stream.kind], 2: [stream.column], 3: [len(data)]}))
        end = self._sink.tell()
        footer = deflated(layout, encoded({**layout.footer(file, stripe), 1: streams}))
        self._sink.write(footer)
        rows = layout.stripes[stripe].rows
        entry = {_START: [start], _INDEX: [0], _DATA: [end - start], _FOOTER: [len(footer)], _STRIPE_ROWS: [rows]}
        self._stripes.append(encoded(entry))

    def _count(self, footer: Message) -> None:
        statistics = [message(entry) for entry in footer.get(_STATISTICS, [])]
        values, nulls = [s.get(_VALUES, [0])[-1] for s in statistics], [bool(s.get(_HAS_NULL, [0])[-1]) for s in statistics]
        self._values = [a + b for a, b in zip(self._values or [0] * len(values), values, strict=True)]
        self._has_null = [a or b for a, b in zip(self._has_null or [False] * len(nulls), nulls, strict=True)]
        self._rows += footer.get(_ROWS, [0])[-1]

    def finish(self) -> None:
        """Write the footer. Its statistics are counts only; there are no indexes."""
        statistics = [encoded({_VALUES: [v], _HAS_NULL: [int(n)]}) for v, n in zip(self._values, self._has_null, strict=True)]
        footer = {
            **self._footer,
            _CONTENT: [self._sink.tell()],
            _STRIPES: self._stripes,
            _ROWS: [self._rows],
            _STATISTICS: statistics,
            _STRIDE: [0],
        }
        compression, block = self._postscript.get(2, [0])[-1], self._postscript.get(3, [0])[-1]
        data = deflated(OrcLayout((), {}, compression, block), encoded(footer))
        postscript = encoded({**self._postscript, _FOOTER_LENGTH: [len(data)], _METADATA_LENGTH: [0]})
        self._sink.write(data + postscript + bytes([len(postscript)]))


def deflated(layout: OrcLayout, data: bytes) -> bytes:
    """A stream as it is stored: in blocks of the file's codec, each plain where that is not longer."""
    if layout.compression == NONE:
        return data
    parts = []
    for start in range(0, len(data), layout.block_bytes):
        block = data[start : start + layout.block_bytes]
        small = _deflated(layout.compression, block)
        chosen, is_plain = (small, 0) if len(small) < len(block) else (block, 1)
        parts.append((len(chosen) << 1 | is_plain).to_bytes(3, "little") + chosen)
    return b"".join(parts)


def _deflated(compression: int, block: bytes) -> bytes:
    if compression == ZLIB:
        squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
        return squeeze.compress(block) + squeeze.flush()
    return bytes(pa.Codec(_LEVELS[compression]).compress(block, asbytes=True))
