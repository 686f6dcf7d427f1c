"""A catalog as the server offers it: its names and tables, and what is kept in its database beside them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog
from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.names import Identifier, dotted
from icesql.catalog.surroundings import allowed_locations, check_places
from icesql.errors import NotFoundError
from icesql.io.storage.files import FileIO
from icesql.server.access.locations import LocationRules
from icesql.server.delegation.offered import Delegation
from icesql.server.delegation.settings import StorageSettings
from icesql.server.settings import Settings
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from icesql.catalog.sql_store import SqlStore
    from icesql.server.commits.group import GroupCommitter
    from icesql.server.commits.requested import PayloadCheck
    from icesql.server.storage.answers import AnswerStore
    from icesql.server.storage.events import EventStore

    Record = Callable[[Connection], None]

_COMMITTERS = 4  # tables that are committed to at the same moment
# A new table keeps few old metadata files: here one is written for every group of commits.
_TABLE_DEFAULTS = {"table-default.write.metadata.delete-after-commit.enabled": "true"}


class News:
    """Wakes who waits for the next change that this process makes. For the event loop's thread."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    async def wait(self) -> None:
        await self._event.wait()

    def tell(self) -> None:
        self._event.set()
        self._event = asyncio.Event()


class ServedCatalog:
    """``answers`` and ``events`` are ``None`` where the catalog has no database to keep them in."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self.catalog, self.settings = catalog, settings
        self.name = catalog.name
        catalog.properties = {**_TABLE_DEFAULTS, **catalog.properties}
        self.store = _sql_store(catalog)
        self._committer: GroupCommitter | None = None
        self.locations = LocationRules(_allowed(catalog, settings))
        self.answers: AnswerStore | None = None
        self.events: EventStore | None = None
        self.news = News()
        self.delegation = Delegation(self.name, settings.storage.get(self.name, StorageSettings()), catalog.properties)
        if self.store is not None:
            from icesql.server.storage.answers import AnswerStore
            from icesql.server.storage.events import EventStore

            self.events = EventStore(self.store, settings.events.keep_days)
            self.answers = AnswerStore(self.store, settings.idempotency.lifetime_minutes)

    @property
    def io(self) -> FileIO:
        return self.catalog.io

    @property
    def committer(self) -> GroupCommitter:
        """Of this process. It lives on the event loop that asks for it first."""
        if self._committer is None:
            from icesql.server.commits.group import GroupCommitter

            self._committer = GroupCommitter(self, ThreadPoolExecutor(_COMMITTERS, f"commits-{self.name}"), self.settings.commits.max_group)
        return self._committer

    def payload_check(self) -> PayloadCheck:
        """What the server asks of snapshots that are produced from files."""
        from icesql.server.commits.payload_checks import PayloadChecks

        return PayloadChecks(self.io, self.settings.limits, self.settings.commits).checked

    def check_new_places(self, identifier: Identifier, metadata: TableMetadata) -> None:
        """Of a table that is to be created. Raises Problem 403 for places that are not allowed, InvalidArgumentError for folders that
        overlap another table's."""
        self.locations.check_metadata(None, metadata)
        check_places(self.full_name(identifier), self.catalog.surroundings(identifier), metadata)

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


def _allowed(catalog: Catalog, settings: Settings) -> tuple[str, ...] | None:
    """``None``: any place."""
    if settings.access.is_open and settings.access.allowed_locations is None:
        return None
    return (*allowed_locations(catalog.properties), *(settings.access.allowed_locations or ()))


def _sql_store(catalog: Catalog) -> SqlStore | None:
    if not isinstance(catalog, MetastoreCatalog):
        return None
    from icesql.catalog.sql_store import SqlStore

    return catalog.store if isinstance(catalog.store, SqlStore) else None
