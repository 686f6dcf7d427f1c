"""Statements that change rows, as values. Conditions, assignments and queries stay spans of the user's text.

``references`` hold every table read (not the target), with offsets in the statement's text. ``ctes`` is the span of
``WITH a AS (...), ...`` in front, which each query, condition and assignment may use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from icesql.parser.statements.base import Statement
from icesql.parser.statements.ddl import Properties
from icesql.parser.text.names import NameParts, References, Span, TableName


class InsertMode(str, Enum):
    APPEND = "append"
    OVERWRITE = "overwrite"
    REPLACE_WHERE = "replace where"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionValue:
    """``p = expression`` or, dynamic, just ``p`` (``value`` is None)."""

    column: str
    value: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Statement):
    """INSERT INTO | OVERWRITE, also one branch of ``FROM x INSERT ... INSERT ...``.

    ``query``: pieces of the text which joined by blanks are the whole query, CTEs included.
    """

    target: TableName
    mode: InsertMode = InsertMode.APPEND
    by_name: bool = False
    columns: tuple[NameParts, ...] = ()
    partition: tuple[PartitionValue, ...] = ()
    if_not_exists: bool = False
    options: Properties = ()
    where: Span | None = None  # REPLACE WHERE
    query: tuple[Span, ...] = ()
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiInsert(Statement):
    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Statement):
    """DELETE FROM t [AS a] [WHERE condition]."""

    target: TableName
    alias: str | None = None
    condition: Span | None = None
    ctes: Span | None = None
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """``key = value``. ``column``: the key's parts, qualifier included; ``value``: the expression (``DEFAULT`` when ``is_default``)."""

    column: NameParts
    key: Span
    value: Span
    is_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Statement):
    target: TableName
    alias: str | None = None
    assignments: tuple[Assignment, ...]
    condition: Span | None = None
    ctes: Span | None = None
    references: References = field(default_factory=References)


class MergeKind(str, Enum):
    MATCHED = "matched"
    NOT_MATCHED = "not matched"
    NOT_MATCHED_BY_SOURCE = "not matched by source"


class MergeAction(str, Enum):
    DELETE = "delete"
    UPDATE = "update"
    UPDATE_ALL = "update *"
    INSERT = "insert"
    INSERT_ALL = "insert *"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClause:
    """``assignments``: of UPDATE, and of INSERT (column and value paired)."""

    kind: MergeKind
    action: MergeAction
    condition: Span | None = None
    assignments: tuple[Assignment, ...] = ()
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Statement):
    """MERGE [WITH SCHEMA EVOLUTION] INTO target [AS a] USING source [AS b] ON condition WHEN ...

    ``source`` spans the relation with its alias (``(SELECT ...) AS s``, ``db.s VERSION AS OF 3 s``): ``SELECT * FROM <source>`` is valid.
    """

    target: TableName
    alias: str | None = None
    schema_evolution: bool = False
    source: Span
    source_alias: str | None = None
    condition: Span
    clauses: tuple[MergeClause, ...]
    ctes: Span | None = None
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateTable(Statement):
    target: TableName
    partition: Span | None = None
