"""The interface behind which every catalog stands: names to tables, and the atomic swap.

An identifier is ``(namespace level, ..., table name)``; it never holds the catalog's own name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from icesql.expr.tree import Expression
from icesql.io.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import UNPARTITIONED, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import UNSORTED, SortOrder
from icesql.table.operations import TableOperations, TableVersion

if TYPE_CHECKING:
    from icesql.spec.views import ViewMetadata
    from icesql.table.table import Table
    from icesql.table.transaction import Transaction

Identifier: TypeAlias = tuple[str, ...]
Namespace: TypeAlias = tuple[str, ...]
FilterParser: TypeAlias = Callable[[str], Expression]


class Catalog(ABC):
    """A named catalog. ``properties`` are its configuration without the ``spark.sql.catalog.<name>.`` prefix.

    ``parse_filter`` turns ``where="..."`` text into an expression; the caller injects it, so that no SQL parser is imported here.
    """

    def __init__(self, name: str, properties: Mapping[str, str], io: FileIO, parse_filter: FilterParser | None = None) -> None:
        self.name, self.properties, self.io, self.parse_filter = name, dict(properties), io, parse_filter

    # -- namespaces ----------------------------------------------------------------------------------------------
    @abstractmethod
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        """Direct children of ``parent``. Raises NotFoundError if it does not exist."""

    @abstractmethod
    def namespace_exists(self, namespace: Namespace) -> bool: ...

    @abstractmethod
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str] | None = None) -> None:
        """Raises AlreadyExistsError; UnsupportedError where the catalog keeps no properties and some are given."""

    @abstractmethod
    def drop_namespace(self, namespace: Namespace) -> None:
        """Raises NotFoundError; ValidationError ``Namespace ... is not empty``."""

    @abstractmethod
    def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        """Raises NotFoundError."""

    @abstractmethod
    def update_namespace_properties(
        self, namespace: Namespace, *, removals: Iterable[str] = (), updates: Mapping[str, str] | None = None
    ) -> None: ...

    # -- tables --------------------------------------------------------------------------------------------------
    @abstractmethod
    def list_tables(self, namespace: Namespace) -> list[Identifier]: ...

    @abstractmethod
    def table_exists(self, identifier: Identifier) -> bool: ...

    @abstractmethod
    def operations(self, identifier: Identifier) -> TableOperations:
        """A handle; the table need not exist yet."""

    @abstractmethod
    def default_location(self, identifier: Identifier) -> str: ...

    @abstractmethod
    def drop_table(self, identifier: Identifier, *, purge: bool = False) -> None:
        """Raises NotFoundError. ``purge`` deletes every reachable file, and is refused when ``gc.enabled`` is false."""

    @abstractmethod
    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Raises NotFoundError, AlreadyExistsError; UnsupportedError in file-system catalogs."""

    @abstractmethod
    def register_table(self, identifier: Identifier, metadata_location: str) -> Table:
        """Raises AlreadyExistsError, CorruptMetadataError."""

    def load_table(self, identifier: Identifier | str) -> Table:
        """Raises NotFoundError that names the nearest table."""
        raise NotImplementedError("catalog helper writes this")

    def create_table(
        self,
        identifier: Identifier | str,
        schema: Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Table:
        """Field ids are assigned afresh, as Java does. Raises AlreadyExistsError."""
        raise NotImplementedError("catalog helper writes this")

    def stage_create(
        self,
        identifier: Identifier,
        schema: Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Transaction:
        """A transaction whose commit creates the table with everything staged in it (CTAS). Nothing exists before."""
        raise NotImplementedError("catalog helper writes this")

    def stage_replace(
        self,
        identifier: Identifier,
        schema: Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
        or_create: bool = False,
    ) -> Transaction:
        """A transaction that replaces schema, spec and order and keeps history, refs but main, and merged properties (RTAS)."""
        raise NotImplementedError("catalog helper writes this")

    def commit_tables(self, commits: Sequence[tuple[Identifier, TableVersion | None, TableMetadata]]) -> list[TableVersion]:
        """Swap several tables atomically, all or none. Raises UnsupportedError where the catalog cannot."""
        raise NotImplementedError("catalog helper writes this")

    # -- views (catalogs that store them) --------------------------------------------------------------------------
    supports_views: bool = False

    def list_views(self, namespace: Namespace) -> list[Identifier]:
        return []

    def load_view(self, identifier: Identifier) -> ViewMetadata:
        """Raises NotFoundError; UnsupportedError where views are not stored."""
        raise NotImplementedError("catalog helper writes this")

    def commit_view(self, identifier: Identifier, base: ViewMetadata | None, metadata: ViewMetadata) -> None:
        raise NotImplementedError("catalog helper writes this")

    def drop_view(self, identifier: Identifier) -> None:
        raise NotImplementedError("catalog helper writes this")

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        raise NotImplementedError("catalog helper writes this")
