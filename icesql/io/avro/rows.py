"""Rows of Avro data files as Arrow arrays: what the native columns (``icesql.io.avro.flat``) do not decode, lists and maps above all.

They are decoded natively where the module was built, else by fastavro. It is given the inflated blocks, since containers stay by hand
(``icesql.io.avro.container``), and a schema of just the fields that are needed if they are half of all or fewer: resolving two schemas
costs half as much again. Schemas whose values of no bytes must be counted are then decoded by ``icesql.io.avro.decode``.
Measured with a number, a struct, a list and a map, rows a second of a core that became Arrow: fastavro 1.13 92,000, natively 174,000,
and 283,000 with the flat columns among them decoded as columns.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

import pyarrow as pa

from icesql.errors import CorruptMetadataError
from icesql.io.arrow.types import to_arrow_type
from icesql.io.avro.container import SYNC_LENGTH, AvroRecords, corrupt, write_long
from icesql.io.avro.decode import DAMAGE, compile_decoder, from_unscaled_bytes
from icesql.io.avro.library import fastavro
from icesql.io.avro.objects import block_decoder, is_native
from icesql.io.avro.shapes import is_bounded, kind_of, leaves, parts_of_pair, without_null
from icesql.spec.types import ListType, MapType, StructType, Type, UUIDType, VariantType

Convert: TypeAlias = Callable[[Any], Any]
Value = TypeVar("Value")
_ROWS_AT_ONCE = 8192
_SYNC = bytes(SYNC_LENGTH)


def rows(records: AvroRecords, shape: Any, needed: Any, location: str) -> Iterator[dict[str, Any]]:
    """The records as dicts by the names of their shape, those of ``needed`` at least. Raises CorruptMetadataError."""
    if is_native():
        return _native_rows(records, shape, needed, location)
    return _fastavro_rows(records, shape, needed, location) if is_bounded(shape) else _python_rows(records, shape, location)


def _native_rows(records: AvroRecords, shape: Any, needed: Any, location: str) -> Iterator[dict[str, Any]]:
    decode = _decoder(partial(block_decoder, shape, needed), location)
    for total, start, end in records.blocks:
        at, left = start, total
        while left:
            count = min(left, _ROWS_AT_ONCE)
            try:
                decoded, at = decode(records.buffer, at, end, count)
            except ValueError as error:
                why, place = error.args if len(error.args) == 2 else (str(error), at)
                raise corrupt(location, f"damaged record: {why}", place) from error
            left -= count
            yield from decoded
        if at != end:
            raise corrupt(location, "block does not end with its last record", at)


def _decoder(make: Callable[[], Value], location: str) -> Value:
    try:
        return make()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise corrupt(location, f"schema is not readable: {error!r}") from error


def _fastavro_rows(records: AvroRecords, shape: Any, needed: Any, location: str) -> Iterator[dict[str, Any]]:
    library = fastavro()
    stream = _Container(records, _header(library, shape))
    try:
        yield from library.reader(stream, needed if 2 * leaves(needed) <= leaves(shape) else None)
    except MemoryError:
        raise
    except Exception as error:  # fastavro lets through whatever its parts raise
        raise corrupt(location, f"damaged record: {error!r}", stream.place) from error


def _header(library: Any, shape: Any) -> bytes:
    out = io.BytesIO()
    library.writer(out, shape, [], sync_marker=_SYNC)
    return out.getvalue()


class _Container:
    """A stream of a container file whose blocks are not compressed."""

    def __init__(self, records: AvroRecords, header: bytes) -> None:
        self._rest, self._parts = b"", self._all(records, header)
        self.place = 0  # of the block in hand

    def _all(self, records: AvroRecords, header: bytes) -> Iterator[bytes]:
        yield header
        for count, start, end in records.blocks:
            self.place = start
            yield write_long(count) + write_long(end - start)
            yield records.buffer[start:end]
            yield _SYNC

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and (part := next(self._parts, None)) is not None:
            self._rest += part
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def _python_rows(records: AvroRecords, shape: Any, location: str) -> Iterator[dict[str, Any]]:
    decode = _decoder(partial(compile_decoder, shape), location)
    for count, start, end in records.blocks:
        at = start
        for _ in range(count):
            place = at
            try:
                row, at = decode(records.buffer, at)
                if at > end:
                    raise IndexError("record past the end of its block")
            except (*DAMAGE, RecursionError) as error:
                raise corrupt(location, f"damaged record: {error!r}", place) from error
            yield row


# -- to Arrow ----------------------------------------------------------------------------------------------------------
def to_arrays(rows: list[dict[str, Any]], struct: StructType, shape: Any, location: str) -> list[pa.Array]:
    """One array a field. Raises CorruptMetadataError for values that are not of their type."""
    made = []
    try:
        for field, part in zip(struct.fields, shape["fields"], strict=True):
            name, convert = part["name"], converter(field.type, part["type"])
            values = [row[name] for row in rows]
            made.append(pa.array(values if convert is None else list(map(convert, values)), to_arrow_type(field.type)))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise CorruptMetadataError(f"Cannot read Avro file {location}: {error!r}", location=location) from error
    return made


def converter(type_: Type, shape: Any) -> Convert | None:
    """From a decoded value to what ``pyarrow.array`` takes, or ``None`` where they are the same."""
    shape = without_null(shape)
    convert = _converter(type_, shape)
    return None if convert is None else partial(_unless_null, convert)


def _unless_null(convert: Convert, value: Any) -> Any:
    return None if value is None else convert(value)


def _converter(type_: Type, shape: Any) -> Convert | None:
    match type_:
        case VariantType():
            return None
        case StructType(fields=fields):
            parts = [
                (field.name, part["name"], converter(field.type, part["type"]) or _same)
                for field, part in zip(fields, shape["fields"], strict=True)
            ]
            return lambda value: {name: convert(value[key]) for name, key, convert in parts}
        case ListType(element=element):
            item = converter(element, shape["items"])
            return None if item is None else lambda value: list(map(item, value))
        case MapType():
            return _map(type_, shape)
        case _:
            return _leaf(type_, shape)


def _map(type_: MapType, shape: Any) -> Convert:
    if kind_of(shape) == "map":
        item = converter(type_.value, shape["values"]) or _same
        return lambda value: [(key, item(part)) for key, part in value.items()]
    keys, values = parts_of_pair(shape["items"])
    key, part = converter(type_.key, keys) or _same, converter(type_.value, values) or _same
    return lambda value: [(key(pair["f0"]), part(pair["f1"])) for pair in value]


def _leaf(type_: Type, shape: Any) -> Convert | None:
    if kind_of(shape) == "enum":
        return partial(_symbol, shape["symbols"])
    match shape.get("logical") if isinstance(shape, dict) else None:
        case "decimal":
            return partial(from_unscaled_bytes, shape["decimal-scale"])
        case "timestamp-millis" | "local-timestamp-millis":
            return lambda value: value * 1000
        case "uuid" if isinstance(type_, UUIDType) and kind_of(shape) == "string":
            return lambda value: UUID(value).bytes
    return None


def _symbol(symbols: list[str], value: str | int) -> str:
    """fastavro gives the symbol, our decoders its number. Raises ValueError."""
    if isinstance(value, str):
        return value
    if not 0 <= value < len(symbols):
        raise ValueError(f"no such symbol of an enum: {value}")
    return symbols[value]


def _same(value: Any) -> Any:
    return value
