"""Parameter markers (``:name`` and ``?``), Python values as SQL literals, and ``${variables}`` of scripts."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from icesql.errors import InvalidArgumentError
from icesql.parser.text.places import sql_error
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.spark_errors import spark_message


@dataclass(frozen=True, slots=True)
class ParameterMarker:
    """``name`` is None for ``?``. ``start`` and ``end`` enclose the marker."""

    name: str | None
    start: int
    end: int


def parameter_markers(text: str) -> tuple[ParameterMarker, ...]:
    """All markers of ``text`` in order; colons of labels, struct types and variant paths (``v:a.b``) are none."""
    tokens = tokenize(text)
    parameters: list[ParameterMarker] = []
    for i, token in enumerate(tokens):
        if token.key == "?":
            parameters.append(ParameterMarker(None, token.start, token.end))
        elif token.key == ":" and _is_named(tokens, i):
            parameters.append(ParameterMarker(tokens[i + 1].name, token.start, tokens[i + 1].end))
    return tuple(parameters)


def _is_named(tokens: tuple[Token, ...], i: int) -> bool:
    following = tokens[i + 1]
    if following.kind is not Kind.WORD or following.start != tokens[i].end:
        return False
    previous = tokens[i - 1] if i else None
    touches = previous is not None and previous.end == tokens[i].start
    return not (touches and previous is not None and (previous.is_identifier or previous.key in (")", "]")))


def bind_parameters(text: str, arguments: Mapping[str, object] | Sequence[object], literal: Callable[[object], str] | None = None) -> str:
    """``text`` with each marker replaced by its argument as a literal (``sql_literal`` unless another is given).

    Raises SqlError for a marker without an argument; InvalidArgumentError for a value that has no literal.
    """
    literal = literal or sql_literal
    pieces: list[str] = []
    at = position = 0
    for marker in parameter_markers(text):
        pieces.append(text[at : marker.start])
        if marker.name is None:
            if isinstance(arguments, Mapping) or position >= len(arguments):
                raise sql_error(spark_message("UNBOUND_SQL_PARAMETER", "Found the unbound parameter: _"), text, marker.start, marker.end)
            pieces.append(literal(arguments[position]))
            position += 1
        else:
            if not isinstance(arguments, Mapping) or marker.name not in arguments:
                raise sql_error(
                    spark_message("UNBOUND_SQL_PARAMETER", f"Found the unbound parameter: {marker.name}"), text, marker.start, marker.end
                )
            pieces.append(literal(arguments[marker.name]))
        at = marker.end
    return "".join((*pieces, text[at:]))


class SqlText(str):
    """An argument that is SQL already."""


def sql_literal(value: object) -> str:
    """``value`` as Spark SQL text of the type PySpark would give it. Raises InvalidArgumentError for other kinds of values."""
    match value:
        case SqlText():
            return str(value)
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value) if -(2**31) <= value < 2**31 or not -(2**63) <= value < 2**63 else f"{value}L"
        case float():
            return f"{value!r}D" if math.isfinite(value) else f"double('{value}')"
        case Decimal() if value.is_finite():
            return f"{value:f}BD"
        case str():
            return quoted_string(value)
        case bytes() | bytearray():
            return f"X'{bytes(value).hex()}'"
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case list() | tuple():
            return f"array({', '.join(sql_literal(item) for item in value)})"
        case dict():
            return f"map({', '.join(sql_literal(part) for pair in value.items() for part in pair)})"
        case _:
            raise InvalidArgumentError(f"Cannot bind parameter: no SQL literal for a {type(value).__name__}: {value!r}", value=value)


def quoted_string(value: str) -> str:
    """``value`` between single quotes, escaped so that Spark reads it back unchanged."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quoted_pairs(pairs: Mapping[str, object], *, between: str = ", ") -> str:
    """``'key' = 'value'`` of each pair: what stands in the brackets of OPTIONS, TBLPROPERTIES and WITH."""
    return between.join(f"{quoted_string(key)} = {quoted_string(str(value))}" for key, value in pairs.items())


_VARIABLE = re.compile(r"\$\{(?:(?P<prefix>[a-zA-Z]+):)?(?P<name>[^}]+)\}")
_MAX_NESTING = 40


def substitute_variables(text: str, lookup: Callable[[str | None, str], str | None]) -> str:
    """``text`` with ``${name}`` and ``${prefix:name}`` replaced, wherever they stand; the unknown stay as they are.

    ``lookup`` takes the prefix (hivevar, hiveconf, env, system, spark or None) and the name. Values may hold variables themselves.
    """
    if "${" not in text:
        return text
    for _ in range(_MAX_NESTING):
        replaced = _VARIABLE.sub(lambda match: _found(lookup, match), text)
        if replaced == text:
            break
        text = replaced
    return text


def _found(lookup: Callable[[str | None, str], str | None], match: re.Match[str]) -> str:
    value = lookup(match["prefix"], match["name"])
    return match[0] if value is None else value
