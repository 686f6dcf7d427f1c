"""A catalog as the server offers it: its names and tables, and what is kept in its database beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog
from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.names import Identifier, dotted
from icesql.errors import NotFoundError
from icesql.io.files import FileIO
from icesql.server.settings import Settings
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.removal import Surroundings, surroundings_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from icesql.catalog.sql_store import SqlStore
    from icesql.server.storage.answers import AnswerStore

    Record = Callable[[Connection], None]

# A new table keeps few old metadata files: here one is written for every group of commits.
_TABLE_DEFAULTS = {"table-default.write.metadata.delete-after-commit.enabled": "true"}


class ServedCatalog:
    """``answers`` is ``None`` where the catalog has no database to keep them in."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self.catalog, self.settings = catalog, settings
        self.name = catalog.name
        catalog.properties = {**_TABLE_DEFAULTS, **catalog.properties}
        self.store = _sql_store(catalog)
        self.answers: AnswerStore | None = None
        if self.store is not None:
            from icesql.server.storage.answers import AnswerStore

            self.answers = AnswerStore(self.store, settings.idempotency.lifetime_minutes)

    @property
    def io(self) -> FileIO:
        return self.catalog.io

    def prepare(self) -> None:
        """Make what the server keeps in the database. Raises IcesqlError where it cannot be reached."""
        if self.answers is not None:
            self.answers.prepare()

    def close(self) -> None:
        self.catalog.close()

    @contextlib.contextmanager
    def recording(self, records: Sequence[Record]) -> Iterator[None]:
        """What the block changes in the catalog's database goes together with these records."""
        if self.store is None or not records:
            yield
            return
        with self.store.together_with(records):
            yield

    def table(self, identifier: Identifier) -> TableVersion:
        """The current version. Raises NotFoundError where the name leads to no table, CorruptMetadataError."""
        return self.catalog.operations(identifier).load()

    def operations(self, identifier: Identifier, records: Callable[[TableVersion | None, TableMetadata], Sequence[Record]]) -> TableOperations:
        """Commits of these also write ``records(base, metadata)``, in one transaction."""
        return RecordedOperations(self, self.catalog.operations(identifier), records)

    def exists(self, identifier: Identifier) -> bool:
        return self.catalog.table_exists(identifier)

    def is_taken(self, identifier: Identifier) -> str | None:
        """``Table`` or ``View`` where the name leads to one."""
        if self.catalog.table_exists(identifier):
            return "Table"
        return "View" if self.catalog.supports_views and self.view_exists(identifier) else None

    def view_exists(self, identifier: Identifier) -> bool:
        try:
            return identifier in self.catalog.list_views(identifier[:-1])
        except NotFoundError:
            return False

    def full_name(self, identifier: Identifier) -> str:
        return dotted((self.name, *identifier))


@dataclass(frozen=True, slots=True)
class RecordedOperations:
    """Table operations whose commits are recorded."""

    served: ServedCatalog
    inner: TableOperations
    records: Callable[[TableVersion | None, TableMetadata], Sequence[Record]]

    @property
    def io(self) -> FileIO:
        return self.inner.io

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def surroundings(self) -> Surroundings | None:
        return surroundings_of(self.inner)

    def load(self) -> TableVersion:
        return self.inner.load()

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        with self.served.recording(self.records(base, metadata)):
            return self.inner.commit(base, metadata)


def _sql_store(catalog: Catalog) -> SqlStore | None:
    if not isinstance(catalog, MetastoreCatalog):
        return None
    from icesql.catalog.sql_store import SqlStore

    return catalog.store if isinstance(catalog.store, SqlStore) else None
