"""The gate for every removal of a file whose name was read from metadata, from a catalog or from a listing.

A file may be removed only if, in canonical form (``icesql.io.storage.canonical``), it lies

- below one of the table's own folders: its location, and where its properties send data and metadata;
- in the catalog's warehouse, in ``removal.allowed-locations``, or below the table's location, wherever CREATE ... LOCATION put that;
- below no folder of another table of the catalog, and is none of the catalog's own files.

A location that is a root, holds the warehouse or the user's home directory, or, outside of the warehouse, is a top-level folder such as
``/data``, permits no removals. A refusal is logged and returned to the caller to report; it is no error, because it comes after a commit.

Files that this process gave random names, and no longer writes, need no gate. ``tests/test_removals.py`` lists the places that call a
store's ``delete``, ``delete_many`` and ``delete_folder``, and why each may.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from icesql.io.storage.canonical import Canonical, climbs, decoded, depth, folders_above, is_below, overlap
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import WRITE_METADATA_LOCATION
from icesql.table.manifests.location_provider import LocationProvider, data_paths
from icesql.table.operations import TableOperations

logger = logging.getLogger(__name__)

Delete = Callable[[Iterable[str]], list[tuple[str, str]]]
_METADATA_FILE = re.compile(r"[^/]+\.metadata\.json(\.gz)?")


@dataclass(frozen=True, slots=True)
class Claim:
    """A folder that belongs to one table. With ``within``: only files below that folder whose path contains these folders."""

    folder: str
    table: str = ""
    within: str = ""

    def holds(self, canonical: str) -> bool:
        return is_below(canonical, self.folder) and (not self.within or f"/{self.within}" in canonical[len(self.folder) :])


class Surroundings(Protocol):
    """What a catalog knows of the places around one of its tables."""

    def warehouse(self) -> str | None:
        """Where tables are placed by default, ``None`` if nowhere."""

    def own_folder(self) -> str | None:
        """The table's folder, in a catalog that derives it from the table's name; else ``None``."""

    def allowed(self) -> Sequence[str]:
        """The warehouse, and other locations that the configuration allows."""

    def catalog_files(self) -> Sequence[str]:
        """Locations of the catalog's own files."""

    def others(self, *, exact: bool) -> Iterable[Claim]:
        """Folders of the other tables, as they spell them.

        ``exact`` also reads their metadata for folders that their properties name; otherwise folders are derived from the locations of
        their
        metadata files. Where ``own_folder`` is known, only the tables around it have to be listed.
        """


class NoSurroundings:
    """For a catalog that knows no other tables and allows no place but a table's own location."""

    def warehouse(self) -> str | None:
        return None

    def own_folder(self) -> str | None:
        return None

    def allowed(self) -> Sequence[str]:
        return ()

    def catalog_files(self) -> Sequence[str]:
        return ()

    def others(self, *, exact: bool) -> Iterable[Claim]:
        return ()


def surroundings_of(operations: TableOperations) -> Surroundings | None:
    """The surroundings that the catalog of these operations knows; ``None`` for operations without any."""
    surroundings: Surroundings | None = getattr(operations, "surroundings", None)
    return surroundings


def own_claims(location: str, properties: Mapping[str, str], table: str = "") -> list[Claim]:
    """The folders of a table as it spells them, its location first."""
    provider = LocationProvider(location.rstrip("/") or location, properties)
    claims = [Claim(location, table)]
    for path in data_paths(properties):
        shared = provider.shared_context if path == provider.data_path else ""
        claims.append(Claim(path, table, shared))
    if properties.get(WRITE_METADATA_LOCATION):
        claims.append(Claim(properties[WRITE_METADATA_LOCATION], table))
    return claims


@dataclass
class RemovalGate:
    """For one table, at one time. Without ``surroundings`` (a table without a catalog) only its own folders count."""

    io: FileIO
    name: str
    claims: Sequence[Claim]
    surroundings: Surroundings | None = None
    exact: bool = False
    refused: list[tuple[str, str]] = field(default_factory=list)
    _canonical: Canonical = field(default_factory=Canonical)

    # -- what may go -----------------------------------------------------------------------------------------------
    def why_not(self, location: str) -> str | None:
        """Why this file must stay; ``None`` if it may be removed."""
        canonical = self._canonical.file(location)
        if canonical is None or climbs(location):
            return "no absolute location, or one with . or .. in it"
        if not any(claim.holds(canonical) for claim in self._own):
            return self._why_not_own(canonical)
        spellings = {canonical, decoded(canonical)}
        if spellings & self._catalog_files:
            return "it is a file of the catalog"
        for spelling in spellings:
            for folder in folders_above(spelling):
                for claim in self._others.get(folder, ()):
                    if claim.holds(spelling) and not self._is_too_wide(claim.folder):  # what gives no right takes none away
                        return f"it lies in a folder of table {claim.table}"
        return None

    def why_not_old_metadata(self, location: str) -> str | None:
        """As ``why_not``, for a file of the metadata log: it must be a metadata file directly in the table's metadata folder."""
        canonical = self._canonical.file(location)
        if canonical is not None:
            folder, _, name = canonical.rpartition("/")
            if folder not in self._metadata_folders or not _METADATA_FILE.fullmatch(name):
                return "it is no metadata file in the table's own folder for them"
        return self.why_not(location)

    def split(self, locations: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """Locations that may be removed, and (location, reason) of the others."""
        may_go: list[str] = []
        refused: list[tuple[str, str]] = []
        for location in locations:
            reason = self.why_not(location)
            if reason is None:
                may_go.append(location)
            else:
                refused.append((location, reason))
        return may_go, refused

    def remove(self, locations: Iterable[str], delete: Delete | None = None) -> list[tuple[str, str]]:
        """Remove what may be removed; returns (location, reason) of every file that was refused or not removed."""
        locations = list(locations)
        try:
            may_go, refused = self.split(locations)
        except Exception as error:  # the catalog does not say what is whose
            may_go, refused = [], [(location, f"nobody can tell whether it is another table's: {error}") for location in locations]
        self.report(refused)
        return refused + ((delete or self.io.delete_many)(may_go) if may_go else [])

    def remove_old_metadata(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        """Remove files of the metadata log, in order."""
        stayed: list[tuple[str, str]] = []
        for location in locations:
            reason = self.why_not_old_metadata(location)
            if reason is not None:
                self.report([(location, reason)])
                stayed.append((location, reason))
                continue
            try:
                self.io.delete(location)
            except Exception as error:  # an orphan, which orphan removal takes
                stayed.append((location, str(error)))
        return stayed

    def with_claim(self, claim: Claim) -> RemovalGate:
        """The gate with one more folder of the table's."""
        return RemovalGate(self.io, self.name, [*self.claims, claim], self.surroundings, self.exact)

    def is_free(self, location: str) -> bool:
        """Whether no folder of another table overlaps this one."""
        folder = self._canonical.folder(location)
        return folder is not None and not any(overlap(folder, other) and not self._is_too_wide(other) for other in self._others)

    def report(self, refused: Sequence[tuple[str, str]]) -> None:
        if refused:
            location, reason = refused[0]
            logger.warning("Cannot remove %d files of table %s, which stay, for example %s: %s", len(refused), self.name, location, reason)
            self.refused += refused

    # -- whose it is -----------------------------------------------------------------------------------------------
    @cached_property
    def _own(self) -> list[Claim]:
        """The table's folders, in canonical form."""
        location = self._canonical.folder(self.claims[0].folder)
        counting: list[Claim] = []
        for claim in self.claims:
            folder = self._canonical.folder(claim.folder)
            if folder is None or self._is_too_wide(folder):
                continue
            in_location = location is not None and not self._is_too_wide(location) and (folder == location or is_below(folder, location))
            if self.surroundings is None or in_location or self._is_allowed(folder):
                counting.append(Claim(folder, self.name, claim.within))
        return counting

    def _is_too_wide(self, folder: str) -> bool:
        if depth(folder) == 0:
            return True
        if self.surroundings is None:
            return False
        if any(folder == one or is_below(one, folder) for one in self._never):
            return True
        return folder.startswith("file:") and depth(folder) == 1 and not self._is_allowed(folder)

    @cached_property
    def _never(self) -> list[str]:
        """Locations that no table's folder may contain."""
        places = (None if self.surroundings is None else self.surroundings.warehouse(), str(Path.home()))
        return [folder for place in places if place and (folder := self._canonical.folder(place)) is not None]

    @cached_property
    def _allowed(self) -> list[str]:
        allowed = () if self.surroundings is None else self.surroundings.allowed()
        return [folder for folder in map(self._canonical.folder, allowed) if folder is not None]

    def _is_allowed(self, folder: str) -> bool:
        return any(folder == one or is_below(folder, one) for one in self._allowed)

    def _why_not_own(self, canonical: str) -> str:
        inside = [claim for claim in self.claims if (f := self._canonical.folder(claim.folder)) is not None and is_below(canonical, f)]
        if not inside:
            return "it lies outside the table's location"
        return f"{inside[0].folder} is a root, holds the warehouse, or lies outside of it and of removal.allowed-locations"

    @cached_property
    def _metadata_folders(self) -> set[str]:
        named = [f"{self.claims[0].folder}/metadata", *(claim.folder for claim in self.claims[1:])]
        return {folder for folder in map(self._canonical.folder, named) if folder is not None}

    @cached_property
    def _others(self) -> dict[str, list[Claim]]:
        """Claims of other tables by their folders, in every spelling."""
        if self.surroundings is None:
            return {}
        location = self._canonical.folder(self.surroundings.own_folder() or self.claims[0].folder) or ""
        outside = any(claim.folder != location and not is_below(claim.folder, location) for claim in self._own)
        claims: dict[str, list[Claim]] = {}
        for claim in self.surroundings.others(exact=self.exact or outside):
            folder = self._canonical.folder(claim.folder)
            for spelling in {folder, decoded(folder)} if folder is not None else ():
                claims.setdefault(spelling, []).append(Claim(spelling, claim.table, claim.within))
        return claims

    @cached_property
    def _catalog_files(self) -> set[str]:
        files = () if self.surroundings is None else self.surroundings.catalog_files()
        return {file for file in map(self._canonical.file, files) if file is not None}


def removal_gate(operations: TableOperations, metadata: TableMetadata, *, exact: bool = False) -> RemovalGate:
    """The gate of a table at this version. ``exact``: read the metadata of all other tables for their folders."""
    return gate_of(operations.io, operations.name, metadata, surroundings_of(operations), exact=exact)


def gate_of(io: FileIO, name: str, metadata: TableMetadata, surroundings: Surroundings | None, *, exact: bool = False) -> RemovalGate:
    return RemovalGate(io, name, own_claims(metadata.location, metadata.properties, name), surroundings, exact)
