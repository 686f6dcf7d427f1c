"""Files below a location that no table metadata reaches. Paths are compared across different spellings of schemes and authorities.

Files are listed before the metadata is read: a file that a commit adds meanwhile is then seen as reachable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.io.storage.canonical import Canonical, folders_above, is_below
from icesql.io.storage.files import FileInfo, FileIO
from icesql.table.manifests.location_provider import location_provider
from icesql.table.manifests.reachable import reachable
from icesql.table.removal import Claim, RemovalGate, removal_gate
from icesql.table.table import Table

DEFAULT_SCHEMES = {"s3n": "s3", "s3a": "s3"}
_LISTING_THREADS = 16
_METADATA_NAMES = (".metadata.json", ".metadata.json.gz")
_URI = re.compile(r"^(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/]*))?(.*)$", re.DOTALL)


class PrefixMismatch(str, Enum):
    """What to do with listed files that metadata names under another scheme or authority."""

    ERROR = "ERROR"
    IGNORE = "IGNORE"
    DELETE = "DELETE"


def prefix_mismatch(text: str | None) -> PrefixMismatch:
    try:
        return PrefixMismatch.ERROR if text is None else PrefixMismatch(text.upper())
    except ValueError:
        raise InvalidArgumentError(f"Invalid mode: {text}", value=text) from None


@dataclass(frozen=True, slots=True)
class FileURI:
    scheme: str
    authority: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRules:
    """Equal schemes and authorities: each maps to the one spelling that is compared."""

    schemes: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_SCHEMES))
    authorities: Mapping[str, str] = field(default_factory=dict)
    mode: PrefixMismatch = PrefixMismatch.ERROR

    @classmethod
    def of(cls, schemes: Mapping[str, str] | None, authorities: Mapping[str, str] | None, mode: PrefixMismatch) -> PrefixRules:
        """Keys may list several spellings, with commas between."""
        return cls(schemes={**DEFAULT_SCHEMES, **_flat(schemes)}, authorities=_flat(authorities), mode=mode)

    def uri(self, location: str, canonical: Canonical | None = None) -> FileURI:
        """With ``canonical`` a local file is compared by its real path, with links resolved."""
        real = None if canonical is None else canonical.file(location)
        matched = _URI.match(real if real is not None and real.startswith("file:") else location)
        assert matched is not None
        scheme, authority, path = (matched[1] or "").lower(), matched[2] or "", matched[3]
        if scheme == "file" or (not scheme and path.startswith("/")):
            scheme, authority, path = "", "", "/" + path.lstrip("/")
        while "//" in path:  # a listing does not repeat the slashes that are doubled in a table's location
            path = path.replace("//", "/")
        return FileURI(self.schemes.get(scheme, scheme), self.authorities.get(authority, authority), path)


def _flat(pairs: Mapping[str, str] | None) -> dict[str, str]:
    if pairs is not None and None in pairs.values():
        raise InvalidArgumentError("Cannot match prefixes: a scheme or authority is null")
    return {name.strip(): value.strip() for names, value in (pairs or {}).items() for name in names.split(",")}


def orphans_among(listed: Iterable[str], reached: Iterable[str], rules: PrefixRules) -> list[str]:
    """Listed files that are not reached. Raises ValidationError where prefixes disagree and the mode is ERROR."""
    valid: dict[str, list[FileURI]] = {}
    canonical = Canonical()
    for location in reached:
        uri = rules.uri(location, canonical)
        valid.setdefault(uri.path, []).append(uri)
    orphans: list[str] = []
    conflicts: set[tuple[str, str]] = set()
    for location in listed:
        uri = rules.uri(location, canonical)
        held = valid.get(uri.path)
        if held is None:
            orphans.append(location)
        elif not any(_same_prefix(one, uri) for one in held):
            if rules.mode is PrefixMismatch.DELETE:
                orphans.append(location)
            elif rules.mode is PrefixMismatch.ERROR:
                conflicts |= {pair for one in held for pair in _differences(one, uri)}
    if conflicts:
        raise ValidationError(_conflict_message(conflicts))
    return orphans


def _same_prefix(valid: FileURI, listed: FileURI) -> bool:
    return valid.scheme in ("", listed.scheme) and valid.authority in ("", listed.authority)


def _differences(valid: FileURI, listed: FileURI) -> Iterator[tuple[str, str]]:
    if valid.scheme not in ("", listed.scheme):
        yield valid.scheme, listed.scheme
    if valid.authority not in ("", listed.authority):
        yield valid.authority, listed.authority


def _conflict_message(conflicts: set[tuple[str, str]]) -> str:
    pairs = ", ".join(f"({valid}, {listed})" for valid, listed in sorted(conflicts))
    return (
        "Unable to determine whether certain files are orphan. Metadata references files that match listed/provided files except for "
        "authority/scheme. Please, inspect the conflicting authorities/schemes and provide which of them are equal by further configuring "
        "the action via equal_schemes and equal_authorities. Set the prefix mismatch mode to 'IGNORE' to ignore remaining locations with "
        "conflicting authorities/schemes or to 'DELETE' iff you are ABSOLUTELY confident that remaining conflicting authorities/schemes "
        f"are different. It will be impossible to recover deleted files. Conflicting authorities/schemes: [{pairs}]."
    )


def reached_files(table: Table) -> Iterator[str]:
    """Every file that the newest version of the table reaches: of all snapshots and refs, its metadata log and statistics."""
    table.refresh()
    return reachable(table.io, table.metadata, table.metadata_location).all()


# -- listing -----------------------------------------------------------------------------------------------------------
def units_of(io: FileIO, location: str, depth: int = 2) -> tuple[list[FileInfo], list[str]]:
    """Files in the first levels of folders, and the folders below them, each to be listed on its own. Links are not followed."""
    files, level = [], [location.rstrip("/")]
    canonical = Canonical()
    for _ in range(depth):
        with ThreadPoolExecutor(_LISTING_THREADS, "icesql-list") as pool:
            for entries in pool.map(lambda folder: list(io.list_files(folder, recursive=False)), level):
                files += entries
            names = pool.map(lambda folder: [f"{folder}/{name}" for name in io.list_folders(folder)], level)
            level = [folder for folders in names for folder in folders if not _is_link(folder, canonical)]
    return files, level


def _is_link(folder: str, canonical: Canonical) -> bool:
    return canonical.file(folder) != canonical.folder(folder)


def list_in_threads(io: FileIO, folders: Sequence[str]) -> list[FileInfo]:
    with ThreadPoolExecutor(_LISTING_THREADS, "icesql-list") as pool:
        return [info for infos in pool.map(lambda folder: list(io.list_files(folder)), folders) for info in infos]


def visible(files: Iterable[FileInfo], location: str, partition_names: frozenset[str]) -> Iterator[FileInfo]:
    """Files that are not hidden: no folder or file name begins with ``_`` or ``.``, except folders of partition columns that do."""
    root = len(location.rstrip("/"))
    for info in files:
        parts = info.location[root:].strip("/").split("/")
        if not any(_is_hidden(part, partition_names) for part in parts):
            yield info


def _is_hidden(part: str, partition_names: frozenset[str]) -> bool:
    if not part.startswith(("_", ".")):
        return False
    name, equals, _ = part.partition("=")
    return not (equals and name in partition_names)


def partition_names(table: Table) -> frozenset[str]:
    return frozenset(field.name for spec in table.metadata.partition_specs for field in spec.fields)


# -- whose they are ------------------------------------------------------------------------------------------------------
def removable_orphans(
    table: Table, location: str, candidates: Iterable[str], seen: Iterable[str], rules: PrefixRules
) -> tuple[list[str], list[tuple[str, str]]]:
    """Candidates below the location that nothing reaches and that may be removed; and (path, reason) of those that must stay.

    ``seen`` are all files that were listed, of whatever age: metadata files among them show other tables. Raises ValidationError if
    no file of the table lies below the location (its files belong to something else), or if the table's location is not the one that
    its metadata file was written to (every commit writes it there, so another program has changed it).
    """
    _check_own_location(table)
    reached = list(reached_files(table))
    _check_location(table, location, reached)
    orphans = sorted(orphans_among(candidates, reached, rules))
    if not orphans:
        return [], []
    return _spared(orphans, frozenset(_folders_of_other_tables(seen, table, reached)), _gate(table, location, reached))


def _check_own_location(table: Table) -> None:
    canonical, held = Canonical(), str(table.metadata_location).rpartition("/")[0]
    told = location_provider(table.metadata).metadata_file("x").rpartition("/")[0]
    if table.metadata_location is not None and canonical.folder(held) != canonical.folder(told):
        raise ValidationError(
            f"Cannot remove orphan files of table {table.name}: its metadata is in {held}, and its location says {told}", location=told
        )


def _check_location(table: Table, location: str, reached: Iterable[str]) -> None:
    canonical = Canonical()
    root = canonical.folder(location)
    if root is None or not any((file := canonical.file(path)) is not None and is_below(file, root) for path in reached):
        raise ValidationError(
            f"Cannot remove orphan files of table {table.name}: none of its files lies below the location: {location}", location=location
        )


def _gate(table: Table, location: str, reached: Iterable[str]) -> RemovalGate:
    """The table's removal gate. The location asked for counts if table metadata still refers to files there and no other table is near."""
    gate, canonical = removal_gate(table.operations, table.metadata, exact=True), Canonical()
    asked = str(canonical.folder(location))
    folders = {str(canonical.file(path)).rpartition("/")[0] for path in reached}
    past = {folder.removesuffix("/metadata") for folder in folders if folder.endswith("/metadata")}
    if any(asked == place or is_below(asked, place) for place in past) and gate.is_free(location):
        return gate.with_claim(Claim(location, table.name))
    return gate


def _folders_of_other_tables(seen: Iterable[str], table: Table, reached: Iterable[str]) -> Iterator[str]:
    """Canonical folders with metadata files that are not this table's, whatever catalog they belong to."""
    canonical = Canonical()
    own = {canonical.folder(f"{table.location}/metadata")}
    own.update(str(canonical.file(path)).rpartition("/")[0] for path in reached if path.endswith(_METADATA_NAMES))
    for path in seen:
        if path.endswith(_METADATA_NAMES):
            folder = str(canonical.file(path)).rpartition("/")[0]
            if folder not in own:
                yield folder.removesuffix("/metadata")


def _spared(orphans: Iterable[str], others: frozenset[str], gate: RemovalGate) -> tuple[list[str], list[tuple[str, str]]]:
    canonical = Canonical()
    kept: list[tuple[str, str]] = []
    candidates: list[str] = []
    for path in orphans:
        file = canonical.file(path)
        if file is not None and not others.isdisjoint(folders_above(file)):
            kept.append((path, "a folder above it holds another table's metadata"))
        elif _is_link(path, canonical):
            kept.append((path, "it is a symbolic link, and what it leads to may be in use"))
        else:
            candidates.append(path)
    may_go, refused = gate.split(candidates)
    return may_go, kept + refused
