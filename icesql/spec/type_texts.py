"""Types as people write them: ``long``, ``decimal(9, 2)``, ``list<string>``, ``struct<a: int, b: map<string, double>>``.

Names are the specification's (``timestamp`` has no zone, ``timestamptz`` has), and those of SQL that mean one type only.
"""

from __future__ import annotations

import re
from itertools import count

from icesql.errors import CorruptMetadataError, InvalidArgumentError, nearest
from icesql.spec import budgets
from icesql.spec.json.types import primitive_from_text
from icesql.spec.types import ListType, MapType, NestedField, StructType, Type

_SQL_NAMES = {
    "bigint": "long",
    "integer": "int",
    "bool": "boolean",
    "timestamp_ntz": "timestamp",
    "timestamp_ltz": "timestamptz",
}
_NAMES = (
    "boolean", "int", "long", "float", "double", "decimal(9, 2)", "date", "time", "timestamp", "timestamptz", "timestamp_ns",
    "timestamptz_ns", "string", "uuid", "fixed[16]", "binary", "unknown", "variant", "geometry", "geography",
    "list<string>", "map<string, string>", "struct<a: int>", *_SQL_NAMES,
)  # fmt: skip
_NESTED = re.compile(r"(?P<kind>struct|list|array|map)\s*<(?P<inside>.*)>", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<name>[^\s:`,<>]+))\s*:(?P<type>.*)", re.DOTALL)
_OPENING, _CLOSING = "<([", ">)]"


def type_of(value: Type | str) -> Type:
    """The type itself, or the one a text says. Raises InvalidArgumentError."""
    return type_from_text(value) if isinstance(value, str) else value


def type_from_text(text: str) -> Type:
    """The type a text says. Its nested fields are optional and have ids that are only distinct: a schema gives them others.

    Raises InvalidArgumentError that names the nearest type.
    """
    return _type(text, count(1), 1, text)


def _type(text: str, ids: count[int], depth: int, whole: str) -> Type:
    if depth > budgets.TYPE_DEPTH:
        raise InvalidArgumentError(f"Cannot read type: nested more than {budgets.TYPE_DEPTH} deep: {whole[:80]}")
    stripped = text.strip()
    matched = _NESTED.fullmatch(stripped)
    if matched is None:
        return _primitive(stripped, whole)
    parts = _parts(matched["inside"])
    match matched["kind"].lower():
        case "struct":
            return StructType(tuple(_field(part, ids, depth, whole) for part in parts))
        case "map" if len(parts) == 2:
            key, value = (_type(part, ids, depth + 1, whole) for part in parts)
            return MapType(next(ids), key, next(ids), value, False)
        case "list" | "array" if len(parts) == 1:
            return ListType(next(ids), _type(parts[0], ids, depth + 1, whole), False)
    raise _unknown(stripped, whole)


def _field(text: str, ids: count[int], depth: int, whole: str) -> NestedField:
    matched = _FIELD.fullmatch(text)
    if matched is None:
        raise InvalidArgumentError(f"Cannot read type: a field must be written as name: type: {text.strip()!r} in {whole!r}")
    name = matched["name"] or matched["quoted"].replace("``", "`")
    return NestedField(next(ids), name, _type(matched["type"], ids, depth + 1, whole))


def _primitive(text: str, whole: str) -> Type:
    try:
        return primitive_from_text(_SQL_NAMES.get(text.lower(), text))
    except CorruptMetadataError as error:
        raise _unknown(text, whole) from error


def _unknown(text: str, whole: str) -> InvalidArgumentError:
    within = "" if text == whole else f" in {whole!r}"
    return InvalidArgumentError(f"Cannot read type: no such type: {text!r}{within}.{nearest(text, _NAMES)}", type=whole)


def _parts(text: str) -> list[str]:
    """What commas part, but for those inside brackets and back-ticks."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, letter in enumerate(text):
        if letter == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
