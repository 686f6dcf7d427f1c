"""One table of a REST catalog, as table operations."""

from __future__ import annotations

from icesql.catalog.names import Identifier
from icesql.catalog.rest.commits import TableCommit, commit_table
from icesql.catalog.rest.loads import Loads
from icesql.errors import CommitFailedError
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion
from icesql.table.removal import Surroundings


class RestTableOperations:
    """The server writes metadata files, keeps their log, and removes old ones. ``io`` opens the table's files with what the server gave."""

    def __init__(self, loads: Loads, identifier: Identifier, name: str, surroundings: Surroundings | None = None) -> None:
        self._loads, self.identifier, self._name, self.surroundings = loads, identifier, name, surroundings

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
        return commit_table(self._loads, commit, self._name)


class StagedTableOperations(RestTableOperations):
    """Of a table that the server has prepared and not made: files can be written before anyone sees it."""

    def __init__(self, loads: Loads, identifier: Identifier, name: str, io: FileIO, surroundings: Surroundings | None = None) -> None:
        super().__init__(loads, identifier, name, surroundings)
        self._io = io

    @property
    def io(self) -> FileIO:
        return self._io
