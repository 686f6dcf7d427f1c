"""The micro-batches of a streaming query, written to a table once each: a snapshot's summary says which batch of which query it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from icesql.expr.tree import TRUE
from icesql.session.resolve.path_tables import require_named
from icesql.session.resolve.write_target import WriteTarget, target_of
from icesql.session.run.dml.insert import write
from icesql.session.run.dml.schema_merge import evolved, filled
from icesql.session.run.transactions import commit
from icesql.spark.write.store_assignment import assigned_frame
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.overwrite import OverwriteFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

QUERY_ID, EPOCH_ID = "spark.sql.streaming.queryId", "spark.sql.streaming.epochId"


def write_micro_batch(
    session: SessionState, name: str, frame: DataFrame, options: Mapping[str, str], *, query_id: str, epoch: int, is_complete: bool
) -> None:
    """Append the rows, or put them in the place of all rows if ``is_complete``. A batch that the table holds already is not written again.

    A batch without rows is committed too, as Iceberg's runtime does. Columns match by name.
    """
    target = target_of(session, require_named(session, name), options)
    if epoch <= _last_epoch(target, query_id):
        frame.write.format("noop").mode("overwrite").save()  # what the query remembers between batches is made by running them
        return
    target = evolved(session, target, frame)
    schema = target.table.metadata.schema
    rows = assigned_frame(session.spark, filled(target, frame), schema, table_name=target.resolved.dotted, by_name=True)
    builder = _builder(target, is_complete=is_complete)
    builder.set_all({QUERY_ID: query_id, EPOCH_ID: str(epoch)})
    for file in write(session, target, rows):
        if isinstance(builder, OverwriteFiles):
            builder.add_file(file)
        else:
            builder.append_file(file)
    commit(session, target.resolved.address, builder)


def _builder(target: WriteTarget, *, is_complete: bool) -> AppendFiles | OverwriteFiles:
    if not is_complete:
        return target.applied(target.table.new_fast_append()).owning_files()
    replaced = target.applied(target.table.new_overwrite()).owning_files()
    replaced.overwrite_by_row_filter(TRUE)
    return replaced


def _last_epoch(target: WriteTarget, query_id: str) -> int:
    """The last batch of that query in the branch's history, as far as it is known; -1 if there is none."""
    metadata = target.table.metadata
    for snapshot in metadata.ancestors(target.base_snapshot_id):
        if snapshot.summary.get(QUERY_ID) == query_id:
            return int(snapshot.summary[EPOCH_ID])
    return -1
