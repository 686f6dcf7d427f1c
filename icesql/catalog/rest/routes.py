"""The endpoints of the protocol, as ``/v1/config`` names them, and the addresses they have on one server. Spec: REST OpenAPI, ``paths``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote, unquote

from icesql.catalog.names import Namespace

_NAMESPACE = "/v1/{prefix}/namespaces/{namespace}"
_TABLE = f"{_NAMESPACE}/tables/{{table}}"
_VIEW = f"{_NAMESPACE}/views/{{view}}"
SEPARATOR = "%1F"


class Route(Enum):
    """``VERB path``, with the specification's own names of parameters."""

    CONFIG = "GET /v1/config"
    LIST_NAMESPACES = "GET /v1/{prefix}/namespaces"
    CREATE_NAMESPACE = "POST /v1/{prefix}/namespaces"
    LOAD_NAMESPACE = f"GET {_NAMESPACE}"
    NAMESPACE_EXISTS = f"HEAD {_NAMESPACE}"
    DROP_NAMESPACE = f"DELETE {_NAMESPACE}"
    UPDATE_NAMESPACE = f"POST {_NAMESPACE}/properties"
    LIST_TABLES = f"GET {_NAMESPACE}/tables"
    CREATE_TABLE = f"POST {_NAMESPACE}/tables"
    LOAD_TABLE = f"GET {_TABLE}"
    TABLE_EXISTS = f"HEAD {_TABLE}"
    COMMIT_TABLE = f"POST {_TABLE}"
    DROP_TABLE = f"DELETE {_TABLE}"
    UNREGISTER_TABLE = f"POST {_TABLE}/unregister"
    REGISTER_TABLE = f"POST {_NAMESPACE}/register"
    RENAME_TABLE = "POST /v1/{prefix}/tables/rename"
    COMMIT_TRANSACTION = "POST /v1/{prefix}/transactions/commit"
    REPORT_METRICS = f"POST {_TABLE}/metrics"
    LOAD_CREDENTIALS = f"GET {_TABLE}/credentials"
    SIGN = f"POST {_TABLE}/sign"
    PLAN = f"POST {_TABLE}/plan"
    FETCH_PLAN = f"GET {_TABLE}/plan/{{plan-id}}"
    CANCEL_PLAN = f"DELETE {_TABLE}/plan/{{plan-id}}"
    FETCH_TASKS = f"POST {_TABLE}/tasks"
    LIST_VIEWS = f"GET {_NAMESPACE}/views"
    CREATE_VIEW = f"POST {_NAMESPACE}/views"
    LOAD_VIEW = f"GET {_VIEW}"
    VIEW_EXISTS = f"HEAD {_VIEW}"
    REPLACE_VIEW = f"POST {_VIEW}"
    DROP_VIEW = f"DELETE {_VIEW}"
    RENAME_VIEW = "POST /v1/{prefix}/views/rename"
    LIST_FUNCTIONS = f"GET {_NAMESPACE}/functions"

    @property
    def verb(self) -> str:
        return self.value.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.value.partition(" ")[2]


R = Route
ASSUMED = frozenset({
    R.LIST_NAMESPACES, R.CREATE_NAMESPACE, R.LOAD_NAMESPACE, R.DROP_NAMESPACE, R.UPDATE_NAMESPACE, R.LIST_TABLES, R.CREATE_TABLE,
    R.LOAD_TABLE, R.COMMIT_TABLE, R.DROP_TABLE, R.REGISTER_TABLE, R.RENAME_TABLE, R.COMMIT_TRANSACTION, R.REPORT_METRICS,
})  # fmt: skip
"""What a server offers that names no endpoints."""
VIEWS = frozenset({R.LIST_VIEWS, R.CREATE_VIEW, R.LOAD_VIEW, R.REPLACE_VIEW, R.DROP_VIEW, R.RENAME_VIEW})


def offered(endpoints: Iterable[str] | None, *, assumes_views: bool = False) -> frozenset[Route]:
    """The routes that a server's list names; those of later versions of the protocol are passed over."""
    if endpoints is None:
        return ASSUMED | VIEWS if assumes_views else ASSUMED
    known = {" ".join(route.value.split()): route for route in Route}
    return frozenset(known[name] for text in endpoints if (name := " ".join(text.split())) in known)


@dataclass(frozen=True, slots=True)
class Addresses:
    """URLs of one server. ``separator`` joins the levels of a namespace, percent-encoded."""

    uri: str
    prefix: str = ""
    separator: str = SEPARATOR

    def of(self, route: Route, **names: str) -> str:
        """``names`` are encoded already (``namespace``), or are single names (``table``, ``view``, ``plan_id``)."""
        path = route.path.replace("{prefix}/", f"{self.prefix}/" if self.prefix else "")
        for key, value in names.items():
            path = path.replace(f"{{{key.replace('_', '-')}}}", value if key == "namespace" else quote(value, safe=""))
        return self.uri + path

    def namespace(self, levels: Namespace) -> str:
        """As part of a path."""
        return self.separator.join(quote(level, safe="") for level in levels)

    def parent(self, levels: Namespace) -> str:
        """As the query parameter ``parent``, which is encoded once more on its way."""
        return unquote(self.separator).join(levels)
