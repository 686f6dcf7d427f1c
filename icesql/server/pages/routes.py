"""``/`` and a page for each table. They only show: nothing on them changes anything."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from icesql.catalog.names import Identifier, Namespace, dotted
from icesql.errors import IcesqlError
from icesql.parser.filters import parse_filter
from icesql.pictures.pruning_steps import Planning, size_text
from icesql.pictures.pruning_svg import pruning_svg
from icesql.pictures.snapshot_tree import snapshot_tree
from icesql.server.access.privileges import Privilege
from icesql.server.http.call import SEPARATOR, Call
from icesql.server.http.loading import loaded_version
from icesql.server.http.routing import Route
from icesql.server.pages.templates import rendered
from icesql.server.served import ServedCatalog
from icesql.table.table import Table

MOST_TABLES, MOST_FILES, MOST_EVENTS = 1000, 100, 50
_LOOKED_AT = 1000  # events, for those of one table
# Nothing is fetched and no script runs, whatever a name or a summary holds.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def home(call: Call) -> Response:
    catalogs = [_catalog(call, served) for served in call.service.catalogs.values() if call.principal.may_see((served.name,))]
    return _page("home", catalogs=catalogs)


def table_page(call: Call) -> Response:
    where = call.query.get("where", "").strip()
    version = loaded_version(call, call.table)
    metadata = version.metadata
    table = call.served.catalog.load_table(call.table)
    planned, error = None, None
    try:
        planned = _planned(table, where)
    except IcesqlError as problem:
        error = str(problem)
    return _page(
        "table",
        home="/",
        name=call.served.full_name(call.table),
        location=metadata.location,
        format_version=metadata.format_version,
        columns=metadata.schema.fields,
        where=where,
        planned=planned,
        error=error,
        snapshots=Markup(snapshot_tree("", metadata.snapshots, metadata.refs)),
        events=_events(call, call.served, call.table),
    )


def _page(template: str, **values: Any) -> Response:
    return HTMLResponse(rendered(template, **values), headers=_HEADERS)


# -- tables ------------------------------------------------------------------------------------------------------------
def _catalog(call: Call, served: ServedCatalog) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": served.name, "namespaces": [], "is_cut": False, "error": None, "events": []}
    count = 0
    try:
        for namespace in _namespaces(call, served, ()):
            tables = [name for name in served.catalog.list_tables(namespace) if call.principal.may_see((served.name, *name))]
            count += len(tables)
            shown["namespaces"].append({"name": dotted(namespace), "tables": [_linked(served, name) for name in tables]})
            if count >= MOST_TABLES:
                shown["is_cut"] = True
                break
        shown["events"] = _events(call, served)
    except IcesqlError as error:
        shown["error"] = str(error)
    return shown


def _namespaces(call: Call, served: ServedCatalog, parent: Namespace) -> Iterator[Namespace]:
    """Those that the sender may see, depth first."""
    for namespace in served.catalog.list_namespaces(parent):
        if call.principal.may_see((served.name, *namespace)):
            yield namespace
            yield from _namespaces(call, served, namespace)


def _linked(served: ServedCatalog, name: Identifier) -> dict[str, str]:
    levels = (served.name, SEPARATOR.join(name[:-1]), name[-1])
    catalog, namespace, table = (quote(level, safe="") for level in levels)
    return {"name": name[-1], "url": f"/page/{catalog}/{namespace}/{table}"}


# -- one table ---------------------------------------------------------------------------------------------------------
def _planned(table: Table, where: str) -> dict[str, Any]:
    """Raises IcesqlError for a filter that cannot be read or names no column."""
    planned = table.scan(parse_filter(where) if where else None, case_sensitive=False).plan_files()
    report = planned.report
    files = [task.data_file for task in planned.tasks]
    return {
        "picture": Markup(pruning_svg([Planning(report)])),
        "line": f"{report.files_planned:,} files with {report.rows_planned:,} rows are read, {size_text(report.bytes_planned)}; "
        f"{report.manifests_scanned:,} of {report.manifests_total:,} manifests.",
        "files": files[:MOST_FILES],
        "more": max(0, len(files) - MOST_FILES),
    }


# -- events ------------------------------------------------------------------------------------------------------------
def _events(call: Call, served: ServedCatalog, only: Identifier | None = None) -> list[dict[str, Any]]:
    """The latest, newest first: of tables that the sender may read."""
    if served.events is None:
        return []
    shown = []
    for number, event in reversed(served.events.after(max(0, served.events.last_id() - _LOOKED_AT), _LOOKED_AT)):
        identifier = _identifier(event)
        if identifier is None or (only is not None and identifier != only):
            continue
        if call.principal.may(Privilege.READ, (served.name, *identifier)):
            shown.append(_event(number, identifier, event))
        if len(shown) == MOST_EVENTS:
            break
    return shown


def _identifier(event: dict[str, Any]) -> Identifier | None:
    node = event.get("identifier")
    return None if node is None else (*node["namespace"], node["name"])


def _event(number: int, identifier: Identifier, event: dict[str, Any]) -> dict[str, Any]:
    moment = datetime.datetime.fromtimestamp(event["timestamp-ms"] / 1000, datetime.timezone.utc)
    operations = [str(snapshot.get("operation")) for snapshot in event.get("snapshots") or ()]
    details = ", ".join([*(event.get("actions") or ()), *operations])
    return {
        "number": number,
        "time": f"{moment:%Y-%m-%d %H:%M:%S}",
        "name": dotted(identifier),
        "what": f"{event['type']}: {details}" if details else event["type"],
        "principal": event.get("principal", ""),
    }


ROUTES = (
    Route(method="GET", path="/", function=home, is_advertised=False, privilege=None, is_page=True),
    Route(method="GET", path="/page/{prefix}/{namespace}/{table}", function=table_page, is_advertised=False, is_page=True),
)
