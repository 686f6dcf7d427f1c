"""The catalog over a ``PointerStore``: names point to metadata files, and a commit moves a pointer."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog, FilterParser
from icesql.catalog.commit_status import settle
from icesql.catalog.drop import dropping
from icesql.catalog.names import (
    Identifier,
    Namespace,
    check_dotless_names,
    check_folder_names,
    dotted,
    identifier_of,
    join_location,
    namespace_of,
    strip_trailing_slash,
)
from icesql.catalog.pointer_operations import PointerOperations, StagedCommit, first_known, swap_together
from icesql.catalog.pointers import PointerKind, PointerStore, Swap, SwapUncertainError
from icesql.catalog.surroundings import PointerSurroundings, check_places, is_untouched, overlaps_any
from icesql.catalog.table_operations import delete_old_metadata, read_table_metadata
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
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import GC_ENABLED
from icesql.table.operations import TableVersion
from icesql.table.outcomes import Outcome, judge
from icesql.table.own_changes import note_change
from icesql.table.removal import RemovalGate, own_claims
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.spec.views import ViewMetadata

_LOCATION = "location"


class MetastoreCatalog(Catalog):
    """Tables may be made in namespaces that were not created, as in Java's JdbcCatalog."""

    supports_views = True

    def __init__(
        self, name: str, properties: Mapping[str, str], io: FileIO, store: PointerStore, parse_filter: FilterParser | None = None
    ) -> None:
        super().__init__(name, properties, io, parse_filter)
        self.store = store

    def close(self) -> None:
        self.store.close()

    # -- namespaces ----------------------------------------------------------------------------------------------
    def list_namespaces(self, parent: Namespace | str = ()) -> list[Namespace]:
        parent = namespace_of(parent)
        known = self.store.namespaces()
        if parent and parent not in known:
            raise _no_namespace(parent, known)
        return sorted({name[: len(parent) + 1] for name in known if len(name) > len(parent) and name[: len(parent)] == parent})

    def namespace_exists(self, namespace: Namespace | str) -> bool:
        namespace = namespace_of(namespace)
        return not namespace or namespace in self.store.namespaces()

    def create_namespace(self, namespace: Namespace | str, properties: Mapping[str, str] | None = None) -> None:
        namespace = namespace_of(namespace)
        self._check_namespace(namespace)
        if self.namespace_exists(namespace):
            raise AlreadyExistsError(f"Cannot create namespace: Namespace already exists: {dotted(namespace)}", namespace=namespace)
        with _settled(f"create namespace {dotted(namespace)}"):
            self.store.update_namespace(namespace, (), dict(properties or {}), create=True)

    @staticmethod
    def _check_namespace(namespace: Namespace) -> None:
        if not namespace:
            raise InvalidArgumentError("Cannot create namespace with invalid name: the name is empty")
        check_folder_names(namespace)
        check_dotless_names(namespace)

    def drop_namespace(self, namespace: Namespace | str) -> None:
        namespace = namespace_of(namespace)
        self._require_namespace(namespace)
        for kind in PointerKind:
            if held := self.store.names(kind, namespace):
                raise _not_empty(namespace, len(held), kind.value.lower())
        if children := self.list_namespaces(namespace):
            raise _not_empty(namespace, len(children), "child namespace")
        with _settled(f"drop namespace {dotted(namespace)}"):
            self.store.remove_namespace(namespace)

    def _require_namespace(self, namespace: Namespace) -> None:
        known = self.store.namespaces()
        if not namespace or namespace not in known:
            raise _no_namespace(namespace, known)

    def namespace_properties(self, namespace: Namespace | str) -> dict[str, str]:
        namespace = namespace_of(namespace)
        self._require_namespace(namespace)
        return {_LOCATION: self._namespace_location(namespace), **self.store.namespace_properties(namespace)}

    def update_namespace_properties(
        self, namespace: Namespace | str, *, removals: Iterable[str] = (), updates: Mapping[str, str] | None = None
    ) -> None:
        namespace = namespace_of(namespace)
        self._require_namespace(namespace)
        removed, updated = set(removals), dict(updates or {})
        if both := sorted(removed & updated.keys()):
            raise InvalidArgumentError(f"Cannot update namespace properties: a key is both set and removed: {both[0]}")
        with _settled(f"update namespace {dotted(namespace)}"):
            self.store.update_namespace(namespace, removed, updated)

    def _namespace_location(self, namespace: Namespace) -> str:
        return join_location(self.warehouse, *namespace)

    # -- tables --------------------------------------------------------------------------------------------------
    def list_tables(self, namespace: Namespace | str) -> list[Identifier]:
        namespace = namespace_of(namespace)
        if namespace:
            self._require_namespace(namespace)
        return self.store.names(PointerKind.TABLE, namespace)

    def table_exists(self, identifier: Identifier | str) -> bool:
        identifier = identifier_of(identifier)
        return self.store.find(PointerKind.TABLE, identifier) is not None

    def operations(self, identifier: Identifier | str) -> PointerOperations:
        identifier = identifier_of(identifier)
        return PointerOperations(self.io, self.full_name(identifier), self.store, identifier, self.surroundings(identifier))

    def surroundings(self, identifier: Identifier) -> PointerSurroundings:
        return PointerSurroundings(self.properties, self.io, self.store, identifier)

    def table_location(self, identifier: Identifier, location: str | None) -> str:
        """If another table has the default location, as after a rename, one beside it is chosen."""
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

    def default_location(self, identifier: Identifier | str) -> str:
        """Below the namespace's ``location`` property where it has one, else ``<warehouse>/<namespace levels>/<table>``."""
        identifier = identifier_of(identifier)
        configured = self.store.namespace_properties(identifier[:-1]).get(_LOCATION)
        base = strip_trailing_slash(configured) if configured else self._namespace_location(identifier[:-1])
        return join_location(base, identifier[-1])

    def drop_table(self, identifier: Identifier | str, *, purge: bool = False) -> None:
        """``purge`` raises CommitFailedError, with nothing removed, if the name no longer leads to the version whose files were listed."""
        identifier = identifier_of(identifier)
        version = self.load_table(identifier).version if purge else None
        with dropping(self.io, self.full_name(identifier), version, self.surroundings(identifier)):
            self._remove(PointerKind.TABLE, identifier, None if version is None else version.metadata_location)

    def unregister_table(self, identifier: Identifier | str, metadata_location: str) -> None:
        """Remove the name, if it still leads to this file; every file stays. Raises NotFoundError, CommitFailedError."""
        identifier = identifier_of(identifier)
        self._remove(PointerKind.TABLE, identifier, metadata_location)
        note_change()

    def _remove(self, kind: PointerKind, identifier: Identifier, location: str | None) -> None:
        """Remove a name, only while it points to ``location`` if that is given."""
        name, noun = self.full_name(identifier), kind.value.lower()
        expected = location or self.store.find(kind, identifier)
        try:
            if expected is not None and self.store.remove(kind, identifier, location):
                return
        except SwapUncertainError as error:
            settle(first_known(error.recorded, lambda: self._look_for(kind, identifier, expected)), {}, f"drop {noun} {name}", error)
            return
        if self.store.find(kind, identifier) is None:
            raise self.no_such_table(identifier) if kind is PointerKind.TABLE else self._no_such_view(identifier)
        raise CommitFailedError(
            f"Cannot drop {noun} {name}: it was changed or replaced meanwhile, and nothing was removed. Look at it and drop it again",
            name=name,
        )

    def _look_for(self, kind: PointerKind, source: Identifier, expected: str | None, target: Identifier | None = None) -> Outcome:
        """Whether a name that pointed to ``expected`` was removed, or renamed to ``target``."""
        if self.store.find(kind, source, settled=True) == expected:
            return Outcome.FAILED
        moved = target is not None and self.store.find(kind, target, settled=True) == expected
        return Outcome.COMMITTED if moved else Outcome.UNKNOWN

    def rename_table(self, source: Identifier | str, target: Identifier | str) -> None:
        source, target = identifier_of(source), identifier_of(target)
        self.check_identifier(target)
        location = self.store.find(PointerKind.TABLE, source)
        if location is None:
            raise self.no_such_table(source)
        self._rename(PointerKind.TABLE, source, target, location)
        note_change()

    def _rename(self, kind: PointerKind, source: Identifier, target: Identifier, location: str) -> None:
        self._require_namespace(target[:-1])
        try:
            self.store.rename(kind, source, target)
        except SwapUncertainError as error:
            look = first_known(error.recorded, lambda: self._look_for(kind, source, location, target))
            settle(look, {}, f"rename {kind.value.lower()} {self.full_name(source)}", error)

    def register_table(self, identifier: Identifier | str, metadata_location: str) -> Table:
        identifier = identifier_of(identifier)
        self.check_identifier(identifier)
        if not metadata_location:
            raise InvalidArgumentError("Cannot register an empty metadata file location as a table")
        if self.table_exists(identifier):
            raise AlreadyExistsError(f"Cannot register table: Table already exists: {dotted(identifier)}", table=dotted(identifier))
        operations = self.operations(identifier)
        metadata = read_table_metadata(self.io, operations.name, metadata_location, use_cache=False)
        check_places(operations.name, self.surroundings(identifier), metadata)
        version = TableVersion(metadata, metadata_location)
        swap_together(self.store, [StagedCommit(operations, None, version, is_new=False)])  # the file stays, whatever becomes of it
        return self.table_of(identifier, version)

    def commit_tables(self, commits: Sequence[tuple[Identifier, TableVersion | None, TableMetadata]]) -> list[TableVersion]:
        """All or none, in one transaction of the store. Raises as ``TableOperations.commit``."""
        ordered = sorted(commits, key=lambda commit: commit[0])  # one order for all writers, so that no two wait for each other
        staged: list[StagedCommit] = []
        try:
            for identifier, base, metadata in ordered:
                operations = self.operations(identifier)
                staged.append(StagedCommit(operations, base, operations.stage(base, metadata)))
            swap_together(self.store, staged)
        except CommitStateUnknownError:
            raise
        except IcesqlError:
            for one in staged:
                one.operations.discard(one.version)
            raise
        for one in staged:
            operations = one.operations
            delete_old_metadata(self.io, operations.name, one.base, one.version.metadata, operations.surroundings)
        by_name = {one.operations.identifier: one.version for one in staged}
        return [by_name[identifier] for identifier, _, _ in commits]

    # -- views ---------------------------------------------------------------------------------------------------
    def list_views(self, namespace: Namespace | str) -> list[Identifier]:
        namespace = namespace_of(namespace)
        if namespace:
            self._require_namespace(namespace)
        return self.store.names(PointerKind.VIEW, namespace)

    def load_view(self, identifier: Identifier | str) -> ViewMetadata:
        identifier = identifier_of(identifier)
        return read_view_metadata(self.io, self._view_location(identifier))

    def located_view(self, identifier: Identifier | str) -> tuple[str, ViewMetadata]:
        """The view and the file that holds it. Raises NotFoundError."""
        location = self._view_location(identifier_of(identifier))
        return location, read_view_metadata(self.io, location)

    def register_view(self, identifier: Identifier | str, metadata_location: str) -> ViewMetadata:
        """A name for a view's metadata file that is there. Raises AlreadyExistsError, NotFoundError, CorruptMetadataError."""
        identifier = identifier_of(identifier)
        self.check_identifier(identifier)
        if not metadata_location:
            raise InvalidArgumentError("Cannot register an empty metadata file location as a view")
        view = read_view_metadata(self.io, metadata_location)
        self._swap_view(Swap(identifier, None, metadata_location), view.properties)
        return view

    def _view_location(self, identifier: Identifier) -> str:
        location = self.store.find(PointerKind.VIEW, identifier)
        if location is None:
            raise self._no_such_view(identifier)
        return location

    def _no_such_view(self, identifier: Identifier) -> NotFoundError:
        known = [dotted(name) for name in self.store.names(PointerKind.VIEW, identifier[:-1])]
        name = dotted(identifier)
        return NotFoundError(f"Cannot find view: View does not exist: {name}.{nearest(name, known)}", view=name)

    def commit_view(self, identifier: Identifier | str, base: ViewMetadata | None, metadata: ViewMetadata) -> None:
        """Create (``base`` is ``None``) or move a view. Raises AlreadyExistsError, CommitFailedError, CommitStateUnknownError."""
        identifier = identifier_of(identifier)
        self.check_identifier(identifier)
        previous = None if base is None else self._view_location(identifier)
        if previous is not None and read_view_metadata(self.io, previous) != base:
            raise CommitFailedError(f"Cannot commit view {dotted(identifier)}: another writer changed it first")
        location = next_view_location(metadata, previous)
        write_view_metadata(self.io, location, metadata)
        try:
            self._swap_view(Swap(identifier, previous, location), metadata.properties)
        except CommitStateUnknownError:
            raise
        except IcesqlError:
            with contextlib.suppress(Exception):
                self.io.delete(location)
            raise

    def _swap_view(self, swap: Swap, properties: Mapping[str, str]) -> None:
        def look() -> Outcome:
            current = self.store.find(PointerKind.VIEW, swap.identifier, settled=True)
            shows = partial(self.store.has_been_led_to, PointerKind.VIEW, swap.location)
            return judge(base=swap.previous, staged=swap.location, current=current, shows_commit=shows)

        try:
            self.store.swap(PointerKind.VIEW, [swap])
        except SwapUncertainError as error:
            settle(first_known(error.recorded, look), properties, f"commit {dotted(swap.identifier)}", error)

    def drop_view(self, identifier: Identifier | str) -> None:
        """As Java's catalogs do, removes its last metadata file, too, unless ``gc.enabled`` is false or the file cannot be read."""
        identifier = identifier_of(identifier)
        location = self._view_location(identifier)
        try:
            view = read_view_metadata(self.io, location)
            collects = view.properties.get(GC_ENABLED, "true").lower() != "false"
        except (NotFoundError, CorruptMetadataError, UnsupportedError):  # which is a reason to drop the view, not to keep it
            collects = False
        self._remove(PointerKind.VIEW, identifier, location)
        if collects:
            claims = own_claims(view.location, view.properties)
            RemovalGate(self.io, dotted(identifier), claims, self.surroundings(identifier)).remove_old_metadata([location])

    def rename_view(self, source: Identifier | str, target: Identifier | str) -> None:
        source, target = identifier_of(source), identifier_of(target)
        self.check_identifier(target)
        self._rename(PointerKind.VIEW, source, target, self._view_location(source))


@contextlib.contextmanager
def _settled(doing: str) -> Iterator[None]:
    """Carry out a change whose outcome only the store's own record can tell. Raises CommitFailedError, CommitStateUnknownError."""
    try:
        yield
    except SwapUncertainError as error:
        settle(error.recorded, {}, doing, error)


def _no_namespace(namespace: Namespace, known: Iterable[Namespace]) -> NotFoundError:
    name = dotted(namespace)
    return NotFoundError(
        f"Cannot find namespace: Namespace does not exist: {name}.{nearest(name, map(dotted, known))}", namespace=namespace
    )


def _not_empty(namespace: Namespace, count: int, noun: str) -> ValidationError:
    return ValidationError(
        f"Cannot drop namespace: Namespace {dotted(namespace)} is not empty: {count} {noun}(s) exist", namespace=namespace
    )
