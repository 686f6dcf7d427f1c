"""Literals as values of a column's type."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError
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
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)
from icesql.spec.values.literals import ABOVE_MAX, BELOW_MIN, OutOfRange, literal
from tests.spec.strategies import decimals, primitive_values, values_of

MOMENT = 1_510_871_468_000_001
UUID = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")


@given(primitive_values)
def test_internal_values_stay(case: tuple[Type, Any]) -> None:
    type_, value = case
    assert literal(type_, value) == value
    assert literal(type_, None) is None


@pytest.mark.parametrize(
    ("type_", "given_", "expected"),
    [
        (BooleanType(), "TRUE", True),
        (IntegerType(), 34.0, 34),
        (IntegerType(), "34", 34),
        (LongType(), Decimal("34.00"), 34),
        (IntegerType(), np.int64(5), 5),
        (DoubleType(), 3, 3.0),
        (FloatType(), 0.1, float(np.float32(0.1))),
        (DecimalType(9, 2), 14, Decimal("14.00")),
        (DecimalType(9, 2), "14.2", Decimal("14.20")),
        (DecimalType(9, 2), 14.005, Decimal("14.01")),  # floats round half up
        (DecimalType(9, 2), Decimal("1.4E+1"), Decimal("14.00")),
        (DateType(), "2017-11-16", 17486),
        (DateType(), dt.date(1969, 12, 31), -1),
        (TimeType(), "22:31:08.000001", 81_068_000_001),
        (TimeType(), dt.time(22, 31, 8, 1), 81_068_000_001),
        (TimestampType(), "2017-11-16T22:31:08.000001", MOMENT),
        (TimestampType(), "2017-11-16 22:31:08.000001", MOMENT),
        (TimestampType(), dt.datetime(2017, 11, 16, 22, 31, 8, 1), MOMENT),
        (TimestampType(), dt.date(1970, 1, 2), 86_400_000_000),
        (TimestamptzType(), "2017-11-16T14:31:08.000001-08:00", MOMENT),
        (TimestamptzType(), dt.datetime(2017, 11, 16, 22, 31, 8, 1, dt.timezone.utc), MOMENT),
        (TimestampNanoType(), "1969-12-31T23:59:59.999999999", -1),
        (TimestamptzNanoType(), "2017-11-16T22:31:08.000001001Z", MOMENT * 1000 + 1),
        (UUIDType(), str(UUID), UUID),
        (UUIDType(), UUID.bytes, UUID),
        (BinaryType(), "0x00ff", b"\x00\xff"),
        (BinaryType(), "X'00FF'", b"\x00\xff"),
        (FixedType(2), bytearray(b"ab"), b"ab"),
    ],
    ids=str,
)
def test_conversions(type_: Type, given_: Any, expected: Any) -> None:
    found = literal(type_, given_)
    assert found == expected and str(found) == str(expected)


@pytest.mark.parametrize(
    ("type_", "beyond"),
    [
        (IntegerType(), 2**31 + 1),
        (IntegerType(), 1e300),
        (LongType(), 2**63 + 1),
        (LongType(), math.inf),
        (FloatType(), 1e39),
        (DoubleType(), 10**400),
        (DecimalType(4, 2), 100),
        (DecimalType(4, 2), 99.999),
        (DecimalType(4, 2), Decimal("1E+5000")),
        (DateType(), 2**31 + 1),
        (TimestampType(), 2**63 + 1),
    ],
    ids=str,
)
def test_numbers_beyond_the_type_are_beyond_all_its_values(type_: Type, beyond: Any) -> None:
    assert literal(type_, beyond) is ABOVE_MAX
    assert literal(type_, -beyond) is BELOW_MIN


def test_the_last_values_of_a_type_are_in_it() -> None:
    assert (literal(IntegerType(), 2**31 - 1), literal(IntegerType(), -(2**31))) == (2**31 - 1, -(2**31))
    assert (literal(LongType(), 2**63), literal(LongType(), -(2**63))) == (ABOVE_MAX, -(2**63))
    assert literal(DecimalType(4, 2), "99.99") == Decimal("99.99")


def test_timestamps_beyond_nanoseconds() -> None:
    assert literal(TimestampNanoType(), "2300-01-01T00:00:00") is ABOVE_MAX
    assert literal(TimestamptzNanoType(), dt.datetime(1600, 1, 1, tzinfo=dt.timezone.utc)) is BELOW_MIN
    assert literal(TimeType(), 86_400_000_000) is ABOVE_MAX


@given(decimals.flatmap(lambda t: st.tuples(st.just(t), values_of(t))), decimals)
def test_decimals_keep_their_value_or_are_refused(case: tuple[DecimalType, Decimal], target: DecimalType) -> None:
    value = case[1]
    try:
        found = literal(target, value)
    except InvalidArgumentError:
        unscaled = int("".join(map(str, value.as_tuple().digits)))
        assert unscaled % 10 ** max(0, case[0].scale - target.scale) != 0
        return
    if isinstance(found, OutOfRange):
        assert abs(value) >= Decimal(10) ** (target.precision - target.scale)
        assert (found is ABOVE_MAX) == (value > 0)
    else:
        assert found == value and -int(found.as_tuple().exponent) == target.scale


@pytest.mark.parametrize(
    ("type_", "given_"),
    [
        (IntegerType(), True),
        (IntegerType(), 1.5),
        (IntegerType(), "x"),
        (LongType(), math.nan),
        (BooleanType(), 1),
        (DoubleType(), "x"),
        (DecimalType(9, 2), "10.555"),
        (DecimalType(9, 2), math.nan),
        (DecimalType(9, 2), "x"),
        (DateType(), "2017-02-29"),
        (DateType(), dt.datetime(2017, 11, 16)),
        (TimeType(), "24:00:00"),
        (TimestampType(), "2017-11-16T22:31:08Z"),
        (TimestampType(), dt.datetime(2017, 11, 16, tzinfo=dt.timezone.utc)),
        (TimestamptzType(), "2017-11-16T22:31:08"),
        (TimestamptzType(), dt.datetime(2017, 11, 16)),
        (StringType(), 5),
        (UUIDType(), "x"),
        (FixedType(2), b"abc"),
        (BinaryType(), "0x0"),
        (ListType(1, LongType()), [1]),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(type_: Type, given_: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"Cannot (convert|parse)"):
        literal(type_, given_)


@pytest.mark.parametrize("type_", [IntegerType(), LongType(), DateType(), TimestampType(), DecimalType(9, 2)], ids=str)
def test_numbers_of_any_length_are_beyond_the_type(type_: Type) -> None:
    """They are never worked out: 1e999999999 has as many digits."""
    for given_ in (Decimal("1e999999999"), "9" * 5000, Decimal("9" * 5000)):
        assert literal(type_, given_) is ABOVE_MAX
    for given_ in (Decimal("-1e999999999"), "-" + "9" * 5000):
        assert literal(type_, given_) is BELOW_MIN
