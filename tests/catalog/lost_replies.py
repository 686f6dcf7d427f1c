"""A catalog whose COMMITs lose their replies while another client works on the same names, and what must hold whatever comes of it.

Every version that was ever current is noted, with the files it reaches. None of them may go, unless an acknowledged purge took them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from icesql.catalog import commit_status
from icesql.catalog.loading import load_catalog
from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.pointers import PointerKind
from icesql.errors import CommitStateUnknownError, IcesqlError, NotFoundError
from icesql.spec.views import ViewMetadata
from icesql.table.manifests.reachable import reachable_files
from icesql.table.table import Table
from tests.catalog.tables import SCHEMA, rows
from tests.catalog.test_views import view_of

SHORT_LOG = {
    "commit.retry.min-wait-ms": "1",
    "commit.status-check.min-wait-ms": "1",
    "commit.status-check.num-retries": "2",
    "write.metadata.previous-versions-max": "1",
}
TABLE, OTHER, MOVED, VIEW = ("db", "t"), ("db", "u"), ("db", "moved"), ("db", "v")
FAULTS = ("none", "committed", "rolled back", "late", "soon", "soon rolled back", "interrupted after", "interrupted before")


@dataclass
class World:
    """``catalog`` is under test; ``other`` is another client of the same database."""

    catalog: MetastoreCatalog
    other: MetastoreCatalog
    monkeypatch: pytest.MonkeyPatch
    versions: dict[str, tuple[str | None, frozenset[str]]] = field(default_factory=dict)
    held: list[Any] = field(default_factory=list)
    base_location: str = ""
    went_back: bool = False

    @property
    def keeps_record(self) -> bool:
        return "postgresql" in str(self.catalog.properties["uri"])

    # -- what may not go -------------------------------------------------------------------------------------------
    def note_versions(self) -> None:
        for name in self.other.store.names(PointerKind.TABLE, ("db",)):
            table = self.other.load_table(name)
            self.versions.setdefault(str(table.metadata_location), (table.metadata.table_uuid, self.files_of(table)))
        for name in self.other.store.names(PointerKind.VIEW, ("db",)):
            location = str(self.other.store.find(PointerKind.VIEW, name))
            self.versions.setdefault(location, (None, frozenset([location])))

    def files_of(self, table: Table) -> frozenset[str]:
        files = frozenset(reachable_files(table.io, table.metadata, table.metadata_location))
        missing = {file for file in files if not Path(file).exists() and not file.endswith("version-hint.text")}
        assert not missing, f"{table.name} has lost files"
        return files - {file for file in files if file.endswith("version-hint.text")}

    def check_files(self, purged: str | None = None) -> None:
        self.note_versions()
        for location, (table_uuid, files) in self.versions.items():
            gone = {file for file in files if not Path(file).exists()}
            assert not gone or (purged is not None and table_uuid == purged), f"files of {location} were removed"

    def rows_of(self, table_uuid: str | None) -> list[int] | None:
        """The ids in the table, under whichever name it has; ``None`` if it has none."""
        for name in self.other.store.names(PointerKind.TABLE, ("db",)):
            table = self.other.load_table(name)
            if table.metadata.table_uuid == table_uuid:
                return sorted(table.to_arrow()["id"].to_pylist())
        return None

    # -- faults ----------------------------------------------------------------------------------------------------
    @contextmanager
    def fault(self, kind: str, meanwhile: Callable[[], object]) -> Iterator[None]:
        """The next COMMIT of the catalog under test fails so; the other client works before the failure is told."""
        commit, left = Connection.commit, [kind != "none"]

        def lost(connection: Connection) -> None:
            if not left or not left.pop():
                commit(connection)
                return
            match kind:
                case "committed" | "interrupted after":
                    commit(connection)
                case "rolled back" | "interrupted before":
                    connection.rollback()
                case _:
                    self._hold(connection)
            self.note_versions()
            meanwhile()
            self.note_versions()
            if "interrupted" in kind:
                raise KeyboardInterrupt
            raise OperationalError("COMMIT", None, Exception("connection reset by peer"), connection_invalidated=True)

        with self.monkeypatch.context() as patch:
            patch.setattr(Connection, "commit", lost)
            patch.setattr(commit_status, "time", _Clock(lambda: self._soon(kind)))
            yield
        self.release(commit=True)

    def _hold(self, connection: Connection) -> None:
        """The client has lost the connection; the server has not."""
        raw, dialect = connection.connection.dbapi_connection, connection.engine.dialect
        for name in ("do_close", "do_terminate", "do_rollback"):
            real = getattr(type(dialect), name)
            setattr(dialect, name, lambda one, real=real: None if one in self.held else real(dialect, one))
        self.held.append(raw)
        connection.invalidate()

    def _soon(self, kind: str) -> None:
        if kind.startswith("soon"):
            self.release(commit=kind == "soon")

    def release(self, *, commit: bool) -> None:
        while self.held:
            raw = self.held.pop()
            raw.commit() if commit else raw.rollback()
            raw.close()
        self.note_versions()


class _Clock:
    """Waits end at once; what ``on_wait`` does has then happened."""

    def __init__(self, on_wait: Callable[[], None]) -> None:
        self.sleep = lambda seconds: on_wait()

    @staticmethod
    def monotonic() -> float:
        return 0.0


def new_world(properties: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> World:
    opened = [load_catalog("test", {**properties, "sqlite.busy-timeout-ms": "20"}) for _ in range(2)]
    return World(opened[0], opened[1], monkeypatch)  # type: ignore[arg-type]


# -- what the other client does ------------------------------------------------------------------------------------
def rename(world: World) -> None:
    world.other.rename_table(TABLE, MOVED)


def drop(world: World) -> None:
    world.other.drop_table(TABLE)


def drop_and_create(world: World) -> None:
    drop(world)
    create(world)


def rename_and_create(world: World) -> None:
    rename(world)
    create(world)


def create(world: World) -> None:
    world.other.create_table(TABLE, SCHEMA, properties=SHORT_LOG).append(rows(7))


def commit_twice(world: World) -> None:
    table = world.other.load_table(TABLE)
    table.append(rows(8))
    table.append(rows(9))


def rename_and_commit_twice(world: World) -> None:
    rename(world)
    table = world.other.load_table(MOVED)
    table.append(rows(8))
    table.append(rows(9))


def register_base(world: World) -> None:
    """The pointer is what it was, and all the same something may have happened."""
    drop(world)
    world.other.register_table(TABLE, world.base_location)
    world.went_back = True


def drop_view(world: World) -> None:
    world.other.store.remove(PointerKind.VIEW, VIEW)


def rename_view(world: World) -> None:
    world.other.rename_view(VIEW, ("db", "w"))


def replace_view(world: World) -> None:
    held = world.other.load_view(VIEW)
    world.other.commit_view(VIEW, held, other_view(held))


def other_view(view: ViewMetadata) -> ViewMetadata:
    return replace(view, properties={**SHORT_LOG, "k": str(uuid.uuid4())})


MEANWHILE = (rename, drop, drop_and_create, rename_and_create, create, commit_twice, rename_and_commit_twice, register_base)
MEANWHILE_VIEW = (drop_view, rename_view, replace_view)


def tolerant(action: Callable[[World], None] | None, world: World) -> None:
    """What the other client cannot do as things are, it does not."""
    if action is not None:
        with suppress(IcesqlError):
            action(world)


# -- what the client under test does -------------------------------------------------------------------------------
def table_with_rows(world: World, name: tuple[str, ...] = TABLE) -> Table:
    table = world.catalog.create_table(name, SCHEMA, properties=SHORT_LOG)
    world.note_versions()
    table.append(rows(1))
    world.note_versions()
    world.base_location = str(table.metadata_location)
    return table


def outcome_of(work: Callable[[], object]) -> str:
    try:
        work()
    except CommitStateUnknownError:
        return "unknown"
    except IcesqlError:
        return "failed"
    except KeyboardInterrupt:
        return "interrupted"
    return "done"


def is_there(world: World, name: tuple[str, ...], kind: PointerKind = PointerKind.TABLE) -> bool:
    with suppress(NotFoundError):
        return world.other.store.find(kind, name) is not None
    return False


def new_view_of(world: World, sql: str) -> ViewMetadata:
    return replace(view_of(world.catalog, sql), properties=SHORT_LOG)
