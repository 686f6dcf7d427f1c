"""Single values as bytes and as JSON. Spec: appendix D."""

from __future__ import annotations

import json
import math
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError, InvalidArgumentError
from icesql.spec.json import values as value_json
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
    UnknownType,
    UUIDType,
    VariantType,
)
from icesql.spec.values.binary import from_bytes, to_bytes, truncate_lower, truncate_upper
from tests.spec.strategies import primitive_values, primitives, texts

UUID = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
MOMENT = 1_510_871_468_123_456  # 2017-11-16T22:31:08.123456
APPENDIX_D_BINARY = [
    (BooleanType(), True, b"\x01"),
    (BooleanType(), False, b"\x00"),
    (IntegerType(), -2, b"\xfe\xff\xff\xff"),
    (LongType(), 1, b"\x01" + bytes(7)),
    (FloatType(), 1.0, b"\x00\x00\x80\x3f"),
    (DoubleType(), -2.0, bytes(7) + b"\xc0"),
    (DateType(), 365, (365).to_bytes(4, "little")),
    (TimestampType(), MOMENT, MOMENT.to_bytes(8, "little")),
    (TimestamptzNanoType(), MOMENT * 1000, (MOMENT * 1000).to_bytes(8, "little")),
    (StringType(), "aé", b"a\xc3\xa9"),
    (UUIDType(), UUID, UUID.bytes),
    (FixedType(2), b"\x01\x02", b"\x01\x02"),
    (BinaryType(), b"", b""),
    (DecimalType(9, 2), Decimal("14.20"), (1420).to_bytes(2, "big")),
    (DecimalType(9, 2), Decimal("1.28"), b"\x00\x80"),  # two's complement needs the leading zero
    (DecimalType(9, 2), Decimal("-1.28"), b"\x80"),
    (DecimalType(9, 0), Decimal("0"), b"\x00"),
]


@pytest.mark.parametrize(("type_", "value", "data"), APPENDIX_D_BINARY, ids=lambda part: str(part)[:24])
def test_binary_forms_of_appendix_d(type_: Type, value: Any, data: bytes) -> None:
    assert to_bytes(type_, value) == data
    assert from_bytes(type_, data) == value
    assert str(from_bytes(type_, data)) == str(value)


@given(primitive_values)
def test_bytes_round_trip(case: tuple[Type, Any]) -> None:
    type_, value = case
    assert from_bytes(type_, to_bytes(type_, value)) == value


@given(primitive_values)
def test_bytes_equal_pyiceberg(case: tuple[Type, Any]) -> None:
    from pyiceberg import conversions
    from pyiceberg.types import IcebergType

    type_, value = case
    peer = IcebergType.handle_primitive_type(str(type_), None)
    assert to_bytes(type_, value) == conversions.to_bytes(peer, value.bytes if isinstance(type_, UUIDType) else value)


@given(primitives, st.binary(max_size=20))
def test_any_bytes_give_a_value_or_corrupt_metadata(type_: Type, data: bytes) -> None:
    try:
        from_bytes(type_, data)
    except CorruptMetadataError as error:
        assert str(type_) in str(error)


def test_bytes_of_a_promoted_type_are_read() -> None:
    assert from_bytes(LongType(), to_bytes(IntegerType(), -7)) == -7
    assert from_bytes(DoubleType(), to_bytes(FloatType(), 1.5)) == 1.5
    assert from_bytes(DecimalType(18, 2), to_bytes(DecimalType(9, 2), Decimal("-1.28"))) == Decimal("-1.28")
    assert from_bytes(TimestampType(), to_bytes(DateType(), -1)) == -86_400_000_000
    assert from_bytes(TimestampNanoType(), to_bytes(DateType(), 1)) == 86_400_000_000_000
    with pytest.raises(CorruptMetadataError):
        from_bytes(TimestamptzType(), to_bytes(DateType(), 1))


@pytest.mark.parametrize(
    ("type_", "value"),
    [(IntegerType(), 2**31), (LongType(), "x"), (DecimalType(9, 2), Decimal("1.234")), (StringType(), 5), (VariantType(), 5),
     (ListType(1, LongType()), [1]), (UUIDType(), "x")],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(type_: Type, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="Cannot serialize value"):
        to_bytes(type_, value)


# -- truncated bounds


@given(texts, st.integers(1, 6))
def test_truncated_strings_are_bounds(value: str, length: int) -> None:
    lower, upper = truncate_lower(StringType(), value, length), truncate_upper(StringType(), value, length)
    assert lower <= value and len(lower) <= length
    assert upper is None or (upper >= value and len(upper) <= length)
    assert upper is None or upper.encode("utf-8") >= value.encode("utf-8")


@given(st.binary(max_size=12), st.integers(1, 6))
def test_truncated_binaries_are_bounds(value: bytes, length: int) -> None:
    lower, upper = truncate_lower(BinaryType(), value, length), truncate_upper(BinaryType(), value, length)
    assert lower <= value and len(lower) <= length
    assert upper is None or (upper >= value and len(upper) <= length)


@pytest.mark.parametrize(
    ("value", "length", "expected"),
    [("abc", 3, "abc"), ("abcd", 3, "abd"), ("a\ud7ffx", 2, "a\ue000"), ("a\U0010ffffb", 2, "b"), ("\U0010ffff\U0010ffff", 1, None),
     ("\U0001f600\U0001f600x", 2, "\U0001f600\U0001f601")],
)  # fmt: skip
def test_upper_bounds_go_to_the_next_code_point(value: str, length: int, expected: str | None) -> None:
    assert truncate_upper(StringType(), value, length) == expected


def test_upper_bounds_of_bytes_and_of_other_types() -> None:
    assert truncate_upper(BinaryType(), b"\x01\xff\xff\x01", 3) == b"\x02"
    assert truncate_upper(BinaryType(), b"\xff\xff", 1) is None
    assert truncate_upper(LongType(), 123456, 1) == truncate_lower(LongType(), 123456, 1) == 123456


# -- JSON


APPENDIX_D_JSON = [
    (BooleanType(), True, True),
    (IntegerType(), 34, 34),
    (LongType(), 34, 34),
    (FloatType(), 1.0, 1.0),
    (DoubleType(), 1.0, 1.0),
    (DecimalType(9, 2), Decimal("14.20"), "14.20"),
    (DateType(), 17486, "2017-11-16"),
    (TimeType(), 81_068_123_456, "22:31:08.123456"),
    (TimestampType(), MOMENT, "2017-11-16T22:31:08.123456"),
    (TimestamptzType(), MOMENT, "2017-11-16T22:31:08.123456+00:00"),
    (TimestampNanoType(), MOMENT * 1000 + 789, "2017-11-16T22:31:08.123456789"),
    (TimestamptzNanoType(), MOMENT * 1000 + 789, "2017-11-16T22:31:08.123456789+00:00"),
    (StringType(), "iceberg", "iceberg"),
    (UUIDType(), UUID, "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    (FixedType(4), bytes([0, 1, 2, 255]), "000102FF"),
    (BinaryType(), bytes([0, 1, 2, 255]), "000102FF"),
    (StructType((NestedField(1, "a", IntegerType()), NestedField(2, "b", StringType()))), (1, "bar"), {"1": 1, "2": "bar"}),
    (ListType(1, IntegerType()), [1, None, 3], [1, None, 3]),
    (MapType(1, StringType(), 2, IntegerType()), {"a": 1, "b": 2}, {"keys": ["a", "b"], "values": [1, 2]}),
]


@pytest.mark.parametrize(("type_", "value", "node"), APPENDIX_D_JSON, ids=lambda part: str(part)[:24])
def test_json_forms_of_appendix_d(type_: Type, value: Any, node: Any) -> None:
    assert value_json.to_json(type_, value) == node
    assert value_json.from_json(type_, json.loads(json.dumps(node))) == value


def test_hexadecimal_is_read_in_any_case() -> None:
    assert value_json.from_json(BinaryType(), "000102ff") == bytes([0, 1, 2, 255])


@given(primitive_values)
def test_json_round_trips(case: tuple[Type, Any]) -> None:
    type_, value = case
    read = value_json.from_json(type_, json.loads(json.dumps(value_json.to_json(type_, value))))
    assert read == value and str(read) == str(value)


def test_what_is_not_a_number_round_trips() -> None:
    assert value_json.to_json(DoubleType(), math.inf) == "Infinity"
    assert math.isnan(value_json.from_json(FloatType(), value_json.to_json(FloatType(), math.nan)))


@pytest.mark.parametrize(
    ("type_", "node"),
    [(DoubleType(), 10**400),
     (IntegerType(), 2**31), (IntegerType(), True), (IntegerType(), 1.5), (LongType(), "1"), (DecimalType(9, 2), "14.2"),
     (DecimalType(3, 2), "14.20"), (DecimalType(9, 2), "x"), (DateType(), "2017-02-29"), (TimeType(), "25:00:00"),
     (TimestampType(), "2017-11-16T22:31:08+00:00"), (TimestamptzType(), "2017-11-16T22:31:08"), (UUIDType(), "x"),
     (FixedType(4), "00"), (BinaryType(), "0"), (BooleanType(), 1), (StringType(), 1), (UnknownType(), 1), (VariantType(), {}),
     (ListType(1, IntegerType()), {}), (ListType(1, IntegerType()), [1, "x"]),
     (MapType(1, StringType(), 2, IntegerType()), {"keys": ["a"]}),
     (MapType(1, ListType(3, IntegerType()), 2, IntegerType()), {"keys": [[1]], "values": [1]})],
    ids=str,
)  # fmt: skip
def test_json_that_does_not_fit_is_corrupt(type_: Type, node: Any) -> None:
    with pytest.raises(CorruptMetadataError):
        value_json.from_json(type_, node)
