"""What is known of the places around a table of a REST catalog: the server gave them, and tells of no other table's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from icesql.catalog.rest import keys
from icesql.catalog.surroundings import allowed_locations
from icesql.io.storage.locations import is_location
from icesql.table.removal import Claim


@dataclass(frozen=True, slots=True)
class RestSurroundings:
    """To ask for the metadata of all other tables would take a request for each: that tables do not overlap is the server's promise."""

    properties: Mapping[str, str] = field(repr=False)

    def warehouse(self) -> str | None:
        """``warehouse``, where it is a location and not a name that only the server understands."""
        warehouse = self.properties.get(keys.WAREHOUSE)
        return warehouse if is_location(warehouse) else None

    def own_folder(self) -> str | None:
        return None

    def allowed(self) -> Sequence[str]:
        placed = {key: value for key, value in self.properties.items() if key != keys.WAREHOUSE or is_location(value)}
        return allowed_locations(placed)

    def catalog_files(self) -> Sequence[str]:
        return ()

    def others(self, *, exact: bool) -> Iterable[Claim]:
        return ()
