"""Which function answers which request: paths as Iceberg's OpenAPI document writes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote_plus

from starlette.responses import Response

from icesql.server.access.privileges import Privilege
from icesql.server.problems import Problem, bad_request

if TYPE_CHECKING:
    from icesql.server.http.call import Call
    from icesql.server.storage.answers import KeptAnswer

Function: TypeAlias = "Callable[[Call], Response | Awaitable[Response]]"
Again: TypeAlias = "Callable[[Call, KeptAnswer], Response]"


def no_content(call: Call, kept: KeptAnswer) -> Response:
    return Response(status_code=204)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """``again`` makes the answer to a request that is sent a second time with its Idempotency-Key; ``None``: keys mean nothing here.

    ``is_advertised``: listed in the answer to ``/v1/config``. ``privilege``: what it takes on the place that the path names; ``None``
    where the function itself asks for what it takes. ``is_public``: nobody is asked who he is. ``is_page``: for browsers, which send a
    token as the password of HTTP's basic authentication.
    """

    method: str
    path: str
    function: Function
    again: Again | None = None
    status: int = 200
    changes: bool = False
    is_advertised: bool = True
    privilege: Privilege | None = Privilege.READ
    is_public: bool = False
    is_page: bool = False

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


class Router:
    """Paths with ``{prefix}`` are also served without it, for the default catalog."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._by_length: dict[int, list[tuple[tuple[str, ...], dict[str, Route]]]] = {}
        for strip in (True, False):  # a path without a prefix first: it has one literal more
            for route in self.routes:
                if strip and "/{prefix}" not in route.path:
                    continue
                self._add(route, route.path.replace("/{prefix}", "") if strip else route.path)

    def _add(self, route: Route, path: str) -> None:
        segments = tuple(path.strip("/").split("/"))
        held = self._by_length.setdefault(len(segments), [])
        for known, methods in held:
            if known == segments:
                methods[route.method] = route
                return
        held.append((segments, {route.method: route}))

    def match(self, method: str, raw_path: str) -> tuple[Route, dict[str, str]]:
        """The route, and the path's parameters decoded. Raises Problem 404 or 405."""
        segments = raw_path.strip("/").split("/")
        for pattern, methods in self._by_length.get(len(segments), ()):
            if all(one.startswith("{") or one == other for one, other in zip(pattern, segments, strict=True)):
                route = methods.get(method)
                if route is None:
                    allowed = ", ".join(sorted(methods))
                    raise Problem(405, "UnsupportedOperationException", f"Method {method} is not for {raw_path}", {"Allow": allowed})
                given = {one[1:-1]: _decoded(other) for one, other in zip(pattern, segments, strict=True) if one.startswith("{")}
                return route, given
        raise Problem(404, "NotFoundException", f"There is nothing at {raw_path}")


def _decoded(segment: str) -> str:
    """Java's clients write a space as ``+``, others as ``%20``; all write a plus as ``%2B``."""
    try:
        return unquote_plus(segment, errors="strict")
    except UnicodeDecodeError:
        raise bad_request(f"Malformed request: not UTF-8 in the path: {segment}") from None
