"""expire_snapshots(table, older_than, retain_last, ...): drop old snapshots and the files that only they need."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from icesql.errors import InvalidArgumentError
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.table.changes.expire_snapshots import ExpirePlan, ExpireSnapshots
from icesql.table.scan.read_numbers import check_metadata_splits
from icesql.table.table import Table


def call(
    context: ProcedureContext,
    table: str,
    older_than: int | None,
    retain_last: int | None,
    max_concurrent_deletes: int | None,
    stream_results: bool | None,
    snapshot_ids: list[int] | None,
    clean_expired_metadata: bool | None,
) -> Iterator[Row]:
    if max_concurrent_deletes is not None and max_concurrent_deletes <= 0:
        raise InvalidArgumentError(f"max_concurrent_deletes should have value > 0, value: {max_concurrent_deletes}")
    loaded = context.table(table)
    check_metadata_splits(loaded.properties)
    expire = loaded.expire_snapshots().clean_expired_metadata(bool(clean_expired_metadata))
    if older_than is not None:
        expire.expire_older_than(older_than // 1000)
    if retain_last is not None:
        expire.retain_last(retain_last)
    for snapshot_id in snapshot_ids or ():
        expire.expire_snapshot_id(snapshot_id)
    if max_concurrent_deletes is not None and not context.dry_run:
        _delete_with(expire, loaded, max_concurrent_deletes)
    before = loaded.metadata
    plan = expire.plan() if context.dry_run else None
    result = expire.commit()
    if plan is not None:
        _explain(context, plan)
    if result.failures:
        context.notice(
            f"{len(result.failures)} files could not be deleted and are orphans now, for example {result.failures[0][0]}: "
            f"{result.failures[0][1]}"
        )
    if before is loaded.metadata or len(before.snapshots) == len(loaded.metadata.snapshots):
        context.notice(f"expire_snapshots expired nothing: all {len(before.snapshots)} snapshots are within retention or referenced")
    yield result.files.counts()


def _delete_with(expire: ExpireSnapshots, table: Table, threads: int) -> None:
    def delete(paths: object) -> list[tuple[str, str]]:
        held = list(paths)  # type: ignore[call-overload]
        with ThreadPoolExecutor(max_workers=threads) as pool:
            return [failure for failures in pool.map(lambda path: table.io.delete_many([path]), held) for failure in failures]

    expire.delete_with(delete)


def _explain(context: ProcedureContext, plan: ExpirePlan) -> None:
    for expired in plan.snapshots:
        context.planned("expire snapshot", str(expired.snapshot.snapshot_id), reason=expired.reason)


PROCEDURE = Procedure(
    name="expire_snapshots",
    summary="Remove snapshots past retention, and the files that no other snapshot needs.",
    parameters=(
        TABLE,
        Parameter(
            name="older_than",
            type="timestamp",
            description="expire snapshots older than this; default: 5 days, or history.expire.max-snapshot-age-ms",
        ),
        Parameter(name="retain_last", type="int", description="keep at least so many; default 1, or history.expire.min-snapshots-to-keep"),
        Parameter(name="max_concurrent_deletes", type="int", description="threads that delete files"),
        Parameter(name="stream_results", type="boolean", description="accepted: files are never all held in Spark's driver"),
        Parameter(name="snapshot_ids", type="array<bigint>", description="expire these, whatever their age"),
        Parameter(name="clean_expired_metadata", type="boolean", description="also drop specs and schemas that no snapshot uses"),
    ),
    output=(
        Output(name="deleted_data_files_count", type="bigint", nullable=True),
        Output(name="deleted_position_delete_files_count", type="bigint", nullable=True),
        Output(name="deleted_equality_delete_files_count", type="bigint", nullable=True),
        Output(name="deleted_manifest_files_count", type="bigint", nullable=True),
        Output(name="deleted_manifest_lists_count", type="bigint", nullable=True),
        Output(name="deleted_statistics_files_count", type="bigint", nullable=True),
    ),
    call=call,
)
