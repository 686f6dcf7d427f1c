"""Compile an Avro writer schema into functions that decode records of metadata files. Avro specification: "Binary Encoding".

Values come in internal form (``icesql.spec.types``): decimals and uuids are made, dates and timestamps stay numbers. Records become dicts
keyed by
field id (by name where the writer left ids out); Iceberg's arrays of key and value (``logicalType`` map) become dicts.

A decoder takes (data, position) and returns (value, position). It raises IndexError, ValueError, struct.error or UnicodeDecodeError on
damage;
callers turn these into CorruptMetadataError.

By hand for executors, which have pyarrow and numpy alone, and for values of no bytes, which must be counted. Of manifest entries fastavro
1.13, compiled, made 14,000 a second of a core, these functions 24,000. Rows of data files are fastavro's where it is installed.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from icesql.io.avro.container import read_bytes, read_long
from icesql.spec import budgets
from icesql.spec.values.decimals import from_unscaled

Decoder: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
DAMAGE = (IndexError, ValueError, struct.error, UnicodeDecodeError, OverflowError, ArithmeticError)
MAX_DEPTH = budgets.AVRO_DEPTH

_float, _double = struct.Struct("<f"), struct.Struct("<d")
_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


def compile_decoder(schema: Any, ids_by_name: Mapping[str, int] | None = None) -> Decoder:
    """``ids_by_name`` gives ids to record fields without a ``field-id``. Raises ValueError for a schema that is not Avro."""
    return _Compiler(ids_by_name or {}).whole(schema)


def field_key(field: Mapping[str, Any], ids_by_name: Mapping[str, int]) -> int | str:
    """A record field's id, or its name where neither the writer nor ``ids_by_name`` gives one. Raises ValueError."""
    key = field.get("field-id")
    if key is None:
        return ids_by_name.get(field["name"], str(field["name"]))
    return int(key)


class Names(dict[str, Any]):
    """The named types of a schema that is walked, and how many of its parts were visited: a type that is referred to twice is walked
    twice, so types that refer to each other make a tree without end."""

    visited = 0

    def visit(self) -> None:
        """Raises ValueError beyond the budget."""
        self.visited += 1
        if self.visited > budgets.SCHEMA_NODES:
            raise ValueError(f"Avro schema of more than {budgets.SCHEMA_NODES} parts")


def resolve(schema: Any, names: Names) -> Any:
    """A schema with a reference to a named type replaced. Raises ValueError for an unknown name."""
    names.visit()
    if isinstance(schema, str):
        if schema in _PRIMITIVES:
            return {"type": schema}
        if schema not in names:
            raise ValueError(f"unknown Avro type {schema!r}")
        return names[schema]
    if isinstance(schema, list):
        return schema
    if not isinstance(schema, dict) or "type" not in schema:
        raise ValueError("not an Avro schema")
    if isinstance(schema["type"], (dict, list)):
        return resolve(schema["type"], names)
    if schema["type"] in ("record", "fixed", "enum") and "name" in schema:
        names[str(schema["name"])] = schema
    elif schema["type"] not in (*_PRIMITIVES, "array", "map", "record", "fixed", "enum"):
        return resolve(schema["type"], names)
    return schema


def fixed_size(schema: Mapping[str, Any]) -> int:
    """The length of a fixed type. Raises ValueError for one that the specification does not have."""
    size = int(schema["size"])
    if not 0 <= size <= budgets.FIXED_BYTES:
        raise ValueError(f"fixed of {size} bytes")
    return size


def key_value_fields(items: Any) -> tuple[Any, Any] | None:
    """(key schema, value schema) if the array items are Iceberg's form of a map."""
    if isinstance(items, dict) and items.get("type") == "record":
        fields = items.get("fields")
        if isinstance(fields, list) and [f.get("name") for f in fields] == ["key", "value"]:
            return fields[0]["type"], fields[1]["type"]
    return None


class Idle:
    """Counts values that take no bytes, and the bytes decoded, over all records of one decoder."""

    def __init__(self) -> None:
        self.steps = self.decoded = 0

    def step(self, more: int = 0) -> None:
        """Count a value of no bytes, ``more`` bytes after earlier records. Raises ValueError beyond the budget."""
        self.steps += 1
        if self.steps > budgets.IDLE_STEPS_FLOOR + budgets.IDLE_STEPS_PER_BYTE * (self.decoded + more):
            raise ValueError("too many values of no bytes")


class _Compiler:
    def __init__(self, ids_by_name: Mapping[str, int]) -> None:
        self._ids, self._names, self._idle = ids_by_name, Names(), Idle()

    def whole(self, schema: Any) -> Decoder:
        """The decoder of a schema, with the bytes of each value counted."""
        inner, idle = self.decoder(schema, 0), self._idle

        def decode(data: bytes, position: int) -> tuple[Any, int]:
            value, end = inner(data, position)
            idle.decoded += end - position
            return value, end

        return decode

    def decoder(self, schema: Any, depth: int) -> Decoder:
        if depth > MAX_DEPTH:
            raise ValueError("Avro schema nested too deep or recursive")
        schema = resolve(schema, self._names)
        if isinstance(schema, list):
            return self._union([_decode_null if branch == "null" else self.decoder(branch, depth + 1) for branch in schema])
        match schema["type"]:
            case "record":
                return self._record(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "map":
                return _blocks_of_pairs(_decode_string, self.decoder(schema["values"], depth + 1))
            case "fixed":
                return self._fixed(schema)
            case "null":
                return self._null
            case "bytes":
                return _decimal(schema) if schema.get("logicalType") == "decimal" else _decode_bytes
            case _:
                return _LEAVES[schema["type"]]

    def _record(self, schema: Any, depth: int) -> Decoder:
        fields = tuple((field_key(f, self._ids), self.decoder(f["type"], depth + 1)) for f in schema["fields"])

        idle = self._idle

        def decode(data: bytes, position: int) -> tuple[dict[int | str, Any], int]:
            if not fields:
                idle.step()
            values = {}
            for key, read in fields:
                values[key], position = read(data, position)
            return values, position

        return decode

    def _null(self, data: bytes, position: int) -> tuple[None, int]:
        self._idle.step()
        return None, position

    def _fixed(self, schema: Any) -> Decoder:
        read, idle = _fixed(fixed_size(schema), schema), self._idle
        if fixed_size(schema):
            return read

        def decode(data: bytes, position: int) -> tuple[Any, int]:
            idle.step()
            return read(data, position)

        return decode

    def _array(self, schema: Any, depth: int) -> Decoder:
        items = resolve(schema["items"], self._names)
        pair = key_value_fields(items)
        if pair is not None:
            return _blocks_of_pairs(self.decoder(pair[0], depth + 1), self.decoder(pair[1], depth + 1))
        return _blocks_of(self.decoder(items, depth + 1))

    @staticmethod
    def _union(branches: list[Decoder]) -> Decoder:
        def decode(data: bytes, position: int) -> tuple[Any, int]:
            branch, position = read_long(data, position)
            if branch < 0:
                raise IndexError("negative union branch")
            return branches[branch](data, position)

        return decode


def _counts(data: bytes, position: int) -> tuple[int, int]:
    """The item counts of an array's blocks; never more than the bytes left, so that damage cannot ask for endless work."""
    count, position = read_long(data, position)
    if count < 0:
        count, (_, position) = -count, read_long(data, position)
    if count > len(data) - position:
        raise IndexError("array longer than the data")
    return count, position


def _blocks_of(item: Decoder) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            count, position = _counts(data, position)
            if count == 0:
                return items, position
            for _ in range(count):
                value, position = item(data, position)
                items.append(value)

    return decode


def _blocks_of_pairs(key: Decoder, value: Decoder) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[dict[Any, Any], int]:
        pairs: dict[Any, Any] = {}
        while True:
            count, position = _counts(data, position)
            if count == 0:
                return pairs, position
            for _ in range(count):
                name, position = key(data, position)
                pairs[name], position = value(data, position)

    return decode


def _fixed(size: int, schema: Any) -> Decoder:
    if schema.get("logicalType") == "uuid":
        return lambda data, at: (uuid.UUID(bytes=_take(data, at, size)), at + size)
    if schema.get("logicalType") == "decimal":
        scale = int(schema.get("scale", 0))
        return lambda data, at: (_unscaled(_take(data, at, size), scale), at + size)
    return lambda data, at: (_take(data, at, size), at + size)


def _decimal(schema: Any) -> Decoder:
    scale = int(schema.get("scale", 0))

    def decode(data: bytes, position: int) -> tuple[Decimal, int]:
        raw, position = read_bytes(data, position)
        return _unscaled(raw, scale), position

    return decode


def from_unscaled_bytes(scale: int, raw: bytes) -> Decimal:
    """The decimal of a big-endian number. Raises ValueError for one of more bytes than a budget allows."""
    return _unscaled(raw, scale)


def _unscaled(raw: bytes, scale: int) -> Decimal:
    if len(raw) > budgets.DECIMAL_BYTES:
        raise ValueError(f"decimal of {len(raw)} bytes")
    return from_unscaled(int.from_bytes(raw, "big", signed=True), scale)


def _take(data: bytes, position: int, size: int) -> bytes:
    if position + size > len(data):
        raise IndexError("value past the end")
    return data[position : position + size]


def _decode_null(data: bytes, position: int) -> tuple[None, int]:
    return None, position


def _decode_boolean(data: bytes, position: int) -> tuple[bool, int]:
    return data[position] != 0, position + 1


def _decode_float(data: bytes, position: int) -> tuple[float, int]:
    return _float.unpack_from(data, position)[0], position + 4


def _decode_double(data: bytes, position: int) -> tuple[float, int]:
    return _double.unpack_from(data, position)[0], position + 8


def _decode_bytes(data: bytes, position: int) -> tuple[bytes, int]:
    return read_bytes(data, position)


def _decode_string(data: bytes, position: int) -> tuple[str, int]:
    raw, position = read_bytes(data, position)
    return raw.decode(), position


_LEAVES: dict[str, Decoder] = {
    "boolean": _decode_boolean,
    "int": read_long,
    "long": read_long,
    "enum": read_long,
    "float": _decode_float,
    "double": _decode_double,
    "bytes": _decode_bytes,
    "string": _decode_string,
}
