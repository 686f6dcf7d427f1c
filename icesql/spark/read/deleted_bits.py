"""Deleted positions of one file as bits that the JVM tests by plain array reads, in one of two forms.

In a row: a word (big-endian, of 32 bits) that is 0, then the bits from position 0 to the last deleted one, then a byte without any: it
stands for whatever lies beyond. This is the quicker form, and the smaller one where deletes are spread over the file.

In pages: word 0 is the number of words that follow but one; word ``1 + n`` is the offset of the page for positions from ``4096 n`` on, and
the last word that of the empty page, which stands for whatever lies beyond. Positions 4096 apart that have no deletes share the empty
page, so few deletes in a large file stay small.

The first byte is 0 as long as there are fewer than 2**24 pages; a serialized Roaring bitmap begins with 0x3A or 0x3B.
"""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F

from icesql.io.deletes.roaring import Positions
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.expressions import shifted_right

_PAGE_BITS = 12
_PAGE_BYTES = (1 << _PAGE_BITS) // 8
_WORD = 4
_PREFERENCE = 2  # how many times larger the bits in a row may be
_BUFFER = "java.nio.ByteBuffer"


def size_in_bytes(positions: Positions) -> int:
    """Length of ``deleted_bits(positions)``."""
    return _size_in_a_row(positions) if _fits_in_a_row(positions) else _size_in_pages(positions)


def deleted_bits(positions: Positions) -> bytes:
    """The bits of those positions, which are ascending, perhaps none."""
    return _in_a_row(positions) if _fits_in_a_row(positions) else _in_pages(positions)


def _fits_in_a_row(positions: Positions) -> bool:
    return _size_in_a_row(positions) <= _PREFERENCE * _size_in_pages(positions)


def _size_in_a_row(positions: Positions) -> int:
    return _WORD + (int(positions[-1]) // 8 + 1 if len(positions) else 0) + 1


def _size_in_pages(positions: Positions) -> int:
    return _WORD * (_last(positions) + 2) + _PAGE_BYTES * (1 + len(np.unique(positions >> _PAGE_BITS)))


def _in_a_row(positions: Positions) -> bytes:
    bits = np.zeros(8 * (_size_in_a_row(positions) - _WORD), np.uint8)
    bits[positions] = 1
    return bytes(_WORD) + np.packbits(bits, bitorder="little").tobytes()


def _in_pages(positions: Positions) -> bytes:
    last = _last(positions)
    pages, page_of = np.unique(positions >> _PAGE_BITS, return_inverse=True)
    empty = _WORD * (last + 2)
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


def is_in_a_row(bridge: Bridge, data: Column) -> Column:
    """A Column that is true for bits in a row."""
    return _read(bridge, data, "getInt", F.lit(0)) == 0


def is_in_pages(bridge: Bridge, data: Column) -> Column:
    """A Column that is false for a Roaring bitmap and true for bits in pages; for those in a row too, so ask for these first."""
    return _read(bridge, data, "get", F.lit(0)) == 0


def has_bit_in_a_row(bridge: Bridge, data: Column, position: Column) -> Column:
    """A Column that is true if the position, a long from 0 on, is among the bits."""
    place = F.least(F.shiftright(position, 3), (F.length(data) - _WORD - 1).cast("long")).cast("int") + _WORD
    return _is_set(bridge, _read(bridge, data, "get", place), position)


def has_bit_in_pages(bridge: Bridge, data: Column, position: Column) -> Column:
    """A Column that is true if the position, a long from 0 on, is among the bits."""
    page = F.least(F.shiftright(position, _PAGE_BITS), _read(bridge, data, "getInt", F.lit(0)).cast("long")).cast("int")
    start = _read(bridge, data, "getInt", (page + 1) * _WORD)
    place = position.bitwiseAND((1 << _PAGE_BITS) - 1).cast("int")
    return _is_set(bridge, _read(bridge, data, "get", start + F.shiftright(place, 3)), position)


def _is_set(bridge: Bridge, byte: Column, position: Column) -> Column:
    """Whether the byte has the bit of that position."""
    bit = position.bitwiseAND(7).cast("int")
    return shifted_right(bridge, byte.cast("int"), bit).bitwiseAND(1) == 1


def _read(bridge: Bridge, data: Column, method: str, index: Column) -> Column:
    """A read that ``ByteBuffer`` checks against its bounds; the JVM's compiler does away with the object."""
    buffer = bridge.static_invoke(_BUFFER, "wrap", bridge.object_type(_BUFFER), bridge.expression(data))
    returns = bridge.type_module("ByteType" if method == "get" else "IntegerType")
    return bridge.column(bridge.invoke(buffer, method, returns, bridge.expression(index)))
