"""Iceberg schemas to Spark schemas and back. Spec: "Schemas and Data Types".

Reading: every Spark field carries its Iceberg id as ``parquet.field.id``. Writing: ids are fresh numbers in the order of
the fields (assigned anew by whoever creates the table), char and varchar lengths and collations are dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from pyspark.sql import types as T

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.spec import types as I
from icesql.spec.schema import Schema

FIELD_ID = "parquet.field.id"
_TIME_TYPE: Any = getattr(T, "TimeType", None)  # Spark 4.1 and later

_TO_SPARK: dict[type[I.PrimitiveType], T.DataType] = {
    I.BooleanType: T.BooleanType(),
    I.IntegerType: T.IntegerType(),
    I.LongType: T.LongType(),
    I.FloatType: T.FloatType(),
    I.DoubleType: T.DoubleType(),
    I.DateType: T.DateType(),
    I.TimestampType: T.TimestampNTZType(),
    I.TimestamptzType: T.TimestampType(),
    I.TimestampNanoType: T.TimestampNTZType(),
    I.TimestamptzNanoType: T.TimestampType(),
    I.StringType: T.StringType(),
    I.UUIDType: T.StringType(),
    I.BinaryType: T.BinaryType(),
    I.FixedType: T.BinaryType(),
    I.UnknownType: T.NullType(),
    I.VariantType: T.VariantType(),
}

_FROM_SPARK: dict[type[T.DataType], I.PrimitiveType] = {
    T.BooleanType: I.BooleanType(),
    T.ByteType: I.IntegerType(),
    T.ShortType: I.IntegerType(),
    T.IntegerType: I.IntegerType(),
    T.LongType: I.LongType(),
    T.FloatType: I.FloatType(),
    T.DoubleType: I.DoubleType(),
    T.DateType: I.DateType(),
    T.TimestampType: I.TimestamptzType(),
    T.TimestampNTZType: I.TimestampType(),
    T.StringType: I.StringType(),
    T.CharType: I.StringType(),
    T.VarcharType: I.StringType(),
    T.BinaryType: I.BinaryType(),
    T.NullType: I.UnknownType(),
    T.VariantType: I.VariantType(),
}


def to_spark_schema(schema: Schema) -> T.StructType:
    """The Spark schema of a table, with field ids and comments. Raises UnsupportedError for geometry and geography."""
    return to_spark_struct(schema.as_struct())


def to_spark_struct(struct: I.StructType) -> T.StructType:
    return T.StructType([to_spark_field(field) for field in struct.fields])


def to_spark_field(field: I.NestedField) -> T.StructField:
    metadata: dict[str, Any] = {FIELD_ID: field.id}
    if field.doc is not None:
        metadata["comment"] = field.doc
    return T.StructField(field.name, to_spark_type(field.type), field.optional, metadata)


def to_spark_type(type_: I.Type) -> T.DataType:
    """The Spark type a column of that type reads as. Raises UnsupportedError."""
    match type_:
        case I.StructType():
            return to_spark_struct(type_)
        case I.ListType():
            return T.ArrayType(to_spark_type(type_.element), not type_.element_required)
        case I.MapType():
            return T.MapType(to_spark_type(type_.key), to_spark_type(type_.value), not type_.value_required)
        case I.DecimalType(precision=precision, scale=scale):
            return T.DecimalType(precision, scale)
        case I.TimeType():
            return T.StringType() if _TIME_TYPE is None else _TIME_TYPE(6)
        case _:
            spark_type = _TO_SPARK.get(type(type_))
            if spark_type is None:
                raise UnsupportedError(f"Cannot read column in Spark: not a supported type: {type_}", type=str(type_))
            return spark_type


def sql_type(type_: I.Type) -> str:
    """A primitive type in Spark's SQL, whatever ``spark.sql.timestampType`` says."""
    name = str(to_spark_type(type_).simpleString())
    return "timestamp_ltz" if name == "timestamp" else name


def from_spark(struct: T.StructType) -> Schema:
    """An Iceberg schema of a Spark one. Ids count from 1, siblings before their children, as Java numbers new tables.

    Raises InvalidArgumentError ``Not a supported type: ...``.
    """
    return Schema(_from_struct(struct, itertools.count(1)))


def _from_struct(struct: T.StructType, ids: Iterator[int]) -> tuple[I.NestedField, ...]:
    numbered = [(next(ids), field) for field in struct.fields]
    return tuple(
        I.NestedField(
            number, field.name, _from_type(field.dataType, ids), required=not field.nullable, doc=(field.metadata or {}).get("comment")
        )
        for number, field in numbered
    )


def _from_type(type_: T.DataType, ids: Iterator[int]) -> I.Type:
    match type_:
        case T.StructType():
            return I.StructType(_from_struct(type_, ids))
        case T.ArrayType():
            element_id = next(ids)
            return I.ListType(element_id, _from_type(type_.elementType, ids), not type_.containsNull)
        case T.MapType():
            key_id, value_id = next(ids), next(ids)
            return I.MapType(
                key_id, _from_type(type_.keyType, ids), value_id, _from_type(type_.valueType, ids), not type_.valueContainsNull
            )
        case T.DecimalType():
            return I.DecimalType(type_.precision, type_.scale)
        case _:
            if _TIME_TYPE is not None and isinstance(type_, _TIME_TYPE):
                return I.TimeType()
            iceberg_type = _FROM_SPARK.get(type(type_))
            if iceberg_type is None:
                raise InvalidArgumentError(f"Not a supported type: {type_.simpleString()}", type=type_.simpleString())
            return iceberg_type
