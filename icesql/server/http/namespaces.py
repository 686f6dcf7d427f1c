"""Namespaces: list, create, properties, drop."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from icesql.catalog.names import Namespace, dotted
from icesql.errors import AlreadyExistsError, ValidationError
from icesql.server.access.authentication import forbidden
from icesql.server.access.privileges import Privilege
from icesql.server.http.bodies import CreateNamespace, UpdateNamespace
from icesql.server.http.call import Call, json_answer, namespace_of_path, require_namespace
from icesql.server.http.pagination import page
from icesql.server.http.routing import Route, no_content
from icesql.server.problems import Problem, already_exists, bad_request
from icesql.server.storage.answers import KeptAnswer


def list_namespaces(call: Call) -> Response:
    parent: Namespace = ()
    if call.query.get("parent"):
        parent = namespace_of_path(call.query["parent"])
        if not call.may_see(parent):
            raise forbidden()
        require_namespace(call.served, parent)
    names, token = page(list(filter(call.may_see, call.served.catalog.list_namespaces(parent))), call.query)
    return json_answer({"namespaces": names, "next-page-token": token})


def create_namespace(call: Call) -> Response:
    body = call.parsed(CreateNamespace)
    namespace = tuple(body.namespace)
    if not all(namespace):
        raise bad_request("Malformed request: a level of the namespace is empty")
    try:
        call.served.catalog.create_namespace(namespace, body.properties)
    except AlreadyExistsError:
        raise already_exists(f"Namespace already exists: {dotted(namespace)}") from None
    return _described(call, namespace)


def created_namespace(call: Call, kept: KeptAnswer) -> Response:
    namespace = tuple(call.parsed(CreateNamespace).namespace)
    require_namespace(call.served, namespace)
    return _described(call, namespace)


def _described(call: Call, namespace: Namespace) -> Response:
    return json_answer({"namespace": namespace, "properties": call.served.catalog.namespace_properties(namespace)})


def load_namespace(call: Call) -> Response:
    return _described(call, call.existing_namespace())


def namespace_exists(call: Call) -> Response:
    call.existing_namespace()
    return Response(status_code=204)


def drop_namespace(call: Call) -> Response:
    namespace = call.existing_namespace()
    try:
        call.served.catalog.drop_namespace(namespace)
    except ValidationError:
        raise Problem(409, "NamespaceNotEmptyException", f"Namespace is not empty: {dotted(namespace)}") from None
    return Response(status_code=204)


def update_properties(call: Call) -> Response:
    body = call.parsed(UpdateNamespace)
    removals, updates = dict.fromkeys(body.removals or ()), body.updates or {}
    both = sorted(removals.keys() & updates.keys())
    if both:
        raise Problem(422, "UnprocessableEntityException", f"Invalid namespace update, cannot set and remove keys: {both}")
    namespace = call.existing_namespace()
    held = call.served.catalog.namespace_properties(namespace)
    answer = {
        "updated": list(updates),
        "removed": [key for key in removals if key in held],
        "missing": [key for key in removals if key not in held],
    }
    call.answer = msgspec.json.encode(answer)
    call.served.catalog.update_namespace_properties(namespace, removals=removals, updates=updates)
    return json_answer(call.answer)


def updated_properties(call: Call, kept: KeptAnswer) -> Response:
    return json_answer(kept.answer)


_NAMESPACES, _NAMESPACE = "/v1/{prefix}/namespaces", "/v1/{prefix}/namespaces/{namespace}"
ROUTES = (
    Route(method="GET", path=_NAMESPACES, function=list_namespaces, privilege=None),
    Route(method="POST", path=_NAMESPACES, function=create_namespace, again=created_namespace, changes=True, privilege=Privilege.ADMIN),
    Route(method="GET", path=_NAMESPACE, function=load_namespace),
    Route(method="HEAD", path=_NAMESPACE, function=namespace_exists),
    Route(method="DELETE", path=_NAMESPACE, function=drop_namespace, again=no_content, status=204, changes=True, privilege=Privilege.ADMIN),
    Route(
        method="POST",
        path=f"{_NAMESPACE}/properties",
        function=update_properties,
        again=updated_properties,
        changes=True,
        privilege=Privilege.ADMIN,
    ),
)
