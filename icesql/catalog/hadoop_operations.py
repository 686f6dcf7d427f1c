"""Commits of file-system tables: ``vN.metadata.json``, made by a rename that fails if the name is taken. Spec: "File System Tables".

``version-hint.text`` only says where to begin looking; a reader goes on to the highest version there is.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from dataclasses import replace

from icesql.catalog.names import join_location
from icesql.catalog.surroundings import FolderSurroundings, check_places
from icesql.catalog.table_operations import (
    METADATA_PATH,
    delete_old_metadata,
    metadata_extension,
    read_table_metadata,
    with_metadata_log,
    write_new_metadata,
)
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CommitStateUnknownError,
    CorruptMetadataError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
)
from icesql.io.file_systems import scheme_of
from icesql.io.files import FileIO
from icesql.io.metadata_files import read_identity
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion
from icesql.table.removal import own_claims

VERSION_HINT = "version-hint.text"
ATOMIC_SCHEMES = frozenset({"file", "hdfs", "viewfs"})
_FORMS = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")  # Java's order of preference; the last is how it once named gzip
_VERSIONED = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?")


class HadoopTableOperations:
    """The table in one folder. ``location`` is the folder, whatever the metadata says."""

    def __init__(self, io: FileIO, name: str, location: str, surroundings: FolderSurroundings | None = None) -> None:
        self._io, self._name, self.location, self.surroundings = io, name, location, surroundings

    @property
    def io(self) -> FileIO:
        return self._io

    @property
    def name(self) -> str:
        return self._name

    @property
    def metadata_folder(self) -> str:
        return join_location(self.location, "metadata")

    # -- finding the current version -------------------------------------------------------------------------------
    def load(self) -> TableVersion:
        number = self.current_version()
        if number is None:
            raise NotFoundError(f"Cannot find table: Table does not exist: {self._name}", table=self._name)
        location = self.metadata_file(number)
        if location is None:  # deleted since, by a writer that keeps few old versions
            return self._load_listed()
        try:
            return TableVersion(read_table_metadata(self._io, self._name, location, use_cache=False), location)
        except CorruptMetadataError:
            if self._io.exists(location):
                raise
            return self._load_listed()

    def _load_listed(self) -> TableVersion:
        number = self._highest_listed()
        location = None if number is None else self.metadata_file(number)
        if location is None:
            raise NotFoundError(f"Cannot find table: Table does not exist: {self._name}", table=self._name)
        return TableVersion(read_table_metadata(self._io, self._name, location, use_cache=False), location)

    def current_version(self) -> int | None:
        """The highest version there is, ``None`` without any. The hint may lag behind, be missing, or name a version deleted since."""
        number = self._hinted()
        if number is None or self.metadata_file(number) is None:
            number = self._highest_listed()
        if number is None:
            return None
        while self.metadata_file(number + 1) is not None:
            number += 1
        return number

    def metadata_file(self, number: int) -> str | None:
        """The file of a version, whichever way it is compressed."""
        for form in _FORMS:
            location = join_location(self.metadata_folder, f"v{number}{form}")
            if self._io.exists(location):
                return location
        return None

    def _hinted(self) -> int | None:
        try:
            return int(self._io.read(join_location(self.metadata_folder, VERSION_HINT)).split(b"\n")[0].strip())
        except (NotFoundError, ValueError):
            return None

    def _highest_listed(self) -> int | None:
        names = (info.location.rpartition("/")[2] for info in self._io.list_files(self.metadata_folder))
        return max((int(match.group(1)) for match in map(_VERSIONED.fullmatch, names) if match), default=None)

    # -- committing ------------------------------------------------------------------------------------------------
    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        self._check(base, metadata)
        if base is not None and self.surroundings is not None:
            check_places(self._name, self.surroundings, metadata, own_claims(base.metadata.location, base.metadata.properties))
        number = 0 if base is None else _version_of(base)
        self._check_not_stale(base, number)
        logged = with_metadata_log(base, metadata)
        extension = metadata_extension(logged.properties)
        target = join_location(self.metadata_folder, f"v{number + 1}{extension}")
        temporary = join_location(self.metadata_folder, f"{uuid.uuid4()}{extension}")
        write_new_metadata(self._io, self._name, temporary, logged)
        self._rename(base, temporary, target)
        self._withdraw_if_lost(base, logged, target, number + 1)
        self._write_hint(number + 1)
        around = None if self.surroundings is None else self.surroundings.blind()
        delete_old_metadata(self._io, self._name, base, replace(logged, location=self.location), around)
        return TableVersion(logged, target)

    def _check(self, base: TableVersion | None, metadata: TableMetadata) -> None:
        if scheme_of(self.location) not in ATOMIC_SCHEMES:
            raise UnsupportedError(
                f"Cannot commit table {self._name}: a hadoop catalog needs a store with atomic rename, "
                f"concurrent writers would lose commits: {self.location}. Use a catalog of type sql",
                location=self.location,
            )
        if base is not None and base.metadata.location != metadata.location:
            raise InvalidArgumentError("Hadoop path-based tables cannot be relocated", table=self._name)
        if METADATA_PATH in metadata.properties:
            raise InvalidArgumentError("Hadoop path-based tables cannot relocate metadata", table=self._name)

    def _check_not_stale(self, base: TableVersion | None, number: int) -> None:
        if base is None:
            if self.current_version() is not None:
                raise self._exists()
        elif self.metadata_file(number + 1) is not None or not self._is_there(base):
            raise self._stale()

    def _is_there(self, base: TableVersion) -> bool:
        """Whether the base's file is still that very version; a table dropped and made anew uses the same names."""
        try:
            held = read_identity(self._io, str(base.metadata_location))
        except NotFoundError:
            return False
        return held == (base.metadata.table_uuid, base.metadata.last_updated_ms)

    def _exists(self) -> AlreadyExistsError:
        return AlreadyExistsError(f"Cannot create table: Table already exists: {self._name}", table=self._name)

    def _stale(self) -> CommitFailedError:
        return CommitFailedError(f"Cannot commit changes based on stale table metadata: {self._name}", table=self._name)

    def _rename(self, base: TableVersion | None, temporary: str, target: str) -> None:
        """The atomic step of the commit."""
        try:
            self._io.rename_without_overwrite(temporary, target)
        except AlreadyExistsError as error:
            self._discard(temporary)
            raise (self._exists() if base is None else self._stale()) from error
        except OSError as error:
            self._settle(temporary, target, error)

    def _settle(self, temporary: str, target: str, cause: OSError) -> None:
        """After a rename that failed halfway: return if it happened.

        Raises CommitFailedError if it did not, CommitStateUnknownError if nobody can tell.
        """
        try:
            found = self._io.read(target) if self._io.exists(target) else None
            ours = self._io.read(temporary) if self._io.exists(temporary) else None
        except (OSError, NotFoundError):
            found, ours = b"", None
        if found is None or (ours is not None and found != ours):
            self._discard(temporary)
            raise CommitFailedError(f"Cannot commit table {self._name}: Failed to commit changes using rename: {cause}") from cause
        if ours is None:
            raise CommitStateUnknownError(
                f"Cannot commit table {self._name}: the outcome is unknown, the rename failed: {cause}. "
                "Check the table before writing again"
            ) from cause
        self._discard(temporary)

    def _withdraw_if_lost(self, base: TableVersion | None, metadata: TableMetadata, target: str, number: int) -> None:
        """Undo a rename that won a name but not the race.

        Two ways to lose so: another writer made the same version under another compression; or the version had long been made,
        built upon and deleted as too old, so that its name was free again. Raises CommitStateUnknownError if nobody can tell.
        """
        try:
            if not self._is_beaten(base, metadata, target, number):
                return
            with contextlib.suppress(NotFoundError):
                self._io.delete(target)
        except Exception as error:
            raise CommitStateUnknownError(
                f"Cannot commit table {self._name}: the outcome is unknown, the store does not answer: {error}. "
                "Check the table before writing again"
            ) from error
        raise self._stale()

    def _is_beaten(self, base: TableVersion | None, metadata: TableMetadata, target: str, number: int) -> bool:
        forms = (join_location(self.metadata_folder, f"v{number}{form}") for form in _FORMS)
        if any(self._io.exists(other) for other in forms if other != target):
            return True
        if base is None or self._io.exists(str(base.metadata_location)):
            return False
        return not self._is_in_current_history(target, metadata)

    def _is_in_current_history(self, target: str, metadata: TableMetadata) -> bool:
        current = self._load_listed()
        if current.metadata_location == target:
            return True
        made = {(entry.metadata_file, entry.timestamp_ms) for entry in current.metadata.metadata_log}
        return (target, metadata.last_updated_ms) in made

    def _write_hint(self, number: int) -> None:
        """Best effort: readers look beyond the hint. It never goes back."""
        with contextlib.suppress(Exception):
            if (self._hinted() or 0) < number:
                self._io.write(join_location(self.metadata_folder, VERSION_HINT), str(number).encode())

    def _discard(self, location: str) -> None:
        with contextlib.suppress(Exception):
            self._io.delete(location)


def _version_of(version: TableVersion) -> int:
    match = _VERSIONED.fullmatch(str(version.metadata_location).rpartition("/")[2])
    if match is None:
        raise CommitFailedError(f"Cannot commit table: its metadata file is not a file-system table's: {version.metadata_location}")
    return int(match.group(1))
