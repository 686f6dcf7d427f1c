"""The catalog over a ``PointerStore``: names point to metadata files, and a commit moves a pointer."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog, FilterParser
from icesql.catalog.commit_status import settle
from icesql.catalog.drop import dropping
from icesql.catalog.names import Identifier, Namespace, check_dotless_names, check_folder_names, dotted, join_location, strip_trailing_slash
from icesql.catalog.pointers import Kind, PointerStore, Swap, SwapUncertainError
from icesql.catalog.surroundings import PointerSurroundings, check_places, is_untouched, overlaps_any
from icesql.catalog.table_operations import (
    MetastoreTableOperations,
    delete_old_metadata,
    is_in_history,
    read_table_metadata,
)
from icesql.catalog.view_files import next_view_location, read_view_metadata, write_view_metadata
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CommitStateUnknownError,
    CorruptMetadataError,
    IcesqlError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
    ValidationError,
    nearest,
)
from icesql.io.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion
from icesql.table.own_changes import note_change
from icesql.table.removal import RemovalGate, Surroundings, own_claims
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.spec.views import ViewMetadata

_LOCATION = "location"


class PointerOperations(MetastoreTableOperations):
    """One name of a store, as table operations."""

    def __init__(self, io: FileIO, name: str, store: PointerStore, identifier: Identifier, surroundings: Surroundings) -> None:
        super().__init__(io, name, surroundings)
        self._store, self.identifier = store, identifier

    def current_location(self) -> str:
        location = self._store.find(Kind.TABLE, self.identifier)
        if location is None:
            raise NotFoundError(f"Cannot find table: Table does not exist: {self.name}", table=self.name)
        return location

    def swap(self, previous: str | None, staged: TableVersion) -> None:
        location = str(staged.metadata_location)
        try:
            self._store.swap(Kind.TABLE, [Swap(self.identifier, previous, location)])
        except SwapUncertainError as error:
            settle(lambda: self.was_committed(location), staged.metadata.properties, self.name, error)

    def was_committed(self, location: str) -> bool:
        """Whether a swap to ``location`` happened, once nothing is in flight. Raises what the store raises while it cannot tell."""
        current = self._store.find(Kind.TABLE, self.identifier, settled=True)
        if current is None or current == location:
            return current is not None
        return is_in_history(TableVersion(read_table_metadata(self._io, self._name, current), current), location)


class MetastoreCatalog(Catalog):
    """Namespaces need no creation before tables are made in them, as in Java's JdbcCatalog."""

    supports_views = True

    def __init__(
        self, name: str, properties: Mapping[str, str], io: FileIO, store: PointerStore, parse_filter: FilterParser | None = None
    ) -> None:
        super().__init__(name, properties, io, parse_filter)
        self.store = store

    def close(self) -> None:
        self.store.close()

    # -- namespaces ----------------------------------------------------------------------------------------------
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        known = self.store.namespaces()
        if parent and parent not in known:
            raise _no_namespace(parent, known)
        return sorted({name[: len(parent) + 1] for name in known if len(name) > len(parent) and name[: len(parent)] == parent})

    def namespace_exists(self, namespace: Namespace) -> bool:
        return not namespace or namespace in self.store.namespaces()

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str] | None = None) -> None:
        self._check_namespace(namespace)
        if self.namespace_exists(namespace):
            raise AlreadyExistsError(f"Cannot create namespace: Namespace already exists: {dotted(namespace)}", namespace=namespace)
        self.store.update_namespace(namespace, (), dict(properties or {}), create=True)

    @staticmethod
    def _check_namespace(namespace: Namespace) -> None:
        if not namespace:
            raise InvalidArgumentError("Cannot create namespace with invalid name: the name is empty")
        check_folder_names(namespace)
        check_dotless_names(namespace)

    def drop_namespace(self, namespace: Namespace) -> None:
        self._require_namespace(namespace)
        for kind in Kind:
            if held := self.store.names(kind, namespace):
                raise _not_empty(namespace, len(held), kind.value.lower())
        if children := self.list_namespaces(namespace):
            raise _not_empty(namespace, len(children), "child namespace")
        self.store.remove_namespace(namespace)

    def _require_namespace(self, namespace: Namespace) -> None:
        known = self.store.namespaces()
        if not namespace or namespace not in known:
            raise _no_namespace(namespace, known)

    def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        self._require_namespace(namespace)
        return {_LOCATION: self._namespace_location(namespace), **self.store.namespace_properties(namespace)}

    def update_namespace_properties(
        self, namespace: Namespace, *, removals: Iterable[str] = (), updates: Mapping[str, str] | None = None
    ) -> None:
        self._require_namespace(namespace)
        removed, updated = set(removals), dict(updates or {})
        if both := sorted(removed & updated.keys()):
            raise InvalidArgumentError(f"Cannot update namespace properties: a key is both set and removed: {both[0]}")
        self.store.update_namespace(namespace, removed, updated)

    def _namespace_location(self, namespace: Namespace) -> str:
        return join_location(self.warehouse, *namespace)

    # -- tables --------------------------------------------------------------------------------------------------
    def list_tables(self, namespace: Namespace) -> list[Identifier]:
        if namespace:
            self._require_namespace(namespace)
        return self.store.names(Kind.TABLE, namespace)

    def table_exists(self, identifier: Identifier) -> bool:
        return self.store.find(Kind.TABLE, identifier) is not None

    def operations(self, identifier: Identifier) -> PointerOperations:
        return PointerOperations(self.io, self.full_name(identifier), self.store, identifier, self.surroundings(identifier))

    def surroundings(self, identifier: Identifier) -> PointerSurroundings:
        return PointerSurroundings(self.properties, self.io, self.store, identifier)

    def table_location(self, identifier: Identifier, location: str | None) -> str:
        """A default location that another table has, as after a rename, is passed over for one beside it."""
        if location is not None:
            return strip_trailing_slash(location)
        default = self.default_location(identifier)
        if is_untouched(self.io, default, self.warehouse):
            return default
        others = list(self.surroundings(identifier).others(exact=False))
        suffix = uuid.uuid4()
        beside = (default, f"{default}-{suffix}", join_location(self.warehouse, f"{dotted(identifier)}-{suffix}"))
        return next((one for one in beside if not overlaps_any(one, others, self.warehouse)), default)

    def check_identifier(self, identifier: Identifier) -> None:
        check_folder_names(identifier)
        check_dotless_names(identifier)

    def default_location(self, identifier: Identifier) -> str:
        """Below the namespace's ``location`` property where it has one, else ``<warehouse>/<namespace levels>/<table>``."""
        configured = self.store.namespace_properties(identifier[:-1]).get(_LOCATION)
        base = strip_trailing_slash(configured) if configured else self._namespace_location(identifier[:-1])
        return join_location(base, identifier[-1])

    def drop_table(self, identifier: Identifier, *, purge: bool = False) -> None:
        version = self.load_table(identifier).version if purge else None
        with dropping(self.io, self.full_name(identifier), version, self.surroundings(identifier)):
            if not self.store.remove(Kind.TABLE, identifier):
                raise self.no_such_table(identifier)

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        self.check_identifier(target)
        if self.store.find(Kind.TABLE, source) is None:
            raise self.no_such_table(source)
        self._require_namespace(target[:-1])
        self.store.rename(Kind.TABLE, source, target)
        note_change()

    def register_table(self, identifier: Identifier, metadata_location: str) -> Table:
        self.check_identifier(identifier)
        if not metadata_location:
            raise InvalidArgumentError("Cannot register an empty metadata file location as a table")
        if self.table_exists(identifier):
            raise AlreadyExistsError(f"Cannot register table: Table already exists: {dotted(identifier)}", table=dotted(identifier))
        operations = self.operations(identifier)
        metadata = read_table_metadata(self.io, operations.name, metadata_location, use_cache=False)
        check_places(operations.name, self.surroundings(identifier), metadata)
        version = TableVersion(metadata, metadata_location)
        operations.swap(None, version)
        return self.table_of(identifier, version)

    def commit_tables(self, commits: Sequence[tuple[Identifier, TableVersion | None, TableMetadata]]) -> list[TableVersion]:
        """All or none, in one transaction of the store. Raises as ``TableOperations.commit``."""
        ordered = sorted(commits, key=lambda commit: commit[0])  # one order for all writers, so that no two wait for each other
        staged: list[_Staged] = []
        try:
            for identifier, base, metadata in ordered:
                operations = self.operations(identifier)
                staged.append(_Staged(operations, base, operations.stage(base, metadata)))
            self._swap_all(staged)
        except CommitStateUnknownError:
            raise
        except IcesqlError:
            self.io.delete_many(one.swap.location for one in staged)
            raise
        for one in staged:
            operations = one.operations
            delete_old_metadata(self.io, operations.name, one.base, one.version.metadata, operations.surroundings)
        by_name = {one.operations.identifier: one.version for one in staged}
        return [by_name[identifier] for identifier, _, _ in commits]

    def _swap_all(self, staged: Sequence[_Staged]) -> None:
        first = staged[0]
        try:
            self.store.swap(Kind.TABLE, [one.swap for one in staged])
        except SwapUncertainError as error:  # one transaction: what holds for one table holds for all
            settle(
                lambda: first.operations.was_committed(first.swap.location), first.version.metadata.properties, first.operations.name, error
            )

    # -- views ---------------------------------------------------------------------------------------------------
    def list_views(self, namespace: Namespace) -> list[Identifier]:
        if namespace:
            self._require_namespace(namespace)
        return self.store.names(Kind.VIEW, namespace)

    def load_view(self, identifier: Identifier) -> ViewMetadata:
        return read_view_metadata(self.io, self._view_location(identifier))

    def _view_location(self, identifier: Identifier) -> str:
        location = self.store.find(Kind.VIEW, identifier)
        if location is None:
            known = [dotted(name) for name in self.store.names(Kind.VIEW, identifier[:-1])]
            name = dotted(identifier)
            raise NotFoundError(f"Cannot find view: View does not exist: {name}.{nearest(name, known)}", view=name)
        return location

    def commit_view(self, identifier: Identifier, base: ViewMetadata | None, metadata: ViewMetadata) -> None:
        """Create (``base`` is ``None``) or move a view. Raises AlreadyExistsError, CommitFailedError, CommitStateUnknownError."""
        self.check_identifier(identifier)
        previous = None if base is None else self._view_location(identifier)
        if previous is not None and read_view_metadata(self.io, previous) != base:
            raise CommitFailedError(f"Cannot commit view {dotted(identifier)}: another writer changed it first")
        location = next_view_location(metadata, previous)
        write_view_metadata(self.io, location, metadata)
        try:
            self.store.swap(Kind.VIEW, [Swap(identifier, previous, location)])
        except SwapUncertainError as error:
            settle(lambda: self.store.find(Kind.VIEW, identifier, settled=True) == location, metadata.properties, dotted(identifier), error)
        except IcesqlError:
            self.io.delete(location)
            raise

    def drop_view(self, identifier: Identifier) -> None:
        """As Java's catalogs do, its last metadata file goes with it unless ``gc.enabled`` is false; one that cannot be read stays."""
        location = self._view_location(identifier)
        try:
            view = read_view_metadata(self.io, location)
            collects = view.properties.get("gc.enabled", "true").lower() != "false"
        except (NotFoundError, CorruptMetadataError, UnsupportedError):  # which is a reason to drop the view, not to keep it
            collects = False
        if self.store.remove(Kind.VIEW, identifier) and collects:
            claims = own_claims(view.location, view.properties)
            RemovalGate(self.io, dotted(identifier), claims, self.surroundings(identifier)).remove_old_metadata([location])

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        self.check_identifier(target)
        self._view_location(source)
        self._require_namespace(target[:-1])
        self.store.rename(Kind.VIEW, source, target)


@dataclass(frozen=True, slots=True)
class _Staged:
    operations: PointerOperations
    base: TableVersion | None
    version: TableVersion

    @property
    def swap(self) -> Swap:
        previous = None if self.base is None else self.base.metadata_location
        return Swap(self.operations.identifier, previous, str(self.version.metadata_location))


def _no_namespace(namespace: Namespace, known: Iterable[Namespace]) -> NotFoundError:
    name = dotted(namespace)
    return NotFoundError(
        f"Cannot find namespace: Namespace does not exist: {name}.{nearest(name, map(dotted, known))}", namespace=namespace
    )


def _not_empty(namespace: Namespace, count: int, noun: str) -> ValidationError:
    return ValidationError(
        f"Cannot drop namespace: Namespace {dotted(namespace)} is not empty: {count} {noun}(s) exist", namespace=namespace
    )
