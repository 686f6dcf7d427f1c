"""Tables: list, create, register, load, exists, drop, rename, unregister, metrics reports."""

from __future__ import annotations

from starlette.responses import Response

from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.names import Identifier, dotted
from icesql.catalog.pointer_operations import StagedCommit, swap_together
from icesql.catalog.surroundings import check_places
from icesql.catalog.table_operations import read_table_metadata
from icesql.errors import AlreadyExistsError, NotFoundError, UnsupportedError
from icesql.server.access.privileges import Privilege
from icesql.server.events.changes import event, table_event
from icesql.server.http.bodies import CreateTable, RegisterTable, RenameTable, ReportMetrics
from icesql.server.http.call import Call, identifier_of_body, json_answer, require_namespace
from icesql.server.http.delegation import table_access
from icesql.server.http.loading import loaded_version
from icesql.server.http.pagination import page
from icesql.server.http.routing import Route, no_content
from icesql.server.http.table_bodies import entity_tag, matches, snapshots_mode, table_answer
from icesql.server.problems import already_exists, bad_request, no_such_table
from icesql.server.storage.answers import KeptAnswer
from icesql.spec.json.faults import within
from icesql.spec.json.specs import sort_order_from_json, spec_from_json
from icesql.spec.json.types import schema_from_json
from icesql.spec.partitioning import UNPARTITIONED
from icesql.spec.sorting import UNSORTED
from icesql.table.operations import TableVersion
from icesql.table.removal import own_claims


def list_tables(call: Call) -> Response:
    names, token = page(list(filter(call.may_see, call.served.catalog.list_tables(call.existing_namespace()))), call.query)
    return json_answer({"identifiers": [named(name) for name in names], "next-page-token": token})


def named(identifier: Identifier) -> dict[str, object]:
    return {"namespace": identifier[:-1], "name": identifier[-1]}


# -- create and register -----------------------------------------------------------------------------------------------
def create_table(call: Call) -> Response:
    body = call.parsed(CreateTable)
    identifier = _new_name(call, body.name)
    with within("schema"):
        schema = schema_from_json(body.schema)
    with within("partition-spec"):
        spec = UNPARTITIONED if body.partition_spec is None else spec_from_json({"spec-id": 0, **body.partition_spec})
    with within("write-order"):
        order = UNSORTED if body.write_order is None else sort_order_from_json({"order-id": 0, **body.write_order})
    location, properties = body.location or call.served.catalog.default_location(identifier), body.properties or {}
    call.served.locations.check(claim.folder for claim in own_claims(location, properties))  # before anything is looked for there
    try:
        transaction = call.served.catalog.stage_create(
            identifier, schema, spec=spec, sort_order=order, location=body.location, properties=body.properties
        )
        call.served.locations.check_metadata(None, transaction.metadata)
        if body.stage_create:
            return _answered(call, identifier, TableVersion(transaction.metadata, None))
        call.announce(lambda: table_event("create-table", identifier, None, transaction.metadata, None))
        return _answered(call, identifier, transaction.commit())
    except AlreadyExistsError:
        raise already_exists(f"Table already exists: {dotted(identifier)}") from None


def _new_name(call: Call, name: str) -> Identifier:
    """Raises Problem 404 for a namespace that does not exist, 409 for a name that is taken."""
    if not name:
        raise bad_request("Malformed request: name is empty")
    identifier = (*call.existing_namespace(), name)
    refuse_taken(call, identifier)
    return identifier


def refuse_taken(call: Call, identifier: Identifier, wanted: str = "Table") -> None:
    """Raises Problem 409 in the words of Java's catalogs."""
    kind = call.served.is_taken(identifier)
    if kind == wanted:
        raise already_exists(f"{kind} already exists: {dotted(identifier)}")
    if kind is not None:
        raise already_exists(f"{kind} with same name already exists: {dotted(identifier)}")


def refuse_taken_target(call: Call, source: Identifier, target: Identifier) -> None:
    """Raises Problem 409."""
    kind = call.served.is_taken(target)
    if kind is not None:
        raise already_exists(f"Cannot rename {dotted(source)} to {dotted(target)}. {kind} already exists")


def created_table(call: Call, kept: KeptAnswer) -> Response:
    """A staged create is staged anew; its answer to the first request is not known any more."""
    body = call.parsed(CreateTable)
    return create_table(call) if body.stage_create else _loaded(call, (*call.namespace, body.name))


def register_table(call: Call) -> Response:
    body = call.parsed(RegisterTable)
    namespace = call.existing_namespace()
    if not body.name:
        raise bad_request("Malformed request: name is empty")
    identifier = (*namespace, body.name)
    call.served.locations.check([body.metadata_location])
    call.served.locations.check_metadata(
        None, read_table_metadata(call.served.io, dotted(identifier), body.metadata_location, use_cache=False)
    )
    call.announce(lambda: event("register-table", identifier, metadata_location=body.metadata_location))
    if body.overwrite and call.served.exists(identifier):
        return _answered(call, identifier, _overwritten(call, identifier, body.metadata_location))
    refuse_taken(call, identifier)
    try:
        return _answered(call, identifier, call.served.catalog.register_table(identifier, body.metadata_location).version)
    except AlreadyExistsError:
        raise already_exists(f"Table already exists: {dotted(identifier)}") from None


def _overwritten(call: Call, identifier: Identifier, location: str) -> TableVersion:
    """The name leads to another metadata file; nothing is removed."""
    catalog = call.served.catalog
    if not isinstance(catalog, MetastoreCatalog):
        raise UnsupportedError(f"Cannot register over a table: catalog {catalog.name} keeps no names apart from the tables' folders")
    operations = catalog.operations(identifier)
    before = TableVersion(operations.load().metadata, operations.current_location())
    metadata = read_table_metadata(catalog.io, operations.name, location, use_cache=False)
    check_places(
        operations.name, catalog.surroundings(identifier), metadata, own_claims(before.metadata.location, before.metadata.properties)
    )
    version = TableVersion(metadata, location)
    swap_together(catalog.store, [StagedCommit(operations, before, version, is_new=False)])
    return version


def registered_table(call: Call, kept: KeptAnswer) -> Response:
    return _loaded(call, (*call.namespace, call.parsed(RegisterTable).name))


# -- load, drop, rename ------------------------------------------------------------------------------------------------
def load_table(call: Call) -> Response:
    return _loaded(call, call.table)


def _loaded(call: Call, identifier: Identifier) -> Response:
    mode = snapshots_mode(call.query.get("snapshots"))
    version = loaded_version(call, identifier)
    access = table_access(call, identifier, version.metadata)
    tag = entity_tag(version, mode, access)
    if call.route.method == "GET" and matches(call.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers={"ETag": tag})
    return table_answer(version, mode, access=access)


def _answered(call: Call, identifier: Identifier, version: TableVersion) -> Response:
    return table_answer(version, access=table_access(call, identifier, version.metadata))


def table_exists(call: Call) -> Response:
    call.existing_table()
    return Response(status_code=204)


def drop_table(call: Call) -> Response:
    purge = call.flag("purgeRequested")
    call.announce(lambda: event("drop-table", call.table, purge=purge))
    try:
        call.served.catalog.drop_table(call.existing_table(), purge=purge)
    except NotFoundError:
        raise no_such_table(call.table) from None
    return Response(status_code=204)


def unregister_table(call: Call) -> Response:
    """The name goes, all files stay. The answer is the table's last version."""
    version = loaded_version(call, call.table)
    if not isinstance(call.served.catalog, MetastoreCatalog):
        raise UnsupportedError("Cannot unregister table: its name is its folder's, which would have to go")
    call.announce(lambda: event("unregister-table", call.table, table_uuid=version.metadata.table_uuid))
    call.served.catalog.unregister_table(call.table, str(version.metadata_location))
    return table_answer(version)


def rename_table(call: Call) -> Response:
    body = call.parsed(RenameTable)
    source, target = identifier_of_body(body.source), identifier_of_body(body.destination)
    call.require(Privilege.ADMIN, source)
    call.require(Privilege.ADMIN, target[:-1])
    if not call.served.exists(source):
        raise no_such_table(source)
    require_namespace(call.served, target[:-1])
    refuse_taken_target(call, source, target)
    call.announce(lambda: event("rename-table", source, to=named(target)))
    try:
        call.served.catalog.rename_table(source, target)
    except AlreadyExistsError:
        raise already_exists(f"Cannot rename {dotted(source)} to {dotted(target)}. Table already exists") from None
    return Response(status_code=204)


def report_metrics(call: Call) -> Response:
    report = call.parsed(ReportMetrics)
    if report.report_type not in ("scan-report", "commit-report"):
        raise bad_request(f"Malformed request: unknown report-type: {report.report_type}")
    call.existing_table()
    return Response(status_code=204)


_TABLES = "/v1/{prefix}/namespaces/{namespace}/tables"
_TABLE = f"{_TABLES}/{{table}}"
ROUTES = (
    Route(method="GET", path=_TABLES, function=list_tables),
    Route(method="POST", path=_TABLES, function=create_table, again=created_table, changes=True, privilege=Privilege.ADMIN),
    Route(
        method="POST",
        path="/v1/{prefix}/namespaces/{namespace}/register",
        function=register_table,
        again=registered_table,
        changes=True,
        privilege=Privilege.ADMIN,
    ),
    Route(method="GET", path=_TABLE, function=load_table),
    Route(method="HEAD", path=_TABLE, function=table_exists),
    Route(method="DELETE", path=_TABLE, function=drop_table, again=no_content, status=204, changes=True, privilege=Privilege.ADMIN),
    Route(method="POST", path=f"{_TABLE}/unregister", function=unregister_table, changes=True, privilege=Privilege.ADMIN),
    Route(method="POST", path=f"{_TABLE}/metrics", function=report_metrics, status=204),
    Route(
        method="POST", path="/v1/{prefix}/tables/rename", function=rename_table, again=no_content, status=204, changes=True, privilege=None
    ),
)
