"""The interface of every catalog: names to tables, and the atomic swap.

An identifier is ``(namespace level, ..., table name)``; it never contains the catalog's own name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from icesql.catalog.names import Identifier, Namespace, dotted, identifier_of, namespace_of, strip_trailing_slash
from icesql.catalog.surroundings import check_places
from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError, nearest
from icesql.expr.tree import Expression
from icesql.io.storage.file_systems import require_file_system
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import UNPARTITIONED, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import UNSORTED, SortOrder
from icesql.table.arguments import checked
from icesql.table.metadata.create import new_metadata
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.other_names import CreateNames, also_named
from icesql.table.removal import Claim, NoSurroundings, Surroundings
from icesql.table.table import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from icesql.catalog.transactions import CatalogTransaction
    from icesql.io.arrow.stream import ArrowStream
    from icesql.spec.views import ViewMetadata
    from icesql.table.transaction import Transaction

FilterParser: TypeAlias = Callable[[str], Expression]

__all__ = ["Catalog", "FilterParser", "Identifier", "Namespace", "dotted", "identifier_of"]


@checked
class Catalog(ABC):
    """A named catalog. ``properties`` are its configuration without the ``spark.sql.catalog.<name>.`` prefix.

    ``parse_filter`` turns ``where="..."`` text into an expression; the caller injects it, so that no SQL parser is imported here.
    """

    def __init__(self, name: str, properties: Mapping[str, str], io: FileIO, parse_filter: FilterParser | None = None) -> None:
        self.name, self.properties, self.io, self.parse_filter = name, dict(properties), io, parse_filter

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        checked(cls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def warehouse(self) -> str:
        """The root below which tables get their default locations. Raises InvalidArgumentError where none is configured."""
        configured = self.properties.get("warehouse")
        if not configured:
            raise InvalidArgumentError(
                f"Cannot find location for a table of catalog {self.name}: no warehouse is configured; "
                f"set spark.sql.catalog.{self.name}.warehouse"
            )
        return strip_trailing_slash(configured)

    def full_name(self, identifier: Identifier) -> str:
        """``local.db.events``, for messages."""
        return dotted((self.name, *identifier))

    def close(self) -> None:
        """Close connections; a closed catalog may be used again."""
        return

    # -- namespaces ----------------------------------------------------------------------------------------------
    @abstractmethod
    def list_namespaces(self, parent: Namespace | str = ()) -> list[Namespace]:
        """Direct children of ``parent``. Raises NotFoundError if it does not exist."""

    @abstractmethod
    def namespace_exists(self, namespace: Namespace | str) -> bool: ...

    @abstractmethod
    def create_namespace(self, namespace: Namespace | str, properties: Mapping[str, str] | None = None) -> None:
        """Raises AlreadyExistsError; UnsupportedError where the catalog keeps no properties and some are given."""

    def create_namespace_if_not_exists(self, namespace: Namespace | str, properties: Mapping[str, str] | None = None) -> None:
        """A namespace that exists keeps the properties it has."""
        try:
            self.create_namespace(namespace, properties)
        except AlreadyExistsError:
            return

    @abstractmethod
    def drop_namespace(self, namespace: Namespace | str) -> None:
        """Raises NotFoundError; ValidationError ``Namespace ... is not empty``."""

    @abstractmethod
    def namespace_properties(self, namespace: Namespace | str) -> dict[str, str]:
        """Raises NotFoundError."""

    @abstractmethod
    def update_namespace_properties(
        self, namespace: Namespace | str, *, removals: Iterable[str] = (), updates: Mapping[str, str] | None = None
    ) -> None: ...

    # -- tables --------------------------------------------------------------------------------------------------
    @abstractmethod
    def list_tables(self, namespace: Namespace | str) -> list[Identifier]: ...

    @abstractmethod
    def table_exists(self, identifier: Identifier | str) -> bool: ...

    @abstractmethod
    def operations(self, identifier: Identifier | str) -> TableOperations:
        """A handle on the table, which need not exist yet."""

    @abstractmethod
    def default_location(self, identifier: Identifier | str) -> str: ...

    @abstractmethod
    def drop_table(self, identifier: Identifier | str, *, purge: bool = False) -> None:
        """Raises NotFoundError. ``purge`` deletes every reachable file, and is refused when ``gc.enabled`` is false."""

    @abstractmethod
    def rename_table(self, source: Identifier | str, target: Identifier | str) -> None:
        """Raises NotFoundError, AlreadyExistsError; UnsupportedError in file-system catalogs."""

    @abstractmethod
    def register_table(self, identifier: Identifier | str, metadata_location: str) -> Table:
        """Raises AlreadyExistsError, CorruptMetadataError."""

    def check_identifier(self, identifier: Identifier) -> None:
        """Refuse names that the catalog cannot distinguish or use in a location. Raises InvalidArgumentError."""
        return

    def load_table(self, identifier: Identifier | str) -> Table:
        """The table at its current version. Raises NotFoundError that names the nearest table, CorruptMetadataError."""
        names = identifier_of(identifier)
        try:
            version = self.operations(names).load()
        except NotFoundError:
            raise self.no_such_table(names) from None
        return self.table_of(names, version)

    def table_of(self, identifier: Identifier, version: TableVersion) -> Table:
        return Table(self.operations(identifier), version, identifier, self)

    def no_such_table(self, identifier: Identifier) -> NotFoundError:
        """The error that names the nearest table."""
        name = self.full_name(identifier)
        try:
            known = [self.full_name(table) for table in self.list_tables(identifier[:-1])]
        except NotFoundError:
            known = []
        return NotFoundError(f"Cannot find table: Table does not exist: {name}.{nearest(name, known)}", table=name)

    @also_named(partition_spec="spec")
    def create_table(
        self,
        identifier: Identifier | str,
        schema: Schema | pa.Schema | ArrowStream,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
        **names: Unpack[CreateNames],
    ) -> Table:
        """A new table with these columns: an Iceberg schema, an Arrow schema, or rows (anything with ``__arrow_c_stream__``), which the
        table then holds from its first version on.

        Field ids are assigned afresh, as Java does. Raises AlreadyExistsError; UnsupportedError for an Arrow type that Iceberg lacks;
        ValidationError for rows that the types do not hold, and then no table is made.
        """
        known = identifier_of(identifier)
        if isinstance(schema, Schema):
            return self._create(known, schema, spec, sort_order, location, properties)
        from icesql.table.write.create_from_arrow import create_from_arrow, schema_of

        columns, rows = schema_of(schema, self.table_properties(properties))
        if rows is None:
            return self._create(known, columns, spec, sort_order, location, properties)
        staged = self.stage_create(known, columns, spec=spec, sort_order=sort_order, location=location, properties=properties)
        return self.table_of(known, create_from_arrow(staged, rows))

    @also_named(partition_spec="spec")
    def create_table_if_not_exists(
        self,
        identifier: Identifier | str,
        schema: Schema | pa.Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
        **names: Unpack[CreateNames],
    ) -> Table:
        """The table of that name as it is, or a new one with these columns."""
        try:
            return self.create_table(identifier, schema, spec=spec, sort_order=sort_order, location=location, properties=properties)
        except AlreadyExistsError:
            return self.load_table(identifier)

    def _create(
        self,
        names: Identifier,
        schema: Schema,
        spec: PartitionSpec,
        sort_order: SortOrder,
        location: str | None,
        properties: Mapping[str, str] | None,
    ) -> Table:
        transaction = self.stage_create(names, schema, spec=spec, sort_order=sort_order, location=location, properties=properties)
        return self.table_of(names, transaction.commit())

    def stage_create(
        self,
        identifier: Identifier | str,
        schema: Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Transaction:
        """A transaction whose commit creates the table with everything staged in it (CTAS). Until then nothing exists.

        Raises AlreadyExistsError.
        """
        names = identifier_of(identifier)
        self.check_identifier(names)
        if self.table_exists(names):
            raise AlreadyExistsError(f"Cannot create table: Table already exists: {dotted(names)}", table=dotted(names))
        place = self.table_location(names, location)
        require_file_system(self.io, place)
        metadata = new_metadata(
            schema,
            spec=spec,
            sort_order=sort_order,
            location=place,
            properties=self.table_properties(properties),
        )
        self._check_places(names, metadata, is_chosen=location is None)
        from icesql.table.transaction import Transaction

        return Transaction.creating(self.operations(names), metadata)

    def stage_replace(
        self,
        identifier: Identifier | str,
        schema: Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
        or_create: bool = False,
    ) -> Transaction:
        """A transaction that replaces schema, spec and order and keeps history, refs but main, and merged properties (RTAS).

        Raises NotFoundError, unless ``or_create``.
        """
        names = identifier_of(identifier)
        operations = self.operations(names)
        try:
            base = operations.load()
        except NotFoundError:
            if not or_create:
                raise self.no_such_table(names) from None
            return self.stage_create(names, schema, spec=spec, sort_order=sort_order, location=location, properties=properties)
        from icesql.table.transaction import Transaction

        return Transaction.replacing(
            operations,
            base,
            schema,
            spec=spec,
            sort_order=sort_order,
            location=None if location is None else self.table_location(names, location),
            properties=self.table_properties(properties),
        )

    def table_location(self, identifier: Identifier, location: str | None) -> str:
        """Where a new table goes: the location asked for, without slashes at its end, or the default one."""
        return self.default_location(identifier) if location is None else strip_trailing_slash(location)

    def surroundings(self, identifier: Identifier) -> Surroundings:
        """What the catalog knows of the places around a table of this name, for the gate that removals go through."""
        return NoSurroundings()

    def _check_places(self, identifier: Identifier, metadata: TableMetadata, *, is_chosen: bool) -> None:
        """Refuse folders that overlap other tables'. ``is_chosen``: ``table_location`` chose the location, not the user.

        Raises InvalidArgumentError.
        """
        held = [Claim(metadata.location)] if is_chosen else []
        check_places(self.full_name(identifier), self.surroundings(identifier), metadata, held)

    def table_properties(self, properties: Mapping[str, str] | None) -> dict[str, str]:
        """A new table's properties: ``table-default.*`` of the catalog, then the table's own, then ``table-override.*``."""
        return {**self._prefixed("table-default."), **(properties or {}), **self._prefixed("table-override.")}

    def _prefixed(self, prefix: str) -> dict[str, str]:
        return {key[len(prefix) :]: value for key, value in self.properties.items() if key.startswith(prefix)}

    def commit_tables(self, commits: Sequence[tuple[Identifier, TableVersion | None, TableMetadata]]) -> list[TableVersion]:
        """Swap several tables atomically, all or none. Raises UnsupportedError where the catalog cannot."""
        raise UnsupportedError(f"Cannot commit several tables at once: catalog {self.name} has no transactions over tables")

    def transaction(self) -> CatalogTransaction:
        """Changes to several tables, committed together: ``with catalog.transaction() as t: t.table("db.a").add(...)``."""
        from icesql.catalog.transactions import CatalogTransaction

        return CatalogTransaction(self)

    # -- views (catalogs that store them) --------------------------------------------------------------------------
    supports_views: bool = False

    def list_views(self, namespace: Namespace | str) -> list[Identifier]:
        namespace = namespace_of(namespace)
        return []

    def load_view(self, identifier: Identifier | str) -> ViewMetadata:
        """Raises NotFoundError; UnsupportedError where views are not stored."""
        identifier = identifier_of(identifier)
        raise self._no_views()

    def commit_view(self, identifier: Identifier | str, base: ViewMetadata | None, metadata: ViewMetadata) -> None:
        """Create (``base`` is ``None``) or replace a view. Raises AlreadyExistsError, CommitFailedError."""
        identifier = identifier_of(identifier)
        raise self._no_views()

    def drop_view(self, identifier: Identifier | str) -> None:
        """Raises NotFoundError."""
        identifier = identifier_of(identifier)
        raise self._no_views()

    def rename_view(self, source: Identifier | str, target: Identifier | str) -> None:
        """Raises NotFoundError, AlreadyExistsError."""
        source, target = identifier_of(source), identifier_of(target)
        raise self._no_views()

    def _no_views(self) -> UnsupportedError:
        return UnsupportedError(f"Cannot use views: Creating a view is not supported by catalog: {self.name}")
