"""Partition tuples as directory names, ``day=2021-10-01/b=3``, escaped as Java's ``PartitionSpec.partitionToPath`` does."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from urllib.parse import quote_plus

from icesql.errors import InvalidArgumentError
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import human_string, result_type
from icesql.spec.types import BinaryType, FixedType, StringType, Type, UnknownType
from icesql.spec.values import iso
from icesql.spec.values.calendar import days_from_civil
from icesql.spec.values.literals import OutOfRange, literal

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def escape(text: str) -> str:
    """Form encoding of UTF-8, as Java's ``URLEncoder``: letters, digits and ``.-*_`` stay, a space becomes ``+``."""
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


def partition_path(spec: PartitionSpec, schema: Schema, partition: Sequence[object]) -> str:
    """The directory of a partition tuple (internal form); ``""`` for a spec without fields."""
    return "/".join(
        f"{escape(field.name)}={escape(human_string(field.transform, _source_type(field, schema), value))}"
        for field, value in zip(spec.fields, partition, strict=True)
    )


def _source_type(field: PartitionField, schema: Schema) -> Type:
    source = schema.find(field.source_id)
    return UnknownType() if source is None else source.type


def partition_value(field: PartitionField, source_type: Type, text: str) -> object:
    """The value of one partition field from its unescaped text. Raises InvalidArgumentError."""
    type_ = result_type(field.transform, source_type)
    if text == HIVE_NULL or (text == "null" and not isinstance(type_, StringType)):
        return None
    if field.transform.name in _PERIODS:
        return _period(field.transform.name, text)
    if isinstance(type_, BinaryType | FixedType):
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise InvalidArgumentError(f"Cannot parse partition value: not base64: {text!r}") from error
    value = literal(type_, text)
    if isinstance(value, OutOfRange):
        raise InvalidArgumentError(f"Cannot parse partition value: out of range of {type_}: {text!r}")
    return value


_PERIODS: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str]], int]]] = {
    "year": (re.compile(r"(-\d{3,}|\d{4,})"), lambda m: int(m[1]) - 1970),
    "month": (re.compile(r"(-\d{3,}|\d{4,})-(0[1-9]|1[0-2])"), lambda m: (int(m[1]) - 1970) * 12 + int(m[2]) - 1),
    "day": (re.compile(r"(-\d{3,}|\d{4,})-(\d\d)-(\d\d)"), lambda m: _checked_day(m)),
    "hour": (re.compile(r"(-\d{3,}|\d{4,})-(\d\d)-(\d\d)-([01]\d|2[0-3])"), lambda m: _checked_day(m) * 24 + int(m[4])),
}


def _period(name: str, text: str) -> int:
    pattern, value_of = _PERIODS[name]
    matched = pattern.fullmatch(text)
    if matched is not None:
        return value_of(matched)
    if re.fullmatch(r"-?\d+", text):  # the bare number, as other engines write it
        return int(text)
    raise InvalidArgumentError(f"Cannot parse partition value: not a {name}: {text!r}")


def _checked_day(parts: re.Match[str]) -> int:
    year, month, day = int(parts[1]), int(parts[2]), int(parts[3])
    if 0 <= year <= 9999:
        return iso.days_from_iso(f"{year:04d}-{month:02d}-{day:02d}")
    return days_from_civil(year, month, day)
