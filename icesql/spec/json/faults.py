"""Faults in JSON documents: what is wrong and at which path, built up while the readers return from nested parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from icesql.errors import CorruptMetadataError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

INT_RANGE = range(-(2**31), 2**31)
LONG_RANGE = range(-(2**63), 2**63)


class JsonFault(CorruptMetadataError):
    """``reason`` at ``path`` (``schemas[0].fields[1].id``) of a JSON document."""

    def __init__(self, reason: str, path: str = "") -> None:
        self.reason, self.path = reason, path
        super().__init__(f"Cannot read JSON: {f'at {path}: ' if path else ''}{reason}", path=path)

    def under(self, parent: str) -> JsonFault:
        joint = "." if self.path and not self.path.startswith("[") else ""
        return JsonFault(self.reason, f"{parent}{joint}{self.path}")


@contextmanager
def within(parent: str) -> Iterator[None]:
    """Prefixes the path of any fault raised inside."""
    try:
        yield
    except JsonFault as fault:
        raise fault.under(parent) from fault.__cause__


def each(items: list[Any], name: str) -> Iterator[tuple[str, Any]]:
    for position, item in enumerate(items):
        yield f"{name}[{position}]", item


def as_object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise JsonFault(f"expected an object, got {kind(value)}")
    return value


def as_strings(value: JsonValue) -> dict[str, str]:
    """An object all of whose values are strings."""
    strings: dict[str, str] = {}
    for name, item in as_object(value).items():
        if not isinstance(item, str):
            raise JsonFault(f"expected a string, got {kind(item)}", name)
        strings[name] = item
    return strings


def as_array(value: JsonValue) -> list[Any]:
    if not isinstance(value, list):
        raise JsonFault(f"expected an array, got {kind(value)}")
    return value


def required(node: JsonObject, key: str) -> Any:
    value = node.get(key)
    if value is None:
        raise JsonFault(f"missing required field: {key}")
    return value


def int_field(node: JsonObject, key: str, *, default: int | None = None) -> int:
    value = node.get(key, default)
    if value is None:
        value = required(node, key)
    if type(value) is not int or value not in INT_RANGE:
        raise JsonFault(f"expected an int, got {kind(value)}", key)
    return value


def long_field(node: JsonObject, key: str) -> int:
    value = required(node, key)
    if type(value) is not int or value not in LONG_RANGE:
        raise JsonFault(f"expected a long, got {kind(value)}", key)
    return value


def string_field(node: JsonObject, key: str) -> str:
    value = required(node, key)
    if not isinstance(value, str):
        raise JsonFault(f"expected a string, got {kind(value)}", key)
    return value


def optional_string(node: JsonObject, key: str) -> str | None:
    return None if node.get(key) is None else string_field(node, key)


def bool_field(node: JsonObject, key: str) -> bool:
    value = required(node, key)
    if not isinstance(value, bool):
        raise JsonFault(f"expected a boolean, got {kind(value)}", key)
    return value


def array_field(node: JsonObject, key: str) -> list[Any]:
    value = required(node, key)
    if not isinstance(value, list):
        raise JsonFault(f"expected an array, got {kind(value)}", key)
    return value


def long_array(node: JsonObject, key: str) -> list[int]:
    values = array_field(node, key)
    for path, value in each(values, key):
        if type(value) is not int or value not in LONG_RANGE:
            raise JsonFault(f"expected a long, got {kind(value)}", path)
    return values


def int_array(node: JsonObject, key: str) -> list[int]:
    values = array_field(node, key)
    for path, value in each(values, key):
        if type(value) is not int or value not in INT_RANGE:
            raise JsonFault(f"expected an int, got {kind(value)}", path)
    return values


def kind(value: JsonValue) -> str:
    """A JSON value in an error: its kind and, shortened, itself."""
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "an array"
        case _:
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            return shown if len(shown) <= 60 else shown[:57] + "..."
