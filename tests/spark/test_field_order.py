"""Struct fields of MERGE's values are put in the order of the table's column."""

from __future__ import annotations

import pytest
from pyspark.sql.types import ArrayType, IntegerType, LongType, MapType, StringType, StructField, StructType

from icesql.spark.row_level.field_order import in_order_of

INT, LONG, STRING = IntegerType(), LongType(), StringType()


def struct(*fields):
    return StructType([StructField(name, type_) for name, type_ in fields])


WANTED = struct(("a", INT), ("b", struct(("c", INT), ("d", INT))))


@pytest.mark.parametrize(
    "given",
    [
        WANTED,
        struct(("A", LONG), ("B", struct(("C", STRING), ("D", INT)))),
        struct(("a", INT)),
        struct(("x", INT), ("b", INT)),
        struct(("a", INT), ("b", struct(("d", INT), ("x", INT)))),
        struct(("a", INT), ("A", INT)),
        INT,
    ],
    ids=lambda given: given.simpleString(),
)
def test_what_is_in_order_or_does_not_fit_stays(given):
    assert in_order_of("v", given, WANTED) == "v"


def test_fields_are_found_by_name():
    text = in_order_of("v", struct(("o'b", INT), ("a", INT)), struct(("a", INT), ("O'B", INT)))
    assert (
        text == r"transform(array(v), __item_0 -> IF(__item_0 IS NULL, NULL, named_struct('a', __item_0.`a`, 'o\'b', __item_0.`o'b`)))[0]"
    )


def test_lists_and_maps_are_changed_only_where_their_structs_are():
    ab, ba = struct(("a", INT), ("b", INT)), struct(("b", INT), ("a", INT))
    assert in_order_of("l", ArrayType(ba), ArrayType(ab)).startswith("transform(l, __item_0 -> transform(array(__item_0)")
    assert in_order_of("m", MapType(INT, ba), MapType(INT, ab)).startswith("transform_values(m, (__key_0, __item_0) -> transform(array(")
    assert in_order_of("m", MapType(ba, INT), MapType(ab, INT)).startswith("transform_keys(m, (__key_0, __item_0) -> transform(array(")
    assert in_order_of("p", ArrayType(INT), ArrayType(INT)) == "p"
