"""What a catalog knows of the places around a table: where files may be removed, and which folders are other tables'.

``check_places`` refuses to give a table folders that overlap another table's. Reading all tables' metadata each time would be far too slow
in a large catalog, so tables are located by the catalog's own metadata locations (one query); only a table with a folder outside its own
location pays for reading all metadata, each file once in a process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from icesql.catalog.names import Identifier, dotted, join_location
from icesql.catalog.pointers import PointerKind, PointerStore
from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.io.lru import LruCache
from icesql.io.metadata_files import read_metadata
from icesql.io.storage.canonical import Canonical, decoded, depth, folders_above, is_below, overlap
from icesql.io.storage.files import FileIO
from icesql.io.storage.locations import is_location
from icesql.spec.metadata import TableMetadata
from icesql.table.removal import Claim, Surroundings, own_claims

ALLOWED_LOCATIONS = "removal.allowed-locations"
_THREADS = 16
_claims: LruCache[Hashable, tuple[Claim, ...]] = LruCache(16 * 1024 * 1024, lambda claims: 200 + 400 * len(claims))


def allowed_locations(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The warehouse, and the comma-separated locations of ``removal.allowed-locations``. Raises InvalidArgumentError."""
    listed = [text.strip() for text in properties.get(ALLOWED_LOCATIONS, "").split(",") if text.strip()]
    for location in listed:
        canonical = Canonical().folder(location)
        if canonical is None or depth(canonical) == 0:
            raise InvalidArgumentError(f"Cannot allow removals, {ALLOWED_LOCATIONS} names no absolute folder below a root: {location}")
    warehouse = properties.get("warehouse")
    return (*([warehouse] if warehouse else []), *listed)


def folder_of_table(metadata_location: str) -> str:
    """The table's folder, by its metadata file: the one that holds ``metadata``, or the file's own where that is named otherwise."""
    folder = metadata_location.rpartition("/")[0]
    return folder.rpartition("/")[0] if folder.endswith("/metadata") else folder


# -- catalogs of pointers ----------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PointerSurroundings:
    """The surroundings of one name of a ``PointerStore``."""

    properties: Mapping[str, str]
    io: FileIO
    store: PointerStore
    identifier: Identifier

    def warehouse(self) -> str | None:
        return self.properties.get("warehouse")

    def own_folder(self) -> str | None:
        return None

    def allowed(self) -> Sequence[str]:
        return allowed_locations(self.properties)

    def catalog_files(self) -> Sequence[str]:
        return self.store.files()

    def others(self, *, exact: bool) -> Iterable[Claim]:
        pointers = [(dotted(name), place) for name, place in self.store.pointers(PointerKind.TABLE) if name != self.identifier]
        told = [Claim(folder_of_table(place), name) for name, place in pointers]
        return told + claims_of_all(self.io, pointers) if exact else told


def claims_of_all(io: FileIO, pointers: Sequence[tuple[str, str]]) -> list[Claim]:
    """The folders that these tables' metadata name. A file that cannot be read names none."""
    with ThreadPoolExecutor(_THREADS, "icesql-claims") as pool:
        return [claim for claims in pool.map(lambda one: _claims_of(io, *one), pointers) for claim in claims]


def _claims_of(io: FileIO, name: str, metadata_location: str) -> tuple[Claim, ...]:
    key = (name, metadata_location)
    claims = _claims.find(key)
    if claims is None:
        try:
            metadata = read_metadata(io, metadata_location)
        except (IcesqlError, OSError):
            return ()
        claims = (*own_claims(metadata.location, metadata.properties, name), *_claims_of_the_past(metadata, name))
        _claims.put(key, claims)
    return claims


def _claims_of_the_past(metadata: TableMetadata, name: str, own: str | None = None) -> Iterator[Claim]:
    """Former folders of the table, by the snapshots written there that it still has: its location may have been changed since.

    ``own`` is left out: the table's location if not given.
    """
    lists = {folder_of_table(snapshot.manifest_list) for snapshot in metadata.snapshots if snapshot.manifest_list}
    for folder in sorted(lists - {metadata.location if own is None else own}):
        yield Claim(folder, name)


# -- tables that are folders -------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class FolderSurroundings:
    """The surroundings of a table folder of a ``hadoop`` warehouse: tables above it, tables in it, and all others on request."""

    properties: Mapping[str, str]
    io: FileIO
    root: str
    location: str
    metadata_file: Callable[[str], str | None]  # the current metadata file of the table in a folder, None where there is no table

    def warehouse(self) -> str | None:
        return self.root

    def own_folder(self) -> str | None:
        return self.location

    def allowed(self) -> Sequence[str]:
        return allowed_locations(self.properties)

    def catalog_files(self) -> Sequence[str]:
        return ()

    def others(self, *, exact: bool) -> Iterable[Claim]:
        tables = [*self._above(), *tables_below(self.io, self.location, self.metadata_file)]
        claims = [Claim(folder, folder) for folder, _ in tables]
        if exact:
            everywhere = [one for one in tables_below(self.io, self.root, self.metadata_file) if one[0] != self.location]
            claims += [Claim(folder, folder) for folder, _ in everywhere] + claims_of_all(self.io, everywhere)
        return claims

    def snapshot_folders(self) -> Iterator[Claim]:
        """The folders in which other tables of the warehouse have their snapshots, whatever locations their metadata names."""
        for folder, file in tables_below(self.io, self.root, self.metadata_file):
            if folder != self.location:
                try:
                    yield from _claims_of_the_past(read_metadata(self.io, file), folder, own=folder)
                except (IcesqlError, OSError):
                    continue

    def _above(self) -> Iterator[tuple[str, str]]:
        folder = self.location.rpartition("/")[0]
        while len(folder) > len(self.root):
            if (file := self.metadata_file(folder)) is not None:
                yield folder, file
            folder = folder.rpartition("/")[0]


def tables_below(io: FileIO, location: str, metadata_file: Callable[[str], str | None]) -> list[tuple[str, str]]:
    """(folder, metadata file) of the tables in folders below a location, however deep; links are not followed."""
    tables, pending, canonical = [], [location], Canonical()
    while pending:
        folder = pending.pop()
        real = canonical.folder(folder)
        for name in io.list_folders(folder):
            below = join_location(folder, name)
            if real is None or canonical.folder(below) != join_location(real, name):
                continue
            pending.append(below)
            if (file := metadata_file(below)) is not None:
                tables.append((below, file))
    return tables


# -- giving folders to a table -----------------------------------------------------------------------------------------
def check_places(name: str, surroundings: Surroundings, metadata: TableMetadata, held: Sequence[Claim] = ()) -> None:
    """Refuse folders that ``metadata`` newly gives to a table and that are roots, hold the warehouse, or overlap another table's.

    Raises InvalidArgumentError.
    """
    news = [claim for claim in own_claims(metadata.location, metadata.properties) if claim not in held]
    if news:
        check_claims(name, surroundings, metadata.location, news)


def check_claims(name: str, surroundings: Surroundings, location: str, claims: Sequence[Claim]) -> None:
    """As ``check_places``, for these folders of a table at ``location``."""
    canonical = Canonical()
    root = canonical.folder(surroundings.own_folder() or location)
    folders = {claim.folder: _usable(name, claim.folder, canonical, surroundings.warehouse()) for claim in claims}
    outside = any(folder != root and not (root and is_below(folder, root)) for folder in folders.values())
    others = list(surroundings.others(exact=outside))
    warehouse = canonical.folder(surroundings.warehouse() or "")
    for claim in claims:
        _check_free(name, claim, folders[claim.folder], others, canonical, warehouse)


def _usable(name: str, location: str, canonical: Canonical, warehouse: str | None) -> str:
    folder = canonical.folder(location) if is_location(location) else None
    if folder is None:
        raise InvalidArgumentError(f"Cannot use location for table {name}: not an absolute path or URI: {location!r}", location=location)
    if depth(folder) == 0:
        raise InvalidArgumentError(f"Cannot use location for table {name}: it is a root: {location}", location=location)
    if _is_too_wide(folder, canonical.folder(warehouse) if warehouse else None):
        raise InvalidArgumentError(f"Cannot use location for table {name}: the catalog's warehouse is in it: {location}", location=location)
    return folder


def _is_too_wide(folder: str, root: str | None) -> bool:
    """Whether a folder holds the warehouse: such a claim would not protect another table."""
    return depth(folder) == 0 or (root is not None and (folder == root or is_below(root, folder)))


def _check_free(name: str, claim: Claim, folder: str, others: Iterable[Claim], canonical: Canonical, root: str | None) -> None:
    for other in others:
        taken = canonical.folder(other.folder)
        if taken is None or _is_too_wide(taken, root) or (claim.within and other.within and claim.within != other.within):
            continue
        if any(overlap(one, two) for one in {folder, decoded(folder)} for two in {taken, decoded(taken)}):
            raise InvalidArgumentError(
                f"Cannot use location for table {name}: it overlaps the folder of table {other.table}, {other.folder}: {claim.folder}. "
                "Two tables that share a folder could remove each other's files",
                location=claim.folder,
            )


def overlaps_any(location: str, others: Iterable[Claim], warehouse: str) -> bool:
    """Whether a folder overlaps one of these."""
    canonical = Canonical()
    folder, root = canonical.folder(location), canonical.folder(warehouse)
    taken = (canonical.folder(other.folder) for other in others)
    return folder is not None and any(overlap(folder, one) for one in taken if one is not None and not _is_too_wide(one, root))


def is_untouched(io: FileIO, location: str, warehouse: str) -> bool:
    """Whether a local folder of the warehouse is empty or missing, with no table's metadata in the folders above it."""
    canonical = Canonical()
    folder, root = canonical.folder(location), canonical.folder(warehouse)
    if folder is None or root is None or not folder.startswith("file:") or not is_below(folder, root):
        return False
    if next(iter(io.list_files(location, recursive=False)), None) is not None or io.list_folders(location):
        return False
    return not any("metadata" in io.list_folders(above[len("file:") :]) for above in folders_above(folder) if is_below(above, root))
