"""Which version of a file-system table is the current one, decided from its folder alone. Spec: "File System Tables".

``version-hint.text`` only says where to begin; a reader goes on to the highest version. A version counts only if it follows from the one
before it: a file that a late writer left in the folder of another table, or under a name that was free again, is skipped by readers and
writers alike. So is an empty file, left by a writer that died on a store without hard links.
"""

from __future__ import annotations

import re

from icesql.catalog.names import join_location
from icesql.catalog.table_operations import read_table_metadata
from icesql.errors import CorruptMetadataError, NotFoundError
from icesql.io.metadata_files import read_identity
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion

VERSION_HINT = "version-hint.text"
FORMS = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")  # Java's order of preference; the last is how it once named gzip
_VERSIONED = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?")

_LISTINGS = 20  # each is begun because a version was deleted during the one before


class HadoopVersions:
    """The versions in one metadata folder."""

    def __init__(self, io: FileIO, name: str, folder: str) -> None:
        self._io, self._name, self.folder = io, name, folder

    def load(self) -> TableVersion:
        """The current version. Raises NotFoundError, CorruptMetadataError."""
        number = self.current_number()
        version = None if number is None else self._read(number)
        if number is not None and version is not None and (number <= 1 or self._follows(version.metadata, number - 1) is True):
            return version
        return self.load_listed()

    def load_listed(self) -> TableVersion:
        """The highest version that follows from the one before it; the highest of all if none does. Does not read the hint."""
        for _ in range(_LISTINGS):
            numbers = sorted(self.listed(), reverse=True)
            if not numbers:
                break
            version = self._highest_that_belongs(numbers) or self._read(numbers[0])
            if version is not None:
                return version
        raise NotFoundError(f"Cannot find table: Table does not exist: {self._name}", table=self._name)

    def _highest_that_belongs(self, numbers: list[int]) -> TableVersion | None:
        """``None`` if there is none, or the listed files were deleted meanwhile by writers that keep few old versions."""
        for number, lower in zip(numbers, [*numbers[1:], None], strict=True):
            version = self._read(number)
            if version is None or lower is None or self._belongs(version.metadata, number, lower):
                return version
        return None

    def _belongs(self, metadata: TableMetadata, number: int, lower: int) -> bool:
        """Whether a version is of this table. If versions before it were cleaned away by hand, the highest one below must have the same
        table uuid.
        """
        if lower == number - 1:
            return self._follows(metadata, lower) is not False
        held = self.identity(lower)
        return held is None or same_table(held[0], metadata)

    def _follows(self, metadata: TableMetadata, before: int) -> bool | None:
        """Whether the version was made from version ``before``; ``None`` if that no longer exists."""
        location, held = self.file(before), self.identity(before)
        if location is None or held is None:
            return None
        made_from = {file_name(entry.metadata_file): entry.timestamp_ms for entry in metadata.metadata_log[-1:]}
        return same_table(held[0], metadata) and made_from.get(file_name(location), held[1]) == held[1]

    def identity(self, number: int) -> tuple[str | None, int] | None:
        """(table uuid, last update in ms) of a version; ``None`` if it is not there, or cannot be read."""
        location = self.file(number)
        try:
            return None if location is None else read_identity(self._io, location)
        except (NotFoundError, CorruptMetadataError):
            return None

    def current_number(self) -> int | None:
        """The highest version, ``None`` without any. The hint may be behind, missing, or name a deleted version."""
        number = self.hinted()
        if number is None or self.file(number) is None:
            number = max(self.listed(), default=None)
        if number is None:
            return None
        while self.file(number + 1) is not None:
            number += 1
        return number

    def files(self, number: int) -> list[str]:
        """The files of a version: several if writers compressed it differently."""
        forms = (join_location(self.folder, f"v{number}{form}") for form in FORMS)
        return [location for location in forms if self._is_file(location)]

    def file(self, number: int) -> str | None:
        """The file of a version, whichever way it is compressed."""
        for form in FORMS:
            location = join_location(self.folder, f"v{number}{form}")
            if self._is_file(location):
                return location
        return None

    def listed(self) -> set[int]:
        """The numbers of all versions in the folder."""
        versions = ((number_of(info.location), info.size_in_bytes) for info in self._io.list_files(self.folder, recursive=False))
        return {number for number, size in versions if number is not None and size}

    def hinted(self) -> int | None:
        try:
            return int(self._io.read(join_location(self.folder, VERSION_HINT)).split(b"\n")[0].strip())
        except (NotFoundError, ValueError, OSError):  # a hint that cannot be read is no hint
            return None

    def _is_file(self, location: str) -> bool:
        try:
            return self._io.size(location) > 0
        except NotFoundError:
            return False

    def _read(self, number: int) -> TableVersion | None:
        """``None`` for a version that does not exist, or no longer does."""
        location = self.file(number)
        if location is None:
            return None
        try:
            return TableVersion(read_table_metadata(self._io, self._name, location, use_cache=False), location)
        except CorruptMetadataError:
            if self._is_file(location):
                raise
            return None


def number_of(location: str) -> int | None:
    """The number in a version's file name; ``None`` for other files."""
    match = _VERSIONED.fullmatch(file_name(location))
    return None if match is None else int(match.group(1))


def file_name(location: str) -> str:
    return location.rpartition("/")[2]


def same_table(uuid: str | None, metadata: TableMetadata) -> bool:
    """Whether two versions are of one table, by uuid; tables of version 1 may have none."""
    return uuid is None or metadata.table_uuid is None or uuid == metadata.table_uuid
