"""CREATE, REPLACE and DROP of branches and tags."""

from __future__ import annotations

from icesql.errors import InvalidArgumentError
from icesql.parser import statements as s
from icesql.parser.statements.families import RefAlteration
from icesql.table.changes.manage_snapshots import ManageSnapshots
from icesql.table.table import Table


def alter_refs(statement: RefAlteration, table: Table) -> None:
    """One commit, or none where IF [NOT] EXISTS says so."""
    update = table.manage_snapshots()
    match statement:
        case s.CreateBranch():
            if statement.if_not_exists and statement.name in table.metadata.refs:
                return
            _branch(update, statement, table)
        case s.CreateTag():
            if _snapshot(statement, table) is None:
                raise InvalidArgumentError(f"Cannot complete create or replace tag operation on {table.name}, main has no snapshot")
            if statement.if_not_exists and statement.name in table.metadata.refs:
                return
            _tag(update, statement, table)
        case s.DropBranch(name=name):
            if statement.if_exists and name not in table.metadata.refs:
                return
            update.remove_branch(name)
        case s.DropTag(name=name):
            if statement.if_exists and name not in table.metadata.refs:
                return
            update.remove_tag(name)
    update.commit()


def _snapshot(statement: s.CreateBranch | s.CreateTag, table: Table) -> int | None:
    return table.metadata.current_snapshot_id if statement.snapshot_id is None else statement.snapshot_id


def _branch(update: ManageSnapshots, statement: s.CreateBranch, table: Table) -> None:
    name, snapshot_id = statement.name, _snapshot(statement, table)
    replaces = statement.replace and (not statement.create or name in table.metadata.refs)
    if replaces:
        update.replace_branch(name, snapshot_id)
    else:
        update.create_branch(name, snapshot_id)
    if statement.min_snapshots_to_keep is not None:
        update.set_min_snapshots_to_keep(name, statement.min_snapshots_to_keep)
    if statement.max_snapshot_age_ms is not None:
        update.set_max_snapshot_age_ms(name, statement.max_snapshot_age_ms)
    if statement.max_ref_age_ms is not None:
        update.set_max_ref_age_ms(name, statement.max_ref_age_ms)


def _tag(update: ManageSnapshots, statement: s.CreateTag, table: Table) -> None:
    name, snapshot_id = statement.name, _snapshot(statement, table)
    if statement.replace and (not statement.create or name in table.metadata.refs):
        update.replace_tag(name, snapshot_id)
    else:
        update.create_tag(name, snapshot_id)
    if statement.max_ref_age_ms is not None:
        update.set_max_ref_age_ms(name, statement.max_ref_age_ms)
