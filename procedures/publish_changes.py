"""publish_changes(table, wap_id): cherry-pick the snapshot staged under a write-audit-publish id."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import ValidationError, nearest
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, wap_id: str) -> Iterator[Row]:
    loaded = context.table(table)
    staged = {s.snapshot_id: s.summary["wap.id"] for s in loaded.metadata.snapshots if "wap.id" in s.summary}
    matching = [snapshot_id for snapshot_id, staged_as in staged.items() if staged_as == wap_id]
    if not matching:
        raise ValidationError(f"Cannot apply unknown WAP ID '{wap_id}'{nearest(wap_id, staged.values())}", wap_id=wap_id)
    if len(matching) > 1:
        raise ValidationError(f"Cannot apply non-unique WAP ID. Found multiple snapshots with WAP ID '{wap_id}'", wap_id=wap_id)
    loaded.manage_snapshots().cherrypick(matching[0]).commit()
    yield matching[0], loaded.metadata.current_snapshot_id


PROCEDURE = Procedure(
    name="publish_changes",
    summary="Publish the snapshot that was staged with spark.wap.id.",
    parameters=(TABLE, Parameter(name="wap_id", type="string", required=True, description="the id under which it was staged")),
    output=(Output(name="source_snapshot_id", type="bigint"), Output(name="current_snapshot_id", type="bigint")),
    call=call,
    can_wait=True,
)
