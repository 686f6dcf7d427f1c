"""Commits of file-system tables: ``vN.metadata.json``, made by a rename that fails if the name is taken. Spec: "File System Tables".

In object stores, which have no rename, the version is put under its name on the condition that the name is free.

A commit writes its metadata to a temporary file in the table's folder, checks that the version it builds on still exists, and renames.
Dropping a table renames its folder in one step, and the temporary file with it: so a rename that succeeds was made in the folder that was
checked, not in one that took its place. What other engines may do in between (delete files one by one, compress differently) is checked
after the rename.
"""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Iterator
from typing import NoReturn

from icesql.catalog.hadoop_versions import VERSION_HINT, HadoopVersions, file_name, number_of, same_table
from icesql.catalog.names import join_location
from icesql.catalog.surroundings import FolderSurroundings, check_places
from icesql.catalog.table_operations import (
    check_readable,
    metadata_extension,
    with_metadata_log,
    write_new_metadata,
)
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CommitStateUnknownError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
)
from icesql.io.metadata_files import identity_of, metadata_bytes, read_identity
from icesql.io.storage.canonical import Canonical
from icesql.io.storage.durable import UnsyncedError
from icesql.io.storage.file_systems import scheme_of
from icesql.io.storage.files import FileIO
from icesql.io.stores.failures import StoreError
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import METADATA_DELETE_AFTER_COMMIT_ENABLED, WRITE_METADATA_LOCATION
from icesql.table.operations import TableVersion
from icesql.table.removal import own_claims

logger = logging.getLogger(__name__)

ATOMIC_SCHEMES = frozenset({"file", "hdfs", "viewfs"})


class HadoopTableOperations:
    """The table in one folder. ``location`` is the folder, whatever the metadata says."""

    def __init__(self, io: FileIO, name: str, location: str, surroundings: FolderSurroundings | None = None) -> None:
        self._io, self._name, self.location, self.surroundings = io, name, location, surroundings
        self.metadata_folder = join_location(location, "metadata")
        self.versions = HadoopVersions(io, name, self.metadata_folder)

    @property
    def io(self) -> FileIO:
        return self._io

    @property
    def name(self) -> str:
        return self._name

    def load(self) -> TableVersion:
        return self.versions.load()

    def current_version(self) -> int | None:
        return self.versions.current_number()

    # -- committing ------------------------------------------------------------------------------------------------
    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        self._check(base, metadata)
        if base is not None and self.surroundings is not None:
            check_places(self._name, self.surroundings, metadata, own_claims(base.metadata.location, base.metadata.properties))
        number = 0 if base is None else _version_of(base)
        with self._reading():
            if base is not None and not self._io.exists(str(base.metadata_location)):
                raise self._stale()  # asked before anything is written, or the folder of a dropped table would come back
        logged = with_metadata_log(base, metadata)
        extension = _extension(base, logged)
        target = join_location(self.metadata_folder, f"v{number + 1}{extension}")
        if scheme_of(self.location) in ATOMIC_SCHEMES:
            temporary = join_location(self.metadata_folder, f"{uuid.uuid4()}{extension}")
            write_new_metadata(self._io, self._name, temporary, logged, base)
            self._check_not_stale(base, number, temporary)
            self._rename(base, logged, temporary, target)
        else:
            check_readable(self._name, logged, base)
            self._check_not_stale(base, number, None)
            self._put(base, logged, target)
        self._withdraw_if_lost(base, logged, target, number + 1)
        self._write_hint(number + 1)
        self._delete_old(base, logged)
        return TableVersion(logged, target)

    def _check(self, base: TableVersion | None, metadata: TableMetadata) -> None:
        if scheme_of(self.location) not in ATOMIC_SCHEMES and not self._creates_atomically():
            raise UnsupportedError(
                f"Cannot commit table {self._name}: a hadoop catalog needs a store with atomic rename or conditional put "
                f"(If-None-Match), concurrent writers would lose commits: {self.location}. Use a catalog of type sql",
                location=self.location,
            )
        if base is not None and base.metadata.location != metadata.location:
            raise InvalidArgumentError("Hadoop path-based tables cannot be relocated", table=self._name)
        if WRITE_METADATA_LOCATION in metadata.properties:
            raise InvalidArgumentError("Hadoop path-based tables cannot relocate metadata", table=self._name)

    def _creates_atomically(self) -> bool:
        with self._reading():
            return self._io.creates_atomically(self.metadata_folder)

    def _check_not_stale(self, base: TableVersion | None, number: int, temporary: str | None) -> None:
        """Called once the temporary file, where there is one, is in the folder: see the module's docstring."""
        try:
            with self._reading():
                if base is None and self.current_version() is not None:
                    raise self._exists()
                if base is not None and (self.versions.file(number + 1) is not None or not self._is_there(base)):
                    raise self._stale()
        except BaseException:
            if temporary is not None:
                self._discard(temporary)
            raise

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """For reads before the atomic step: an error there fails the commit for certain."""
        try:
            yield
        except OSError as error:
            raise CommitFailedError(f"Cannot commit table {self._name}: its folder cannot be read: {error}", table=self._name) from error

    def _is_there(self, base: TableVersion) -> bool:
        """Whether the base's file is still that version: a table dropped and made anew uses the same names."""
        try:
            held = read_identity(self._io, str(base.metadata_location))
        except NotFoundError:
            return False
        return held == (base.metadata.table_uuid, base.metadata.last_updated_ms)

    def _exists(self) -> AlreadyExistsError:
        return AlreadyExistsError(f"Cannot create table: Table already exists: {self._name}", table=self._name)

    def _stale(self) -> CommitFailedError:
        return CommitFailedError(f"Cannot commit changes based on stale table metadata: {self._name}", table=self._name)

    def _lost(self, base: TableVersion | None) -> AlreadyExistsError | CommitFailedError:
        return self._exists() if base is None else self._stale()

    def _unknown(self, why: str) -> CommitStateUnknownError:
        return CommitStateUnknownError(
            f"Cannot commit table {self._name}: the outcome is unknown, {why}. Check the table before writing again", table=self._name
        )

    # -- the atomic step -------------------------------------------------------------------------------------------
    def _rename(self, base: TableVersion | None, metadata: TableMetadata, temporary: str, target: str) -> None:
        try:
            self._io.rename_without_overwrite(temporary, target)
        except AlreadyExistsError as error:
            self._discard(temporary)
            raise self._lost(base) from error
        except UnsyncedError as error:
            raise self._unknown(f"the new version is seen but the disk did not confirm it: {error}") from error
        except (OSError, NotFoundError) as error:
            self._settle(metadata, temporary, target, error)

    def _settle(self, metadata: TableMetadata, temporary: str, target: str, cause: Exception) -> None:
        """After a rename that failed halfway: return if it happened.

        The temporary file is removed first: without it a rename still under way can no longer happen, so that the answer stays true.
        Raises CommitFailedError if it did not happen, CommitStateUnknownError if nobody can tell.
        """
        try:
            self._io.delete(temporary)
            held = self._held(target)
        except Exception as error:
            raise self._unknown(f"the rename failed: {cause}") from error
        if held != metadata_bytes(target, metadata):
            raise CommitFailedError(
                f"Cannot commit table {self._name}: Failed to commit changes using rename: {cause}", table=self._name
            ) from cause
        if scheme_of(target) == "file":
            raise self._unknown(f"the new version is seen but the disk did not confirm it: {cause}") from cause

    def _held(self, location: str) -> bytes | None:
        try:
            return self._io.read(location)
        except NotFoundError:
            return None

    def _put(self, base: TableVersion | None, metadata: TableMetadata, target: str) -> None:
        """Raises what ``_lost`` gives if the name is taken, CommitFailedError if the store refused, CommitStateUnknownError if nobody can
        tell: a put without an answer may still be under way."""
        data = metadata_bytes(target, metadata)
        try:
            self._io.write(target, data, overwrite=False)
        except AlreadyExistsError as error:
            raise self._lost(base) from error
        except StoreError as error:
            if error.is_refusal:
                raise CommitFailedError(f"Cannot commit table {self._name}: the store refused: {error}", table=self._name) from error
            raise self._unknown(f"the store gave no answer: {error}") from error

    # -- after it --------------------------------------------------------------------------------------------------
    def _withdraw_if_lost(self, base: TableVersion | None, metadata: TableMetadata, target: str, number: int) -> None:
        """Undo a rename that took a name but lost the race. Raises CommitStateUnknownError if nobody can tell."""
        try:
            if self._is_beaten(base, metadata, target, number):
                self._withdraw(base, metadata, target)
        except CommitStateUnknownError:
            raise
        except (CommitFailedError, AlreadyExistsError):
            raise
        except Exception as error:
            raise self._unknown(f"the store does not answer: {error}") from error

    def _is_beaten(self, base: TableVersion | None, metadata: TableMetadata, target: str, number: int) -> bool:
        """Whether the version made is certainly not part of the table's history.

        That its file exists proves nothing: it may be among versions of a table made anew, or under a name that was free again because
        the version had long been made, built upon and deleted as too old. That the base exists proves nothing either while there are
        higher versions: each writer deletes old ones at its own pace, so an older one may outlive a younger.
        """
        higher = any(listed > number for listed in self.versions.listed())
        if any(other != target for other in self.versions.files(number)):  # another writer, that compresses differently
            if higher:
                raise self._unknown("another writer made the same version, and one was built upon")
            return True
        if not higher and base is not None and self._is_there(base):
            return False
        return not self._is_in_current_history(base, metadata, target)

    def _is_in_current_history(self, base: TableVersion | None, metadata: TableMetadata, target: str) -> bool:
        try:
            current = self.versions.load_listed()
        except NotFoundError:
            return False
        if not same_table(current.metadata.table_uuid, metadata):
            return False
        if current.metadata_location == target:
            return base is None and self._held(target) == metadata_bytes(target, metadata)
        for entry in current.metadata.metadata_log:
            if file_name(entry.metadata_file) == file_name(target):
                return entry.timestamp_ms == metadata.last_updated_ms
        raise self._unknown("other commits have been made since, and the metadata log does not reach back to this one")

    def _withdraw(self, base: TableVersion | None, metadata: TableMetadata, target: str) -> NoReturn:
        """Remove our own file, and only that. If it is gone, the table must be, too: otherwise another writer built upon it."""
        ours = metadata_bytes(target, metadata)
        if not self._io.delete_if(target, lambda held: held == ours):
            with contextlib.suppress(NotFoundError):
                if same_table(self.versions.load_listed().metadata.table_uuid, metadata):
                    raise self._unknown("the new version is not there any more, the table is")
        raise self._lost(base)

    def _write_hint(self, number: int) -> None:
        """Write the version hint, ignoring errors: readers look beyond it. It is never lowered."""
        with contextlib.suppress(Exception):
            if (self.versions.hinted() or 0) < number:
                self._io.write(join_location(self.metadata_folder, VERSION_HINT), str(number).encode())

    def _delete_old(self, base: TableVersion | None, metadata: TableMetadata) -> None:
        """Remove the versions that fell out of the log, if ``write.metadata.delete-after-commit.enabled``: only files of this folder that
        are that very version, since the table may have been dropped and made anew meanwhile. Failures leave orphans, never raise.
        """
        if base is None or metadata.properties.get(METADATA_DELETE_AFTER_COMMIT_ENABLED, "false").lower() != "true":
            return
        kept, canonical = {entry.metadata_file for entry in metadata.metadata_log}, Canonical()
        for entry in base.metadata.metadata_log:  # oldest first: no younger one goes before
            name = file_name(entry.metadata_file)
            location = join_location(self.metadata_folder, name)
            if entry.metadata_file in kept:
                continue
            if number_of(name) is None or canonical.file(entry.metadata_file) != canonical.file(location):
                logger.warning("Old metadata of table %s stays, it is no version in its folder: %s", self._name, entry.metadata_file)
                continue
            meant = (base.metadata.table_uuid, entry.timestamp_ms)
            with contextlib.suppress(Exception):
                self._io.delete_if(location, lambda held, meant=meant, name=name: identity_of(held, name) == meant)  # type: ignore[misc]

    def _discard(self, location: str) -> None:
        with contextlib.suppress(Exception):
            self._io.delete(location)


def _extension(base: TableVersion | None, metadata: TableMetadata) -> str:
    """Chosen by the version built upon, not by the new one, so that writers building on the same version compete for one name.

    Raises InvalidArgumentError for an unknown codec.
    """
    asked = metadata_extension(metadata.properties)
    try:
        return metadata_extension({} if base is None else base.metadata.properties)
    except InvalidArgumentError:  # set by another engine; this commit may be the one that mends it
        return asked


def _version_of(version: TableVersion) -> int:
    number = number_of(str(version.metadata_location))
    if number is None:
        raise CommitFailedError(f"Cannot commit table: its metadata file is not a file-system table's: {version.metadata_location}")
    return number
