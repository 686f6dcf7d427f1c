"""Constant folding of the expressions that need no engine: literals, signs, typed literals, array(...), map(...), plain casts."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from icesql.errors import SqlError
from icesql.parser.constants import Constant
from icesql.parser.dialect.columns import Columns
from icesql.parser.text.tokens import Kind, Token

NULL = Constant(None, "void")
_MAX_DEPTH = 60
_INT, _LONG = range(-(2**31), 2**31), range(-(2**63), 2**63)
_DATETIME_TYPES = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_LTZ": "timestamp", "TIMESTAMP_NTZ": "timestamp_ntz"}
_INTEGRAL = {"TINYINT": 8, "BYTE": 8, "SMALLINT": 16, "SHORT": 16, "INT": 32, "INTEGER": 32, "BIGINT": 64, "LONG": 64}
_INTEGRAL_NAMES = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}


def fold(text: str) -> Constant | None:
    """The constant that ``text`` is, or None where only an engine can say (or it is no expression at all)."""
    try:
        reader = Constants.of(text)
        value = reader.constant_or_none()
        return value if reader.token.kind is Kind.END else None
    except SqlError:
        return None


class Constants(Columns):
    """The rules for constants. Each gives None, with the reader anywhere, for what is not one."""

    def constant_or_none(self, depth: int = 0) -> Constant | None:
        constant = self._constant_primary(depth + 1) if depth < _MAX_DEPTH else None
        while constant is not None and self.accept("::"):
            constant = self._cast_constant(constant)
        return constant

    def _constant_primary(self, depth: int) -> Constant | None:
        token = self.token
        if token.kind is Kind.STRING:
            return Constant(self.text_value(), "string")
        if token.kind is Kind.NUMBER:
            return number(self.next())
        if token.key in ("-", "+"):
            return self._signed_constant()
        if token.kind is Kind.WORD:
            return self._constant_word(token, depth)
        if self.accept("("):
            inner = self.constant_or_none(depth)
            return inner if inner is not None and self.accept(")") else None
        return None

    def _signed_constant(self) -> Constant | None:
        sign = self.next().key
        return number(self.next(), negative=sign == "-") if self.token.kind is Kind.NUMBER else None

    def _constant_word(self, token: Token, depth: int) -> Constant | None:
        following = self.peek()
        if token.key in _DATETIME_TYPES and following.kind is Kind.STRING:
            self.next()
            return Constant(self.text_value(), _DATETIME_TYPES[token.key])
        if token.key == "X" and following.kind is Kind.STRING:
            self.next()
            return _hexadecimal(self.text_value())
        if token.key in ("TRUE", "FALSE"):
            self.next()
            return Constant(token.key == "TRUE", "boolean")
        if self.accept("NULL"):
            return NULL
        if token.key in _CALLS and following.key == "(":
            self.position += 2
            return _CALLS[token.key](self, depth)
        return None

    def _constant_items(self, depth: int) -> list[Constant] | None:
        """Up to the closing bracket."""
        items: list[Constant] = []
        while not self.accept(")"):
            if items and not self.accept(","):
                return None
            item = self.constant_or_none(depth)
            if item is None:
                return None
            items.append(item)
        return items

    def _constant_array(self, depth: int) -> Constant | None:
        items = self._constant_items(depth)
        element = None if items is None else _common_type(items)
        return None if items is None or element is None else Constant(tuple(items), f"array<{element}>")

    def _constant_map(self, depth: int) -> Constant | None:
        items = self._constant_items(depth)
        if items is None:
            return None
        keys = [item.value for item in items[::2]]
        if len(items) % 2 or None in keys or len(set(keys)) < len(keys):
            return None  # Spark refuses null keys, and those named twice as spark.sql.mapKeyDedupPolicy says
        pairs = tuple(zip(items[::2], items[1::2], strict=True))
        key, value = _common_type([k for k, _ in pairs]), _common_type([v for _, v in pairs])
        return None if key is None or value is None else Constant(pairs, f"map<{key},{value}>")

    def _constant_cast(self, depth: int) -> Constant | None:
        inner = self.constant_or_none(depth)
        if inner is None or not self.accept("AS"):
            return None
        constant = self._cast_constant(inner)
        return constant if constant is not None and self.accept(")") else None

    def _cast_constant(self, inner: Constant) -> Constant | None:
        """Casts that change nothing but the type: everything else is the engine's."""
        target = self.next().key
        if target in _INTEGRAL:
            bits = _INTEGRAL[target]
            if inner.value is None:
                return Constant(None, _INTEGRAL_NAMES[bits])
            fits = type(inner.value) is int and -(2 ** (bits - 1)) <= inner.value < 2 ** (bits - 1)
            return Constant(inner.value, _INTEGRAL_NAMES[bits]) if fits else None
        if target in _DATETIME_TYPES and inner.type in ("string", "void", _DATETIME_TYPES[target]):
            return Constant(inner.value, _DATETIME_TYPES[target])
        if target == "STRING" and not self.at("COLLATE") and inner.type in ("string", "int", "bigint", "smallint", "tinyint", "void"):
            return Constant(None if inner.value is None else str(inner.value), "string")
        if target == "BOOLEAN" and inner.type in ("boolean", "void"):
            return Constant(inner.value, "boolean")
        return None


_CALLS: dict[str, Callable[[Constants, int], Constant | None]] = {
    "ARRAY": Constants._constant_array,
    "MAP": Constants._constant_map,
    "CAST": Constants._constant_cast,
}


def _hexadecimal(digits: str) -> Constant | None:
    if not re.fullmatch(r"[0-9A-Fa-f]*", digits):
        return None
    return Constant(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), "binary")


def number(token: Token, *, negative: bool = False) -> Constant | None:
    """The constant of a number token as Spark types it: int, else bigint, else decimal; ``1.5`` is a decimal, ``1e5`` a double."""
    text = ("-" if negative else "") + token.text.upper()
    if len(text) > 400:
        return None
    for suffix, name in (("BD", "decimal"), ("L", "bigint"), ("S", "smallint"), ("Y", "tinyint"), ("F", "float"), ("D", "double")):
        if text.endswith(suffix):
            return _suffixed(text.removesuffix(suffix), name)
    if "E" in text:
        return Constant(float(text), "double")
    if "." in text:
        return decimal_constant(Decimal(text))
    value = int(text)
    if value in _INT:
        return Constant(value, "int")
    return Constant(value, "bigint") if value in _LONG else decimal_constant(Decimal(value))


def _suffixed(text: str, name: str) -> Constant | None:
    if name in ("float", "double"):
        return Constant(float(text), name)
    if name == "decimal":
        return decimal_constant(Decimal(text))
    bits = {"bigint": 64, "smallint": 16, "tinyint": 8}[name]
    value = int(text)
    return Constant(value, name) if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None


def decimal_constant(value: Decimal) -> Constant | None:
    """``value`` with the decimal type Spark gives it, None beyond 38 digits."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    return Constant(value, f"decimal({precision},{scale})") if precision <= 38 else None


def _common_type(items: list[Constant]) -> str | None:
    """The one type of all items that are not null; of int and bigint the wider; None where Spark's own coercion must decide."""
    types = {item.type for item in items if item.type != "void"}
    if not types:
        return "void"
    if len(types) == 1:
        return types.pop()
    widths = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
    return _INTEGRAL_NAMES[max(widths[t] for t in types)] if types <= widths.keys() else None
