"""``/v1/config``: what the server has, for clients to know before they ask."""

from __future__ import annotations

from starlette.responses import Response

from icesql.server.http.call import Call, json_answer
from icesql.server.http.routing import Route
from icesql.server.problems import Problem
from icesql.server.served import ServedCatalog

PRODUCE_SNAPSHOT_ENABLED = "icesql.produce-snapshot-enabled"


def config(call: Call) -> Response:
    warehouse = call.query.get("warehouse")
    served = call.service.find(warehouse)
    if served is None:
        raise Problem(404, "NoSuchWarehouseException", f"Warehouse does not exist: {warehouse}")
    answer: dict[str, object] = {
        "defaults": {PRODUCE_SNAPSHOT_ENABLED: "true", **_planning(served)},
        "overrides": {"prefix": served.name},
        "endpoints": [route.name for route in call.router.routes if _has(served, route)],
    }
    if served.answers is not None:
        answer["idempotency-key-lifetime"] = f"PT{call.service.settings.idempotency.lifetime_minutes}M"
    return json_answer(answer)


def _planning(served: ServedCatalog) -> dict[str, str]:
    """Who plans scans, where the catalog's settings say so."""
    mode = served.catalog.properties.get("scan-planning-mode")
    return {} if mode is None else {"scan-planning-mode": mode}


def _has(served: ServedCatalog, route: Route) -> bool:
    if route.path.endswith("/events") and served.events is None:
        return False
    if route.path.endswith("/credentials") and not served.delegation.vending.is_offered:
        return False
    if route.path.endswith("/sign") and served.delegation.signer is None:
        return False
    return route.is_advertised and (served.catalog.supports_views or "view" not in route.path)


ROUTES = (Route(method="GET", path="/v1/config", function=config, is_advertised=False, privilege=None),)
