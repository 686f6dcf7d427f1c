"""Sketches beside those of DataSketches' own library, and hashes beside mmh3."""

from __future__ import annotations

import decimal
import random
from typing import Any

import datasketches
import mmh3
import pyarrow as pa
import pytest

from icesql.spec.types import BinaryType, BooleanType, DecimalType, DoubleType, IntegerType, LongType, StringType, Type
from icesql.spec.values.binary import to_bytes
from icesql.table.maintenance.theta_sketch import NOMINAL, ThetaSketch, hashes_of, union


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100])
def test_hashes_are_murmur3(length: int) -> None:
    data = random.Random(length).randbytes(length)
    (found,) = hashes_of(BinaryType(), pa.array([data], pa.binary())).tolist()
    assert found == mmh3.hash64(data, 9001, signed=False)[0] >> 1


@pytest.mark.parametrize(
    ("type_", "arrow", "values"),
    [
        (IntegerType(), pa.int32(), [1, -5, 2**31 - 1]),
        (LongType(), pa.int64(), [1, -5, 2**40]),
        (DoubleType(), pa.float64(), [0.5, -1e300]),
        (BooleanType(), pa.bool_(), [True, False]),
        (StringType(), pa.string(), ["", "a", "zażółć", "x" * 40]),
    ],
)
def test_values_are_hashed_as_single_value_bytes(type_: Type, arrow: pa.DataType, values: list[Any]) -> None:
    wanted = sorted(mmh3.hash64(to_bytes(type_, value), 9001, signed=False)[0] >> 1 for value in values)
    assert sorted(hashes_of(type_, pa.array([*values, None, values[0]], arrow)).tolist()) == wanted


def test_decimals_are_hashed_as_their_unscaled_bytes() -> None:
    type_, values = DecimalType(9, 2), [decimal.Decimal("1.50"), decimal.Decimal("-7.25")]
    wanted = sorted(mmh3.hash64(to_bytes(type_, value), 9001, signed=False)[0] >> 1 for value in values)
    assert sorted(hashes_of(type_, pa.array(values, pa.decimal128(9, 2))).tolist()) == wanted


@pytest.mark.parametrize("count", [0, 1, 2, 100, NOMINAL, NOMINAL + 1, 60_000])
def test_another_library_reads_the_bytes(count: int) -> None:
    sketch = ThetaSketch().with_hashes(hashes_of(StringType(), pa.array([f"v{i}" for i in range(count)], pa.string())))
    read = datasketches.compact_theta_sketch.deserialize(sketch.to_bytes())
    assert read.get_estimate() == pytest.approx(sketch.estimate)
    assert read.num_retained == len(sketch.hashes)
    assert read.is_empty() == (count == 0)
    if count <= NOMINAL:
        assert sketch.estimate == count
    else:
        assert sketch.estimate == pytest.approx(count, rel=0.1)


def test_a_union_equals_the_sketch_of_everything() -> None:
    parts = [[f"v{i}" for i in range(start, start + 9000)] for start in (0, 5000, 20_000)]
    sketches = [ThetaSketch().with_hashes(hashes_of(StringType(), pa.array(part))) for part in parts]
    whole = ThetaSketch().with_hashes(hashes_of(StringType(), pa.array([value for part in parts for value in part])))
    assert union(sketches).to_bytes() == whole.to_bytes()
