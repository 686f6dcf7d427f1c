"""Keeps a table's metadata from growing without end under many small commits.

The oldest snapshots of main leave the metadata in the very swap that adds new ones; their files stay for a while, for readers that have
loaded the table before.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from icesql.catalog.names import Identifier
from icesql.server.served import ServedCatalog
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import GC_ENABLED
from icesql.table.changes.expire_snapshots import expired_files
from icesql.table.metadata import update_values as u
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.removal import removal_gate

logger = logging.getLogger(__name__)
_SLACK = 1.5  # so that many leave at once: looking for their files costs as much for one as for many


@dataclass(frozen=True, slots=True)
class Expired:
    """Snapshots that left a table's metadata; ``before`` still has them."""

    identifier: Identifier
    before: TableMetadata
    gone: frozenset[int]


def bounded(identifier: Identifier, metadata: TableMetadata, most: int) -> tuple[TableMetadata, Expired | None]:
    """The metadata without the oldest ancestors of main beyond the newest ``most``, once there are half as many more.

    Heads of branches and tags, snapshots of other branches and staged ones stay, and all of a table whose ``gc.enabled`` is false.
    """
    if not most or len(metadata.snapshots) <= most * _SLACK or metadata.properties.get(GC_ENABLED, "true").lower() == "false":
        return metadata, None
    heads = {ref.snapshot_id for ref in metadata.refs.values()}
    ancestors = [snapshot.snapshot_id for snapshot in metadata.ancestors(metadata.current_snapshot_id)]
    gone = frozenset(ancestors[most:]) - heads
    if not gone:
        return metadata, None
    return MetadataBuilder(metadata).apply_all([u.RemoveSnapshots(tuple(gone))]).build(), Expired(identifier, metadata, gone)


def clean(served: ServedCatalog, expired: Expired) -> None:
    """Remove the files that only these snapshots have, if the table is still there. What goes wrong leaves orphans, and is logged."""
    name = served.full_name(expired.identifier)
    try:
        operations = served.catalog.operations(expired.identifier)
        current = operations.load().metadata
        if current.table_uuid != expired.before.table_uuid:
            return
        gone = expired.gone - current.snapshots_by_id.keys()  # a rollback may have brought some back
        files = expired_files(served.io, expired.before, gone, current)
        failures = removal_gate(operations, current).remove(files.all())
        if failures:
            logger.warning("Cannot remove %d files of expired snapshots of %s, for example %s: %s", len(failures), name, *failures[0])
    except Exception:
        logger.warning("Cannot remove the files of %d expired snapshots of %s", len(expired.gone), name, exc_info=True)
