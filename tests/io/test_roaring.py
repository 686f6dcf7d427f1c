"""numpy reads the same positions out of roaring bitmaps as pyroaring put in."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from icesql.io.roaring import positions_in
from tests.effort import examples

positions = st.integers(0, 2**20) | st.integers(0, 2**40) | st.integers(0, 2**63 - 1)
runs = st.tuples(positions, st.integers(1, 70_000)).map(lambda run: range(run[0], min(run[0] + run[1], 2**63)))


@examples(60)
@given(st.lists(positions, max_size=50), st.lists(runs, max_size=5), st.booleans())
def test_positions_are_those_put_in(single: list[int], ranges: list[range], optimized: bool) -> None:
    bitmap = BitMap64(single)
    for run in ranges:
        bitmap.add_range(run.start, run.stop)
    if optimized:
        bitmap.run_optimize()
    assert np.array_equal(positions_in(bytes(bitmap.serialize())), np.array(bitmap, np.int64))


def test_containers_of_every_kind() -> None:
    chance = random.Random(1)
    dense = BitMap64(chance.sample(range(1 << 16), 30_000))  # bits
    dense |= BitMap64(chance.sample(range(1 << 16, 1 << 17), 4096))  # the largest array
    dense |= BitMap64(range(1 << 17, (1 << 17) + 5000))  # a run, or bits
    for _ in range(2):
        assert np.array_equal(positions_in(bytes(dense.serialize())), np.array(dense, np.int64))
        dense.run_optimize()
    assert len(positions_in(bytes(BitMap64().serialize()))) == 0


def test_damage_is_told() -> None:
    data = bytes(BitMap64([1, 70_000, 1 << 40]).serialize())
    for cut in range(len(data)):
        with pytest.raises((ValueError, struct.error)):
            positions_in(data[:cut])
    with pytest.raises(ValueError, match="beyond 63 bits"):
        positions_in(bytes(BitMap64([1 << 63]).serialize()))
    with pytest.raises(ValueError, match="cookie"):
        positions_in(data[:12] + b"\0\0\0\0" + data[16:])
