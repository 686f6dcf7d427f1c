"""One REST server as this catalog sees it: its configuration, what it offers, and requests to it.

``/v1/config`` is asked once, when the server is first needed. What it says goes: defaults, then the user's settings, then overrides.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from icesql.catalog.names import Identifier, Namespace
from icesql.catalog.rest import keys
from icesql.catalog.rest.auth import Auth, auth_type, load_auth
from icesql.catalog.rest.http import Http, HttpSettings, Request
from icesql.catalog.rest.oauth2 import TOKEN_TYPES
from icesql.catalog.rest.replies import BadReplyError, Reply, error_for, fault_of
from icesql.catalog.rest.routes import SEPARATOR, Addresses, Route, offered
from icesql.catalog.rest.secrets import Secrets
from icesql.errors import IcesqlError, UnsupportedError
from icesql.io.garbage import collector_paused
from icesql.io.lru import LruCache

_MOST_TABLES = 1_000
_READS = frozenset({"GET", "HEAD"})
_HARMLESS = frozenset({Route.PLAN, Route.FETCH_TASKS, Route.SIGN})
"""They change nothing that anyone keeps: without an answer they are sent again."""
_NO_KEY = _HARMLESS | {Route.CREATE_VIEW, Route.REPORT_METRICS}
_TABLE_ROUTES = frozenset({
    Route.COMMIT_TABLE, Route.REPORT_METRICS, Route.LOAD_CREDENTIALS, Route.SIGN, Route.PLAN, Route.FETCH_PLAN, Route.CANCEL_PLAN,
    Route.FETCH_TASKS,
})  # fmt: skip
"""Routes for which the token of a table serves, where the server gave one with it."""


class Page(msgspec.Struct, rename="kebab", gc=False):
    """One answer of a list."""

    next_page_token: str | None = None


_P = TypeVar("_P", bound=Page)


@dataclass(frozen=True, slots=True)
class Offer:
    """What the server said of itself. ``properties`` are all settings together."""

    properties: Mapping[str, str]
    routes: frozenset[Route]
    addresses: Addresses
    takes_keys: bool  # Idempotency-Key

    def has(self, route: Route) -> bool:
        return route in self.routes


class Server:
    """Thread safe. ``given`` are the settings of the catalog."""

    def __init__(self, name: str, given: Mapping[str, str]) -> None:
        self.name, self._given = name, dict(given)
        self.uri = keys.required_uri(name, given)
        self.secrets = Secrets()
        self.secrets.add_all(given)
        self._http = Http(HttpSettings.of(given), self._headers(given), self.secrets)
        self._auth = load_auth(given, self._http)
        self._lock = threading.Lock()
        self._offer: Offer | None = None
        self._table_auths: LruCache[Identifier, tuple[dict[str, str], Auth]] = LruCache(_MOST_TABLES)

    def __repr__(self) -> str:
        return f"Server({self.name!r})"

    @staticmethod
    def _headers(properties: Mapping[str, str]) -> dict[str, str]:
        from icesql import __version__

        product = f"icesql/{__version__}"
        own = {"User-Agent": product, "X-Client-Version": product, "Accept": "application/json"}
        return {**own, keys.ACCESS_DELEGATION_HEADER: "vended-credentials", **keys.headers(properties)}

    def close(self) -> None:
        self._http.close()

    @property
    def http(self) -> Http:
        return self._http

    @property
    def http_settings(self) -> HttpSettings:
        return self._http.settings

    @property
    def http_headers(self) -> dict[str, str]:
        """Of every request."""
        return self._headers(self.offer.properties)

    # -- who asks ----------------------------------------------------------------------------------------------------
    def auth_of(self, identifier: Identifier) -> Auth:
        """For requests about one table: by a token of its own where the server gave one, else the catalog's."""
        kept = self._table_auths.find(identifier)
        return self._auth if kept is None else kept[1]

    def know_token(self, identifier: Identifier, config: Mapping[str, str]) -> None:
        """A table's ``config`` may bring a token (or one to exchange) for the requests about it. Spec: ``LoadTableResult``."""
        own = {key: config[key] for key in (keys.TOKEN, *TOKEN_TYPES) if key in config}
        kept = self._table_auths.find(identifier)
        if kept is not None and kept[0] == own:
            return
        if not own or auth_type(self.offer.properties) not in ("none", "oauth2"):
            self._table_auths.drop(identifier)
            return
        shared = {key: value for key, value in self.offer.properties.items() if key not in (keys.TOKEN, keys.CREDENTIAL, *TOKEN_TYPES)}
        auth = load_auth({**shared, keys.URI: self.uri, **own}, self._http, "oauth2")
        self._table_auths.put(identifier, (own, auth))

    # -- what it offers --------------------------------------------------------------------------------------------
    @property
    def offer(self) -> Offer:
        """Asks the server if it has not been asked. Raises ServiceError, InvalidArgumentError."""
        offer = self._offer
        if offer is None:
            with self._lock:
                offer = self._offer = self._offer or self._ask()
        return offer

    @property
    def is_known(self) -> bool:
        return self._offer is not None

    def _ask(self) -> Offer:
        warehouse = self._given.get(keys.WAREHOUSE)
        request = Request(
            "GET", Addresses(self.uri).of(Route.CONFIG), params={"warehouse": warehouse} if warehouse else {}, is_repeatable=True
        )
        doing = f"open catalog {self.name}"
        node = self._checked(self._http.send(request, self._auth), doing).object()
        defaults, overrides = _texts(node, "defaults"), _texts(node, "overrides")
        properties = {**defaults, **self._given, **overrides}
        self.secrets.add_all(properties)
        uri = keys.required_uri(self.name, properties)
        if uri != self.uri or keys.headers(properties) != keys.headers(self._given):
            self.uri = uri
            self._http = Http(HttpSettings.of(properties), self._headers(properties), self.secrets)
            self._auth = load_auth({**properties, keys.URI: uri}, self._http)
        separator = properties.get(keys.NAMESPACE_SEPARATOR) or SEPARATOR
        endpoints = node.get("endpoints")
        return Offer(
            properties=properties,
            routes=offered(
                [str(one) for one in endpoints] if isinstance(endpoints, list) else None,
                assumes_views=keys.flag(properties, keys.VIEW_ENDPOINTS_SUPPORTED, default=False),
            ),
            addresses=Addresses(uri, properties.get(keys.PREFIX, "").strip("/"), separator),
            takes_keys=bool(node.get("idempotency-key-lifetime")),
        )

    # -- requests --------------------------------------------------------------------------------------------------
    def require(self, route: Route, doing: str) -> None:
        """Raises UnsupportedError if the server does not offer the route."""
        if not self.offer.has(route):
            raise UnsupportedError(f"Cannot {doing}: the server of catalog {self.name} does not offer it: {route.value}")

    def send(
        self,
        route: Route,
        doing: str,
        *,
        namespace: Namespace = (),
        names: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """The server's answer, whatever it is. A request that changes something carries a key where the server takes one, and may then be
        sent again. Raises UnsupportedError for what is not offered, NoReplyError."""
        self.require(route, doing)
        offer = self.offer
        sent = dict(headers or {})
        has_key = offer.takes_keys and route.verb not in _READS and route not in _NO_KEY
        if has_key:
            sent["Idempotency-Key"] = time_ordered_uuid()
        request = Request(
            route.verb,
            offer.addresses.of(route, namespace=offer.addresses.namespace(namespace), **(names or {})),
            params=dict(params or {}),
            headers=sent,
            body=None if body is None else msgspec.json.encode(body),
            is_repeatable=has_key or route.verb in _READS or route in _HARMLESS,
        )
        table = (names or {}).get("table")
        auth = self.auth_of((*namespace, table)) if table is not None and route in _TABLE_ROUTES else self._auth
        return self._http.send(request, auth)

    def ask(self, route: Route, doing: str, **parts: Any) -> Reply:
        """As ``send``, for an answer that must be a success. Raises what the answer says, as ``replies.error_for``."""
        return self._checked(self.send(route, doing, **parts), doing)

    def _checked(self, reply: Reply, doing: str) -> Reply:
        if not reply.is_success and reply.status != 304:
            raise self.error(reply, doing)
        return reply

    def error(self, reply: Reply, doing: str) -> IcesqlError:
        """The error that the answer means, with nothing in it that opens something."""
        error = error_for(fault_of(reply), doing)
        hidden = self.secrets.hide(error.message)
        if hidden != error.message:
            error.message = hidden
            error.args = (hidden,)
        return error

    def pages(self, route: Route, doing: str, wire: type[_P], **parts: Any) -> Iterator[_P]:
        """The pages of a list, each read as ``wire``. Raises as ``ask``, and BadReplyError for a server that goes in circles."""
        size = self.offer.properties.get(keys.PAGE_SIZE)
        params = dict(parts.pop("params", None) or {})
        params |= {"pageToken": "", "pageSize": size} if size else {}
        seen: set[str] = set()
        while True:
            reply = self.ask(route, doing, params=params, **parts)
            try:
                with collector_paused():
                    page = msgspec.json.decode(reply.body, type=wire)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadReplyError(f"Cannot {doing}: the reply of the server is no list: {error}", status=reply.status) from None
            yield page
            token = page.next_page_token
            if not token:
                return
            if token in seen:
                raise BadReplyError(f"Cannot {doing}: the server gives the same page again and again")
            seen.add(token)
            params = {**params, "pageToken": token}

    def names(self, route: Route, doing: str, namespace: Namespace) -> list[Identifier]:
        """Identifiers of a list of tables, views or functions, in order. Raises as ``pages``."""
        identifiers: list[Identifier] = []
        with collector_paused():
            for page in self.pages(route, doing, NamesPage, namespace=namespace):
                identifiers += [(*one.namespace, one.name) for one in page.identifiers]
            identifiers.sort()
        return identifiers


class _Name(msgspec.Struct, gc=False):
    namespace: tuple[str, ...]
    name: str


class NamesPage(Page, rename="kebab", gc=False, kw_only=True):
    """Spec: ``ListTablesResponse``."""

    identifiers: list[_Name]


class NamespacesPage(Page, rename="kebab", gc=False, kw_only=True):
    """Spec: ``ListNamespacesResponse``."""

    namespaces: list[tuple[str, ...]]


def _texts(node: Mapping[str, Any], key: str) -> dict[str, str]:
    """A map of settings; values that are no text are written as JSON writes them."""
    values = node.get(key) or {}
    if not isinstance(values, dict):
        raise BadReplyError(f"Cannot open catalog: {key} of the server's configuration is no map")
    return {str(k): v if isinstance(v, str) else msgspec.json.encode(v).decode() for k, v in values.items() if v is not None}


def time_ordered_uuid() -> str:
    """A UUID of version 7: 48 bits of time in milliseconds, then random ones. RFC 9562 section 5.7."""
    random_bits = uuid.uuid4().int
    value = ((time.time_ns() // 1_000_000) & (1 << 48) - 1) << 80 | random_bits & (1 << 80) - 1
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
