"""Maintenance without Spark, each kind as one call on a table: what procedures do below their arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from icesql.io.storage.locations import local_path
from icesql.table.maintenance.orphan_files import PrefixRules, list_in_threads, orphans_among, reached_files, units_of, visible
from icesql.table.maintenance.rewrite_data_files import RewriteDataFiles
from icesql.table.maintenance.rewrite_options import data_rewrite_options, delete_rewrite_options
from icesql.table.maintenance.rewrite_position_deletes import RewritePositionDeletes
from icesql.table.table import Table

EVER_MS = 2**53
Work = Callable[[Table], object]


def compact(table: Table) -> None:
    options = data_rewrite_options({"rewrite-all": "true", "partial-progress.enabled": "true"}, table.metadata, "BIN-PACK")
    RewriteDataFiles(table=table, options=options).run()


def compact_deletes(table: Table) -> None:
    options = delete_rewrite_options({"rewrite-all": "true"}, table.metadata)
    RewritePositionDeletes(table=table, options=options).run()


def cluster_manifests(table: Table) -> None:
    table.rewrite_manifests().commit()


def expire(table: Table) -> None:
    table.expire_snapshots().expire_older_than(EVER_MS).commit()


def remove_orphans(table: Table, older_than_ms: int = EVER_MS) -> list[str]:
    files, folders = units_of(table.io, table.location)
    listed = visible([*files, *list_in_threads(table.io, folders)], table.location, frozenset())
    old = [info.location for info in listed if info.modified_ms < older_than_ms]
    orphans = orphans_among(old, reached_files(table), PrefixRules())
    table.io.delete_many(orphans)
    return orphans


def incoming(table: Table) -> Path:
    """Where files to be added wait, beside the table."""
    return Path(local_path(table.location)).with_name("incoming")


def add_incoming(table: Table) -> None:
    table.add_files(files_coming(table))


def files_coming(table: Table) -> list[str]:
    return [str(path) for path in sorted(incoming(table).rglob("*.parquet"))]
