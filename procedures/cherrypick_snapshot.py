"""cherrypick_snapshot(table, snapshot_id): apply the changes of a snapshot that is not an ancestor to the current state."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, snapshot_id: int) -> Iterator[Row]:
    loaded = context.table(table)
    loaded.manage_snapshots().cherrypick(snapshot_id).commit()
    yield snapshot_id, loaded.metadata.current_snapshot_id


PROCEDURE = Procedure(
    name="cherrypick_snapshot",
    summary="Apply a staged or rolled-back snapshot to the current state: appends, dynamic overwrites and fast-forwards.",
    parameters=(TABLE, Parameter(name="snapshot_id", type="bigint", required=True, description="the snapshot whose changes are applied")),
    output=(Output(name="source_snapshot_id", type="bigint"), Output(name="current_snapshot_id", type="bigint")),
    call=call,
    can_wait=True,
)
