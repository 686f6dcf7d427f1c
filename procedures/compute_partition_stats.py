"""compute_partition_stats(table, snapshot_id): totals of each partition, in a file attached to a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.table.maintenance.partition_statistics import compute_partition_statistics
from icesql.table.maintenance.table_statistics import snapshot_for_statistics


def call(context: ProcedureContext, table: str, snapshot_id: int | None) -> Iterator[Row]:
    loaded = context.table(table)
    snapshot = snapshot_for_statistics(loaded.metadata, snapshot_id)
    if snapshot is None:
        context.notice("compute_partition_stats computed nothing: the table has no snapshot")
        return
    held = {file.snapshot_id for file in loaded.metadata.partition_statistics}
    file = compute_partition_statistics(loaded, snapshot)
    if snapshot.snapshot_id in held:
        context.notice("compute_partition_stats computed nothing: the snapshot has partition statistics already")
    elif context.dry_run:
        context.planned("set partition statistics", str(snapshot.snapshot_id), size_in_bytes=file.file_size_in_bytes)
    yield (file.statistics_path,)


PROCEDURE = Procedure(
    name="compute_partition_stats",
    summary="Compute how many rows, files and deletes each partition has.",
    parameters=(TABLE, Parameter(name="snapshot_id", type="bigint", description="snapshot to read; default: the current one")),
    output=(Output(name="partition_statistics_file", type="string", nullable=True),),
    call=call,
)
