"""One table of a REST catalog, as table operations."""

from __future__ import annotations

import time
from collections.abc import Callable

from icesql.catalog.names import Identifier
from icesql.catalog.rest import keys
from icesql.catalog.rest.commits import TableCommit, commit_table
from icesql.catalog.rest.intents import commit_intent
from icesql.catalog.rest.loads import Loads
from icesql.catalog.rest.metrics import Metrics
from icesql.errors import CommitFailedError
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.table.after_commit import after_commit
from icesql.table.operations import TableVersion
from icesql.table.outcomes import own_snapshot_ids
from icesql.table.removal import Surroundings
from icesql.table.snapshot.produce import ProduceSnapshot


class RestTableOperations:
    """The server writes metadata files, keeps their log, and removes old ones. ``io`` opens the table's files with what the server gave."""

    def __init__(
        self,
        loads: Loads,
        identifier: Identifier,
        name: str,
        surroundings: Surroundings | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._loads, self.identifier, self._name, self.surroundings, self._metrics = loads, identifier, name, surroundings, metrics

    @property
    def io(self) -> FileIO:
        return (self._loads.held(self.identifier) or self._loads.load(self.identifier)).io

    @property
    def name(self) -> str:
        return self._name

    def load(self) -> TableVersion:
        return self._loads.load(self.identifier).version

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        """As updates from ``base`` to ``metadata``. Raises as ``TableOperations.commit``.

        The server may fold them on a later version on which all that was looked at still holds.
        """
        commit = TableCommit(self.identifier, base, metadata)
        if base is not None and not commit.updates:
            current = self.load()
            if current.metadata_location != base.metadata_location:
                raise CommitFailedError(f"Cannot commit table {self._name}: another writer changed it first", table=self._name)
            return current
        started = time.perf_counter()
        version = commit_table(self._loads, commit, self._name)
        self._report(commit, version, (time.perf_counter() - started) * 1000)
        return version

    @property
    def produce(self) -> Callable[[TableVersion, ProduceSnapshot], TableVersion]:
        """A write as files and validations, of which the server makes the snapshot. Raises AttributeError where it does not offer that."""
        offer = self._loads.server.offer
        if not keys.flag(offer.properties, keys.PRODUCE_SNAPSHOT, default=False):
            raise AttributeError("produce")

        def send(base: TableVersion, change: ProduceSnapshot) -> TableVersion:
            return commit_intent(self._loads, self.identifier, self._name, base, change)

        return send

    def _report(self, commit: TableCommit, version: TableVersion, took_ms: float) -> None:
        base = None if commit.base is None else commit.base.metadata
        if self._metrics is not None:
            with after_commit(f"report the commit of table {self._name}"):
                for snapshot_id in own_snapshot_ids(base, commit.metadata) & version.metadata.snapshots_by_id.keys():
                    self._metrics.committed(self._name, self.identifier, version.metadata.snapshots_by_id[snapshot_id], took_ms)


class StagedTableOperations(RestTableOperations):
    """Of a table that the server has prepared and not made: files can be written before anyone sees it."""

    def __init__(
        self,
        loads: Loads,
        identifier: Identifier,
        name: str,
        io: FileIO,
        surroundings: Surroundings | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        super().__init__(loads, identifier, name, surroundings, metrics)
        self._io = io

    @property
    def io(self) -> FileIO:
        return self._io
