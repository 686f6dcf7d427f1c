"""Theta sketches of Apache DataSketches, as table statistics hold them. Puffin: "apache-datasketches-theta-v1 blob type".

A sketch keeps the smallest hashes of distinct values: all of them up to ``NOMINAL``, then those below ``theta``. Hashes are the first half
of MurmurHash3 x64 128 with DataSketches' default seed, over the single-value bytes of the specification (appendix D).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.arrow.types import internal_values
from icesql.spec.types import BooleanType, DateType, DecimalType, IntegerType, Type, UUIDType
from icesql.spec.values.binary import to_bytes

NOMINAL = 4096
BLOB_TYPE = "apache-datasketches-theta-v1"
_MAX_THETA = (1 << 63) - 1
_SEED = 9001
_SEED_HASH = b"\xcc\x93"
_C1, _C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_READ_ONLY, _EMPTY, _COMPACT, _ORDERED = 2, 4, 8, 16
Hashes = npt.NDArray[np.uint64]


def _no_hashes() -> Hashes:
    return np.zeros(0, np.uint64)


@dataclass(frozen=True)
class ThetaSketch:
    """``hashes``: ascending, distinct, all below ``theta``."""

    hashes: Hashes = field(default_factory=_no_hashes)
    theta: int = _MAX_THETA

    @property
    def estimate(self) -> float:
        """How many distinct values were seen: exact until ``NOMINAL``."""
        return len(self.hashes) / (self.theta / (1 << 63)) if self.theta < _MAX_THETA else float(len(self.hashes))

    def with_hashes(self, hashes: Hashes) -> ThetaSketch:
        return _trimmed(np.concatenate([self.hashes, hashes]), self.theta)

    def to_bytes(self) -> bytes:
        """The compact, ordered serialized form."""
        flags = _READ_ONLY | _COMPACT | _ORDERED
        count = len(self.hashes)
        if count == 0 and self.theta == _MAX_THETA:
            return bytes([1, 3, 3, 0, 0, flags | _EMPTY]) + _SEED_HASH
        body = self.hashes.astype("<u8").tobytes()
        if self.theta < _MAX_THETA:
            return bytes([3, 3, 3, 0, 0, flags]) + _SEED_HASH + struct.pack("<iiq", count, 0, self.theta) + body
        if count == 1:
            return bytes([1, 3, 3, 0, 0, flags | 32]) + _SEED_HASH + body
        return bytes([2, 3, 3, 0, 0, flags]) + _SEED_HASH + struct.pack("<ii", count, 0) + body


def union(sketches: Iterable[ThetaSketch]) -> ThetaSketch:
    held = list(sketches)
    if not held:
        return ThetaSketch()
    return _trimmed(np.concatenate([sketch.hashes for sketch in held]), min(sketch.theta for sketch in held))


def _trimmed(hashes: Hashes, theta: int) -> ThetaSketch:
    distinct = np.unique(hashes)
    distinct = distinct[(distinct < np.uint64(theta)) & (distinct > 0)]
    if len(distinct) > NOMINAL:
        theta = int(distinct[NOMINAL])
        distinct = distinct[:NOMINAL]
    return ThetaSketch(distinct, theta)


def hashes_of(type_: Type, values: pa.Array) -> Hashes:
    """The hash of each distinct value that is not null. ``values`` has the Arrow type of ``type_``."""
    distinct = pc.drop_null(pc.unique(values.storage if isinstance(values, pa.ExtensionArray) else values))
    if not len(distinct):
        return _no_hashes()
    width, data = _fixed_width(type_, distinct)
    if data is not None:
        return _hash_rows(data.reshape(len(distinct), width))
    texts = _variable(type_, distinct)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    hashes = []
    for length in np.unique(lengths).tolist():
        same = [text for text in texts if len(text) == length] if len(texts) < 64 else [texts[i] for i in np.flatnonzero(lengths == length)]
        hashes.append(_hash_rows(np.frombuffer(b"".join(same), np.uint8).reshape(len(same), length)))
    return np.concatenate(hashes)


def _fixed_width(type_: Type, values: pa.Array) -> tuple[int, Any]:
    """(bytes a value, all bytes) of types whose single-value bytes all have one width; ``(0, None)`` for others."""
    if isinstance(type_, BooleanType):
        return 1, np.asarray(values.to_numpy(zero_copy_only=False), np.uint8)
    if isinstance(type_, IntegerType | DateType):
        return 4, np.ascontiguousarray(values.cast(pa.int32()).to_numpy(zero_copy_only=False).astype("<i4")).view(np.uint8)
    kind = values.type
    if pa.types.is_float32(kind):
        return 4, np.ascontiguousarray(values.to_numpy(zero_copy_only=False).astype("<f4")).view(np.uint8)
    if pa.types.is_float64(kind):
        return 8, np.ascontiguousarray(values.to_numpy(zero_copy_only=False).astype("<f8")).view(np.uint8)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return 8, np.ascontiguousarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False).astype("<i8")).view(np.uint8)
    return 0, None


def _variable(type_: Type, values: pa.Array) -> list[bytes]:
    if isinstance(type_, DecimalType | UUIDType):
        return [to_bytes(type_, value) for value in internal_values(type_, values)]
    binary: list[bytes] = values.cast(pa.large_binary()).to_pylist()
    return binary


# -- MurmurHash3 x64 128, many values of one length at a time ------------------------------------------------------------
def _hash_rows(rows: npt.NDArray[np.uint8]) -> Hashes:
    """The first 64 bits, shifted right by one, of each row."""
    count, length = rows.shape
    padded = np.zeros((count, -(-length // 16) * 16), np.uint8)
    padded[:, :length] = rows
    words = padded.view("<u8").astype(np.uint64)
    h1 = h2 = np.full(count, _SEED, np.uint64)
    with np.errstate(over="ignore"):
        for block in range(length // 16):
            h1 = h1 ^ _mixed(words[:, 2 * block], _C1, 31, _C2)
            h1 = (_rotated(h1, 27) + h2) * np.uint64(5) + np.uint64(0x52DCE729)
            h2 = h2 ^ _mixed(words[:, 2 * block + 1], _C2, 33, _C1)
            h2 = (_rotated(h2, 31) + h1) * np.uint64(5) + np.uint64(0x38495AB5)
        if length % 16:
            h2 = h2 ^ _mixed(words[:, -1], _C2, 33, _C1)
            h1 = h1 ^ _mixed(words[:, -2], _C1, 31, _C2)
        h1, h2 = h1 ^ np.uint64(length), h2 ^ np.uint64(length)
        h1 = h1 + h2
        h2 = h2 + h1
        h1, h2 = _finished(h1), _finished(h2)
        return (h1 + h2) >> np.uint64(1)


def _mixed(word: Hashes, first: np.uint64, bits: int, second: np.uint64) -> Hashes:
    return _rotated(word * first, bits) * second


def _rotated(value: Hashes, bits: int) -> Hashes:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


def _finished(value: Hashes) -> Hashes:
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))
