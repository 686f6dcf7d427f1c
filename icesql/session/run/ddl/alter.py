"""ALTER TABLE: each statement becomes one builder, or several in one transaction, and one commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from icesql.errors import AlreadyExistsError, InvalidArgumentError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.statements.families import Alteration
from icesql.session.resolve.resolved import Readable
from icesql.session.run.ddl import alter_columns, alter_partitioning, alter_refs
from icesql.session.run.ddl.table_properties import COLLATION, collation_name, refuse_reserved
from icesql.session.sql_errors import no_partition_management, not_for_v2, table_exists
from icesql.spec.properties import CURRENT_SNAPSHOT_ID, whole_number
from icesql.table.changes.update_location import UpdateLocation

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

_RESERVED_BY_ICEBERG = {
    "sort-order": "Please use the command 'ALTER TABLE ... WRITE ORDERED BY' to specify write sort-orders.",
    "identifier-fields": "Please use the command 'ALTER TABLE ... SET IDENTIFIER FIELDS' to specify identifier fields.",
}
_CURRENT_SNAPSHOT, _CHERRY_PICK = CURRENT_SNAPSHOT_ID, "cherry-pick-snapshot-id"


def run_alter(session: SessionState, statement: Alteration, resolved: Readable) -> None:
    table = resolved.table
    match statement:
        case s.AddColumns() | s.DropColumns() | s.RenameColumn() | s.AlterColumns() | s.ReplaceColumns():
            alter_columns.alter_columns(session, statement, resolved)
        case s.SetIdentifierFields(fields=fields):
            table.update_schema().set_identifier_fields(*(".".join(field) for field in fields)).commit()
        case s.DropIdentifierFields(fields=fields):
            table.update_schema().drop_identifier_fields(*(".".join(field) for field in fields)).commit()
        case s.AddPartitionField() | s.DropPartitionField() | s.ReplacePartitionField() | s.WriteOrder():
            alter_partitioning.alter_partitioning(statement, table, case_sensitive=session.is_case_sensitive)
        case s.CreateBranch() | s.CreateTag() | s.DropBranch() | s.DropTag():
            alter_refs.alter_refs(statement, table)
        case s.SetTableProperties():
            _set_properties(statement, resolved)
        case s.UnsetTableProperties(keys=keys):
            refuse_reserved(keys)
            table.update_properties().remove(*dict.fromkeys(keys)).commit()
        case s.SetTableLocation():
            if statement.partition is not None:
                raise UnsupportedError("ALTER TABLE SET LOCATION does not support partition for v2 tables.")
            with _table_change():
                UpdateLocation(statement.location, table.operations, table.version).commit()
        case s.SetDefaultCollation(collation=collation):
            table.update_properties().set(COLLATION, collation_name(session, collation)).commit()
        case s.RenameTable():
            _rename(session, statement, resolved)
        case s.RefusedAlter(form=form):
            raise _refused(form, resolved)


@contextmanager
def _table_change() -> Iterator[None]:
    """What a catalog refuses to change of a table, in Spark's words."""
    try:
        yield
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"Unsupported table change: {error.message}", **error.context) from None


def _set_properties(statement: s.SetTableProperties, resolved: Readable) -> None:
    properties = dict(statement.properties)
    refuse_reserved(properties)
    for key, instead in _RESERVED_BY_ICEBERG.items():
        if key in properties:
            raise UnsupportedError(f"Cannot specify the '{key}' because it's a reserved table property. {instead}")
    current, picked = properties.pop(_CURRENT_SNAPSHOT, None), properties.pop(_CHERRY_PICK, None)
    if current is not None and picked is not None:
        raise InvalidArgumentError("Cannot set the current the current snapshot ID and cherry-pick snapshot changes")
    transaction = resolved.table.transaction()
    metadata = resolved.table.metadata
    if current is not None:
        transaction.add(resolved.table.manage_snapshots().set_current_snapshot(_snapshot_id(current)))
    if picked is not None:
        transaction.add(resolved.table.manage_snapshots().cherrypick(_snapshot_id(picked)))
    if properties:
        with _table_change():
            transaction.add(resolved.table.update_properties().set_all(properties))
    if transaction.changes and transaction.metadata is not metadata:
        transaction.commit()


def _snapshot_id(text: str) -> int:
    try:
        return whole_number(text)
    except ValueError:
        raise InvalidArgumentError(f"Cannot set snapshot: not a snapshot id: {text}") from None


def _rename(session: SessionState, statement: s.RenameTable, resolved: Readable) -> None:
    parts = statement.new_name.parts
    catalog = resolved.address.catalog
    if len(parts) == 1:
        target = (*resolved.address.namespace, *parts)
    elif parts[0] == catalog.name:
        target = parts[1:]
    elif parts[0] in session.catalogs:
        raise InvalidArgumentError(f"Cannot move table between catalogs: from={catalog.name} and to={parts[0]}")
    else:
        target = parts
    try:
        catalog.rename_table(resolved.address.identifier, target)
    except AlreadyExistsError:
        raise table_exists((catalog.name, *target)) from None


def _refused(form: str, resolved: Readable) -> Exception:
    if form in ("ADD PARTITION", "DROP PARTITION", "RENAME PARTITION"):
        return no_partition_management(resolved.address.parts)
    if form.startswith(("RECOVER", "SET SERDE", "SET FILEFORMAT", "TOUCH", "ARCHIVE", "UNARCHIVE")):
        return not_for_v2(f"ALTER TABLE ... {form}")
    return UnsupportedError(f"Cannot apply unknown table change: {form}: table {resolved.dotted}")
