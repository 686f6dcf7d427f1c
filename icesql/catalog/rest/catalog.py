"""The ``rest`` catalog: names, commits and credentials are a server's business, asked for over Iceberg's REST protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icesql.catalog.base import Catalog, FilterParser
from icesql.catalog.drop import dropping
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
from icesql.catalog.rest import keys
from icesql.catalog.rest.commits import TableCommit, commit_transaction, unknown
from icesql.catalog.rest.credentials import file_properties
from icesql.catalog.rest.loads import Loaded, Loads
from icesql.catalog.rest.metrics import Metrics
from icesql.catalog.rest.operations import RestTableOperations, StagedTableOperations
from icesql.catalog.rest.replies import BadReplyError, NoReplyError, Reply, fault_of
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.server import NamespacesPage, Server
from icesql.catalog.rest.surroundings import RestSurroundings
from icesql.catalog.rest.views import RestViews
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CorruptMetadataError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
    ValidationError,
    nearest,
)
from icesql.io.storage.file_systems import load_file_io
from icesql.spec.json.specs import sort_order_to_json, spec_to_json
from icesql.spec.json.types import schema_to_json
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import UNPARTITIONED, PartitionSpec
from icesql.spec.properties import GC_ENABLED
from icesql.spec.schema import Schema
from icesql.spec.sorting import UNSORTED, SortOrder
from icesql.table.metadata.create import new_metadata
from icesql.table.operations import TableVersion
from icesql.table.own_changes import note_change
from icesql.table.scan.planned import listen
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.io.storage.files import FileIO
    from icesql.spec.views import ViewMetadata
    from icesql.table.transaction import Transaction

_LOCATION = "location"


class RestCatalog(Catalog):
    """``properties`` are the settings given; once the server has been asked, all settings together."""

    supports_views = True

    def __init__(self, name: str, properties: Mapping[str, str], parse_filter: FilterParser | None = None) -> None:
        self.server = Server(name, properties)
        super().__init__(name, properties, load_file_io(file_properties(properties)), parse_filter)
        self.loads = Loads(self.server, self._file_io)
        self.views = RestViews(self.server)
        self.metrics = Metrics(self.server, self.loads)
        listen(self.metrics)
        self._given_io, self._is_asked = self.io, False

    def close(self) -> None:
        self.metrics.flush(1.0)
        self.server.close()

    def _asked(self) -> Server:
        """The server, once its configuration is part of ``properties``. What was put there meanwhile stays."""
        if not self._is_asked:
            offer = self.server.offer
            self.properties = {**offer.properties, **{k: v for k, v in self.properties.items() if k not in offer.properties}}
            if self.io is self._given_io:
                self.io = load_file_io(file_properties(self.properties))
            self._is_asked = True
        return self.server

    def _file_io(self) -> FileIO:
        self._asked()
        return self.io

    # -- namespaces ----------------------------------------------------------------------------------------------
    def list_namespaces(self, parent: Namespace | str = ()) -> list[Namespace]:
        levels = namespace_of(parent)
        server = self._asked()
        params = {"parent": server.offer.addresses.parent(levels)} if levels else {}
        try:
            pages = server.pages(Route.LIST_NAMESPACES, f"list namespaces of {dotted(levels) or self.name}", NamespacesPage, params=params)
            listed = {name for page in pages for name in page.namespaces}
        except NotFoundError:
            raise self._no_namespace(levels) from None
        if levels and not listed and not self.namespace_exists(levels):
            raise self._no_namespace(levels)
        return sorted(listed)

    def namespace_exists(self, namespace: Namespace | str) -> bool:
        levels = namespace_of(namespace)
        if not levels:
            return True
        server = self._asked()
        route = Route.NAMESPACE_EXISTS if server.offer.has(Route.NAMESPACE_EXISTS) else Route.LOAD_NAMESPACE
        return self._is_there(route, f"look for namespace {dotted(levels)}", levels)

    def _is_there(self, route: Route, doing: str, namespace: Namespace, names: Mapping[str, str] | None = None) -> bool:
        reply = self.server.send(route, doing, namespace=namespace, names=names)
        if reply.is_success:
            return True
        if reply.status == 404 or (reply.status == 400 and not all(namespace)):
            return False
        raise self.server.error(reply, doing)

    def create_namespace(self, namespace: Namespace | str, properties: Mapping[str, str] | None = None) -> None:
        levels = namespace_of(namespace)
        if not levels:
            raise InvalidArgumentError("Cannot create namespace with invalid name: the name is empty")
        check_folder_names(levels)
        body = {"namespace": list(levels), "properties": dict(properties or {})}
        reply = self._change(Route.CREATE_NAMESPACE, f"create namespace {dotted(levels)}", body=body)
        if reply.status == 409:
            raise AlreadyExistsError(f"Cannot create namespace: Namespace already exists: {dotted(levels)}", namespace=levels)
        self._check(reply, f"create namespace {dotted(levels)}")

    def drop_namespace(self, namespace: Namespace | str) -> None:
        levels = namespace_of(namespace)
        if not levels:
            raise self._no_namespace(levels)
        doing = f"drop namespace {dotted(levels)}"
        reply = self._change(Route.DROP_NAMESPACE, doing, namespace=levels)
        if reply.status == 404:
            if self.namespace_exists(levels):  # implied by what is in it
                raise ValidationError(f"Cannot drop namespace: Namespace {dotted(levels)} is not empty", namespace=levels)
            raise self._no_namespace(levels)
        fault = fault_of(reply)
        if reply.status == 409 or (reply.status == 400 and fault.kind == "NamespaceNotEmptyException"):
            raise ValidationError(
                f"Cannot drop namespace: Namespace {dotted(levels)} is not empty: {self.server.secrets.hide(fault.message)}",
                namespace=levels,
            )
        self._check(reply, doing)

    def namespace_properties(self, namespace: Namespace | str) -> dict[str, str]:
        levels = namespace_of(namespace)
        if not levels:
            raise self._no_namespace(levels)
        self._asked()
        doing = f"load namespace {dotted(levels)}"
        reply = self.server.send(Route.LOAD_NAMESPACE, doing, namespace=levels)
        if reply.status == 404:
            raise self._no_namespace(levels)
        self._check(reply, doing)
        return {str(key): str(value) for key, value in (reply.object().get("properties") or {}).items()}

    def update_namespace_properties(
        self, namespace: Namespace | str, *, removals: Iterable[str] = (), updates: Mapping[str, str] | None = None
    ) -> None:
        levels = namespace_of(namespace)
        removed, updated = sorted(set(removals)), dict(updates or {})
        if both := [key for key in removed if key in updated]:
            raise InvalidArgumentError(f"Cannot update namespace properties: a key is both set and removed: {both[0]}")
        doing = f"update namespace {dotted(levels)}"
        reply = self._change(Route.UPDATE_NAMESPACE, doing, namespace=levels, body={"removals": removed, "updates": updated})
        if reply.status == 404:
            raise self._no_namespace(levels)
        self._check(reply, doing)

    def _no_namespace(self, namespace: Namespace) -> NotFoundError:
        siblings = [dotted(one) for one in self.list_namespaces(namespace[:-1])] if len(namespace) == 1 else []
        name = dotted(namespace)
        return NotFoundError(f"Cannot find namespace: Namespace does not exist: {name}.{nearest(name, siblings)}", namespace=namespace)

    # -- changes that leave no trace to be told by -------------------------------------------------------------------
    def _change(self, route: Route, doing: str, **parts: Any) -> Reply:
        """An answer that says what became of the change.

        Raises CommitStateUnknownError without one, CommitFailedError if it was never sent.
        """
        self._asked()
        try:
            reply = self.server.send(route, doing, **parts)
        except NoReplyError as error:
            if error.was_sent:
                raise unknown(doing, error) from None
            raise CommitFailedError(f"Cannot {doing}: {error}") from None
        fault = fault_of(reply)
        if not reply.is_success and fault.leaves_doubt:
            raise unknown(doing, self.server.error(reply, doing)) from None
        return reply

    def _check(self, reply: Reply, doing: str) -> None:
        if not reply.is_success:
            raise self.server.error(reply, doing)

    # -- tables --------------------------------------------------------------------------------------------------
    def check_identifier(self, identifier: Identifier) -> None:
        check_folder_names(identifier)

    def list_tables(self, namespace: Namespace | str) -> list[Identifier]:
        levels = namespace_of(namespace)
        if not levels:
            return []
        self._asked()
        try:
            return self.server.names(Route.LIST_TABLES, f"list tables of {dotted(levels)}", levels)
        except NotFoundError:
            raise self._no_namespace(levels) from None

    def table_exists(self, identifier: Identifier | str) -> bool:
        names = identifier_of(identifier)
        if len(names) < 2:
            return False
        server = self._asked()
        route = Route.TABLE_EXISTS if server.offer.has(Route.TABLE_EXISTS) else Route.LOAD_TABLE
        return self._is_there(route, f"look for table {dotted(names)}", names[:-1], {"table": names[-1]})

    def operations(self, identifier: Identifier | str) -> RestTableOperations:
        names = identifier_of(identifier)
        self.metrics.know(self.full_name(names), names)
        return RestTableOperations(self.loads, names, self.full_name(names), self.surroundings(names), self.metrics)

    def surroundings(self, identifier: Identifier) -> RestSurroundings:
        return RestSurroundings(self.properties)

    def default_location(self, identifier: Identifier | str) -> str:
        """Below the ``location`` of the namespace where the server tells it, else where it would put a new table of that name.

        Raises AlreadyExistsError where it has one and tells no location.
        """
        names = identifier_of(identifier)
        try:
            folder = self.namespace_properties(names[:-1]).get(_LOCATION)
        except NotFoundError:
            folder = None
        if folder:
            return join_location(strip_trailing_slash(folder), names[-1])
        schema = Schema(fields=())
        return self._stage(names, schema, UNPARTITIONED, UNSORTED, None, {}).version.metadata.location

    def _stage(
        self,
        names: Identifier,
        schema: Schema,
        spec: PartitionSpec,
        sort_order: SortOrder,
        location: str | None,
        properties: Mapping[str, str] | None,
        *,
        only: bool = True,
    ) -> Loaded:
        """Ask the server to make the table, or (``only``) to prepare it. Raises AlreadyExistsError, NotFoundError for the namespace."""
        self.check_identifier(names)
        if len(names) < 2:
            raise InvalidArgumentError(f"Cannot create table in catalog {self.name}: its name has no namespace: {dotted(names)}")
        self._asked()
        metadata = new_metadata(schema, spec=spec, sort_order=sort_order, location="/", properties=self.table_properties(properties))
        body: dict[str, Any] = {
            "name": names[-1],
            "schema": schema_to_json(metadata.schema),
            "partition-spec": spec_to_json(metadata.spec),
            "write-order": sort_order_to_json(metadata.sort_order),
            "stage-create": only,
            "properties": {"format-version": str(metadata.format_version), **metadata.properties},
        }
        if location is not None:
            body["location"] = strip_trailing_slash(location)
        doing = f"create table {dotted(names)}"
        if only:
            reply = self.server.send(Route.CREATE_TABLE, doing, namespace=names[:-1], body=body)
        else:
            reply = self._change(Route.CREATE_TABLE, doing, namespace=names[:-1], body=body)
        if reply.status == 409:
            raise AlreadyExistsError(f"Cannot create table: {self._taken_by(names)} already exists: {dotted(names)}", table=dotted(names))
        if reply.status == 404:
            raise self._no_namespace(names[:-1])
        self._check(reply, doing)
        try:
            return self.loads.read(names, reply, doing)
        except BadReplyError as error:
            if only:
                raise
            raise unknown(doing, error) from None

    def _taken_by(self, names: Identifier) -> str:
        return "Table" if self.table_exists(names) else "View"

    def _create(
        self,
        names: Identifier,
        schema: Schema,
        spec: PartitionSpec,
        sort_order: SortOrder,
        location: str | None,
        properties: Mapping[str, str] | None,
    ) -> Table:
        self.operations(names)
        loaded = self.loads.keep(names, self._stage(names, schema, spec, sort_order, location, properties, only=False))
        note_change(loaded.version.metadata.location)
        return self.table_of(names, loaded.version)

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
        from icesql.table.transaction import Transaction

        names = identifier_of(identifier)
        surroundings = self.operations(names).surroundings
        staged = self._stage(names, schema, spec, sort_order, location, properties)
        operations = StagedTableOperations(self.loads, names, self.full_name(names), staged.io, surroundings, self.metrics)
        return Transaction.creating(operations, staged.version.metadata)

    def table_location(self, identifier: Identifier, location: str | None) -> str:
        return self.default_location(identifier) if location is None else strip_trailing_slash(location)

    def drop_table(self, identifier: Identifier | str, *, purge: bool = False) -> None:
        """``purge`` deletes the files from here, through the gate of removals; with ``rest-catalog-purge`` the server does.

        The protocol has no condition on a drop: it takes whatever table has the name then.
        """
        names = identifier_of(identifier)
        self._asked()
        version = self.load_table(names).version if purge else None
        operations = self.operations(names)
        signs = purge and getattr(operations.io, "signer", None) is not None  # nothing is signed for a table that is gone
        by_server = purge and (signs or keys.flag(self.properties, keys.PURGE_BY_SERVER, default=False))
        doing = f"drop table {operations.name}"
        params = {"purgeRequested": "true" if by_server else "false"}
        io = operations.io if purge else self.io
        if by_server and version is not None:
            check_collected(version.metadata, operations.name)
        with dropping(io, operations.name, None if by_server else version, operations.surroundings):
            reply = self._change(Route.DROP_TABLE, doing, namespace=names[:-1], names={"table": names[-1]}, params=params)
            if reply.status == 404:
                raise self.no_such_table(names)
            self._check(reply, doing)
        self.loads.forget(names)

    def rename_table(self, source: Identifier | str, target: Identifier | str) -> None:
        old, new = identifier_of(source), identifier_of(target)
        self.check_identifier(new)
        doing = f"rename table {dotted(old)} to {dotted(new)}"
        reply = self._change(Route.RENAME_TABLE, doing, body={"source": named(old), "destination": named(new)})
        if reply.status == 404:
            raise self._no_namespace(new[:-1]) if self.table_exists(old) else self.no_such_table(old)
        if reply.status == 409:
            raise AlreadyExistsError(f"Cannot rename {dotted(old)} to {dotted(new)}: {self._taken_by(new)} already exists: {dotted(new)}")
        self._check(reply, doing)
        self.loads.forget(old)
        self.loads.forget(new)
        note_change()

    def register_table(self, identifier: Identifier | str, metadata_location: str) -> Table:
        names = identifier_of(identifier)
        self.operations(names)
        if not metadata_location:
            raise InvalidArgumentError("Cannot register an empty metadata file location as a table")
        self.check_identifier(names)
        doing = f"register table {dotted(names)} from {metadata_location}"
        self._check_present(metadata_location, doing)
        body = {"name": names[-1], "metadata-location": metadata_location}
        reply = self._change(Route.REGISTER_TABLE, doing, namespace=names[:-1], body=body)
        if reply.status == 409:
            raise AlreadyExistsError(f"Cannot register table: {self._taken_by(names)} already exists: {dotted(names)}", table=dotted(names))
        self._check(reply, doing)
        loaded = self.loads.keep(names, self.loads.read(names, reply, doing))
        note_change(loaded.version.metadata.location)
        return self.table_of(names, loaded.version)

    def _check_present(self, location: str, doing: str) -> None:
        """Servers fail over a file that is not there as over anything else. Where it cannot be seen from here, the server is asked.

        Raises CorruptMetadataError.
        """
        try:
            is_missing = not self._file_io().exists(location)
        except Exception:  # the store needs what only the server has
            return
        if is_missing:
            raise CorruptMetadataError(f"Cannot {doing}: its metadata file is missing: File does not exist", location=location)

    def unregister_table(self, identifier: Identifier | str) -> None:
        """Take the name out of the catalog and leave all files.

        Raises NotFoundError, UnsupportedError where the server does not offer it.
        """
        names = identifier_of(identifier)
        doing = f"unregister table {dotted(names)}"
        reply = self._change(Route.UNREGISTER_TABLE, doing, namespace=names[:-1], names={"table": names[-1]})
        if reply.status == 404:
            raise self.no_such_table(names)
        self._check(reply, doing)
        self.loads.forget(names)
        note_change()

    def list_functions(self, namespace: Namespace | str) -> list[Identifier]:
        """Functions that the server keeps. Raises UnsupportedError where it does not offer any."""
        levels = namespace_of(namespace)
        self._asked()
        return self.server.names(Route.LIST_FUNCTIONS, f"list functions of {dotted(levels)}", levels)

    def commit_tables(self, commits: Sequence[tuple[Identifier, TableVersion | None, TableMetadata]]) -> list[TableVersion]:
        self._asked()
        if not self.server.offer.has(Route.COMMIT_TRANSACTION):
            raise UnsupportedError(
                f"Cannot commit several tables at once: the server of catalog {self.name} has no transactions over tables"
            )
        parts = [TableCommit(identifier, base, metadata) for identifier, base, metadata in commits]
        return commit_transaction(self.loads, parts, [self.full_name(part.identifier) for part in parts])

    # -- views ---------------------------------------------------------------------------------------------------
    def list_views(self, namespace: Namespace | str) -> list[Identifier]:
        levels = namespace_of(namespace)
        if not levels:
            return []
        self._asked()
        try:
            return self.views.list(levels)
        except NotFoundError:
            raise self._no_namespace(levels) from None

    def load_view(self, identifier: Identifier | str) -> ViewMetadata:
        self._asked()
        return self.views.load(identifier_of(identifier))

    def commit_view(self, identifier: Identifier | str, base: ViewMetadata | None, metadata: ViewMetadata) -> None:
        names = identifier_of(identifier)
        self.check_identifier(names)
        self._asked()
        if base is None:
            self.views.create(names, metadata)
        else:
            self.views.replace(names, base, metadata)

    def drop_view(self, identifier: Identifier | str) -> None:
        self._asked()
        self.views.drop(identifier_of(identifier))

    def rename_view(self, source: Identifier | str, target: Identifier | str) -> None:
        new = identifier_of(target)
        self.check_identifier(new)
        self._asked()
        self.views.rename(identifier_of(source), new)


def named(identifier: Identifier) -> dict[str, Any]:
    """Spec: ``TableIdentifier``."""
    return {"namespace": list(identifier[:-1]), "name": identifier[-1]}


def check_collected(metadata: TableMetadata, name: str) -> None:
    """Raises ValidationError for a table whose files may be another's."""
    if metadata.properties.get(GC_ENABLED, "true").lower() == "false":
        raise ValidationError("Cannot purge table: GC is disabled (deleting files may corrupt other tables)", table=name)
