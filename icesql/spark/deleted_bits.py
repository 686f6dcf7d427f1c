"""Deleted positions of one file as bits that the JVM tests by plain array reads.

The bytes are big-endian 32-bit words, then pages of bits. Word 0 is the number of words that follow but one; word ``1 + n`` is the offset
of the page for positions from ``4096 n`` on, and the last word that of the empty page: it stands for whatever lies beyond. Positions
4096 apart that have no deletes share the empty page, so few deletes in a large file stay small.

The first byte is 0 as long as there are fewer than 2**24 pages; a serialized Roaring bitmap begins with 0x3A or 0x3B.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pyspark.sql import functions as F

from icesql.io.roaring import Positions
from icesql.spark.bridge import Bridge

_PAGE_BITS = 12
_PAGE_BYTES = (1 << _PAGE_BITS) // 8
_BUFFER = "java.nio.ByteBuffer"


def size_in_bytes(positions: Positions) -> int:
    """Length of ``deleted_bits(positions)``."""
    pages = positions >> _PAGE_BITS
    return 4 * (_last(positions) + 2) + _PAGE_BYTES * (1 + len(np.unique(pages)))


def deleted_bits(positions: Positions) -> bytes:
    """The bits of those positions, which are ascending, perhaps none."""
    last = _last(positions)
    pages, page_of = np.unique(positions >> _PAGE_BITS, return_inverse=True)
    empty = 4 * (last + 2)
    words = np.full(last + 2, empty, ">i4")
    words[0] = last
    words[1 + pages] = empty + _PAGE_BYTES * np.arange(1, len(pages) + 1)
    bits = np.zeros((len(pages) + 1) << _PAGE_BITS, np.uint8)
    bits[((page_of + 1) << _PAGE_BITS) + (positions & (1 << _PAGE_BITS) - 1)] = 1
    return words.tobytes() + np.packbits(bits, bitorder="little").tobytes()


def _last(positions: Positions) -> int:
    """Number of the word that stands for what lies beyond, counted from word 1."""
    return int(positions[-1] >> _PAGE_BITS) + 1 if len(positions) else 0


NOTHING_DELETED = deleted_bits(np.zeros(0, np.int64))


def holds_bits(data: bytes) -> bool:
    """True for bits, false for a Roaring bitmap."""
    return data[0] == 0


def is_bits(bridge: Bridge, data: Any) -> Any:
    """``holds_bits`` of a binary column, as a Column."""
    return _read(bridge, data, "get", F.lit(0)) == 0


def has_bit(bridge: Bridge, data: Any, position: Any) -> Any:
    """A Column that is true if the position (a long from 0 on) is among the bits. Every read is bounds-checked by ``ByteBuffer``, whose
    object the JVM's compiler does away with."""
    page = F.least(F.shiftright(position, _PAGE_BITS), _read(bridge, data, "getInt", F.lit(0)).cast("long")).cast("int")
    start = _read(bridge, data, "getInt", (page + 1) * 4)
    place = position.bitwiseAND((1 << _PAGE_BITS) - 1).cast("int")
    eight = _read(bridge, data, "get", start + F.shiftright(place, 3)).cast("int")
    shifted = bridge.expressions.ShiftRight(bridge.expression(eight), bridge.expression(place.bitwiseAND(7)))
    return bridge.column(shifted).bitwiseAND(1) == 1


def _read(bridge: Bridge, data: Any, method: str, index: Any) -> Any:
    buffer = bridge.static_invoke(_BUFFER, "wrap", bridge.object_type(_BUFFER), bridge.expression(data))
    returns = bridge.type_module("ByteType" if method == "get" else "IntegerType")
    return bridge.column(bridge.invoke(buffer, method, returns, bridge.expression(index)))
