"""UpdateProperties: set and remove table properties; ``format-version`` among them upgrades the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from icesql.errors import InvalidArgumentError
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import FORMAT_VERSION, RESERVED, whole_number
from icesql.table.arguments import checked
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.metadata.property_checks import check_commit_properties, check_metrics
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion


@checked
@dataclass(slots=True)
class UpdateProperties(MetadataChange):
    """Collects property changes. Reserved properties are ignored, as in the reference."""

    operations: TableOperations | None = None
    base: TableVersion | None = None
    updates: dict[str, str] = field(default_factory=dict)
    removals: set[str] = field(default_factory=set)
    format_version: int | None = None

    def set(self, key: str, value: str) -> UpdateProperties:
        """Raises InvalidArgumentError if the key is to be removed too, or ``format-version`` is no number."""
        if key in self.removals:
            raise InvalidArgumentError(f"Cannot remove and update the same key: {key}", key=key)
        if key == FORMAT_VERSION:
            self.format_version = _version(value)
        elif key not in RESERVED:
            self.updates[key] = value
        return self

    def set_all(self, properties: Mapping[str, str]) -> UpdateProperties:
        for key, value in properties.items():
            self.set(key, value)
        return self

    def remove(self, *keys: str) -> UpdateProperties:
        """Raises InvalidArgumentError if a key is to be set too."""
        for key in keys:
            if key in self.updates:
                raise InvalidArgumentError(f"Cannot remove and update the same key: {key}", key=key)
            self.removals.add(key)
        return self

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        updates: list[u.Update] = []
        check_commit_properties(self.updates)
        check_metrics(self.updates, metadata.schema)
        if self.format_version is not None:
            updates.append(u.UpgradeFormatVersion(self.format_version))
        if self.updates:
            updates.append(u.SetProperties(dict(self.updates)))
        present = tuple(sorted(key for key in self.removals if key in metadata.properties))
        if present:
            updates.append(u.RemoveProperties(present))
        return ChangeSet(tuple(updates))

    def commit(self) -> TableVersion:
        if self.operations is None:
            raise InvalidArgumentError("Cannot commit property update: it belongs to no table")
        return commit(self.operations, [self], base=self.base)


def _version(value: str) -> int:
    try:
        return whole_number(value)
    except ValueError:
        raise InvalidArgumentError(f"Cannot set {FORMAT_VERSION}: not a number: {value}", value=value) from None
