"""One request, as the functions that answer it see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from anyio.to_thread import run_sync
from starlette.responses import Response

from icesql.catalog.names import Identifier, Namespace
from icesql.server.access.authentication import forbidden
from icesql.server.access.privileges import EVERYONE, Principal, Privilege
from icesql.server.events.changes import Event
from icesql.server.http.bodies import TableName, parsed
from icesql.server.http.routing import Route, Router
from icesql.server.problems import bad_request, no_such_namespace, no_such_table
from icesql.server.served import ServedCatalog
from icesql.server.service import Service

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")
SEPARATOR = "\x1f"


@dataclass(slots=True, kw_only=True)
class Call:
    """``answer``: what an answer kept for an Idempotency-Key is made from again; a function sets it before it changes anything.

    ``records``: what goes into the database together with what the function changes there. ``key``: its Idempotency-Key.
    """

    service: Service
    served: ServedCatalog
    route: Route
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    router: Router
    principal: Principal = EVERYONE
    key: str | None = None
    answer: bytes | None = None
    records: Sequence[Callable[[Connection], None]] = field(default=())
    request_id: str = ""
    _events: list[Callable[[], Event]] = field(default_factory=list)

    async def in_thread(self, function: Callable[[], T]) -> T:
        """Run what takes its time beside the event loop. What it changes in the database is recorded."""

        def recorded() -> T:
            with self.served.recording((*self.records, self._write_events)):
                return function()

        return await run_sync(recorded)

    def announce(self, make: Callable[[], Event]) -> None:
        """An event of what the function is about to do. ``make`` is asked in the transaction that does it."""
        self._events.append(make)

    def _write_events(self, connection: Connection) -> None:
        for make in self._events:
            for record in self.event_records(make):
                record(connection)

    def event_records(self, make: Callable[[], Event]) -> Sequence[Callable[[Connection], None]]:
        """What writes the event, with who asked for it; nothing where the catalog keeps none."""
        if self.served.events is None:
            return ()
        return (self.served.events.record(lambda: {**make(), "principal": self.principal.name, "request-id": self.request_id}),)

    def parsed(self, type_: type[T]) -> T:
        return parsed(self.body, type_)

    # -- what the sender may do ----------------------------------------------------------------------------------
    def require(self, privilege: Privilege, name: Identifier) -> None:
        """Of a namespace or a table. Raises Problem 403."""
        if not self.principal.may(privilege, (self.served.name, *name)):
            raise forbidden()

    def may_see(self, name: Identifier) -> bool:
        return self.principal.may_see((self.served.name, *name))

    def authorise(self) -> None:
        """What the route takes on the place that its path names. Raises Problem 403, whether the place is there or not."""
        privilege = self.route.privilege
        if privilege is None:
            return
        name = namespace_of_path(self.path["namespace"]) if "namespace" in self.path else ()
        leaf = self.path.get("table", self.path.get("view"))
        if leaf is None and privilege is Privilege.READ:
            if not self.may_see(name):
                raise forbidden()
            return
        self.require(privilege, name if leaf is None else (*name, leaf))

    # -- names in the path ---------------------------------------------------------------------------------------
    @property
    def namespace(self) -> Namespace:
        return namespace_of_path(self.path["namespace"])

    @property
    def table(self) -> Identifier:
        return (*self.namespace, self.path["table"])

    @property
    def view(self) -> Identifier:
        return (*self.namespace, self.path["view"])

    def existing_namespace(self) -> Namespace:
        """Raises Problem 404."""
        namespace = self.namespace
        require_namespace(self.served, namespace)
        return namespace

    def existing_table(self) -> Identifier:
        """Raises Problem 404."""
        if not self.served.exists(self.table):
            raise no_such_table(self.table)
        return self.table

    def flag(self, name: str) -> bool:
        """A query parameter that is true or false, false without it. Raises Problem 400."""
        value = self.query.get(name, "false").lower()
        if value not in ("true", "false"):
            raise bad_request(f"Malformed request: {name} is neither true nor false: {value}")
        return value == "true"


def namespace_of_path(text: str) -> Namespace:
    """Levels with U+001F between them. Raises Problem 400 for an empty one."""
    levels = tuple(text.split(SEPARATOR))
    if not all(levels):
        raise bad_request("Malformed request: a level of the namespace is empty")
    return levels


def identifier_of_body(name: TableName) -> Identifier:
    """Raises Problem 400 for an empty name or level."""
    levels = (*name.namespace, name.name)
    if len(levels) < 2 or not all(levels):
        raise bad_request("Malformed request: a name or a level of a namespace is empty")
    return levels


def require_namespace(served: ServedCatalog, namespace: Namespace) -> None:
    """Raises Problem 404."""
    if not namespace or not served.catalog.namespace_exists(namespace):
        raise no_such_namespace(namespace)


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """``value``: anything msgspec encodes; bytes are JSON already."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return Response(body, status, dict(headers or {}), media_type="application/json")
