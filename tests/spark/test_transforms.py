"""Transforms in the JVM give what the specification's functions give, value for value, and are recognised in pushed filters."""

from __future__ import annotations

import datetime
import random
import uuid
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from icesql.expr.tree import Op, Predicate, Reference
from icesql.spark.functions.transforms import day_as_date, transform_column
from icesql.spark.jvm.local_rows import local_frame
from icesql.spark.jvm.types import to_spark_type
from icesql.spark.read.columns import arrow_value
from icesql.spark.read.filters import catalyst_expression
from icesql.spec import types as I
from icesql.spec.transforms import DAY, HOUR, IDENTITY, MONTH, VOID, YEAR, Transform, bucket, can_transform, transform_function, truncate
from icesql.spec.values.decimals import from_unscaled

pytestmark = pytest.mark.spark

RANDOM = random.Random(7)


def values_of(type_: I.Type) -> list[Any]:
    """Internal-form values: edges, and random ones."""
    match type_:
        case I.IntegerType():
            return [0, 34, -1, 2**31 - 1, -(2**31), *(RANDOM.randint(-(2**31), 2**31 - 1) for _ in range(40))]
        case I.LongType():
            return [0, 34, -1, 2**63 - 1, -(2**63), *(RANDOM.randint(-(2**63), 2**63 - 1) for _ in range(40))]
        case I.DateType():
            return [0, 17486, -1, -25567, *(RANDOM.randint(-100_000, 100_000) for _ in range(40))]
        case I.TimestampType() | I.TimestamptzType():
            return [0, -1, 1510871468000001, -86_400_000_000, *(RANDOM.randint(-(10**16), 10**16) for _ in range(40))]
        case I.TimestampNanoType() | I.TimestamptzNanoType():  # whole microseconds: Spark has no finer ones
            return [0, -1000, 1510871468000001000, *(RANDOM.randint(-(9 * 10**15), 9 * 10**15) * 1000 for _ in range(40))]
        case I.TimeType():
            return [0, 81068000000, 86_399_999_999, *(RANDOM.randint(0, 86_399_999_999) for _ in range(40))]
        case I.StringType():
            return ["", "iceberg", "héllo wörld", "\U0001f600abc", *("".join(RANDOM.choices("aé漢\U0001f600 z", k=n)) for n in range(20))]
        case I.BinaryType():
            return [b"", b"\x00\x01\x02\x03", *(RANDOM.randbytes(n) for n in range(20))]
        case I.FixedType(length=length):
            return [bytes(length), *(RANDOM.randbytes(length) for _ in range(10))]
        case I.UUIDType():
            return [uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), *(uuid.UUID(int=RANDOM.getrandbits(128)) for _ in range(10))]
        case I.DecimalType(precision=p, scale=s):
            p = min(p, 37)  # one more digit than 38, which truncation may need, Spark does not have
            return [
                from_unscaled(n, s)
                for n in (0, 1420, -1, 10**p - 1, -(10**p) + 1, *(RANDOM.randint(-(10**p) + 1, 10**p - 1) for _ in range(30)))
            ]
    raise AssertionError(type_)


TYPES: list[I.Type] = [
    I.IntegerType(),
    I.LongType(),
    I.DateType(),
    I.TimestampType(),
    I.TimestamptzType(),
    I.StringType(),
    I.BinaryType(),
    I.FixedType(5),
    I.UUIDType(),
    I.DecimalType(9, 2),
    I.DecimalType(18, 4),
    I.DecimalType(38, 10),
]
TRANSFORMS: list[Transform] = [bucket(1), bucket(16), bucket(1000), truncate(1), truncate(10), truncate(7), YEAR, MONTH, DAY, HOUR]


@pytest.mark.parametrize("type_", [*TYPES, I.TimeType(), I.TimestampNanoType(), I.TimestamptzNanoType()], ids=str)
def test_equal_to_the_specification(spark, type_):
    values = [None, *values_of(type_)]
    frame = local_frame(spark, [(arrow_value(type_, v),) for v in values], StructType([StructField("c", to_spark_type(type_))]))
    transforms = [t for t in TRANSFORMS if can_transform(t, type_)]
    assert transforms
    columns = [transform_column(spark, t, type_, F.col("c")).alias(str(i)) for i, t in enumerate(transforms)]
    rows = frame.select(*columns).collect()
    for transform, place in zip(transforms, range(len(transforms)), strict=True):
        function = transform_function(transform, type_)
        got = [row[place] for row in rows]
        got = [bytes(v) if isinstance(v, bytearray) else v for v in got]
        assert got == [function(v) for v in values], str(transform)


def test_vectors_of_appendix_b(spark):
    frame = local_frame(
        spark,
        [(34, "iceberg")],
        StructType([StructField("l", to_spark_type(I.LongType())), StructField("s", to_spark_type(I.StringType()))]),
    )
    row = frame.select(
        transform_column(spark, bucket(2**31 - 1), I.LongType(), F.col("l")),
        transform_column(spark, bucket(2**31 - 1), I.StringType(), F.col("s")),
    ).first()
    assert tuple(row) == (2017239379 % (2**31 - 1), 1210000089 % (2**31 - 1))


def test_identity_and_void(spark):
    frame = local_frame(spark, [(3,)], StructType([StructField("c", to_spark_type(I.IntegerType()))]))
    row = frame.select(
        transform_column(spark, IDENTITY, I.IntegerType(), F.col("c")), transform_column(spark, VOID, I.IntegerType(), F.col("c"))
    ).first()
    assert tuple(row) == (3, None)


def optimised_condition(frame, column) -> str:
    plan = frame.where(column)._jdf.queryExecution().optimizedPlan()
    while plan.nodeName() != "Filter":
        plan = plan.children().apply(0)
    return plan.condition()


def conjuncts(expression) -> list[Any]:
    from icesql.expr.tree import And

    return conjuncts(expression.left) + conjuncts(expression.right) if isinstance(expression, And) else [expression]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_filter_over_a_transform_is_recognised(spark, tmp_path, type_):
    path = str(tmp_path / "t")
    spark.createDataFrame([], StructType([StructField("c", to_spark_type(type_))])).write.parquet(path)
    frame = spark.read.parquet(path)
    for transform in [t for t in TRANSFORMS if can_transform(t, type_) and not (t.name == "truncate" and isinstance(type_, I.DecimalType))]:
        if transform.name == "day" and isinstance(type_, I.TimestampType):
            continue  # Spark turns it into a range over the column itself, which prunes as well
        if transform.name == "day":
            term, value, expected = day_as_date(spark, type_, F.col("c")), datetime.date(2020, 2, 3), 18295
        else:
            term = transform_column(spark, transform, type_, F.col("c"))
            value = (
                {"string": "ab", "binary": bytearray(b"ab"), "fixed[5]": bytearray(b"ab")}.get(str(type_), 3)
                if transform.name == "truncate"
                else 3
            )
            expected = bytes(value) if isinstance(value, bytearray) else value
        condition = optimised_condition(frame, term == F.lit(value))
        found = conjuncts(catalyst_expression(condition.toJSON(), condition.apply))
        reference = Reference("c") if transform.name == "day" and isinstance(type_, I.DateType) else Reference("c", transform)
        assert Predicate(Op.EQ, reference, (expected,)) in found, str(transform)


def test_arrow_types_are_as_spark_has_them(spark):
    frame = local_frame(spark, [(1,)], StructType([StructField("c", to_spark_type(I.IntegerType()), False)]))
    assert frame.toArrow().schema.types == [pa.int32()]
    assert frame.schema.fields[0].nullable is False
