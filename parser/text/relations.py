"""One relation by name: the name, its time travel, options, sample and alias."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.errors import SqlError
from icesql.parser.text.names import NameParts, Place, Span, TableReference, TimeTravel
from icesql.parser.text.token_groups import behind_brackets, items, name_at
from icesql.parser.text.tokens import Kind, Token, tokenize

_NEVER_AN_ALIAS = frozenset(
    {
        "UNION", "EXCEPT", "MINUS", "SETMINUS", "INTERSECT", "JOIN", "CROSS", "INNER", "LEFT", "RIGHT", "FULL", "NATURAL", "SEMI", "ANTI",
        "LATERAL", "ON", "USING", "AS", "BY",
    }
)  # fmt: skip
_BEFORE_BY = frozenset({"GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "PARTITION"})
_BEGINS_CLAUSE = frozenset(
    {
        "WHERE", "HAVING", "WINDOW", "LIMIT", "OFFSET", "PIVOT", "UNPIVOT", "TABLESAMPLE", "SELECT", "INSERT", "SET", "WHEN", "WITH",
        "WATERMARK", "DO", "MAP", "REDUCE", "VALUES", "FROM", "REPLACE", "QUALIFY",
    }
)  # fmt: skip
_BEFORE_JOIN = frozenset({"CROSS", "INNER", "LEFT", "RIGHT", "FULL", "NATURAL", "SEMI", "ANTI"})
_AFTER_A_RELATION = frozenset({"<EOF>", ")", ",", ";", "|>", "JOIN", "ON"})
_CLAUSE_AFTER_AS = frozenset({"SELECT", "WITH", "OF", "JSON", "SERDE"})
_BINARY = frozenset({"+", "-", "*", "/", "%", "||", "&", "|", "^", "DIV", "::"})
_UNITS = frozenset(
    {"YEAR", "YEARS", "QUARTER", "QUARTERS", "MONTH", "MONTHS", "WEEK", "WEEKS", "DAY", "DAYS", "HOUR", "HOURS", "MINUTE", "MINUTES"}
    | {"SECOND", "SECONDS", "MILLISECOND", "MILLISECONDS", "MICROSECOND", "MICROSECONDS", "NANOSECOND", "NANOSECONDS"}
)


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """``position``: index of the first token behind it. ``reference`` is None for a function call."""

    reference: TableReference | None
    position: int


def read_relation(tokens: tuple[Token, ...], position: int, *, place: Place) -> FoundRelation:
    """Read the relation whose name begins at token ``position`` (an identifier).

    A name followed by ``(`` is a function, except as a target.
    """
    start = tokens[position].start
    identifier_clause = tokens[position].key == "IDENTIFIER" and tokens[position + 1].key == "("
    if identifier_clause:
        parts, position = _identifier_clause(tokens, position)
    else:
        parts, position = name_at(tokens, position)
    end = tokens[position - 1].end
    if tokens[position].key == "(" and place is Place.FROM and not identifier_clause:
        return FoundRelation(None, position)
    if place is not Place.FROM:
        reference = TableReference(parts=parts, start=start, end=end, place=place, clause_end=end, identifier_clause=identifier_clause)
        return FoundRelation(reference, position)
    travel, position = _time_travel(tokens, position)
    options, position = _options(tokens, position)
    clause_end = tokens[position - 1].end
    position = _sample_and_watermark(tokens, position)
    alias_at = tokens[position - 1].end
    alias, position = _alias(tokens, position)
    reference = TableReference(
        parts=parts,
        start=start,
        end=end,
        place=place,
        alias=alias,
        time_travel=travel,
        options=options,
        clause_end=clause_end,
        alias_at=alias_at,
        identifier_clause=identifier_clause,
    )
    return FoundRelation(reference, position)


def _identifier_clause(tokens: tuple[Token, ...], position: int) -> tuple[NameParts, int]:
    """Parts of ``IDENTIFIER('a.b')``; ``()`` when the argument is no plain string: then only Spark knows the name."""
    end = behind_brackets(tokens, position + 1)
    inner = tokens[position + 2 : end - 1]
    if not inner or any(token.kind is not Kind.STRING and token.key != "||" for token in inner):
        return (), end
    try:
        named = tokenize("".join(token.string for token in inner if token.kind is Kind.STRING))
    except SqlError:
        return (), end
    parts, last = name_at(named, 0)
    return (parts if named[last].kind is Kind.END else ()), end


def _time_travel(tokens: tuple[Token, ...], position: int) -> tuple[TimeTravel | None, int]:
    at = position + (tokens[position].key == "FOR")
    key = tokens[at].key
    if key not in ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME"):
        return None, position
    if tokens[at + 1].key != "AS" or tokens[at + 2].key != "OF":
        return None, position
    end = _value_expression(tokens, at + 3)
    if end == at + 3:
        return None, position
    travel = TimeTravel(
        kind="version" if "VERSION" in key else "timestamp",
        expression=Span(tokens[at + 3].start, tokens[end - 1].end),
        value=_plain_value(tokens[at + 3 : end]),
        span=Span(tokens[position].start, tokens[end - 1].end),
    )
    return travel, end


def _plain_value(tokens: tuple[Token, ...]) -> int | str | None:
    if all(token.kind is Kind.STRING for token in tokens):
        return "".join(token.string for token in tokens)
    sign = -1 if tokens[0].key == "-" else 1
    digits = tokens[-1].text
    plain = len(tokens) == (2 if sign < 0 else 1) and tokens[-1].kind is Kind.NUMBER and digits.isdigit() and len(digits) < 100
    return sign * int(digits) if plain else None


def _value_expression(tokens: tuple[Token, ...], position: int) -> int:
    """Index behind the operands and operators that begin at ``position``; the same index if no operand does."""
    end = _operand(tokens, position)
    while end > position and tokens[end].key in _BINARY:
        following = _operand(tokens, end + 1)
        if following == end + 1:
            return end
        end = following
    return end


def _operand(tokens: tuple[Token, ...], position: int) -> int:
    at = position
    while tokens[at].key in ("+", "-", "~"):
        at += 1
    token = tokens[at]
    if token.key == "(":
        at = behind_brackets(tokens, at)
    elif token.key == "INTERVAL":
        at = _interval(tokens, at + 1)
    elif token.key == "CASE":
        at = _case(tokens, at)
    elif token.key in (":", "?") or token.kind is Kind.VARIABLE:
        at += 1
        if token.key == ":" and tokens[at].is_identifier:
            at += 1
    elif token.is_identifier:
        _, at = name_at(tokens, at)
        if tokens[at].kind is Kind.STRING:
            at += 1
        elif tokens[at].key == "(":
            at = behind_brackets(tokens, at)
    elif token.kind is Kind.NUMBER:
        at += 1
    elif token.kind is Kind.STRING:
        while tokens[at].kind is Kind.STRING:
            at += 1
    else:
        return position
    while tokens[at].key == "[":
        at = behind_brackets(tokens, at)
    return at


def _interval(tokens: tuple[Token, ...], at: int) -> int:
    while True:
        start = at
        at += tokens[at].key in ("+", "-")
        if tokens[at].key == "(":
            at = behind_brackets(tokens, at)
        elif tokens[at].kind in (Kind.STRING, Kind.NUMBER):
            at += 1
        else:
            return start
        if tokens[at].key not in _UNITS:
            return at
        at += 1
        if tokens[at].key == "TO" and tokens[at + 1].key in _UNITS:
            return at + 2


def _case(tokens: tuple[Token, ...], at: int) -> int:
    depth = 0
    while tokens[at].kind is not Kind.END:
        depth += (tokens[at].key == "CASE") - (tokens[at].key == "END")
        at += 1
        if depth == 0:
            return at
    return at


def _options(tokens: tuple[Token, ...], position: int) -> tuple[tuple[tuple[str, str], ...], int]:
    """``WITH ('k' = 'v', ...)``; a list that Spark will refuse is left where it is."""
    if tokens[position].key != "WITH" or tokens[position + 1].key != "(":
        return (), position
    behind = behind_brackets(tokens, position + 1)
    pairs = [_option(group) for group in items(tokens, position + 2)]
    options = dict(pair for pair in pairs if pair is not None)
    return (tuple(options.items()), behind) if tokens[behind - 1].key == ")" and len(options) == len(pairs) else ((), position)


def _option(pair: list[Token]) -> tuple[str, str] | None:
    """``'k' = 'v'``, ``a.b = 5`` or ``c true``; ``None`` for what is no such pair."""
    if not pair:
        return None
    end = Token(Kind.END, "", pair[-1].end, pair[-1].end, "")
    parts, at = ((pair[0].string,), 1) if pair[0].kind is Kind.STRING else name_at([*pair, end], 0)
    value = pair[at + 1 :] if at < len(pair) and pair[at].key in ("=", "==") else pair[at:]
    if not value or not parts or ("" in parts and pair[0].kind is not Kind.STRING):
        return None
    if all(token.kind is Kind.STRING for token in value):
        return ".".join(parts), "".join(token.string for token in value)
    first = value[0]
    if len(value) > 1 or not (first.key in ("TRUE", "FALSE") or (first.kind is Kind.NUMBER and first.text.replace(".", "", 1).isdigit())):
        return None
    return ".".join(parts), first.key.lower() or first.text


def _sample_and_watermark(tokens: tuple[Token, ...], position: int) -> int:
    if tokens[position].key == "TABLESAMPLE" and any(token.key == "(" for token in tokens[position + 1 : position + 3]):
        position += 1 + (tokens[position + 1].key != "(")
        position = behind_brackets(tokens, position)
        if tokens[position].key == "REPEATABLE" and tokens[position + 1].key == "(":
            position = behind_brackets(tokens, position + 1)
    return position


def _alias(tokens: tuple[Token, ...], position: int) -> tuple[str | None, int]:
    token, following = tokens[position], tokens[position + 1] if tokens[position].kind is not Kind.END else tokens[position]
    if token.key == "AS" and following.is_identifier and following.key not in _CLAUSE_AFTER_AS:
        return following.name, position + 2
    if token.is_identifier and _may_be_alias(tokens, position):
        return token.name, position + 1
    return None, position


def _may_be_alias(tokens: tuple[Token, ...], position: int) -> bool:
    """Whether a word is an alias: Spark reserves few, and a word that begins a clause is one where that clause does not follow."""
    key = tokens[position].key
    if key in _BEFORE_BY:
        return tokens[position + 1].key != "BY"
    if key in _BEGINS_CLAUSE:
        return _ends_relation(tokens, position + 1)
    return key not in _NEVER_AN_ALIAS


def _ends_relation(tokens: tuple[Token, ...], position: int) -> bool:
    """Whether what begins here can stand behind a relation and its alias only."""
    key = tokens[position].key
    if key in _AFTER_A_RELATION:
        return True
    following = tokens[position + 1].key if tokens[position].kind is not Kind.END else ""
    if key in _BEFORE_BY:
        return following == "BY"
    if key in _BEFORE_JOIN:
        return following in ("JOIN", "OUTER", "SEMI", "ANTI")
    return key in ("WHERE", "LIMIT", "UNION", "INTERSECT") and tokens[position + 1].kind in (Kind.WORD, Kind.QUOTED, Kind.NUMBER)
