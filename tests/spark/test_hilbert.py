"""The Hilbert curve: a bijection whose neighbours touch, the bytes of Iceberg's runtime, files that fewer ranges meet than a Z-order's."""

from __future__ import annotations

import itertools
import random
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from icesql.errors import InvalidArgumentError
from icesql.spark.write.hilbert import axis, curve_places, with_hilbert_values
from icesql.spark.write.zorder import CURVE_VALUE, interleaved, ordered_bytes


def _places(points: Any, bits: int = 64) -> list[int]:
    return [int.from_bytes(bytes(row), "big") for row in curve_places(list(np.ascontiguousarray(points.T)), bits)]


@pytest.mark.parametrize(("dimensions", "bits"), [(1, 5), (2, 1), (2, 4), (2, 6), (3, 2), (3, 4), (4, 3), (5, 2), (9, 1)])
def test_every_point_has_a_place_and_neighbours_touch(dimensions, bits):
    points = np.array(list(itertools.product(range(1 << bits), repeat=dimensions)), np.uint64)
    spare = -bits * dimensions % 8
    places = [place >> spare for place in _places(points, bits)]
    assert sorted(places) == list(range(len(points)))
    along = points[np.argsort(places)].astype(np.int64)
    assert (np.abs(np.diff(along, axis=0)).sum(axis=1) == 1).all()


def test_axes_of_64_bits_are_used_whole():
    random_points = random.Random(3)
    points = np.array([[random_points.getrandbits(64) for _ in range(3)] for _ in range(500)], np.uint64)
    assert len(set(_places(points))) == 500
    corner = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], np.uint64)
    assert max(_places(corner)) < 4
    assert _places(np.array([[(1 << 64) - 1, 0]], np.uint64)) == [(1 << 128) - 1]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.bool_(), [None, True]),
        (pa.int32(), [None, -(1 << 31), -1, 0, 5, (1 << 31) - 1]),
        (pa.int64(), [None, -(1 << 63) + 1, -1, 0, 5, (1 << 63) - 1]),
        (pa.float64(), [None, float("-inf"), -1e300, -2.0, -1.0, 0.5, 1e300, float("inf"), float("nan")]),
        (pa.decimal128(9, 2), [None, Decimal("-99.00"), Decimal("-0.01"), Decimal("0.00"), Decimal("0.01"), Decimal("9999999.99")]),
        (pa.decimal128(38, 0), [None, Decimal(-(10**37)), Decimal(0), Decimal(10**20), Decimal(10**37)]),
        (pa.date32(), [None, date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(9999, 1, 1)]),
        (pa.timestamp("us"), [None, datetime(1, 1, 1), datetime(1970, 1, 1), datetime(2020, 1, 1)]),
        (pa.string(), [None, "a", "ab", "b", "é"]),
        (pa.binary(), [None, b"\x01", b"\x01\x01", b"\xff"]),
    ],
)
def test_an_axis_has_the_order_of_its_values(type_, values):
    numbers = axis(pa.array(values, type_)).tolist()
    assert numbers == sorted(set(numbers))


def test_values_are_added_to_batches():
    batch = pa.RecordBatch.from_pydict({"a": [1, None, 3], "b": ["x", "y", None], "c": [1.0, 2.0, 3.0]})
    (found,) = with_hilbert_values([batch], [0, 2])
    assert found.schema.names == ["a", "b", "c", CURVE_VALUE] and [len(value) for value in found.column(3).to_pylist()] == [16] * 3
    (nothing,) = with_hilbert_values([batch.slice(0, 0)], [0, 2])
    assert nothing.num_rows == 0
    with pytest.raises(InvalidArgumentError, match="unsupported"):
        axis(pa.array([[1]]))


@pytest.mark.parametrize("dimensions", [2, 3])
def test_files_cover_less_than_those_of_a_zorder(dimensions):
    """Of 4,096 random points in 64 files, a range of each column meets fewer files."""
    chance = np.random.default_rng(11)
    columns = [pa.array(chance.integers(0, 1 << 20, 4096)) for _ in range(dimensions)]
    points = np.stack([column.to_numpy() for column in columns], axis=1)
    orders = {
        "hilbert": curve_places([axis(column) for column in columns]),
        "zorder": interleaved([ordered_bytes(column, 8) for column in columns], 1 << 20),
    }
    met = {}
    for name, keys in orders.items():
        files = points[np.lexsort(keys.T[::-1])].reshape(64, 64, dimensions)
        low, high = files.min(axis=1), files.max(axis=1)
        starts = chance.integers(0, 1 << 19, (500, dimensions))
        met[name] = sum(int(((low <= start + (1 << 17)) & (high >= start)).all(axis=1).sum()) for start in starts)
    assert met["hilbert"] <= met["zorder"]


@pytest.mark.interop
@pytest.mark.spark
def test_places_are_the_runtimes(oracle: Any):
    chance = random.Random(5)
    points = [[chance.getrandbits(64) for _ in range(dimensions)] for dimensions in (1, 2, 3, 5) for _ in range(25)]
    theirs = oracle.call("tests.spark.hilbert_calls:hilbert_indexes", points)
    assert [curve_places([np.array([number], np.uint64) for number in point])[0].tobytes() for point in points] == theirs
