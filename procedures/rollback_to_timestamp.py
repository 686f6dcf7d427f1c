"""rollback_to_timestamp(table, timestamp): make the newest ancestor older than a time current again."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, timestamp: int) -> Iterator[Row]:
    loaded = context.table(table)
    previous = loaded.metadata.current_snapshot_id
    loaded.manage_snapshots().rollback_to_time(timestamp // 1000).commit()
    yield previous, loaded.metadata.current_snapshot_id


PROCEDURE = Procedure(
    name="rollback_to_timestamp",
    summary="Roll a table back to its state before a time.",
    parameters=(TABLE, Parameter(name="timestamp", type="timestamp", required=True, description="the state before this time comes back")),
    output=(Output(name="previous_snapshot_id", type="bigint"), Output(name="current_snapshot_id", type="bigint")),
    call=call,
    can_wait=True,
)
