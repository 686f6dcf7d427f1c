"""compute_table_stats(table, snapshot_id, columns): how many distinct values columns have, as sketches attached to a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.table.maintenance.table_statistics import columns_for_statistics, compute_table_statistics, snapshot_for_statistics
from icesql.table.scan.planning_modes import check_modes
from icesql.table.scan.read_numbers import check_splits


def call(context: ProcedureContext, table: str, snapshot_id: int | None, columns: list[str] | None) -> Iterator[Row]:
    from icesql.spark.maintenance.table_statistics import sketches_by

    loaded = context.table(table)
    snapshot = snapshot_for_statistics(loaded.metadata, snapshot_id)
    if snapshot is None:
        context.notice("compute_table_stats computed nothing: the table has no snapshot")
        return
    check_modes(loaded.metadata.properties, context.session.conf)
    check_splits(loaded.metadata.properties)
    chosen = columns_for_statistics(loaded.metadata.schema_of(snapshot), columns)
    file = compute_table_statistics(loaded, snapshot, chosen, sketches_by(context.spark))
    if context.dry_run:
        names = [column.name for column in chosen]
        context.planned("set statistics", str(snapshot.snapshot_id), size_in_bytes=file.file_size_in_bytes, reason=f"of {', '.join(names)}")
    yield (file.statistics_path,)


PROCEDURE = Procedure(
    name="compute_table_stats",
    summary="Compute the number of distinct values of columns, as theta sketches in a Puffin file.",
    parameters=(
        TABLE,
        Parameter(name="snapshot_id", type="bigint", description="snapshot to read; default: the current one"),
        Parameter(name="columns", type="array<string>", description="columns; default: all of primitive types"),
    ),
    output=(Output(name="statistics_file", type="string", nullable=True),),
    call=call,
)
