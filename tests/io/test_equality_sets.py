"""Rows of equality deletes, looked up in columns at once, against the same asked row by row."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.io.arrow.types import to_arrow_type
from icesql.io.deletes.equality_sets import EqualitySet
from icesql.spec import types as I

TYPES: dict[str, tuple[I.Type, st.SearchStrategy[Any]]] = {
    "long": (I.LongType(), st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 7])),
    "int": (I.IntegerType(), st.sampled_from([0, 1, -(2**31), 2**31 - 1])),
    "string": (I.StringType(), st.sampled_from(["", "a", "ü", "b" * 40])),
    "double": (I.DoubleType(), st.sampled_from([0.0, -0.0, math.nan, 1.5, math.inf])),
    "float": (I.FloatType(), st.sampled_from([0.0, -0.0, math.nan, 1.5])),
    "boolean": (I.BooleanType(), st.booleans()),
    "binary": (I.BinaryType(), st.sampled_from([b"", b"a", b"\0"])),
    "date": (I.DateType(), st.dates()),
    "decimal": (I.DecimalType(9, 2), st.decimals(min_value=-5, max_value=5, places=2)),
    "timestamp": (I.TimestampType(), st.datetimes()),
}


def key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("NaN" if isinstance(value, float) and value != value else value for value in row)


@given(st.data(), st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4))
def test_as_row_by_row(data: st.DataObject, names: list[str]) -> None:
    row = st.tuples(*(st.none() | TYPES[name][1] for name in names))
    deleted, rows = data.draw(st.lists(row, max_size=12)), data.draw(st.lists(row, max_size=20))
    types = [TYPES[name][0] for name in names]
    rows = [*rows, *deleted[:3]]

    def columns(values: list[tuple[Any, ...]]) -> list[pa.Array]:
        return [pa.array([value[place] for value in values], to_arrow_type(type_)) for place, type_ in enumerate(types)]

    gone = {key(one) for one in deleted}
    assert EqualitySet(types, columns(deleted)).mask(columns(rows)).tolist() == [key(one) in gone for one in rows]


def test_slices_and_chunks() -> None:
    chunked = pa.chunked_array([[1, 2], [None, 4]], pa.int64())
    made = EqualitySet([I.LongType()], [chunked])
    assert made.mask([pa.array([0, 4, None, 3, 2], pa.int64()).slice(1, 4)]).tolist() == [True, True, False, True]


@pytest.mark.parametrize("count", [1, 3])
def test_no_rows(count: int) -> None:
    none = [pa.array([], pa.int64())] * count
    made = EqualitySet([I.LongType()] * count, none)
    assert made.mask([pa.array([1, None], pa.int64())] * count).tolist() == [False, False]
    assert made.mask(none).tolist() == []
