"""``GET /``: drawn by the server, without scripts."""

from __future__ import annotations

from starlette.responses import HTMLResponse, Response

from icesql.catalog.names import Identifier, Namespace, identifier_of
from icesql.errors import IcesqlError
from icesql.parser.filters import parse_filter
from icesql.server.access.authentication import forbidden
from icesql.server.access.privileges import Privilege
from icesql.server.http.call import Call
from icesql.server.http.problems import Problem
from icesql.server.http.routing import Route
from icesql.server.pages import parts
from icesql.server.served import ServedCatalog

_EVENTS = 20
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def home(call: Call) -> Response:
    name = call.query.get("catalog", call.service.default)
    served = call.service.catalogs.get(name)
    if served is None:
        raise Problem(404, "NoSuchWarehouseException", "Warehouse does not exist")
    if call.query.get("table"):
        title, body = call.query["table"], _table(call, served, call.query["table"])
    else:
        title = "catalogs"
        body = [parts.names(one.name, _tables(call, one)) for one in call.service.catalogs.values()]
        body.append(_events(call, served))
    return HTMLResponse(parts.page(title, body), headers=_HEADERS)


def _tables(call: Call, served: ServedCatalog) -> dict[Namespace, list[Identifier]]:
    """Of every namespace that the reader may see something of."""
    found: dict[Namespace, list[Identifier]] = {}
    pending: list[Namespace] = sorted(served.catalog.list_namespaces(), reverse=True)
    while pending:
        namespace = pending.pop()
        if call.principal.may_see((served.name, *namespace)):
            tables = served.catalog.list_tables(namespace)
            found[namespace] = [one for one in tables if call.principal.may_see((served.name, *one))]
            pending += sorted(served.catalog.list_namespaces(namespace), reverse=True)
    return found


def _table(call: Call, served: ServedCatalog, name: str) -> list[str]:
    identifier = identifier_of(name)
    if not call.principal.may(Privilege.READ, (served.name, *identifier)):
        raise forbidden()
    table = served.catalog.load_table(identifier)
    text = call.query.get("filter", "")
    body = [parts.filter_form(served.name, name, text)]
    try:
        body.append(parts.pruning(table.scan(where=parse_filter(text) if text else None).plan_files().report))
    except IcesqlError as error:
        body.append(parts.error(str(error)))
    return [*body, parts.snapshots(table.metadata)]


def _events(call: Call, served: ServedCatalog) -> str:
    if served.events is None:
        return ""
    newest = served.events.after(max(0, served.events.last_id() - _EVENTS), _EVENTS)
    readable = [one for _, one in newest if call.principal.may(Privilege.READ, (
        served.name, *one["identifier"]["namespace"], one["identifier"]["name"]))]  # fmt: skip
    return parts.events(readable)


ROUTES = (Route(method="GET", path="/", function=home, is_advertised=False, privilege=None),)
