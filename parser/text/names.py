"""Names and places in the user's text: spans, table names, table references.

Every offset counts characters (code points) of the text that was parsed, ``start`` included, ``end`` excluded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

NameParts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the user's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableName:
    """A dotted name as written, quotes removed: ``local.db.`my t``` -> ``("local", "db", "my t")``."""

    parts: NameParts
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def dotted(self) -> str:
        return ".".join(self.parts)

    def __str__(self) -> str:
        return self.dotted


class Place(str, Enum):
    """Where a table reference stands, which says what may be put in its stead."""

    FROM = "from"  # a relation: may be replaced by a view and an alias
    TABLE = "table"  # `TABLE t` as a query, or as the argument of a function: by a view, without alias
    TARGET = "target"  # what a statement creates, changes or describes: never replaced by a view


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeTravel:
    """``[FOR] VERSION | SYSTEM_VERSION AS OF v`` or ``[FOR] TIMESTAMP | SYSTEM_TIME AS OF expression``.

    ``value`` is the literal (int for a number, str for a string) when the expression is one, else ``None``: then ``expression`` holds
    what Spark must evaluate.
    """

    kind: str  # "version" or "timestamp"
    expression: Span
    value: int | str | None
    span: Span  # the whole clause


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReference(TableName):
    """One mention of a relation by name. ``start`` and ``end`` enclose the name only.

    ``clause_end`` is the end of the name with its time travel and options clauses: that is what a view replaces.
    ``alias_at`` is where `` AS x`` goes when ``alias`` is None (behind a TABLESAMPLE clause), ``None`` where no alias may stand.
    """

    place: Place = Place.FROM
    alias: str | None = None
    time_travel: TimeTravel | None = None
    options: tuple[tuple[str, str], ...] = ()
    clause_end: int = 0
    alias_at: int | None = None
    identifier_clause: bool = False  # IDENTIFIER('local.db.t'): start and end enclose the whole clause; parts () if only Spark knows
    scope: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChain:
    """A dotted chain in an expression, such as ``local.db.t.id`` or ``db.t.*``: a qualifier and a column, or a column and its fields."""

    parts: NameParts
    part_spans: tuple[Span, ...]
    star: bool = False  # followed by `.*`, or in a hint: the whole chain may be a qualifier
    scope: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """All tables that a text names, in order, and the dotted columns that may be qualified by them.

    Each SELECT is a scope of names; ``scope_parents`` gives the scope around each (-1: none).
    """

    tables: tuple[TableReference, ...] = ()
    chains: tuple[ColumnChain, ...] = ()
    temporary: frozenset[str] = field(default_factory=frozenset)  # CTE names, in lower case, anywhere in the text
    scope_parents: tuple[int, ...] = (-1,)
