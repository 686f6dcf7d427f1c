"""Hypothesis strategies for types, values and schemas of the specification."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from icesql.spec.assign_ids import assign_fresh_ids
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)

ints = st.integers(-(2**31), 2**31 - 1)
longs = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
DAY_MICROS = 86_400_000_000

decimals = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: DecimalType(p, s)))
primitives: st.SearchStrategy[Type] = st.one_of(
    st.sampled_from(
        [
            BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DateType(), TimeType(), TimestampType(),
            TimestamptzType(), TimestampNanoType(), TimestamptzNanoType(), StringType(), UUIDType(), BinaryType(),
        ]
    ),
    decimals,
    st.integers(1, 20).map(FixedType),
)  # fmt: skip


def values_of(type_: Type) -> st.SearchStrategy[Any]:
    """Non-null values of internal form."""
    match type_:
        case BooleanType():
            return st.booleans()
        case IntegerType() | DateType():
            return ints
        case TimeType():
            return st.integers(0, DAY_MICROS - 1)
        case FloatType():
            return st.floats(width=32, allow_nan=False)
        case DoubleType():
            return st.floats(allow_nan=False)
        case DecimalType(precision=precision, scale=scale):
            limit = 10**precision - 1
            return st.integers(-limit, limit).map(lambda unscaled: _decimal(unscaled, scale))
        case StringType():
            return texts
        case UUIDType():
            return st.uuids()
        case FixedType(length=length):
            return st.binary(min_size=length, max_size=length)
        case BinaryType():
            return st.binary(max_size=12)
    return longs


def _decimal(unscaled: int, scale: int) -> Decimal:
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -scale))


primitive_values = primitives.flatmap(lambda type_: values_of(type_).map(lambda value: (type_, value)))


def _nested(children: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return st.one_of(
        structs(children),
        st.builds(lambda element, req: ListType(0, element, req), children, st.booleans()),
        st.builds(lambda key, value, req: MapType(0, key, 0, value, req), primitives, children, st.booleans()),
    )


def structs(children: st.SearchStrategy[Type]) -> st.SearchStrategy[StructType]:
    def build(names: list[str], types: list[Type], required: list[bool]) -> StructType:
        parts = zip(names, types, required, strict=False)
        return StructType(tuple(NestedField(0, name, type_, req) for name, type_, req in parts))

    names = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=1, max_size=4, unique=True)
    return st.builds(build, names, st.lists(children, min_size=4, max_size=4), st.lists(st.booleans(), min_size=4, max_size=4))


types = st.recursive(primitives, _nested, max_leaves=8)
schemas = structs(types).map(lambda struct: assign_fresh_ids(_numbered(struct), 1)[0])


def _numbered(struct: StructType) -> Schema:
    """Ids only need to be there: ``assign_fresh_ids`` gives the real ones, and no identifier fields refer to them."""
    return Schema(struct.fields)
