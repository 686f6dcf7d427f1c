"""Filtering Arrow data means what SQL means."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.expr.binding import bind
from icesql.expr.tree import Expression, Op, Predicate, Reference
from icesql.io.arrow.filter import row_mask
from icesql.io.arrow.types import to_arrow_schema, to_arrow_value
from icesql.spec.schema import Schema
from icesql.spec.transforms import bucket, transform_function
from icesql.spec.types import LongType, NestedField, StructType, Type
from tests.effort import examples
from tests.expr.reference import holds
from tests.expr.strategies import VALUES
from tests.expr.test_properties import rows_of, schema_of, tree_of


def table_of(schema: Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = [
        pa.array([to_arrow_value(field.type, row[place]) for row in rows], to_arrow_schema(schema).field(place).type)
        for place, field in enumerate(schema.fields)
    ]
    return pa.table(columns, schema=to_arrow_schema(schema))


@pytest.mark.parametrize("type_", list(VALUES), ids=str)
def test_filtering_is_sql(type_: Type) -> None:
    schema = schema_of(type_)

    @examples(15)
    @given(tree_of(type_), st.lists(rows_of(type_), min_size=1, max_size=6))
    def check(tree: Expression, rows: list[tuple[Any, Any]]) -> None:
        mask = row_mask(table_of(schema, rows), schema, bind(schema, tree)).to_pylist()
        assert mask == [holds(tree, {"x": x, "y": y}) is True for x, y in rows]

    check()


def test_nested_columns_and_transforms() -> None:
    inner = StructType((NestedField(3, "a", LongType(), True), NestedField(4, "b", LongType())))
    schema = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", inner)))
    data = table_of(schema, [(1, (10, None)), (2, None), (3, (30, 5)), (None, (7, 7))])

    def ids(where: Predicate) -> list[int | None]:
        return list(data.filter(row_mask(data, schema, bind(schema, where))).column("id").to_pylist())

    assert ids(Predicate(Op.GT, Reference("s.a"), (7,))) == [1, 3]
    assert ids(Predicate(Op.IS_NULL, Reference("s.a"))) == [2], "a required field of a null struct is null"
    assert ids(Predicate(Op.IS_NULL, Reference("s.b"))) == [1, 2]
    wanted = transform_function(bucket(4), LongType())(3)
    assert 3 in ids(Predicate(Op.EQ, Reference("id", bucket(4)), (wanted,)))
    assert None not in ids(Predicate(Op.NOT_EQ, Reference("id", bucket(4)), (wanted,)))
