"""Pointers in a database: Iceberg's JDBC catalog tables, each step one transaction, each swap a compare-and-swap UPDATE."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, delete, insert, or_, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from icesql.catalog.names import Identifier, Namespace, dotted
from icesql.catalog.pointers import PointerKind, Swap, SwapUncertainError
from icesql.catalog.sql_engine import database_files, database_url, open_engine
from icesql.catalog.sql_schema import NAMESPACES, TABLES, prepare_schema
from icesql.errors import AlreadyExistsError, CommitFailedError, IcesqlError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.table.outcomes import Outcome

T = TypeVar("T")
EXISTS = "exists"  # the property that stands for a namespace without any, as in Java and PyIceberg
_SETTLE_TIMEOUT_MS = 10_000
_RECORDED = {"committed": Outcome.COMMITTED, "aborted": Outcome.FAILED}

_records: ContextVar[tuple[tuple[SqlStore, Callable[[Connection], None]], ...]] = ContextVar("icesql_store_records", default=())


class SqlStore:
    """A ``PointerStore`` over SQLAlchemy. ``catalog_name`` keeps catalogs in one database apart. Connects on first use."""

    def __init__(self, catalog_name: str, uri: str, properties: Mapping[str, str]) -> None:
        self.catalog_name, self._uri, self._properties = catalog_name, uri, dict(properties)
        self._lock = threading.Lock()
        self._opened: tuple[Engine, bool] | None = None

    def _open(self) -> tuple[Engine, bool]:
        """The engine, and whether names carry their type (schema V1)."""
        with self._lock:
            if self._opened is None:
                engine = open_engine(self._uri, self._properties)
                with _explained():
                    self._opened = (engine, prepare_schema(engine, self._properties))
            return self._opened

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].dispose()

    def _read(self, work: Callable[[Connection], T]) -> T:
        engine, _ = self._open()
        with _explained(), engine.connect() as connection:
            return work(connection)

    @property
    def is_shared(self) -> bool:
        """Whether a database server stands between processes, rather than a file."""
        return database_url(self._uri, self._properties).get_backend_name() != "sqlite"

    def with_engine(self, work: Callable[[Engine], None]) -> None:
        """Work on the opened database that is not the catalog's own, such as making tables. Raises IcesqlError."""
        with _explained():
            work(self._open()[0])

    def read(self, work: Callable[[Connection], T]) -> T:
        """A query beside the catalog's own. Raises IcesqlError."""
        return self._read(work)

    def write(self, work: Callable[[Connection], T]) -> T:
        """A transaction beside the catalog's own. Raises CommitFailedError (certainly not done), SwapUncertainError."""
        return self._write(work)

    @contextmanager
    def together_with(self, records: Sequence[Callable[[Connection], None]]) -> Iterator[None]:
        """Whatever the block changes in this store, and in this thread, it changes in one transaction with these records.

        A record that raises undoes the change; it may be called again where the change is tried again.
        """
        token = _records.set((*_records.get(), *((self, record) for record in records)))
        try:
            yield
        finally:
            _records.reset(token)

    def _write(self, work: Callable[[Connection], T]) -> T:
        """One transaction. What fails before COMMIT is sent certainly did not happen; what fails in COMMIT is uncertain."""
        engine, _ = self._open()
        with _explained(CommitFailedError):
            connection = engine.connect()
        try:
            with _explained(CommitFailedError):
                done = work(connection)
                for store, record in _records.get():
                    if store is self:
                        record(connection)
                transaction_id = _transaction_id(connection)
            self._commit(connection, transaction_id)
        finally:
            with contextlib.suppress(Exception):  # nothing that comes after COMMIT says anything about it
                connection.close()
        return done

    def _commit(self, connection: Connection, transaction_id: int | None) -> None:
        try:
            connection.commit()
        except Exception as error:
            if isinstance(error, DBAPIError) and _is_rolled_back(error):
                raise CommitFailedError(f"Cannot use catalog database: it is busy or full: {error.orig}") from error
            why = error.orig if isinstance(error, DBAPIError) else error
            raise SwapUncertainError(f"the database failed in COMMIT: {why}", partial(self._recorded, transaction_id)) from error

    def _recorded(self, transaction_id: int | None) -> Outcome:
        """What PostgreSQL's own log says of a transaction; SQLite keeps none. Raises while it is in progress."""
        if transaction_id is None:
            return Outcome.UNKNOWN
        query = text("SELECT txid_status(:id)").bindparams(id=transaction_id)
        status = self._read(lambda connection: connection.execute(query).scalar())
        if status == "in progress":
            raise IcesqlError(f"Cannot tell the outcome of transaction {transaction_id}: it is in progress")
        return _RECORDED.get(str(status), Outcome.UNKNOWN)

    # -- names ---------------------------------------------------------------------------------------------------
    def _is_kind(self, kind: PointerKind) -> list[ColumnElement[bool]]:
        if not self._open()[1]:
            return []
        held = TABLES.c.iceberg_type
        return [or_(held == kind.value, held.is_(None)) if kind is PointerKind.TABLE else held == kind.value]

    def _check_kind(self, kind: PointerKind) -> bool:
        """Whether the database can hold names of the kind: views need schema V1."""
        return kind is PointerKind.TABLE or self._open()[1]

    def _row(self, kind: PointerKind, identifier: Identifier) -> ColumnElement[bool]:
        return and_(*self._name(identifier), *self._is_kind(kind))

    def _name(self, identifier: Identifier) -> tuple[ColumnElement[bool], ...]:
        return (
            TABLES.c.catalog_name == self.catalog_name,
            TABLES.c.table_namespace == dotted(identifier[:-1]),
            TABLES.c.table_name == identifier[-1],
        )

    def find(self, kind: PointerKind, identifier: Identifier, *, settled: bool = False) -> str | None:
        if not self._check_kind(kind):
            return None
        query = select(TABLES.c.metadata_location).where(self._row(kind, identifier))
        if settled:
            return self._find_settled(query)
        return self._read(lambda connection: connection.execute(query).scalar())

    def _find_settled(self, query: Select[tuple[Any]]) -> str | None:
        """A locking read: it waits for a transaction whose client is gone to end, so that its answer is final."""

        def locked(connection: Connection) -> str | None:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SET LOCAL lock_timeout = {_SETTLE_TIMEOUT_MS}"))
            else:
                connection.execute(text("BEGIN IMMEDIATE"))
            location: str | None = connection.execute(query.with_for_update()).scalar()
            return location

        return self._read(locked)

    def has_been_led_to(self, kind: PointerKind, location: str) -> bool:
        if not self._check_kind(kind):
            return False
        held = or_(TABLES.c.metadata_location == location, TABLES.c.previous_metadata_location == location)
        query = select(TABLES.c.table_name).where(TABLES.c.catalog_name == self.catalog_name, held)
        return self._read(lambda connection: connection.execute(query).first()) is not None

    def names(self, kind: PointerKind, namespace: Namespace) -> list[Identifier]:
        if not self._check_kind(kind):
            return []
        query = select(TABLES.c.table_name).where(
            TABLES.c.catalog_name == self.catalog_name, TABLES.c.table_namespace == dotted(namespace), *self._is_kind(kind)
        )
        return sorted((*namespace, name) for name in self._read(lambda connection: connection.execute(query).scalars().all()))

    def pointers(self, kind: PointerKind) -> list[tuple[Identifier, str]]:
        if not self._check_kind(kind):
            return []
        columns = (TABLES.c.table_namespace, TABLES.c.table_name, TABLES.c.metadata_location)
        query = select(*columns).where(TABLES.c.catalog_name == self.catalog_name, *self._is_kind(kind))
        rows = self._read(lambda connection: connection.execute(query).all())
        return [((*filter(None, namespace.split(".")), name), location) for namespace, name, location in rows if location]

    def files(self) -> list[str]:
        return database_files(self._uri, self._properties)

    def swap(self, kind: PointerKind, swaps: Sequence[Swap]) -> None:
        if not self._check_kind(kind):
            raise UnsupportedError("Cannot store view: the catalog database has schema V0; set jdbc.schema-version=V1 to upgrade it")

        def work(connection: Connection) -> None:
            for one in swaps:
                self._insert(connection, kind, one) if one.previous is None else self._move(connection, kind, one)

        self._write(work)

    def _insert(self, connection: Connection, kind: PointerKind, one: Swap) -> None:
        values: dict[str, Any] = {
            "catalog_name": self.catalog_name,
            "table_namespace": dotted(one.identifier[:-1]),
            "table_name": one.identifier[-1],
            "metadata_location": one.location,
            "previous_metadata_location": None,
        }
        if self._open()[1]:
            values["iceberg_type"] = kind.value
        try:
            connection.execute(insert(TABLES).values(values))
        except IntegrityError as error:
            raise AlreadyExistsError(
                f"Cannot create {kind.value.lower()}: Table or view already exists: {dotted(one.identifier)}", name=dotted(one.identifier)
            ) from error

    def _move(self, connection: Connection, kind: PointerKind, one: Swap) -> None:
        held = TABLES.c.metadata_location == one.previous
        moved = update(TABLES).where(self._row(kind, one.identifier), held)
        values = {"metadata_location": one.location, "previous_metadata_location": one.previous}
        if connection.execute(moved.values(values)).rowcount != 1:
            raise CommitFailedError(f"Cannot commit {dotted(one.identifier)}: another writer changed it first", expected=one.previous)

    def remove(self, kind: PointerKind, identifier: Identifier, location: str | None = None) -> bool:
        if not self._check_kind(kind):
            return False
        gone = delete(TABLES).where(self._row(kind, identifier))
        if location is not None:
            gone = gone.where(TABLES.c.metadata_location == location)
        return self._write(lambda connection: connection.execute(gone).rowcount == 1)

    def rename(self, kind: PointerKind, source: Identifier, target: Identifier) -> None:
        moved = update(TABLES).where(self._row(kind, source)).values(table_namespace=dotted(target[:-1]), table_name=target[-1])

        def work(connection: Connection) -> None:
            try:
                count = connection.execute(moved).rowcount
            except IntegrityError as error:
                raise AlreadyExistsError(
                    f"Cannot rename {dotted(source)} to {dotted(target)}: Table or view already exists: {dotted(target)}"
                ) from error
            if count != 1:
                raise NotFoundError(f"Cannot rename {kind.value.lower()}: {kind.noun} does not exist: {dotted(source)}")

        self._write(work)

    # -- namespaces ----------------------------------------------------------------------------------------------
    def namespaces(self) -> set[Namespace]:
        created = select(NAMESPACES.c.namespace).where(NAMESPACES.c.catalog_name == self.catalog_name).distinct()
        implied = select(TABLES.c.table_namespace).where(TABLES.c.catalog_name == self.catalog_name).distinct()
        names = self._read(lambda connection: {*connection.execute(created).scalars(), *connection.execute(implied).scalars()})
        return {name[:depth] for name in (tuple(each.split(".")) for each in names if each) for depth in range(1, len(name) + 1)}

    def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        rows = select(NAMESPACES.c.property_key, NAMESPACES.c.property_value).where(self._namespace(namespace))
        pairs = self._read(lambda connection: connection.execute(rows).all())
        return {key: value for key, value in pairs if key != EXISTS}

    def _namespace(self, namespace: Namespace) -> ColumnElement[bool]:
        return and_(NAMESPACES.c.catalog_name == self.catalog_name, NAMESPACES.c.namespace == dotted(namespace))

    def update_namespace(self, namespace: Namespace, removals: Iterable[str], updates: Mapping[str, str], *, create: bool = False) -> None:
        written = {**updates, EXISTS: "true"}
        replaced = [] if create else [*removals, *written]
        rows = [
            {"catalog_name": self.catalog_name, "namespace": dotted(namespace), "property_key": key, "property_value": value}
            for key, value in written.items()
        ]

        def work(connection: Connection) -> None:
            connection.execute(delete(NAMESPACES).where(self._namespace(namespace), NAMESPACES.c.property_key.in_(replaced)))
            try:
                connection.execute(insert(NAMESPACES), rows)
            except IntegrityError as error:
                message = f"Cannot create namespace: Namespace already exists: {dotted(namespace)}"
                raise (AlreadyExistsError if create else CommitFailedError)(message, namespace=namespace) from error

        self._write(work)

    def remove_namespace(self, namespace: Namespace) -> None:
        gone = delete(NAMESPACES).where(self._namespace(namespace))
        self._write(lambda connection: connection.execute(gone))


def _is_busy(error: DBAPIError) -> bool:
    """SQLite could not take its lock in time, or PostgreSQL broke a deadlock: certainly nothing was written."""
    message = str(error.orig).lower()
    return "database is locked" in message or "table is locked" in message or "deadlock detected" in message


def _is_rolled_back(error: DBAPIError) -> bool:
    """Whether an error in COMMIT proves that it did not happen: the above, or SQLite had no disk space before its point of no return."""
    return _is_busy(error) or "disk is full" in str(error.orig).lower()


def _transaction_id(connection: Connection) -> int | None:
    """The number under which PostgreSQL keeps what becomes of the transaction."""
    if connection.dialect.name != "postgresql":
        return None
    return int(connection.execute(text("SELECT txid_current()")).scalar_one())


@contextmanager
def _explained(failure: type[IcesqlError] = IcesqlError) -> Iterator[None]:
    """Turn the driver's errors, raised where nothing was committed, into icesql's."""
    try:
        yield
    except DataError as error:
        raise InvalidArgumentError(f"Cannot store in catalog database: a name, location or property is too long: {error.orig}") from error
    except DBAPIError as error:
        why = "it is busy" if _is_busy(error) else "the connection was lost" if error.connection_invalidated else "it failed"
        raise failure(f"Cannot use catalog database: {why}: {error.orig}") from error
    except SQLAlchemyError as error:
        raise failure(f"Cannot use catalog database: {error}") from error
