"""Statements that define tables, views and namespaces, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from icesql.parser.constants import Constant
from icesql.parser.statements.base import Statement
from icesql.parser.text.names import NameParts, References, Span, TableName
from icesql.spec.sorting import NullOrder, SortDirection
from icesql.spec.transforms import Transform
from icesql.spec.types import Type

Properties = tuple[tuple[str, str], ...]
Options = tuple[tuple[str, "str | Span"], ...]  # a span: an expression, which Spark evaluates


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """``FIRST`` (``after`` is None) or ``AFTER name``."""

    after: str | None = None

    @property
    def first(self) -> bool:
        return self.after is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDefinition:
    """``name type [NOT NULL] [DEFAULT e] [GENERATED ALWAYS AS e] [COMMENT 'c'] [FIRST | AFTER o]``.

    ``path`` has more than one part only in ALTER TABLE. ``type`` is Iceberg's; its nested field ids are unique within the statement and
    meant to be reassigned. ``default`` is the folded constant where DEFAULT is one; ``default_text`` the expression as written.
    """

    path: NameParts
    type: Type
    type_text: str
    required: bool = False
    comment: str | None = None
    default_text: str | None = None
    default: Constant | None = None
    generated_text: str | None = None
    position: Position | None = None
    start: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        return self.path[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformTerm:
    """A column under a transform, as PARTITIONED BY, PARTITION FIELD and ORDERED BY write it. ``name`` is AS name, where given.

    ``text`` is the term as written, ``function`` the transform's name as spelled; ``plain`` is True for a bare column (which in
    DROP and REPLACE PARTITION FIELD may also be a partition field's name).
    """

    transform: Transform
    column: NameParts
    text: str
    function: str | None = None
    name: str | None = None
    plain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SortTerm:
    """``transform [ASC | DESC] [NULLS FIRST | LAST]`` with the defaults filled in (ASC: nulls first, DESC: nulls last)."""

    term: TransformTerm
    direction: SortDirection = SortDirection.ASC
    null_order: NullOrder = NullOrder.NULLS_FIRST


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(Statement):
    """CREATE TABLE, REPLACE TABLE, CREATE OR REPLACE TABLE, with or without AS SELECT.

    ``replace``: REPLACE or OR REPLACE; ``create``: False only for plain REPLACE TABLE (the table must exist).
    ``partition_columns``: Hive style ``PARTITIONED BY (p string)``; they are also the last of ``columns``, and identity terms
    of ``partitioning``.
    ``query`` (AS SELECT) is a list of pieces of the text, to be joined by blanks; its table references are in ``references``.
    """

    table: TableName
    create: bool = True
    replace: bool = False
    if_not_exists: bool = False
    external: bool = False
    columns: tuple[ColumnDefinition, ...] = ()
    partitioning: tuple[TransformTerm, ...] = ()
    partition_columns: tuple[str, ...] = ()
    provider: str | None = None  # USING
    location: str | None = None
    comment: str | None = None
    properties: Properties = ()
    options: Options = ()
    storage: Properties = ()  # STORED AS and ROW FORMAT, as the properties that Spark turns them into
    collation: str | None = None
    query: tuple[Span, ...] = ()
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTableLike(Statement):
    """CREATE TABLE t LIKE source: an extension of ours (Iceberg's runtime refuses it)."""

    table: TableName
    source: TableName
    if_not_exists: bool = False
    provider: str | None = None
    location: str | None = None
    properties: Properties = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTable(Statement):
    table: TableName
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewColumn:
    name: str
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] [[GLOBAL] TEMPORARY] VIEW. ``query`` is the text behind AS, verbatim; with a ``provider`` there is none."""

    view: TableName
    replace: bool = False
    temporary: bool = False
    global_temporary: bool = False
    if_not_exists: bool = False
    columns: tuple[ViewColumn, ...] = ()
    comment: str | None = None
    properties: Properties = ()
    provider: str | None = None
    options: Properties = ()
    query: Span
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropView(Statement):
    view: TableName
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterViewProperties(Statement):
    """SET TBLPROPERTIES (``set``) or UNSET TBLPROPERTIES [IF EXISTS] (``unset``)."""

    view: TableName
    set: Properties = ()
    unset: tuple[str, ...] = ()
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameView(Statement):
    view: TableName
    new_name: TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterViewAs(Statement):
    view: TableName
    query: Span
    references: References


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateNamespace(Statement):
    namespace: TableName
    if_not_exists: bool = False
    comment: str | None = None
    location: str | None = None
    properties: Properties = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DropNamespace(Statement):
    namespace: TableName
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterNamespace(Statement):
    """SET PROPERTIES (``set``), UNSET PROPERTIES (``unset``) or SET LOCATION (``location``)."""

    namespace: TableName
    set: Properties = ()
    unset: tuple[str, ...] = ()
    location: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOn(Statement):
    """COMMENT ON TABLE | NAMESPACE | SCHEMA | DATABASE name IS 'c' | NULL. ``kind``: table or namespace."""

    kind: str
    name: TableName
    comment: str | None = None
