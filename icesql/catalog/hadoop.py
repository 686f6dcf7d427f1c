"""The ``hadoop`` catalog: folders of a warehouse are namespaces, folders with metadata are tables. No database, no service."""

from __future__ import annotations

import logging
import uuid
import warnings
from collections.abc import Iterable, Mapping

from icesql.catalog.base import Catalog, FilterParser
from icesql.catalog.drop import check_folder, dropping
from icesql.catalog.hadoop_operations import ATOMIC_SCHEMES, HadoopTableOperations
from icesql.catalog.hadoop_versions import same_table
from icesql.catalog.names import (
    Identifier,
    Namespace,
    check_folder_names,
    dotted,
    identifier_of,
    join_location,
    namespace_of,
    strip_trailing_slash,
)
from icesql.catalog.surroundings import FolderSurroundings, check_claims
from icesql.catalog.table_operations import read_table_metadata
from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError, ValidationError, nearest
from icesql.io.storage.file_systems import scheme_of
from icesql.io.storage.files import FileIO
from icesql.io.stores.object_files import OBJECT_SCHEMES
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion
from icesql.table.removal import Claim, own_claims
from icesql.table.table import Table

logger = logging.getLogger(__name__)
_DROPPED = ".dropped"


class HadoopCatalog(Catalog):
    """Tables live at ``<warehouse>/<namespace levels>/<table>`` and nowhere else; they cannot be renamed. Namespaces have no properties."""

    def __init__(self, name: str, properties: Mapping[str, str], io: FileIO, parse_filter: FilterParser | None = None) -> None:
        super().__init__(name, properties, io, parse_filter)
        if scheme_of(self.warehouse) not in ATOMIC_SCHEMES | OBJECT_SCHEMES:
            warnings.warn(
                f"Catalog {name} can only be read: a hadoop catalog needs a store with atomic rename to write: {self.warehouse}",
                stacklevel=2,
            )

    # -- namespaces ----------------------------------------------------------------------------------------------
    def _folder(self, levels: Iterable[str]) -> str:
        return join_location(self.warehouse, *levels)

    def _children(self, levels: Namespace) -> list[Namespace]:
        return [(*levels, name) for name in self.io.list_folders(self._folder(levels)) if not name.endswith(_DROPPED)]

    def _is_table(self, levels: tuple[str, ...]) -> bool:
        return self.operations(levels).current_version() is not None

    def namespace_exists(self, namespace: Namespace | str) -> bool:
        namespace = namespace_of(namespace)
        if not namespace:
            return True
        try:
            check_folder_names(namespace)
        except InvalidArgumentError:
            return False
        return namespace[-1] in self.io.list_folders(self._folder(namespace[:-1])) and not self._is_table(namespace)

    def _require_namespace(self, namespace: Namespace) -> None:
        if not self.namespace_exists(namespace):
            siblings = self.io.list_folders(self._folder(namespace[:-1]))
            hint = nearest(dotted(namespace), (dotted((*namespace[:-1], sibling)) for sibling in siblings))
            raise NotFoundError(f"Cannot find namespace: Namespace does not exist: {dotted(namespace)}.{hint}", namespace=namespace)

    def list_namespaces(self, parent: Namespace | str = ()) -> list[Namespace]:
        parent = namespace_of(parent)
        self._require_namespace(parent)
        return [child for child in self._children(parent) if not self._is_table(child)]

    def create_namespace(self, namespace: Namespace | str, properties: Mapping[str, str] | None = None) -> None:
        namespace = namespace_of(namespace)
        if not namespace:
            raise InvalidArgumentError("Cannot create namespace with invalid name: the name is empty")
        check_folder_names(namespace)
        if properties:
            raise UnsupportedError(f"Cannot create namespace {dotted(namespace)}: metadata is not supported")
        if self.namespace_exists(namespace) or self._is_table(namespace):
            raise AlreadyExistsError(f"Cannot create namespace: Namespace already exists: {dotted(namespace)}", namespace=namespace)
        self.io.make_folder(self._folder(namespace))

    def drop_namespace(self, namespace: Namespace | str) -> None:
        namespace = namespace_of(namespace)
        if not namespace:
            raise InvalidArgumentError("Cannot drop namespace: the name is empty")
        self._require_namespace(namespace)
        folder = self._folder(namespace)
        if self._children(namespace) or next(iter(self.io.list_files(folder)), None) is not None:
            raise ValidationError(f"Cannot drop namespace: Namespace {dotted(namespace)} is not empty.", namespace=namespace)
        self.io.delete_folder(folder)

    def namespace_properties(self, namespace: Namespace | str) -> dict[str, str]:
        namespace = namespace_of(namespace)
        self._require_namespace(namespace)
        return {"location": self._folder(namespace)}

    def update_namespace_properties(
        self, namespace: Namespace | str, *, removals: Iterable[str] = (), updates: Mapping[str, str] | None = None
    ) -> None:
        namespace = namespace_of(namespace)
        self._require_namespace(namespace)
        if updates:
            raise UnsupportedError(f"Cannot set namespace properties {dotted(namespace)} : setProperties is not supported")
        if set(removals):
            raise UnsupportedError(f"Cannot remove namespace properties {dotted(namespace)} : removeProperties is not supported")

    # -- tables --------------------------------------------------------------------------------------------------
    def check_identifier(self, identifier: Identifier) -> None:
        check_folder_names(identifier)

    def list_tables(self, namespace: Namespace | str) -> list[Identifier]:
        namespace = namespace_of(namespace)
        if not namespace:
            raise NotFoundError("Missing database in table identifier: ")
        self._require_namespace(namespace)
        return [child for child in self._children(namespace) if self._is_table(child)]

    def table_exists(self, identifier: Identifier | str) -> bool:
        identifier = identifier_of(identifier)
        return self._is_table(identifier)

    def operations(self, identifier: Identifier | str) -> HadoopTableOperations:
        identifier = identifier_of(identifier)
        self.check_identifier(identifier)
        return HadoopTableOperations(self.io, self.full_name(identifier), self._folder(identifier), self.surroundings(identifier))

    def surroundings(self, identifier: Identifier) -> FolderSurroundings:
        return FolderSurroundings(
            self.properties, self.io, strip_trailing_slash(self.warehouse), self._folder(identifier), self._metadata_file
        )

    def _metadata_file(self, folder: str) -> str | None:
        """The current metadata file of the table in a folder; ``None`` where there is no table."""
        if "metadata" not in self.io.list_folders(folder):
            return None
        versions = HadoopTableOperations(self.io, folder, folder).versions
        number = versions.current_number()
        return None if number is None else versions.file(number)

    def _check_places(self, identifier: Identifier, metadata: TableMetadata, *, is_chosen: bool) -> None:
        super()._check_places(identifier, metadata, is_chosen=False)

    def default_location(self, identifier: Identifier | str) -> str:
        identifier = identifier_of(identifier)
        return self._folder(identifier)

    def table_location(self, identifier: Identifier, location: str | None) -> str:
        expected = self.default_location(identifier)
        if location is not None and strip_trailing_slash(location) != expected:
            raise InvalidArgumentError(f"Cannot set a custom location for a path-based table. Expected {expected} but got {location}")
        return expected

    def drop_table(self, identifier: Identifier | str, *, purge: bool = False) -> None:
        """Removes the folder, with and without ``purge``; ``purge`` also deletes reachable files elsewhere."""
        identifier = identifier_of(identifier)
        operations = self.operations(identifier)
        try:
            version = operations.load()
        except NotFoundError:
            raise self.no_such_table(identifier) from None
        surroundings, name = self.surroundings(identifier), self.full_name(identifier)
        check_folder(name, operations.location, surroundings)
        with dropping(self.io, name, version if purge else None, surroundings, removed_folder=operations.location):
            self._remove(identifier, operations, version)

    def _remove(self, identifier: Identifier, operations: HadoopTableOperations, version: TableVersion) -> None:
        """Rename the folder to a hidden one in one step, then delete that: no reader sees half a table, no writer commits into the remains,
        and a table made anew under the name loses nothing. What cannot be deleted stays in the hidden folder.
        """
        if scheme_of(operations.location) not in ATOMIC_SCHEMES:
            self.io.delete_folder(operations.metadata_folder)  # first, so that a drop cut short leaves no table that has lost its files
            self.io.delete_folder(operations.location)
            return
        hidden = self._folder((*identifier[:-1], f".{uuid.uuid4().hex}{_DROPPED}"))
        try:
            self.io.move_folder(operations.location, hidden)
        except NotFoundError:
            raise self.no_such_table(identifier) from None
        moved = HadoopTableOperations(self.io, operations.name, hidden)
        if not same_table(moved.load().metadata.table_uuid, version.metadata):
            self.io.move_folder(hidden, operations.location)
            raise ValidationError(f"Cannot drop table {operations.name}: it was dropped and made anew meanwhile", table=operations.name)
        try:
            self.io.delete_folder(moved.metadata_folder)
            self.io.delete_folder(hidden)
        except OSError:
            logger.warning("Cannot delete all files of dropped table %s: %s", operations.name, hidden, exc_info=True)

    def rename_table(self, source: Identifier | str, target: Identifier | str) -> None:
        source, target = identifier_of(source), identifier_of(target)
        raise UnsupportedError(f"Cannot rename Hadoop tables: {dotted(source)}")

    def register_table(self, identifier: Identifier | str, metadata_location: str) -> Table:
        """Version 1 at the new place holds the metadata given; its files stay where they are, as in Java."""
        identifier = identifier_of(identifier)
        if not metadata_location:
            raise InvalidArgumentError("Cannot register an empty metadata file location as a table")
        operations = self.operations(identifier)
        if operations.current_version() is not None:
            raise AlreadyExistsError(f"Cannot register table: Table already exists: {dotted(identifier)}", table=dotted(identifier))
        metadata = read_table_metadata(self.io, operations.name, metadata_location, use_cache=False)
        places = [Claim(operations.location), *own_claims(metadata.location, metadata.properties)]
        check_claims(operations.name, self.surroundings(identifier), metadata.location, places)
        version: TableVersion = operations.commit(None, metadata)
        return self.table_of(identifier, version)
