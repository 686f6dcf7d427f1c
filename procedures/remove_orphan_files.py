"""remove_orphan_files(table, older_than, ...): delete files below a table's location that nothing in its metadata reaches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.spec.properties import GC_ENABLED, property_as_bool
from icesql.table.maintenance.orphan_files import (
    PrefixRules,
    partition_names,
    prefix_mismatch,
    removable_orphans,
    visible,
)
from icesql.table.scan.read_numbers import check_metadata_splits
from icesql.table.table import Table

_DAY_MS = 86_400_000
OVERRIDE = "spark.icesql.orphan-files.allow-short-interval"


def call(
    context: ProcedureContext,
    table: str,
    older_than: int | None,
    location: str | None,
    dry_run: bool | None,
    max_concurrent_deletes: int | None,
    file_list_view: str | None,
    equal_schemes: dict[str, str] | None,
    equal_authorities: dict[str, str] | None,
    prefix_mismatch_mode: str | None,
    prefix_listing: bool | None,
    stream_results: bool | None,
) -> Iterator[Row]:
    if max_concurrent_deletes is not None and max_concurrent_deletes <= 0:
        raise InvalidArgumentError(f"max_concurrent_deletes should have value > 0, value: {max_concurrent_deletes}")
    if location is not None and not location.strip():
        raise InvalidArgumentError("Cannot remove orphan files: the location is empty")
    rules = PrefixRules.of(equal_schemes, equal_authorities, prefix_mismatch(prefix_mismatch_mode))
    loaded = context.table(table)
    if not property_as_bool(loaded.properties, GC_ENABLED):
        raise ValidationError("Cannot delete orphan files: GC is disabled (deleting files may corrupt other tables)")
    check_metadata_splits(loaded.properties)
    now = time.time_ns() // 1_000_000
    if older_than is not None:
        _check_interval(context, older_than // 1000, now)
    limit = now - 3 * _DAY_MS if older_than is None else older_than // 1000
    root = (location or loaded.location).rstrip("/") or "/"
    candidates, seen = _candidates(context, loaded, root, file_list_view, limit)
    orphans, kept = removable_orphans(loaded, root, candidates, seen, rules)
    if kept:
        context.notice(f"{len(kept)} files that nothing reaches were left, for example {kept[0][0]}: {kept[0][1]}")
    if dry_run:
        for path in orphans:
            context.planned(
                "delete file", path, size_in_bytes=candidates[path], reason="no snapshot, ref, metadata log or statistics reaches it"
            )
    else:
        _delete(context, loaded, orphans, max_concurrent_deletes)
    if not orphans and not kept:
        context.notice(
            f"remove_orphan_files found nothing: {len(candidates)} files are old enough, and the table's metadata reaches all of them"
        )
    yield from ((path,) for path in orphans)


def _check_interval(context: ProcedureContext, older_than_ms: int, now_ms: int) -> None:
    allowed = (context.session.conf(key) for key in ("spark.testing", OVERRIDE))
    if older_than_ms > now_ms - _DAY_MS and not any((value or "").lower() == "true" for value in allowed):
        raise InvalidArgumentError(
            "Cannot remove orphan files with an interval less than 24 hours. Executing this procedure with a short interval may corrupt "
            "the table if other operations are happening at the same time. If you are absolutely confident that no concurrent operations "
            f"will be affected by removing orphan files with such a short interval, set {OVERRIDE} to true."
        )


def _candidates(
    context: ProcedureContext, table: Table, root: str, view: str | None, limit_ms: int
) -> tuple[dict[str, int | None], Iterable[str]]:
    """Files that are old enough, with their sizes where known; and all files that were seen, of whatever age."""
    from icesql.spark.maintenance.orphan_files import files_of_view, listed_files

    if view is not None:
        listed_in_view = dict.fromkeys(files_of_view(context.spark, view, root, limit_ms))
        return listed_in_view, listed_in_view
    listed = listed_files(context.spark, table.io, root)
    files = visible(listed, root, partition_names(table))
    return {info.location: info.size_in_bytes for info in files if info.modified_ms < limit_ms}, [info.location for info in listed]


def _delete(context: ProcedureContext, table: Table, orphans: list[str], threads: int | None) -> None:
    if threads is None:
        failures = table.io.delete_many(orphans)
    else:
        with ThreadPoolExecutor(max_workers=threads) as pool:
            failures = [failure for some in pool.map(lambda path: table.io.delete_many([path]), orphans) for failure in some]
    if failures:
        context.notice(f"{len(failures)} files could not be deleted, for example {failures[0][0]}: {failures[0][1]}")


PROCEDURE = Procedure(
    name="remove_orphan_files",
    summary="Delete files below a table's location that no snapshot, ref, metadata log or statistics reaches.",
    parameters=(
        TABLE,
        Parameter(name="older_than", type="timestamp", description="only files older than this; default: 3 days ago"),
        Parameter(name="location", type="string", description="where to look; default: the table's location"),
        Parameter(name="dry_run", type="boolean", description="list the orphans, and delete nothing"),
        Parameter(name="max_concurrent_deletes", type="int", description="threads that delete files"),
        Parameter(
            name="file_list_view", type="string", description="a view (file_path string, last_modified timestamp) instead of a listing"
        ),
        Parameter(name="equal_schemes", type="map<string,string>", description="schemes that are one; default map('s3n,s3a', 's3')"),
        Parameter(name="equal_authorities", type="map<string,string>", description="authorities that are one"),
        Parameter(name="prefix_mismatch_mode", type="string", description="ERROR (default), IGNORE or DELETE"),
        Parameter(name="prefix_listing", type="boolean", description="accepted: stores are always listed by prefix"),
        Parameter(name="stream_results", type="boolean", description="accepted: results never pass through executors"),
    ),
    output=(Output(name="orphan_file_location", type="string"),),
    call=call,
)
