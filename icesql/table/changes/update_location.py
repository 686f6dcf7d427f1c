"""UpdateLocation: move where a table's new files go. Files written before stay where they are."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.spec.metadata import TableMetadata
from icesql.table.arguments import unfit
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion


@dataclass(slots=True)
class UpdateLocation(MetadataChange):
    location: str
    operations: TableOperations
    base: TableVersion | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.location, str):
            raise unfit("set location of table", "location", "text", self.location)

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        wanted = self.location.rstrip("/") or self.location
        return ChangeSet() if metadata.location == wanted else ChangeSet((u.SetLocation(wanted),))

    def commit(self) -> TableVersion:
        """Raises UnsupportedError from catalogs that keep a table where its name says."""
        return commit(self.operations, [self], base=self.base)
