"""Dropping a table with its files: what may go is worked out before the name goes, deleted after."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from icesql.errors import ValidationError
from icesql.io.files import FileIO
from icesql.spec.metadata import TableMetadata

logger = logging.getLogger(__name__)


@contextmanager
def dropping(io: FileIO, name: str, metadata: TableMetadata | None, metadata_location: str | None = None) -> Iterator[None]:
    """Around the removal of the name: lists the files of ``metadata`` first (``None`` purges nothing), deletes them once it succeeded.

    Raises ValidationError, before anything is removed, when ``gc.enabled`` is false.
    """
    if metadata is None:
        yield
        return
    if metadata.properties.get("gc.enabled", "true").lower() == "false":
        raise ValidationError("Cannot purge table: GC is disabled (deleting files may corrupt other tables)", table=name)
    from icesql.table.reachable import reachable_files

    files = list(reachable_files(io, metadata, metadata_location))
    yield
    for location, reason in io.delete_many(files):
        logger.warning("Cannot delete file of dropped table %s: %s: %s", name, location, reason)
