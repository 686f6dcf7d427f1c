"""Rows of JDBC's protocol as Spark's own, where the protocol shows them otherwise.

What these clients cannot show, all of it (``test_client_cases`` compares the rest):

| of | JDBC by PyHive | Spark Connect |
|---|---|---|
| that there are no columns | one column, ``Result``, without rows | yes |
| types of columns | the outermost only, a decimal's digits and the difference of timestamp and timestamp_ntz not | all |
| structs, arrays, maps | text, as ``spark-sql`` prints them; read back here by the type that was recorded | as they are |
| binary within these | text: bytes that are no UTF-8 are lost | as it is |
| float | its shortest decimal number | as it is |
| other types (intervals, ...) | text | as they are |
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

_SCALARS = {
    "boolean": "BOOLEAN_TYPE", "tinyint": "TINYINT_TYPE", "smallint": "SMALLINT_TYPE", "int": "INT_TYPE", "bigint": "BIGINT_TYPE",
    "float": "FLOAT_TYPE", "double": "DOUBLE_TYPE", "string": "STRING_TYPE", "binary": "BINARY_TYPE", "date": "DATE_TYPE",
    "timestamp": "TIMESTAMP_TYPE", "timestamp_ntz": "TIMESTAMP_TYPE", "decimal": "DECIMAL_TYPE", "struct": "STRUCT_TYPE",
    "array": "ARRAY_TYPE", "map": "MAP_TYPE",
}  # fmt: skip
_NUMBERS: dict[str, Callable[[str], Any]] = dict.fromkeys(("tinyint", "smallint", "int", "bigint"), int)


def jdbc_type(type_name: str) -> str:
    """What the protocol calls a type of Spark's ``simpleString``."""
    return _SCALARS.get(re.split(r"[(<]", type_name)[0], "STRING_TYPE")


def is_nested(type_name: str) -> bool:
    return type_name.startswith(("struct<", "array<", "map<"))


def lossy(type_name: str, value: Any, *, inside: bool = False) -> Any:
    """A recorded value as JDBC can show it."""
    if value is None or value == "*":
        return value
    if type_name == "float" and isinstance(value, float):
        short = next(f"{value:.{digits}g}" for digits in range(1, 10) if _single(float(f"{value:.{digits}g}")) == _single(value))
        return float(short)
    if type_name == "binary" and inside:
        return bytes.fromhex(value[2:]).decode("utf-8", "replace")
    if type_name.startswith("struct<") and isinstance(value, dict):
        return {name: lossy(kind, value[name], inside=True) for name, kind in _fields(type_name)}
    if type_name.startswith("array<"):
        return [lossy(type_name[6:-1], item, inside=True) for item in value]
    if type_name.startswith("map<"):
        _, kind = _parts(type_name[4:-1])
        return {key: lossy(kind, item, inside=True) for key, item in value.items()}
    return value


def _single(value: float) -> bytes:
    return struct.pack("f", value)


def _parts(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if text else []


def _fields(type_name: str) -> list[tuple[str, str]]:
    named = (part.partition(":") for part in _parts(type_name[7:-1]))
    return [(name, kind) for name, _, kind in named]


class Text:
    """Reads a nested value back from its text."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0

    def value(self, type_name: str) -> Any:
        text = self._text
        if text.startswith("null", self._place):
            self._place += 4
            return None
        if type_name.startswith("struct<"):
            return {name: self._after(f'"{name}":', kind) for name, kind in self._list(_fields(type_name), "{", "}")}
        if type_name.startswith("array<"):
            return self._items(lambda: self.value(type_name[6:-1]), "[", "]")
        if type_name.startswith("map<"):
            key, item = _parts(type_name[4:-1])
            return dict(self._items(lambda: (str(self.value(key)), self._after(":", item)), "{", "}"))
        if type_name == "string":
            end = re.compile(r'"(?=[,\]}:]|$)').search(text, self._place + 1)
            assert text[self._place] == '"' and end is not None, text
            read = text[self._place + 1 : end.start()]
            self._place = end.end()
            return read
        end = re.compile(r"[,\]}]|:(?!\d\d)|$").search(text, self._place)
        assert end is not None
        read = text[self._place : end.start()]
        self._place = end.start()
        return _scalar(type_name, read)

    def _after(self, before: str, type_name: str) -> Any:
        self._take(before)
        return self.value(type_name)

    def _list(self, fields: list[tuple[str, str]], begin: str, end: str) -> Any:
        self._take(begin)
        for number, field in enumerate(fields):
            if number:
                self._take(",")
            yield field
        self._take(end)

    def _items(self, read: Callable[[], Any], begin: str, end: str) -> list[Any]:
        self._take(begin)
        items: list[Any] = []
        while not self._text.startswith(end, self._place):
            if items:
                self._take(",")
            items.append(read())
        self._take(end)
        return items

    def _take(self, text: str) -> None:
        assert self._text.startswith(text, self._place), f"{self._text!r} at {self._place}: no {text!r}"
        self._place += len(text)


def _scalar(type_name: str, text: str) -> Any:
    if type_name == "boolean":
        return text == "true"
    if type_name in _NUMBERS:
        return int(text)
    if type_name in ("float", "double"):
        return "NaN" if text == "NaN" else float(text)
    return text
