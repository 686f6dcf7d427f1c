"""Where tables, their files and registered metadata may lie: in the warehouse, and in what the settings allow besides.

Every location that a client gives is looked at in canonical form before anything is read or written there: table locations, the folders
that properties name, manifest lists, statistics files, metadata files to register.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from icesql.io.storage.canonical import Canonical, climbs, decoded, is_below
from icesql.server.access.authentication import forbidden
from icesql.spec.metadata import TableMetadata
from icesql.table.removal import own_claims


@dataclass(frozen=True, slots=True)
class LocationRules:
    """``allowed`` is ``None`` where every place is."""

    allowed: tuple[str, ...] | None

    def check(self, locations: Iterable[str]) -> None:
        """Raises Problem 403 for a location that is in none of the folders."""
        if self.allowed is None:
            return
        canonical = Canonical()
        roots = [root for one in self.allowed if (root := canonical.folder(one)) is not None]
        for location in locations:
            place = None if climbs(location) else canonical.folder(location)
            spellings = () if place is None else (place, decoded(place))
            if not spellings or not all(any(is_below(one, root) for root in roots) for one in spellings):
                raise forbidden()

    def check_metadata(self, before: TableMetadata | None, after: TableMetadata) -> None:
        """What ``after`` names and ``before`` did not. Raises Problem 403."""
        if self.allowed is not None and after is not before:
            self.check(_new_locations(before, after))


def _new_locations(before: TableMetadata | None, after: TableMetadata) -> Iterator[str]:
    if before is None or (before.location, before.properties) != (after.location, after.properties):
        held = () if before is None else own_claims(before.location, before.properties)
        yield from (claim.folder for claim in own_claims(after.location, after.properties) if claim not in held)
    known = {} if before is None else before.snapshots_by_id
    for snapshot in after.snapshots:
        if snapshot.snapshot_id not in known:
            yield from (snapshot.manifest_list,) if snapshot.manifest_list else snapshot.manifests
    old = set() if before is None else _statistics(before)
    yield from _statistics(after) - old


def _statistics(metadata: TableMetadata) -> set[str]:
    return {file.statistics_path for file in metadata.statistics} | {file.statistics_path for file in metadata.partition_statistics}
