"""ancestors_of(table, snapshot_id): a snapshot and its ancestors, newest first."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import NotFoundError
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, snapshot_id: int | None) -> Iterator[Row]:
    metadata = context.table(table).metadata
    start = metadata.current_snapshot_id if snapshot_id is None else snapshot_id
    if start is None or start not in metadata.snapshots_by_id:
        raise NotFoundError(f"Cannot find snapshot: {-1 if start is None else start}", snapshot_id=start)
    for snapshot in metadata.ancestors(start):
        yield snapshot.snapshot_id, snapshot.timestamp_ms


PROCEDURE = Procedure(
    name="ancestors_of",
    summary="List a snapshot and its ancestors.",
    parameters=(TABLE, Parameter(name="snapshot_id", type="bigint", description="where to start; default: the current snapshot")),
    output=(Output(name="snapshot_id", type="bigint", nullable=True), Output(name="timestamp", type="bigint", nullable=True)),
    call=call,
    mutating=False,
)
