"""Rows fitted to a schema and split by partition."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import ValidationError
from icesql.io.arrow.types import to_arrow_schema
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import parse_transform, transform_function
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    Type,
)
from icesql.table.write.arrow_rows import by_partition, fitted
from tests.effort import examples

NESTED = Schema(
    (
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "s", StructType((NestedField(3, "x", IntegerType(), required=True), NestedField(4, "y", StringType())))),
        NestedField(5, "l", ListType(6, LongType())),
        NestedField(7, "m", MapType(8, StringType(), 9, DoubleType())),
    )
)


def one(type_: Type, name: str = "c", required: bool = False, **more: Any) -> Schema:
    return Schema((NestedField(1, name, type_, required=required, **more),))


def test_columns_are_matched_by_name_at_every_depth() -> None:
    rows = pa.table(
        {
            "m": pa.array([[("k", 1.5)], None], pa.map_(pa.string(), pa.float64())),
            "l": pa.array([None, [1, None]], pa.large_list(pa.int32())),
            "s": pa.array([{"y": "a", "x": 1}, None], pa.struct([("y", pa.large_string()), ("x", pa.int64())])),
            "id": pa.array([1, 2], pa.int32()),
        }
    )
    made = fitted(rows, NESTED)
    assert made.schema.equals(to_arrow_schema(NESTED), check_metadata=True)
    assert made.to_pylist() == [
        {"id": 1, "s": {"x": 1, "y": "a"}, "l": None, "m": [("k", 1.5)]},
        {"id": 2, "s": None, "l": [1, None], "m": None},
    ]
    made.validate(full=True)


def test_a_slice_is_fitted_as_what_it_shows() -> None:
    lists = pa.array([[1], None, [2, 3], [4]], pa.list_(pa.int64()))
    rows = pa.table({"id": [1, 2, 3, 4], "l": lists, "s": [{"x": i} for i in range(4)]}).slice(1, 2)
    made = fitted(rows, NESTED)
    made.validate(full=True)
    assert made.select(["id", "l"]).to_pylist() == [{"id": 2, "l": None}, {"id": 3, "l": [2, 3]}]
    assert made["s"].to_pylist() == [{"x": 1, "y": None}, {"x": 2, "y": None}]


def test_missing_columns_take_their_write_default_or_null() -> None:
    schema = Schema((NestedField(1, "a", LongType()), NestedField(2, "b", LongType(), True, write_default=7)))
    assert fitted(pa.table({"a": [1]}), schema).to_pylist() == [{"a": 1, "b": 7}]
    assert fitted(pa.table({"b": [1]}), schema).to_pylist() == [{"a": None, "b": 1}]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"id": [1], "z": [1]}, "Field z not found in source schema"),
        ({"l": [[1]]}, "id is required, but is missing"),
        ({"id": [1, None]}, "id is required, but holds null"),
        ({"id": [1], "s": [{"x": None, "y": "a"}]}, "s.x is required, but holds null"),
        ({"id": [1], "s": [{"x": 1, "q": 1}]}, "Field s.q not found"),
        ({"id": [1], "s": [{"x": 2**40}]}, "s.x: a value does not fit int"),
        ({"id": ["1"]}, "id: string cannot be promoted to long"),
        ({"id": [1], "l": [["a"]]}, "l.element: string cannot be promoted to long"),
    ],
)
def test_what_does_not_fit_is_named(rows: dict[str, list[Any]], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        fitted(pa.table(rows), NESTED)


def test_times_keep_their_meaning() -> None:
    moment = datetime(2021, 10, 1, 12, 0, 0, 5, tzinfo=timezone.utc)
    zoned = pa.array([moment], pa.timestamp("us", "America/New_York"))
    assert fitted(pa.table({"c": zoned}), one(TimestamptzType()))["c"].to_pylist() == [moment]
    with pytest.raises(ValidationError, match="cannot be promoted"):
        fitted(pa.table({"c": zoned}), one(TimestampType()))
    with pytest.raises(ValidationError, match="does not fit"):
        fitted(pa.table({"c": pa.array([1], pa.timestamp("ns"))}), one(TimestampType()))
    assert fitted(pa.table({"c": pa.array([1000], pa.timestamp("ns"))}), one(TimestampType()))["c"].cast(pa.int64()).to_pylist() == [1]


def test_decimals_keep_every_digit() -> None:
    assert fitted(pa.table({"c": [Decimal("1.5")]}), one(DecimalType(9, 3)))["c"].to_pylist() == [Decimal("1.500")]
    with pytest.raises(ValidationError, match="does not fit"):
        fitted(pa.table({"c": [Decimal("1.555")]}), one(DecimalType(9, 2)))


SPEC_SCHEMA = Schema(
    (
        NestedField(1, "n", LongType()),
        NestedField(2, "d", DateType()),
        NestedField(3, "s", StructType((NestedField(4, "t", StringType()),))),
    )
)
SPEC = PartitionSpec(
    fields=tuple(
        PartitionField(source_ids=(source,), field_id=1000 + i, transform=parse_transform(transform), name=f"p{i}")
        for i, (source, transform) in enumerate([(1, "bucket[4]"), (2, "month"), (4, "truncate[1]")])
    )
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-100, 100),
        st.none() | st.dates(date(1960, 1, 1), date(2030, 1, 1)),
        st.none() | st.none() | st.text("ab", max_size=3),
    ),
    max_size=40,
)


@examples(60)
@given(ROWS)
def test_every_row_is_in_the_partition_its_transforms_give(given_rows: list[tuple[Any, Any, Any]]) -> None:
    plain = pa.table(
        {
            "n": pa.array([n for n, _, _ in given_rows], pa.int64()),
            "d": pa.array([d for _, d, _ in given_rows], pa.date32()),
            "s": pa.array([None if t is None else {"t": t} for _, _, t in given_rows], pa.struct([("t", pa.string())])),
        }
    )
    made = list(by_partition(fitted(plain, SPEC_SCHEMA), SPEC_SCHEMA, SPEC))
    functions = [transform_function(field.transform, SPEC_SCHEMA.field(field.source_id).type) for field in SPEC.fields]

    def expected(row: dict[str, Any]) -> tuple[object, ...]:
        days = None if row["d"] is None else (row["d"] - date(1970, 1, 1)).days
        sources = (row["n"], days, None if row["s"] is None else row["s"]["t"])
        return tuple(function(source) for function, source in zip(functions, sources, strict=True))

    assert len({partition for partition, _ in made}) == len(made)
    for partition, part in made:
        assert part.num_rows
        assert {expected(row) for row in part.to_pylist()} == {partition}
    assert sorted(map(str, (row for _, part in made for row in part.to_pylist()))) == sorted(map(str, plain.to_pylist()))
