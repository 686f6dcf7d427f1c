"""set_current_snapshot(table, snapshot_id, ref): make any snapshot of the table current, ancestor or not."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import InvalidArgumentError, ValidationError, nearest
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.table.table import Table


def call(context: ProcedureContext, table: str, snapshot_id: int | None, ref: str | None) -> Iterator[Row]:
    if (snapshot_id is None) == (ref is None):
        raise InvalidArgumentError("Either snapshot_id or ref must be provided, not both")
    loaded = context.table(table)
    previous = loaded.metadata.current_snapshot_id
    target = snapshot_id if snapshot_id is not None else _snapshot_of(loaded, ref or "")
    loaded.manage_snapshots().set_current_snapshot(target).commit()
    yield previous, target


def _snapshot_of(table: Table, ref: str) -> int:
    target = table.metadata.refs.get(ref)
    if target is None:
        raise ValidationError(f"Cannot find matching snapshot ID for ref {ref}.{nearest(ref, table.metadata.refs)}", ref=ref)
    return target.snapshot_id


PROCEDURE = Procedure(
    name="set_current_snapshot",
    summary="Set the current snapshot of a table.",
    parameters=(
        TABLE,
        Parameter(name="snapshot_id", type="bigint", description="the snapshot to make current"),
        Parameter(name="ref", type="string", description="or the branch or tag that points to it"),
    ),
    output=(Output(name="previous_snapshot_id", type="bigint", nullable=True), Output(name="current_snapshot_id", type="bigint")),
    call=call,
    can_wait=True,
)
