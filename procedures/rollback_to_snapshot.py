"""rollback_to_snapshot(table, snapshot_id): make an ancestor of the current snapshot current again."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, snapshot_id: int) -> Iterator[Row]:
    loaded = context.table(table)
    previous = loaded.metadata.current_snapshot_id
    loaded.manage_snapshots().rollback_to(snapshot_id).commit()
    yield previous, snapshot_id


PROCEDURE = Procedure(
    name="rollback_to_snapshot",
    summary="Roll a table back to one of its current snapshot's ancestors.",
    parameters=(TABLE, Parameter(name="snapshot_id", type="bigint", required=True, description="an ancestor of the current snapshot")),
    output=(Output(name="previous_snapshot_id", type="bigint"), Output(name="current_snapshot_id", type="bigint")),
    call=call,
    can_wait=True,
)
