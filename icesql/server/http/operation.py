"""``/health`` and ``/metrics``, for those who run the server."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from icesql.errors import IcesqlError
from icesql.server.http.call import Call, json_answer
from icesql.server.http.routing import Route


def health(call: Call) -> Response:
    """503 where a catalog cannot be asked: its database is away."""
    away = []
    for served in call.service.catalogs.values():
        try:
            served.catalog.list_namespaces()
        except (IcesqlError, OSError):
            away.append(served.name)
    return json_answer({"status": "degraded" if away else "ok", "unavailable-catalogs": away}, 503 if away else 200)


def metrics(call: Call) -> Response:
    return Response(generate_latest(call.service.measures.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


ROUTES = (
    Route(method="GET", path="/health", function=health, is_advertised=False, privilege=None, is_public=True),
    Route(method="GET", path="/metrics", function=metrics, is_advertised=False, privilege=None),
)
