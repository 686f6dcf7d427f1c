"""ALTER TABLE, stock forms and Iceberg's extensions, as values."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.parser.constants import Constant
from icesql.parser.statements.base import Statement
from icesql.parser.statements.ddl import ColumnDefinition, Position, Properties, SortTerm, TransformTerm
from icesql.parser.text.names import NameParts, Span, TableName
from icesql.spec.types import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable(Statement):
    table: TableName


# -- stock forms ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumns(AlterTable):
    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumns(AlterTable):
    columns: tuple[NameParts, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn(AlterTable):
    column: NameParts
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """One action on one column; exactly one of the fields is given (Hive's CHANGE COLUMN may give several)."""

    column: NameParts
    type: Type | None = None
    type_text: str | None = None
    comment: str | None = None
    position: Position | None = None
    set_not_null: bool = False
    drop_not_null: bool = False
    default_text: str | None = None
    default: Constant | None = None
    drop_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterColumns(AlterTable):
    """ALTER COLUMN c ..., d ... and CHANGE COLUMN c c type ..."""

    changes: tuple[ColumnChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceColumns(AlterTable):
    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTableProperties(AlterTable):
    properties: Properties


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetTableProperties(AlterTable):
    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTableLocation(AlterTable):
    location: str
    partition: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTable(AlterTable):
    new_name: TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAlter(AlterTable):
    """A form Spark parses and Iceberg refuses: ``form`` says which.

    ADD PARTITION, DROP PARTITION, RENAME PARTITION, RECOVER PARTITIONS, CLUSTER BY, ADD CONSTRAINT, DROP CONSTRAINT, SET SERDE, ...
    """

    form: str


# -- Iceberg's extensions ------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionField(AlterTable):
    field: TransformTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPartitionField(AlterTable):
    field: TransformTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacePartitionField(AlterTable):
    old: TransformTerm
    new: TransformTerm  # with its AS name


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOrder(AlterTable):
    """ALTER TABLE t WRITE ...

    ``distribution_mode``: the value ``write.distribution-mode`` takes (hash, range, none), or None to leave it as it is.
    ``order``: the new sort order; empty clears it.
    """

    order: tuple[SortTerm, ...] = ()
    distribution_mode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetIdentifierFields(AlterTable):
    fields: tuple[NameParts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDefaultCollation(AlterTable):
    collation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropIdentifierFields(AlterTable):
    fields: tuple[NameParts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateBranch(AlterTable):
    """CREATE [OR REPLACE] | REPLACE BRANCH. ``create`` False: REPLACE only. Times in milliseconds; None: not stated."""

    name: str
    create: bool = True
    replace: bool = False
    if_not_exists: bool = False
    snapshot_id: int | None = None
    max_ref_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None
    max_snapshot_age_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTag(AlterTable):
    name: str
    create: bool = True
    replace: bool = False
    if_not_exists: bool = False
    snapshot_id: int | None = None
    max_ref_age_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropBranch(AlterTable):
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTag(AlterTable):
    name: str
    if_exists: bool = False
