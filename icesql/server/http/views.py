"""Views: list, create, load, replace, exists, drop, rename, register."""

from __future__ import annotations

from starlette.responses import Response

from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.names import Identifier, dotted, strip_trailing_slash
from icesql.errors import AlreadyExistsError, CommitFailedError, NotFoundError, UnsupportedError, ValidationError
from icesql.server.access.privileges import Privilege
from icesql.server.commits.views import check_view_requirements, created_view, folded_view
from icesql.server.events.changes import event
from icesql.server.http.bodies import CommitView, CreateView, RegisterTable, RenameTable
from icesql.server.http.call import Call, identifier_of_body, json_answer, require_namespace
from icesql.server.http.pagination import page
from icesql.server.http.routing import Route, no_content
from icesql.server.http.tables import named, refuse_taken, refuse_taken_target
from icesql.server.problems import Problem, already_exists, bad_request, no_such_view
from icesql.server.storage.answers import KeptAnswer
from icesql.spec.json.views import view_to_object
from icesql.spec.views import ViewMetadata
from icesql.table.removal import own_claims

_ATTEMPTS = 5


def list_views(call: Call) -> Response:
    names, token = page(list(filter(call.may_see, call.served.catalog.list_views(call.existing_namespace()))), call.query)
    return json_answer({"identifiers": [named(name) for name in names], "next-page-token": token})


def create_view(call: Call) -> Response:
    body = call.parsed(CreateView)
    if not body.name:
        raise bad_request("Malformed request: name is empty")
    identifier = (*call.existing_namespace(), body.name)
    refuse_taken(call, identifier, "View")
    location = strip_trailing_slash(body.location or call.served.catalog.default_location(identifier))
    call.served.locations.check([location])
    call.announce(lambda: event("create-view", identifier))
    try:
        view = created_view(location, body.schema, body.view_version, body.properties or {})
        call.served.catalog.commit_view(identifier, None, view)
    except AlreadyExistsError:
        raise already_exists(f"View already exists: {dotted(identifier)}") from None
    except ValidationError as error:  # of the definition itself: no state of the catalog would make it right
        raise Problem(400, "IllegalArgumentException", str(error)) from None
    return _loaded(call, identifier)


def load_view(call: Call) -> Response:
    return _loaded(call, call.view)


def _loaded(call: Call, identifier: Identifier) -> Response:
    try:
        location, view = _catalog(call).located_view(identifier)
    except NotFoundError:
        raise no_such_view(identifier) from None
    return json_answer({"metadata-location": location, "metadata": view_to_object(view), "config": {}})


def _catalog(call: Call) -> MetastoreCatalog:
    if not isinstance(call.served.catalog, MetastoreCatalog):
        raise UnsupportedError(f"Cannot use views: catalog {call.served.name} does not store them")
    return call.served.catalog


def _existing(call: Call, identifier: Identifier) -> ViewMetadata:
    try:
        return call.served.catalog.load_view(identifier)
    except NotFoundError:
        raise no_such_view(identifier) from None


def replace_view(call: Call) -> Response:
    body = call.parsed(CommitView)
    call.announce(lambda: event("update-view", call.view, actions=[node.get("action") for node in body.updates]))
    for attempt in range(_ATTEMPTS):
        view = _existing(call, call.view)
        check_view_requirements(body.requirements or (), view)
        changed = folded_view(view, body.updates)
        _check_location(call, view, changed)
        if changed is view:
            break
        try:
            call.served.catalog.commit_view(call.view, view, changed)
            break
        except CommitFailedError:
            if attempt == _ATTEMPTS - 1:
                raise
    return _loaded(call, call.view)


def _check_location(call: Call, before: ViewMetadata, after: ViewMetadata) -> None:
    """Raises Problem 403."""
    folders = [own_claims(view.location, view.properties) for view in (before, after)]
    call.served.locations.check(claim.folder for claim in folders[1] if claim not in folders[0])


def replaced_view(call: Call, kept: KeptAnswer) -> Response:
    return _loaded(call, call.view)


def view_exists(call: Call) -> Response:
    if not call.served.view_exists(call.view):
        raise no_such_view(call.view)
    return Response(status_code=204)


def drop_view(call: Call) -> Response:
    call.announce(lambda: event("drop-view", call.view))
    try:
        call.served.catalog.drop_view(call.view)
    except NotFoundError:
        raise no_such_view(call.view) from None
    return Response(status_code=204)


def rename_view(call: Call) -> Response:
    body = call.parsed(RenameTable)
    source, target = identifier_of_body(body.source), identifier_of_body(body.destination)
    call.require(Privilege.ADMIN, source)
    call.require(Privilege.ADMIN, target[:-1])
    if not call.served.view_exists(source):
        raise no_such_view(source)
    require_namespace(call.served, target[:-1])
    refuse_taken_target(call, source, target)
    call.announce(lambda: event("rename-view", source, to=named(target)))
    try:
        call.served.catalog.rename_view(source, target)
    except AlreadyExistsError:
        raise already_exists(f"Cannot rename {dotted(source)} to {dotted(target)}. View already exists") from None
    return Response(status_code=204)


def register_view(call: Call) -> Response:
    body = call.parsed(RegisterTable)
    if not body.name:
        raise bad_request("Malformed request: name is empty")
    identifier = (*call.existing_namespace(), body.name)
    refuse_taken(call, identifier, "View")
    call.served.locations.check([body.metadata_location])
    call.announce(lambda: event("register-view", identifier, metadata_location=body.metadata_location))
    try:
        _catalog(call).register_view(identifier, body.metadata_location)
    except AlreadyExistsError:
        raise already_exists(f"View already exists: {dotted(identifier)}") from None
    return _loaded(call, identifier)


def registered_view(call: Call, kept: KeptAnswer) -> Response:
    return _loaded(call, (*call.namespace, call.parsed(RegisterTable).name))


_VIEWS = "/v1/{prefix}/namespaces/{namespace}/views"
_VIEW = f"{_VIEWS}/{{view}}"
ROUTES = (
    Route(method="GET", path=_VIEWS, function=list_views),
    Route(method="POST", path=_VIEWS, function=create_view, changes=True, privilege=Privilege.ADMIN),
    Route(method="GET", path=_VIEW, function=load_view),
    Route(method="POST", path=_VIEW, function=replace_view, again=replaced_view, changes=True, privilege=Privilege.ADMIN),
    Route(method="HEAD", path=_VIEW, function=view_exists),
    Route(method="DELETE", path=_VIEW, function=drop_view, again=no_content, status=204, changes=True, privilege=Privilege.ADMIN),
    Route(
        method="POST", path="/v1/{prefix}/views/rename", function=rename_view, again=no_content, status=204, changes=True, privilege=None
    ),
    Route(
        method="POST",
        path="/v1/{prefix}/namespaces/{namespace}/register-view",
        function=register_view,
        again=registered_view,
        changes=True,
        privilege=Privilege.ADMIN,
    ),
)
