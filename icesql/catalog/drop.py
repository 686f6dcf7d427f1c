"""Dropping a table with its files: the files are listed before the name is removed, and deleted after."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from icesql.catalog.surroundings import FolderSurroundings
from icesql.errors import ValidationError
from icesql.io.storage.canonical import Canonical, is_below
from icesql.io.storage.files import FileIO
from icesql.spec.properties import GC_ENABLED
from icesql.table.operations import TableVersion
from icesql.table.own_changes import note_change
from icesql.table.removal import Surroundings, gate_of

logger = logging.getLogger(__name__)


@contextmanager
def dropping(
    io: FileIO, name: str, version: TableVersion | None, surroundings: Surroundings | None, *, removed_folder: str | None = None
) -> Iterator[None]:
    """Wraps the removal of the name: lists the files of ``version`` first (``None`` purges nothing), deletes them once it succeeded.

    ``removed_folder``: the caller removes everything below it. A new table may be there by the time the files are deleted.

    Raises ValidationError, before anything is removed, when ``gc.enabled`` is false or a file is not the table's to remove.
    """
    if version is None:
        yield
        note_change()
        return
    if version.metadata.properties.get(GC_ENABLED, "true").lower() == "false":
        raise ValidationError("Cannot purge table: GC is disabled (deleting files may corrupt other tables)", table=name)
    from icesql.table.manifests.reachable import reachable_files  # manifests are read by numpy, which only a purge needs here

    files = list(reachable_files(io, version.metadata, version.metadata_location))
    _, refused = gate_of(io, name, version.metadata, surroundings).split(files)
    if refused:
        location, reason = refused[0]
        raise ValidationError(
            f"Cannot purge table {name}: {len(refused)} of its files may not be removed, the first because {reason}: {location}. "
            "Drop the table without PURGE",
            table=name,
            location=location,
        )
    yield
    note_change()
    others = [file for file in files if removed_folder is None or not file.startswith(f"{removed_folder}/")]
    for location, reason in io.delete_many(others):
        logger.warning("Cannot delete file of dropped table %s: %s: %s", name, location, reason)


def check_folder(name: str, location: str, surroundings: FolderSurroundings) -> None:
    """Checks that a table's folder may be removed as a whole.

    Raises ValidationError if it is a link, or if another table lies in it or has snapshots there: a table's metadata may give it a
    location outside of its own folder (``register_table``, copied folders, other programs).
    """
    canonical = Canonical()
    parent, _, last = location.rpartition("/")
    folder, above = canonical.folder(location), canonical.folder(parent)
    if folder is None or above is None or folder != f"{above}/{last}":
        raise ValidationError(f"Cannot drop table {name}: its folder is a symbolic link, remove that instead: {location}", table=name)
    for claim in (*surroundings.others(exact=False), *surroundings.snapshot_folders()):
        other = canonical.folder(claim.folder)
        if other is not None and (other == folder or is_below(other, folder)):
            raise ValidationError(f"Cannot drop table {name}: another table lies in its folder, drop that first: {claim.table}", table=name)
