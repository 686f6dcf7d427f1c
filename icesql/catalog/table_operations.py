"""What every catalog's commit shares: naming the metadata file, the metadata log, writing, cleaning up, and old files.

A catalog adds ``current_location`` and ``swap``. File-system tables name their files differently and have operations of their own.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from icesql.catalog.names import join_location, strip_trailing_slash
from icesql.catalog.surroundings import check_places
from icesql.errors import (
    CommitFailedError,
    CommitStateUnknownError,
    CorruptMetadataError,
    IcesqlError,
    InvalidArgumentError,
    NotFoundError,
    ValidationError,
)
from icesql.io.metadata_files import read_metadata, write_metadata
from icesql.io.storage.files import FileIO
from icesql.spec.json.metadata_readback import unreadable
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import (
    METADATA_COMPRESSION,
    METADATA_DELETE_AFTER_COMMIT_ENABLED,
    METADATA_PREVIOUS_VERSIONS_MAX,
    WRITE_METADATA_LOCATION,
    property_as_int,
)
from icesql.spec.snapshots import MetadataLogEntry
from icesql.table.after_commit import after_commit
from icesql.table.operations import TableVersion
from icesql.table.removal import Surroundings, gate_of, own_claims

_EXTENSIONS = {"none": ".metadata.json", "gzip": ".gz.metadata.json"}
_NUMBERED = re.compile(r"(\d+)-")


def metadata_extension(properties: Mapping[str, str], default: str = "none") -> str:
    """``.metadata.json`` or ``.gz.metadata.json``. Raises InvalidArgumentError for an unknown codec."""
    codec = properties.get(METADATA_COMPRESSION, default).lower()
    try:
        return _EXTENSIONS[codec]
    except KeyError:
        raise InvalidArgumentError(f"Cannot write metadata: Invalid codec name: {codec}") from None


def metadata_folder(location: str, properties: Mapping[str, str]) -> str:
    """Where a table's metadata files go: ``write.metadata.path`` or ``<location>/metadata``."""
    configured = properties.get(WRITE_METADATA_LOCATION)
    return strip_trailing_slash(configured) if configured else join_location(location, "metadata")


def next_metadata_location(metadata: TableMetadata, previous: str | None) -> str:
    """``<folder>/00001-<uuid>.metadata.json``, numbered one above the previous file (0 for the first or an unnumbered one)."""
    number = version_number(previous) + 1
    name = f"{number:05d}-{uuid.uuid4()}{metadata_extension(metadata.properties)}"
    return join_location(metadata_folder(metadata.location, metadata.properties), name)


def version_number(location: str | None) -> int:
    """The number a metadata file's name starts with; -1 where there is none."""
    match = None if location is None else _NUMBERED.match(location.rpartition("/")[2])
    return -1 if match is None else int(match.group(1))


def with_metadata_log(base: TableVersion | None, metadata: TableMetadata) -> TableMetadata:
    """The metadata with its predecessor's file in the log, which keeps at most ``write.metadata.previous-versions-max`` entries."""
    if base is None or base.metadata_location is None:
        return metadata
    entry = MetadataLogEntry(metadata_file=base.metadata_location, timestamp_ms=base.metadata.last_updated_ms)
    kept = max(1, property_as_int(metadata.properties, METADATA_PREVIOUS_VERSIONS_MAX))
    return replace(metadata, metadata_log=(*base.metadata.metadata_log, entry)[-kept:])


def delete_old_metadata(
    io: FileIO, name: str, base: TableVersion | None, metadata: TableMetadata, surroundings: Surroundings | None
) -> None:
    """Remove the files that fell out of the log, if ``write.metadata.delete-after-commit.enabled``. Failures leave orphans, never raise."""
    if base is None or metadata.properties.get(METADATA_DELETE_AFTER_COMMIT_ENABLED, "false").lower() != "true":
        return
    kept = {entry.metadata_file for entry in metadata.metadata_log}
    old = [entry.metadata_file for entry in base.metadata.metadata_log if entry.metadata_file not in kept]
    if not old:
        return
    with after_commit(f"remove old metadata files of table {name}"):
        gate_of(io, name, metadata, surroundings).remove_old_metadata(old)


def read_table_metadata(io: FileIO, name: str, location: str, *, use_cache: bool = True) -> TableMetadata:
    """The metadata file a catalog names. Raises CorruptMetadataError when that file is missing or damaged."""
    try:
        return read_metadata(io, location, use_cache=use_cache)
    except NotFoundError as error:
        raise CorruptMetadataError(
            f"Cannot load table {name}: its metadata file is missing: File does not exist: {location}", location=location, table=name
        ) from error


class MetastoreTableOperations(ABC):
    """Operations of a catalog that maps names to metadata locations and can compare and swap them."""

    def __init__(self, io: FileIO, name: str, surroundings: Surroundings | None = None) -> None:
        self._io, self._name, self.surroundings = io, name, surroundings

    @property
    def io(self) -> FileIO:
        return self._io

    @property
    def name(self) -> str:
        return self._name

    @abstractmethod
    def current_location(self) -> str:
        """The metadata location the catalog holds now. Raises NotFoundError."""

    @abstractmethod
    def swap(self, base: TableVersion | None, staged: TableVersion) -> None:
        """Point the name at ``staged`` if it still points at ``base`` (``None``: if it is free).

        Raises CommitFailedError or AlreadyExistsError when it is proven that this did not happen, CommitStateUnknownError otherwise
        (``icesql.table.outcomes``).
        """

    def load(self) -> TableVersion:
        location = self.current_location()
        try:
            return TableVersion(read_table_metadata(self._io, self._name, location), location)
        except CorruptMetadataError:
            moved = self.current_location()  # a writer may have moved on and deleted the file between the two steps
            if moved == location:
                raise
            return TableVersion(read_table_metadata(self._io, self._name, moved), moved)

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        staged = self.stage(base, metadata)
        try:
            self.swap(base, staged)
        except CommitStateUnknownError:
            raise
        except IcesqlError:  # certainly not swapped; any other exception says nothing, and the file stays
            self.discard(staged)
            raise
        delete_old_metadata(self._io, self._name, base, staged.metadata, self.surroundings)
        return staged

    def stage(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        """Write the metadata file, swap nothing. Raises CommitFailedError if it cannot be written, or the base has none."""
        if base is not None and base.metadata_location is None:
            raise CommitFailedError(f"Cannot commit table {self._name}: its base version was never committed", table=self._name)
        if base is not None and self.surroundings is not None:
            check_places(self._name, self.surroundings, metadata, own_claims(base.metadata.location, base.metadata.properties))
        logged = with_metadata_log(base, metadata)
        location = next_metadata_location(logged, None if base is None else base.metadata_location)
        write_new_metadata(self._io, self._name, location, logged, base)
        return TableVersion(logged, location)

    def discard(self, staged: TableVersion) -> None:
        """Remove a metadata file that lost its swap."""
        with contextlib.suppress(Exception):
            self._io.delete(str(staged.metadata_location))


def write_new_metadata(io: FileIO, name: str, location: str, metadata: TableMetadata, base: TableVersion | None) -> None:
    """Write a metadata file that nothing refers to yet. If it fails, nothing is left behind: CommitFailedError when the store refuses,
    ValidationError for metadata that could not be read again.
    """
    check_readable(name, metadata, base)
    try:
        write_metadata(io, location, metadata)
    except OSError as error:
        with contextlib.suppress(Exception):
            io.delete(location)
        raise CommitFailedError(
            f"Cannot commit table {name}: its metadata file cannot be written: {error}", table=name, location=location
        ) from error


def check_readable(name: str, metadata: TableMetadata, base: TableVersion | None) -> None:
    """Raises ValidationError for metadata that could not be read again."""
    why = unreadable(metadata, None if base is None else base.metadata)
    if why is not None:
        raise ValidationError(f"Cannot commit table {name}: its metadata could not be read again: {why}", table=name)
