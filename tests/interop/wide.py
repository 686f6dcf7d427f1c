"""One table with a column of every type, rows at the edges of each, and partition specs that cover every transform.

Values are in internal form (dates and times as numbers), so that they compare alike whichever peer gave them.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from icesql.io.arrow.types import internal_values, to_arrow_schema, to_arrow_value
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import DAY, HOUR, IDENTITY, MONTH, VOID, YEAR, Transform, bucket, can_transform, truncate
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
)
from icesql.spec.values.decimals import from_unscaled

FIRST_MICRO, LAST_MICRO = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 and 9999
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
FIRST_NANO, LAST_NANO = -(2**63) + 1, 2**63 - 1
ORC_EDGES = {-1: -1_000_001, -2: -1_000_000_002}  # ORC has no last second of 1969
_TIMESTAMPS = (TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType)
NAN, INFINITE = math.nan, math.inf

# name, type, and the values of rows 1 to 5: least, greatest, ordinary, just before zero or 1970, special. Row 0 is null.
COLUMNS: list[tuple[str, Type, tuple[Any, ...]]] = [
    ("flag", BooleanType(), (False, True, True, False, True)),
    ("i", IntegerType(), (-(2**31), 2**31 - 1, 34, -1, 0)),
    ("l", LongType(), (-(2**63), 2**63 - 1, 34, -1, 2**53 + 1)),
    ("f", FloatType(), (-INFINITE, INFINITE, 0.5, -0.0, NAN)),
    ("x", DoubleType(), (-INFINITE, INFINITE, 1e-300, -0.0, NAN)),
    ("n9", DecimalType(9, 2), (Decimal("-9999999.99"), Decimal("9999999.99"), Decimal("14.20"), Decimal("-0.01"), Decimal("0.00"))),
    ("n18", DecimalType(18, 0), (Decimal(-(10**18) + 1), Decimal(10**18 - 1), Decimal(1420), Decimal(-1), Decimal(0))),
    ("n38", DecimalType(38, 10), tuple(from_unscaled(n, 10) for n in (-(10**38) + 1, 10**38 - 1, 1, -1, 255))),
    ("d", DateType(), (FIRST_DAY, LAST_DAY, 17486, -1, 0)),
    ("t", TimeType(), (0, 86_399_999_999, 81_068_123_456, 1, 3_600_000_000)),
    ("ts", TimestampType(), (FIRST_MICRO, LAST_MICRO, 1_510_871_468_000_001, -1, 0)),
    ("tz", TimestamptzType(), (FIRST_MICRO, LAST_MICRO, 1_510_871_468_000_001, -1, 0)),
    ("s", StringType(), ("", "\U0010ffff\U0010ffff", "iceberg", "h\u00e9llo w\u00f6rld ".ljust(40, "z"), "\U0001f600 'q\" %20")),
    ("u", UUIDType(), (UUID(int=0), UUID(int=2**128 - 1), UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), UUID(int=2**127), UUID(int=1))),
    ("fx", FixedType(5), (bytes(5), b"\xff" * 5, b"abcde", b"\x00\x01\x02\x03\x04", b"\x7f\x80\x81\x00\x00")),
    ("b", BinaryType(), (b"", b"\xff" * 20, b"\x00\x01\x02\x03", b"\x00", b"\xff\xfe\x00")),
]
NANO_COLUMNS: list[tuple[str, Type, tuple[Any, ...]]] = [
    ("tsn", TimestampNanoType(), (FIRST_NANO, LAST_NANO, 1_510_871_468_000_001_001, -2, 0)),
    ("tzn", TimestamptzNanoType(), (FIRST_NANO, LAST_NANO, 1_510_871_468_000_001_001, -2, 999)),
    ("none", UnknownType(), (None,) * 5),
]


def nested_fields(first: int) -> tuple[NestedField, ...]:
    """A struct, a list of structs and a map to lists, with ids from ``first`` on, siblings before their children."""
    point = StructType((NestedField(first + 3, "p", IntegerType()), NestedField(first + 4, "q r", StringType())))
    item = StructType((NestedField(first + 6, "k", DateType()), NestedField(first + 7, "v", DecimalType(9, 2))))
    return (
        NestedField(first, "st", point),
        NestedField(first + 1, "ls", ListType(first + 5, item)),
        NestedField(first + 2, "m", MapType(first + 8, StringType(), first + 9, ListType(first + 10, LongType()))),
    )


NESTED_VALUES: tuple[tuple[Any, ...], ...] = (
    (None, None, None),
    ((None, None), [], {}),
    ((2**31 - 1, "z"), [(17486, Decimal("1.25")), None, (None, None)], {"a": [1, None], "b": None, "": []}),
    ((-1, ""), [None], {"k": [2**63 - 1]}),
    (None, [(0, None)], {"\u00e9": []}),
    ((0, "\U0001f600"), None, None),
)


def columns(version: int) -> list[tuple[str, Type, tuple[Any, ...]]]:
    return COLUMNS + NANO_COLUMNS if version >= 3 else COLUMNS


def wide_schema(version: int) -> Schema:
    """``id`` (required), a column of each primitive type that the version has, and nested ones. Ids as Java numbers a new table."""
    plain = tuple(NestedField(i, name, type_) for i, (name, type_, _) in enumerate(columns(version), 2))
    return Schema((NestedField(1, "id", LongType(), True), *plain, *nested_fields(len(plain) + 2)))


def wide_rows(version: int, file_format: str = "parquet") -> list[tuple[Any, ...]]:
    """Six rows: row 0 is all null, the others as ``COLUMNS`` says. ORC has no timestamps beyond those that fit nanoseconds."""
    edges = ORC_EDGES if file_format == "orc" else {}
    made = []
    for number in range(6):
        values = tuple(None if number == 0 else _edge(edges, type_, values[number - 1]) for _, type_, values in columns(version))
        made.append((number, *values, *NESTED_VALUES[number]))
    return made


def _edge(edges: dict[int, int], type_: Type, value: Any) -> Any:
    return edges.get(value, value) if isinstance(type_, _TIMESTAMPS) else value


def arrow_rows(schema: Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    arrow = to_arrow_schema(schema)
    arrays = [pa.array([to_arrow_value(field.type, row[i]) for row in rows], arrow.field(i).type) for i, field in enumerate(schema.fields)]
    return pa.Table.from_arrays(arrays, schema=arrow)


# -- transforms --------------------------------------------------------------------------------------------------------
TIME_TURNS = {"turn1": (YEAR, MONTH, DAY), "turn2": (MONTH, DAY, HOUR), "turn3": (DAY, HOUR, YEAR), "turn4": (VOID, YEAR, MONTH)}
GROUPS = ("identity", "bucket", "truncate", "void")


def group_spec(group: str, schema: Schema) -> PartitionSpec:
    """One spec that applies the group's transform to every column that takes it, and one turn of the time transforms."""
    chosen: list[tuple[Transform, NestedField]] = []
    transform = {"identity": IDENTITY, "bucket": bucket(4), "truncate": truncate(3), "void": VOID}[group]
    for field in schema.fields[1:]:
        if isinstance(field.type, PrimitiveType) and not isinstance(field.type, UnknownType) and can_transform(transform, field.type):
            chosen.append((transform, field))
    turn = list(TIME_TURNS.values())[GROUPS.index(group)]
    for source, time in zip(("d", "ts", "tz"), turn, strict=True):
        chosen.append((time, schema.field(source)))
    for source, time in zip(("tsn", "tzn"), turn[1:], strict=True):
        if source in schema.ids_by_name:
            chosen.append((time, schema.field(source)))
    chosen = list({(str(t), f.id): (t, f) for t, f in chosen}.values())
    fields = tuple(
        PartitionField(source_ids=(f.id,), field_id=1000 + i, transform=t, name=f.name if t.is_identity else f"{f.name}_{t.name}")
        for i, (t, f) in enumerate(chosen)
    )
    return PartitionSpec(fields=fields)


# -- comparing ---------------------------------------------------------------------------------------------------------
def rows_of(schema: Schema, table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of an Arrow table of the schema's types, in internal form."""
    read = [internal_values(field.type, table.column(i)) for i, field in enumerate(schema.fields)]
    return list(zip(*read, strict=True))


def rows_of_spark(schema: Schema, frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a DataFrame over a table of the schema, in internal form; nanoseconds as whole microseconds."""
    table = frame.toArrow()
    return list(zip(*(_spark_values(field.type, table.column(i).combine_chunks()) for i, field in enumerate(schema.fields)), strict=True))


def _spark_values(type_: Type, array: pa.Array) -> list[Any]:
    match type_:
        case UUIDType():
            return [None if v is None else UUID(v) for v in array.to_pylist()]
        case TimeType():
            return [None if v is None else v // 1000 for v in array.cast(pa.int64()).to_pylist()]
        case TimestampNanoType() | TimestamptzNanoType():
            return [None if v is None else v * 1000 for v in array.cast(pa.int64()).to_pylist()]
        case UnknownType():
            return [None] * len(array)
    return internal_values(type_, array)


def micros_only(schema: Schema, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Nanoseconds as Spark shows them: cut to microseconds."""
    nanos = {i for i, f in enumerate(schema.fields) if isinstance(f.type, TimestampNanoType | TimestamptzNanoType)}
    return [tuple(v // 1000 * 1000 if i in nanos and v is not None else v for i, v in enumerate(row)) for row in rows]


def normal(rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows as sorted text: NaN equals NaN, -0.0 differs from 0.0, maps do not depend on their order."""
    return sorted(repr(tuple(map(_normal, row))) for row in rows)


def _normal(value: Any) -> Any:
    match value:
        case dict():
            return sorted((repr(_normal(k)), _normal(v)) for k, v in value.items())
        case list():
            return [_normal(v) for v in value]
        case tuple():
            return tuple(_normal(v) for v in value)
        case bytearray() | memoryview():
            return bytes(value)
    return value


def as_float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])
