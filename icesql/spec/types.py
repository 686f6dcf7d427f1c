"""Iceberg types as frozen values. Spec: "Schemas and Data Types".

Python values held elsewhere (literals, partition tuples, defaults, decoded bounds) use the *internal form* of each type:

    boolean -> bool            date -> int days since 1970-01-01        string -> str
    int, long -> int           time -> int microseconds of the day      uuid -> uuid.UUID
    float, double -> float     timestamp, timestamptz -> int microseconds since the epoch (UTC)
    decimal -> decimal.Decimal timestamp_ns, timestamptz_ns -> int nanoseconds since the epoch (UTC)
    fixed, binary -> bytes     unknown -> None          struct -> tuple   list -> list   map -> dict

Null is always ``None``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


class PrimitiveType:
    """Base of all types without children; ``str()`` gives the name the specification uses in JSON."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class BooleanType(PrimitiveType):
    def __str__(self) -> str:
        return "boolean"


@dataclass(frozen=True, slots=True)
class IntegerType(PrimitiveType):
    def __str__(self) -> str:
        return "int"


@dataclass(frozen=True, slots=True)
class LongType(PrimitiveType):
    def __str__(self) -> str:
        return "long"


@dataclass(frozen=True, slots=True)
class FloatType(PrimitiveType):
    def __str__(self) -> str:
        return "float"


@dataclass(frozen=True, slots=True)
class DoubleType(PrimitiveType):
    def __str__(self) -> str:
        return "double"


@dataclass(frozen=True, slots=True)
class DecimalType(PrimitiveType):
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class DateType(PrimitiveType):
    def __str__(self) -> str:
        return "date"


@dataclass(frozen=True, slots=True)
class TimeType(PrimitiveType):
    def __str__(self) -> str:
        return "time"


@dataclass(frozen=True, slots=True)
class TimestampType(PrimitiveType):
    """Without zone, microseconds."""

    def __str__(self) -> str:
        return "timestamp"


@dataclass(frozen=True, slots=True)
class TimestamptzType(PrimitiveType):
    """An instant, stored in UTC microseconds."""

    def __str__(self) -> str:
        return "timestamptz"


@dataclass(frozen=True, slots=True)
class TimestampNanoType(PrimitiveType):
    """Without zone, nanoseconds; format version 3."""

    def __str__(self) -> str:
        return "timestamp_ns"


@dataclass(frozen=True, slots=True)
class TimestamptzNanoType(PrimitiveType):
    """An instant, stored in UTC nanoseconds; format version 3."""

    def __str__(self) -> str:
        return "timestamptz_ns"


@dataclass(frozen=True, slots=True)
class StringType(PrimitiveType):
    def __str__(self) -> str:
        return "string"


@dataclass(frozen=True, slots=True)
class UUIDType(PrimitiveType):
    def __str__(self) -> str:
        return "uuid"


@dataclass(frozen=True, slots=True)
class FixedType(PrimitiveType):
    length: int

    def __str__(self) -> str:
        return f"fixed[{self.length}]"


@dataclass(frozen=True, slots=True)
class BinaryType(PrimitiveType):
    def __str__(self) -> str:
        return "binary"


@dataclass(frozen=True, slots=True)
class UnknownType(PrimitiveType):
    """Always null; format version 3."""

    def __str__(self) -> str:
        return "unknown"


@dataclass(frozen=True, slots=True)
class VariantType(PrimitiveType):
    """Semi-structured value; format version 3. Not a primitive in the specification, but a leaf here."""

    def __str__(self) -> str:
        return "variant"


@dataclass(frozen=True, slots=True)
class GeometryType(PrimitiveType):
    crs: str | None = None

    def __str__(self) -> str:
        return "geometry" if self.crs is None else f"geometry({self.crs})"


@dataclass(frozen=True, slots=True)
class GeographyType(PrimitiveType):
    crs: str | None = None
    algorithm: str | None = None

    def __str__(self) -> str:
        if self.crs is None:
            return "geography"
        return f"geography({self.crs})" if self.algorithm is None else f"geography({self.crs}, {self.algorithm})"


@dataclass(frozen=True, slots=True)
class NestedField:
    """A field of a struct. ``initial_default`` and ``write_default`` are in internal form; ``None`` means no default."""

    id: int
    name: str
    type: Type
    required: bool = False
    doc: str | None = None
    initial_default: object = None
    write_default: object = None

    @property
    def optional(self) -> bool:
        return not self.required


@dataclass(frozen=True, slots=True)
class StructType:
    fields: tuple[NestedField, ...]

    def __str__(self) -> str:
        inner = ", ".join(f"{f.id}: {f.name}: {'required' if f.required else 'optional'} {f.type}" for f in self.fields)
        return f"struct<{inner}>"

    def field(self, name: str) -> NestedField | None:
        """The direct child of that exact name, or ``None``."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass(frozen=True, slots=True)
class ListType:
    element_id: int
    element: Type
    element_required: bool = False

    def __str__(self) -> str:
        return f"list<{self.element}>"

    @property
    def element_field(self) -> NestedField:
        return NestedField(self.element_id, "element", self.element, self.element_required)


@dataclass(frozen=True, slots=True)
class MapType:
    key_id: int
    key: Type
    value_id: int
    value: Type
    value_required: bool = False

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"

    @property
    def key_field(self) -> NestedField:
        return NestedField(self.key_id, "key", self.key, True)

    @property
    def value_field(self) -> NestedField:
        return NestedField(self.value_id, "value", self.value, self.value_required)


Type: TypeAlias = PrimitiveType | StructType | ListType | MapType


def children(type_: Type) -> tuple[NestedField, ...]:
    """The direct fields of a nested type (list: element; map: key, value), ``()`` for a leaf."""
    match type_:
        case StructType(fields=fields):
            return fields
        case ListType():
            return (type_.element_field,)
        case MapType():
            return (type_.key_field, type_.value_field)
        case _:
            return ()
