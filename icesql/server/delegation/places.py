"""What a privilege on a table lets do with the objects in the table's folders."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.io.storage.canonical import Canonical, climbs, decoded, is_below
from icesql.server.access.privileges import Privilege
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import WRITE_METADATA_LOCATION
from icesql.table.removal import own_claims


@dataclass(frozen=True, slots=True)
class TablePlaces:
    """Canonical folders, and as the table spells them. ``metadata`` is where manifests and metadata files lie, which only a table's
    administrators write."""

    folders: tuple[str, ...]
    metadata: str
    spelled: tuple[str, ...] = ()

    @staticmethod
    def of(metadata: TableMetadata) -> TablePlaces:
        """A folder that several tables share is left out: it is nobody's alone."""
        canonical = Canonical()
        claims = [claim.folder for claim in own_claims(metadata.location, metadata.properties) if not claim.within]
        folder = metadata.properties.get(WRITE_METADATA_LOCATION) or f"{metadata.location.rstrip('/')}/metadata"
        folders = {one: claim.rstrip("/") for claim in reversed(claims) if (one := canonical.folder(claim)) is not None}
        return TablePlaces(tuple(folders), canonical.folder(folder) or "", tuple(folders.values()))

    def needed(self, method: str, location: str) -> Privilege | None:
        """What it takes to ``GET``, ``PUT`` or ``DELETE`` the object; ``None`` for one that is not in the table's folders, however it is
        spelt."""
        place = None if climbs(location) or "//" in location.partition("://")[2] else Canonical().folder(location)
        if place is None or not self._holds(place) or not self._holds(decoded(place)):
            return None
        if method == "GET":
            return Privilege.READ
        if any(one == self.metadata or is_below(one, self.metadata) for one in (place, decoded(place))):
            return Privilege.ADMIN
        return Privilege.INSERT if method == "PUT" else Privilege.MODIFY

    def _holds(self, place: str) -> bool:
        return any(is_below(place, folder) for folder in self.folders)

    def may_list(self, prefix: str) -> bool:
        """Whether all objects whose names begin so are in the table's folders."""
        plain = prefix.rstrip("/")
        if not prefix.endswith("/"):
            return self.needed("GET", prefix) is not None
        return self.needed("GET", f"{plain}/x") is not None
