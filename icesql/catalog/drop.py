"""Dropping a table with its files: what may go is worked out before the name goes, deleted after."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from icesql.errors import ValidationError
from icesql.io.files import FileIO
from icesql.table.location_provider import outside_files
from icesql.table.operations import TableVersion
from icesql.table.own_changes import note_change
from icesql.table.reachable import reachable_files

logger = logging.getLogger(__name__)


@contextmanager
def dropping(io: FileIO, name: str, version: TableVersion | None, *, removed_folder: str | None = None) -> Iterator[None]:
    """Around the removal of the name: lists the files of ``version`` first (``None`` purges nothing), deletes them once it succeeded.

    ``removed_folder``: the caller removes all below it itself. A new table may be there by the time the files are deleted.

    Raises ValidationError, before anything is removed, when ``gc.enabled`` is false or a file lies outside the table's locations.
    """
    if version is None:
        yield
        note_change()
        return
    if version.metadata.properties.get("gc.enabled", "true").lower() == "false":
        raise ValidationError("Cannot purge table: GC is disabled (deleting files may corrupt other tables)", table=name)
    files = list(reachable_files(io, version.metadata, version.metadata_location))
    _check_own(name, version, files)
    yield
    note_change()
    others = [file for file in files if removed_folder is None or not file.startswith(f"{removed_folder}/")]
    for location, reason in io.delete_many(others):
        logger.warning("Cannot delete file of dropped table %s: %s: %s", name, location, reason)


def _check_own(name: str, version: TableVersion, files: Sequence[str]) -> None:
    for location in outside_files(version.metadata, files):
        raise ValidationError(
            f"Cannot purge table {name}: a file lies outside the table's location: {location}. Drop the table without PURGE",
            table=name,
            location=location,
        )
