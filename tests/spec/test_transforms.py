"""Transforms against the specification's vectors, against their definition, and against PyIceberg's."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.spec.transforms import (
    DAY,
    HOUR,
    IDENTITY,
    MONTH,
    VOID,
    YEAR,
    Transform,
    bucket,
    bucket_hash,
    can_transform,
    human_string,
    parse_transform,
    preserves_order,
    result_type,
    transform_function,
    truncate,
)
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    GeometryType,
    IntegerType,
    ListType,
    LongType,
    PrimitiveType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UnknownType,
    UUIDType,
    VariantType,
)
from icesql.spec.values import human
from icesql.spec.values.calendar import civil_from_days, days_from_civil
from tests.spec.strategies import longs, primitive_values, primitives, values_of


def micros(text: str) -> int:
    moment = dt.datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.timezone.utc)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(microseconds=1)


def days(text: str) -> int:
    return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days


APPENDIX_B = [
    (IntegerType(), 34, 2017239379),
    (LongType(), 34, 2017239379),
    (DecimalType(9, 2), Decimal("14.20"), -500754589),
    (DateType(), days("2017-11-16"), -653330422),
    (TimeType(), ((22 * 60 + 31) * 60 + 8) * 1_000_000, -662762989),
    (TimestampType(), micros("2017-11-16T22:31:08"), -2047944441),
    (TimestampType(), micros("2017-11-16T22:31:08.000001"), -1207196810),
    (TimestamptzType(), micros("2017-11-16T14:31:08-08:00"), -2047944441),
    (TimestamptzType(), micros("2017-11-16T14:31:08.000001-08:00"), -1207196810),
    (TimestampNanoType(), micros("2017-11-16T22:31:08") * 1000, -2047944441),
    (TimestampNanoType(), micros("2017-11-16T22:31:08.000001") * 1000 + 1, -1207196810),
    (TimestamptzNanoType(), micros("2017-11-16T14:31:08-08:00") * 1000, -2047944441),
    (TimestamptzNanoType(), micros("2017-11-16T14:31:08.000001-08:00") * 1000 + 1, -1207196810),
    (StringType(), "iceberg", 1210000089),
    (UUIDType(), uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), 1488055340),
    (FixedType(4), bytes([0, 1, 2, 3]), -188683207),
    (BinaryType(), bytes([0, 1, 2, 3]), -188683207),
]


@pytest.mark.parametrize(("type_", "value", "expected"), APPENDIX_B, ids=lambda part: str(part)[:32])
def test_hash_vectors_of_appendix_b(type_: Type, value: Any, expected: int) -> None:
    assert bucket_hash(type_)(value) == expected
    assert transform_function(bucket(100), type_)(value) == (expected & 0x7FFFFFFF) % 100


@given(st.integers(-(2**31), 2**31 - 1))
def test_promoted_columns_keep_their_buckets(value: int) -> None:
    as_int, as_long = transform_function(bucket(16), IntegerType()), transform_function(bucket(16), LongType())
    assert as_int(value) == as_long(value)
    as_micros, as_nanos = transform_function(bucket(16), TimestampType()), transform_function(bucket(16), TimestampNanoType())
    assert as_micros(value) == as_nanos(value * 1000 + abs(value) % 1000)


@pytest.mark.parametrize(
    ("type_", "width", "value", "expected"),
    [
        (IntegerType(), 10, 1, 0),
        (IntegerType(), 10, -1, -10),
        (LongType(), 10, 1, 0),
        (LongType(), 10, -1, -10),
        (DecimalType(9, 2), 50, Decimal("10.65"), Decimal("10.50")),
        (DecimalType(9, 2), 50, Decimal("-0.05"), Decimal("-0.50")),
        (StringType(), 3, "iceberg", "ice"),
        (StringType(), 2, "a\U0001f600b", "a\U0001f600"),
        (BinaryType(), 3, b"\x01\x02\x03\x04\x05", b"\x01\x02\x03"),
        (IntegerType(), 10, -(2**31), 2**31 - 2),  # wraps, as every partition that exists has it
    ],
)
def test_truncate(type_: Type, width: int, value: Any, expected: Any) -> None:
    result = transform_function(truncate(width), type_)(value)
    assert result == expected
    assert str(result) == str(expected)


@given(st.integers(1, 1000), st.integers(-(2**62), 2**62))
def test_truncate_floors_to_a_multiple(width: int, value: int) -> None:
    result = transform_function(truncate(width), LongType())(value)
    assert result % width == 0
    assert result <= value < result + width


@pytest.mark.parametrize(
    ("moment", "year", "month", "day", "hour"),
    [
        ("1970-01-01T00:00:00", 0, 0, 0, 0),
        ("1969-12-31T23:59:59.999999", -1, -1, -1, -1),
        ("1969-01-01T00:00:00", -1, -12, -365, -8760),
        ("1968-12-31T23:00:00", -2, -13, -366, -8761),
        ("2017-11-16T22:31:08.000001", 47, 574, 17486, 419686),
        ("2000-02-29T12:00:00", 30, 361, 11016, 264396),
        ("0001-01-01T00:00:00", -1969, -23628, -719162, -17259888),
    ],
)
def test_times_floor_before_1970_too(moment: str, year: int, month: int, day: int, hour: int) -> None:
    value = micros(moment)
    for type_, unit in ((TimestampType(), 1), (TimestamptzType(), 1), (TimestampNanoType(), 1000), (TimestamptzNanoType(), 1000)):
        results = [transform_function(t, type_)(value * unit) for t in (YEAR, MONTH, DAY, HOUR)]
        assert results == [year, month, day, hour]
    assert [transform_function(t, DateType())(day) for t in (YEAR, MONTH, DAY)] == [year, month, day]


@given(st.integers(-719162, 2932896))
def test_calendar_agrees_with_datetime(value: int) -> None:
    date = dt.date(1970, 1, 1) + dt.timedelta(value)
    assert civil_from_days(value) == (date.year, date.month, date.day)


@given(st.integers(-(2**31), 2**31 - 1))
def test_calendar_inverts_for_every_int_day(value: int) -> None:
    assert days_from_civil(*civil_from_days(value)) == value


ALLOWED = {
    "bucket[4]": "int long decimal date time timestamp timestamptz timestamp_ns timestamptz_ns string uuid fixed binary",
    "truncate[4]": "int long decimal string binary",
    "year": "date timestamp timestamptz timestamp_ns timestamptz_ns",
    "month": "date timestamp timestamptz timestamp_ns timestamptz_ns",
    "day": "date timestamp timestamptz timestamp_ns timestamptz_ns",
    "hour": "timestamp timestamptz timestamp_ns timestamptz_ns",
    "identity": "boolean int long float double decimal date time timestamp timestamptz timestamp_ns timestamptz_ns string uuid fixed "
    "binary unknown",
}
SAMPLES: list[PrimitiveType] = [
    BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DecimalType(9, 2), DateType(), TimeType(), TimestampType(),
    TimestamptzType(), TimestampNanoType(), TimestamptzNanoType(), StringType(), UUIDType(), FixedType(4), BinaryType(), UnknownType(),
    VariantType(), GeometryType(),
]  # fmt: skip


@pytest.mark.parametrize("text", ALLOWED)
def test_source_types_are_those_of_the_specification(text: str) -> None:
    transform = parse_transform(text)
    found = [str(type_).split("(")[0].split("[")[0] for type_ in SAMPLES if can_transform(transform, type_)]
    assert found == ALLOWED[text].split()
    assert not can_transform(transform, ListType(1, IntegerType()))
    assert not can_transform(transform, StructType(()))


def test_results_have_the_types_of_the_specification() -> None:
    assert result_type(bucket(4), StringType()) == IntegerType()
    assert result_type(DAY, TimestampType()) == DateType()
    assert {result_type(t, DateType()) for t in (YEAR, MONTH, HOUR)} == {IntegerType()}
    assert result_type(truncate(4), DecimalType(9, 2)) == DecimalType(9, 2)
    assert result_type(VOID, LongType()) == LongType()
    assert result_type(parse_transform("zorder"), LongType()) == StringType()


@pytest.mark.parametrize("text", ["identity", "void", "year", "month", "day", "hour", "bucket[16]", "truncate[2147483647]"])
def test_texts_round_trip_in_any_case(text: str) -> None:
    assert str(parse_transform(text)) == text
    assert parse_transform(text.upper()) == parse_transform(text)


@pytest.mark.parametrize("text", ["zorder", "Zorder[3]", "bucket", "bucket[]", "bucket[-1]", "bucket[x]", "truncate[1, 2]", ""])
def test_unknown_transforms_keep_their_text_and_cannot_be_applied(text: str) -> None:
    transform = parse_transform(text)
    assert str(transform) == text
    assert not transform.is_known
    with pytest.raises(UnsupportedError, match="unknown transform"):
        transform_function(transform, LongType())


@pytest.mark.parametrize("text", ["bucket[0]", "truncate[0]", "bucket[2147483648]", "bucket[99999999999999999999]"])
def test_widths_must_be_positive_ints(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"\(must be > 0\)"):
        parse_transform(text)


def test_wrong_source_types_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid source type double for transform: bucket"):
        transform_function(bucket(4), DoubleType())


@given(primitives)
def test_null_gives_null(type_: Type) -> None:
    for transform in (IDENTITY, VOID, YEAR, MONTH, DAY, HOUR, bucket(3), truncate(3)):
        if can_transform(transform, type_):
            assert transform_function(transform, type_)(None) is None


@given(st.data(), primitives, st.sampled_from([IDENTITY, YEAR, MONTH, DAY, HOUR, truncate(7)]))
def test_order_preserving_transforms_preserve_order(data: st.DataObject, type_: Type, transform: Transform) -> None:
    if not can_transform(transform, type_):
        return
    one, other = sorted([data.draw(values_of(type_)), data.draw(values_of(type_))])
    if transform.name == "truncate" and isinstance(one, int) and one < -(2**31) + 7:
        return  # wraps around
    function = transform_function(transform, type_)
    assert preserves_order(transform)
    assert function(one) <= function(other)


@pytest.mark.parametrize(
    ("transform", "type_", "value", "expected"),
    [
        (YEAR, DateType(), 51, "2021"),
        (MONTH, DateType(), 51 * 12 + 9, "2021-10"),
        (DAY, TimestampType(), days("2021-10-01"), "2021-10-01"),
        (HOUR, TimestampType(), days("2021-10-01") * 24 + 5, "2021-10-01-05"),
        (YEAR, DateType(), -1971, "-001"),
        (IDENTITY, DateType(), -1, "1969-12-31"),
        (IDENTITY, TimeType(), 81_068_123_000, "22:31:08.123"),
        (IDENTITY, TimeType(), 81_060_000_000, "22:31"),
        (IDENTITY, TimestampType(), 0, "1970-01-01T00:00:00"),
        (IDENTITY, TimestamptzType(), -1, "1969-12-31T23:59:59.999999+00:00"),
        (IDENTITY, TimestamptzNanoType(), 60_000_000, "1970-01-01T00:00:00.06+00:00"),
        (IDENTITY, BinaryType(), b"\x00\xff\x02", "AP8C"),
        (IDENTITY, BooleanType(), True, "true"),
        (IDENTITY, DecimalType(9, 2), Decimal("-0.50"), "-0.50"),
        (IDENTITY, DecimalType(10, 10), Decimal("1E-10"), "1E-10"),
        (bucket(16), StringType(), 7, "7"),
        (IDENTITY, StringType(), None, "null"),
        (VOID, StringType(), None, "null"),
    ],
)
def test_human_strings_are_those_of_iceberg_1_11(transform: Transform, type_: Type, value: Any, expected: str) -> None:
    assert human_string(transform, type_, value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0.0"), (-0.0, "-0.0"), (1e7, "1.0E7"), (1e-3, "0.001"), (9999999.0, "9999999.0"), (1.5e-5, "1.5E-5"), (5e-324, "4.9E-324"),
     (123456789.125, "1.23456789125E8"), (float("nan"), "NaN"), (float("-inf"), "-Infinity"), (100.0, "100.0")],
)  # fmt: skip
def test_floats_are_written_as_java_writes_them(value: float, expected: str) -> None:
    assert human.java_double(value) == expected


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_texts_read_back_equal(value: float) -> None:
    text = human.java_float(value)
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)


# -- the same results as PyIceberg


def _peer_type(type_: Type) -> Any:
    from pyiceberg.types import IcebergType

    return IcebergType.handle_primitive_type(str(type_), None)


def _peer_value(type_: Type, value: Any) -> Any:
    return value.bytes if isinstance(type_, UUIDType) else value


@given(primitive_values, st.integers(1, 1000))
def test_buckets_equal_pyiceberg(case: tuple[Type, Any], count: int) -> None:
    from pyiceberg.transforms import BucketTransform

    type_, value = case
    if not can_transform(bucket(count), type_) or isinstance(type_, TimestampNanoType | TimestamptzNanoType):
        return  # PyIceberg hashes nanoseconds without rounding down; appendix B's vectors above decide those
    peer = BucketTransform(count).transform(_peer_type(type_), bucket=True)
    assert transform_function(bucket(count), type_)(value) == peer(_peer_value(type_, value))


@given(primitive_values, st.integers(1, 1000))
def test_truncation_equals_pyiceberg(case: tuple[Type, Any], width: int) -> None:
    from pyiceberg.transforms import TruncateTransform

    type_, value = case
    wraps = isinstance(value, int) and value < (-(2**31) if isinstance(type_, IntegerType) else -(2**63)) + width
    if not can_transform(truncate(width), type_) or wraps:
        return
    assert transform_function(truncate(width), type_)(value) == TruncateTransform(width).transform(_peer_type(type_))(value)


@given(st.integers(-719162, 2932896), longs)
def test_times_equal_pyiceberg(day: int, moment: int) -> None:
    from pyiceberg import transforms as peer

    for ours, theirs in ((YEAR, peer.YearTransform()), (MONTH, peer.MonthTransform()), (DAY, peer.DayTransform())):
        assert transform_function(ours, DateType())(day) == theirs.transform(_peer_type(DateType()))(day)
    inside = day * 86_400_000_000 + moment % 86_400_000_000
    timed = [(YEAR, peer.YearTransform()), (MONTH, peer.MonthTransform()), (DAY, peer.DayTransform()), (HOUR, peer.HourTransform())]
    for ours, theirs in timed:
        assert transform_function(ours, TimestampType())(inside) == theirs.transform(_peer_type(TimestampType()))(inside)
