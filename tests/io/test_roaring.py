"""numpy reads the same positions out of roaring bitmaps as pyroaring put in."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from icesql.io.deletes.roaring import RoaringBitmap, positions_in
from tests.effort import examples
from tests.io import bombs

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


@examples(60)
@given(st.lists(positions, max_size=50), st.lists(runs, max_size=5), st.lists(positions, max_size=50))
def test_it_contains_those_put_in_and_no_others(single: list[int], ranges: list[range], others: list[int]) -> None:
    bitmap = BitMap64(single)
    for run in ranges:
        bitmap.add_range(run.start, run.stop)
    bitmap.run_optimize()
    found = RoaringBitmap(bytes(bitmap.serialize()))
    asked = np.array([*single, *others, *(run[-1] for run in ranges), *(run[0] for run in ranges)], np.int64)
    assert found.contains(asked).tolist() == [position in bitmap for position in asked.tolist()]
    assert len(found) == len(bitmap)


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
    for wrong, why in (
        (bombs.run_containers(range(1), [(0, 10), (5, 10)], 20), "overlap"),
        (bombs.run_containers(range(1), [(50, 10), (5, 10)], 20), "out of order"),
        (bombs.run_containers(range(1), [(65530, 10)], 10), "overlap"),
        (bombs.run_containers(range(1), [(0, 10)], 11), "of 10 positions says 11"),
        (bombs.run_containers(range(1, -1, -1), [(0, 10)], 10), "containers out of order"),
        (struct.pack("<Q", 2) + bytes(BitMap64([1]).serialize())[8:] * 2, "bitmaps out of order"),
        (bytes(BitMap64([1, 2]).serialize()).replace(b"\1\0\2\0", b"\2\0\2\0"), "positions out of order"),
    ):
        with pytest.raises((ValueError, struct.error), match=why):
            RoaringBitmap(wrong)
    with pytest.raises(ValueError, match="beyond 63 bits"):
        positions_in(bytes(BitMap64([1 << 63]).serialize()))
    with pytest.raises(ValueError, match="cookie"):
        positions_in(data[:12] + b"\0\0\0\0" + data[16:])
