"""SQL types to Iceberg types: Spark's names, and Iceberg's own for what Spark cannot name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from icesql.parser.cursor import Cursor
from icesql.parser.names import Span
from icesql.parser.tokens import Kind
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    GeographyType,
    GeometryType,
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
)  # fmt: skip

_SIMPLE: dict[str, Callable[[], Type]] = {
    "BOOLEAN": BooleanType,
    "TINYINT": IntegerType,
    "BYTE": IntegerType,
    "SMALLINT": IntegerType,
    "SHORT": IntegerType,
    "INT": IntegerType,
    "INTEGER": IntegerType,
    "BIGINT": LongType,
    "LONG": LongType,
    "FLOAT": FloatType,
    "REAL": FloatType,
    "DOUBLE": DoubleType,
    "DATE": DateType,
    "TIMESTAMP": TimestamptzType,
    "TIMESTAMP_LTZ": TimestamptzType,
    "TIMESTAMPTZ": TimestamptzType,
    "TIMESTAMP_NTZ": TimestampType,
    "TIMESTAMP_NS": TimestampNanoType,
    "TIMESTAMPTZ_NS": TimestamptzNanoType,
    "BINARY": BinaryType,
    "UUID": UUIDType,
    "VOID": UnknownType,
    "UNKNOWN": UnknownType,
    "VARIANT": VariantType,
}
_SRIDS = {4326: None, 3857: "EPSG:3857", 0: "SRID:0"}
_MAX_DEPTH = 100


def parse_type(text: str) -> Type:
    """The Iceberg type of a SQL type such as ``struct<a: int not null, b: array<decimal(9,2)>>``.

    byte and short become int, char and varchar string (lengths are not kept), timestamp an instant. Nested field ids are unique within the
    type and meant to be reassigned. Raises SqlError, ``Not a supported type: ...`` for intervals and the like.
    """
    cursor = Cursor(text)
    found = TypeReader(cursor).read()
    cursor.expect_end()
    return found


class TypeReader:
    """Reads types at a cursor; the ids it hands to nested fields are unique over its life."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._ids = count(1)
        self._depth = 0

    def next_id(self) -> int:
        return next(self._ids)

    def read(self) -> Type:
        if self._depth >= _MAX_DEPTH:
            self.cursor.fail(f"Cannot parse type: it is nested deeper than {_MAX_DEPTH} levels")
        self._depth += 1
        try:
            return self._read()
        finally:
            self._depth -= 1

    def _read(self) -> Type:
        cursor = self.cursor
        token = cursor.token
        if token.kind is not Kind.WORD:
            cursor.no_alternative()
        cursor.next()
        key = token.key
        if key == "TIMESTAMP" and (cursor.accept("WITHOUT", "TIME", "ZONE") or cursor.timestamp_ntz):
            return TimestampType()
        if key in _SIMPLE:
            return _SIMPLE[key]()
        if key in _READERS:
            return _READERS[key](self)
        if key == "INTERVAL":
            return self._interval(token.start)
        return cursor.fail(f'Unsupported data type "{key}".', token)

    def _interval(self, start: int) -> Type:
        while self.cursor.accept_any("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"):
            pass
        span = Span(start, self.cursor.last_end)
        return self.cursor.fail_at(f"Not a supported type: {span.of(self.cursor.text).lower()}", span)

    def _decimal(self) -> Type:
        start = self.cursor.position - 1
        precision, scale = 10, 0
        if self.cursor.accept("("):
            precision = self.cursor.integer()
            if self.cursor.accept(","):
                scale = self.cursor.integer()
            self.cursor.expect(")")
        span = Span(self.cursor.tokens[start].start, self.cursor.last_end)
        if not 1 <= precision <= 38:
            self.cursor.fail_at(f"Cannot parse type: decimal precision must be between 1 and 38: {precision}", span)
        if scale > precision:
            self.cursor.fail_at(f"Cannot parse type: decimal scale ({scale}) is greater than precision ({precision})", span)
        return DecimalType(precision, scale)

    def _string(self) -> Type:
        if self.cursor.accept("COLLATE"):
            self.cursor.name_parts()
        return StringType()

    def _sized_string(self) -> Type:
        word = self.cursor.tokens[self.cursor.position - 1]
        if not self.cursor.at("("):
            self.cursor.fail(f'DataType "{word.key}" requires a length parameter, for example "{word.key}"(10).', word)
        self._size(word.key.lower(), least=0)
        return self._string()

    def _size(self, what: str, least: int = 1) -> int:
        self.cursor.expect("(")
        token = self.cursor.token
        size = self.cursor.integer()
        if size < least:
            self.cursor.fail(f"Cannot parse type: the length of {what} must be at least {least}: {size}", token)
        self.cursor.expect(")")
        return size

    def _time(self) -> Type:
        if self.cursor.accept("("):
            token = self.cursor.token
            if self.cursor.integer() > 6:
                self.cursor.fail("Cannot parse type: the precision of time must be at most 6", token)
            self.cursor.expect(")")
        return TimeType()

    def _fixed(self) -> Type:
        if self.cursor.accept("["):
            size = self.cursor.integer()
            self.cursor.expect("]")
            return FixedType(size)
        return FixedType(self._size("fixed"))

    def _geometry(self) -> Type:
        if not self.cursor.accept("("):
            return GeometryType()
        crs = self._crs()
        self.cursor.expect(")")
        return GeometryType(crs)

    def _geography(self) -> Type:
        if not self.cursor.accept("("):
            return GeographyType()
        crs = self._crs()
        algorithm = self.cursor.identifier().lower() if self.cursor.accept(",") else None
        self.cursor.expect(")")
        return GeographyType(crs, algorithm)

    def _crs(self) -> str | None:
        if self.cursor.token.kind is Kind.STRING:
            crs = self.cursor.string()
            return None if crs.upper() == "OGC:CRS84" else crs
        if self.cursor.token.kind is Kind.NUMBER:
            token = self.cursor.token
            srid = self.cursor.integer()
            if srid not in _SRIDS:
                self.cursor.fail(f"Cannot parse type: the spatial reference is not supported: {srid}", token)
            return _SRIDS[srid]
        crs = self.cursor.identifier()
        while self.cursor.accept(":"):
            crs += ":" + self.cursor.next().text
        return None if crs.upper() in ("OGC:CRS84", "ANY") else crs

    def _array(self) -> Type:
        self.cursor.expect("<")
        element_id = self.next_id()
        element = self.read()
        self.cursor.expect(">")
        return ListType(element_id, element)

    def _map(self) -> Type:
        self.cursor.expect("<")
        key_id, value_id = self.next_id(), self.next_id()
        key = self.read()
        self.cursor.expect(",")
        value = self.read()
        self.cursor.expect(">")
        return MapType(key_id, key, value_id, value)

    def _struct(self) -> Type:
        if self.cursor.accept("<>"):
            return StructType(())
        self.cursor.expect("<")
        fields: list[NestedField] = []
        while not self.cursor.at(">"):
            if fields:
                self.cursor.expect(",")
            fields.append(self._field())
        self.cursor.expect(">")
        return StructType(tuple(fields))

    def _field(self) -> NestedField:
        name = self.cursor.identifier()
        self.cursor.accept(":")
        field_id = self.next_id()
        type_ = self.read()
        required = self.cursor.accept("NOT", "NULL")
        doc = self.cursor.string() if self.cursor.accept("COMMENT") else None
        return NestedField(field_id, name, type_, required, doc)


_READERS: dict[str, Callable[[TypeReader], Type]] = {
    "DECIMAL": TypeReader._decimal,
    "DEC": TypeReader._decimal,
    "NUMERIC": TypeReader._decimal,
    "STRING": TypeReader._string,
    "CHAR": TypeReader._sized_string,
    "CHARACTER": TypeReader._sized_string,
    "VARCHAR": TypeReader._sized_string,
    "TIME": TypeReader._time,
    "FIXED": TypeReader._fixed,
    "GEOMETRY": TypeReader._geometry,
    "GEOGRAPHY": TypeReader._geography,
    "ARRAY": TypeReader._array,
    "MAP": TypeReader._map,
    "STRUCT": TypeReader._struct,
}
