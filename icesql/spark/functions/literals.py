"""Values in internal form as literals of Spark SQL."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from icesql.spec import types as I
from icesql.spec.values.iso import nanos_of_day_to_iso, nanos_to_iso


def sql_literal(type_: I.Type, value: Any) -> str:
    """A literal that Spark reads as the internal-form ``value`` of an Iceberg type. ``None`` gives ``NULL``."""
    if value is None:
        return "NULL"
    match type_:
        case I.BooleanType():
            return "true" if value else "false"
        case I.IntegerType() | I.LongType():
            return f"CAST('{value}' AS {'INT' if isinstance(type_, I.IntegerType) else 'BIGINT'})"
        case I.FloatType() | I.DoubleType():
            return f"CAST('{_float_text(value)}' AS {'FLOAT' if isinstance(type_, I.FloatType) else 'DOUBLE'})"
        case I.DecimalType(precision=precision, scale=scale):
            return f"CAST('{Decimal(value):f}' AS DECIMAL({precision},{scale}))"
        case I.StringType():
            return quoted_string(str(value))
        case I.UUIDType():
            return quoted_string(str(value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))))
        case I.BinaryType() | I.FixedType():
            return f"X'{bytes(value).hex().upper()}'"
        case I.DateType():
            return f"date_from_unix_date({value})"
        case I.TimestamptzType():
            return f"timestamp_micros({value})"
        case I.TimestamptzNanoType():
            return f"timestamp_micros({value // 1000})"
        case I.TimestampType():
            return f"to_timestamp_ntz('{_iso(value)}')"
        case I.TimestampNanoType():
            return f"to_timestamp_ntz('{_iso(value // 1000)}')"
        case I.TimeType():
            return f"TIME'{_time(value)}'"
        case I.StructType(fields=fields):
            parts = ", ".join(f"{quoted_string(f.name)}, {sql_literal(f.type, v)}" for f, v in zip(fields, value, strict=True))
            return f"named_struct({parts})"
        case I.ListType():
            return f"array({', '.join(sql_literal(type_.element, v) for v in value)})"
        case I.MapType():
            return f"map({', '.join(f'{sql_literal(type_.key, k)}, {sql_literal(type_.value, v)}' for k, v in value.items())})"
        case _:
            return "NULL"


def quoted_string(value: str) -> str:
    """Between single quotes, escaped so that Spark reads it back unchanged."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _float_text(value: float) -> str:
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))


def _iso(micros: int) -> str:
    return nanos_to_iso(micros * 1000, digits=6)


def _time(micros: int) -> str:
    return nanos_of_day_to_iso(micros * 1000, digits=6)
