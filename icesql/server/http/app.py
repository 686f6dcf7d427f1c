"""The application: from a request to its route, and from an error to its answer."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import re
import time
import uuid
import zlib
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from typing import Any, cast

import anyio
from anyio.to_thread import current_default_thread_limiter, run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from icesql.server.access.authentication import bearer_of_basic
from icesql.server.access.privileges import EVERYONE, Principal
from icesql.server.access.rate import RateLimit
from icesql.server.events.webhook import push
from icesql.server.http import config, delegation, events, namespaces, operation, scans, table_commits, tables, views
from icesql.server.http.call import Call
from icesql.server.http.routing import Route, Router
from icesql.server.logs import printable
from icesql.server.pages import routes as pages
from icesql.server.problems import Problem, bad_request, problem_of
from icesql.server.served import ServedCatalog
from icesql.server.service import Service
from icesql.server.storage.answers import AnsweredElsewhereError, AnswerStore, KeptAnswer, digest

logger = logging.getLogger(__name__)

ROUTES: tuple[Route, ...] = (
    *config.ROUTES, *namespaces.ROUTES, *tables.ROUTES, *table_commits.ROUTES, *views.ROUTES, *scans.ROUTES, *delegation.ROUTES,
    *events.ROUTES, *operation.ROUTES, *pages.ROUTES,
)  # fmt: skip
_THREADS = 64
_KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
_REQUEST_ID = re.compile(r"[\w.:-]{1,100}")
_NOT_KEPT = frozenset({401, 403, 408, 413, 419, 429})


def application(service: Service) -> Starlette:
    """The ASGI application that serves this service."""
    protocol = Protocol(service)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = _THREADS
        await run_sync(service.prepare)
        for served in service.catalogs.values():
            served.committer.on_group = partial(service.measures.group, served.name)
        pushing = [
            asyncio.create_task(push(served, served.events, service.settings.events))
            for served in service.catalogs.values()
            if served.events is not None and service.settings.events.webhook
        ]
        yield
        service.is_stopping = True
        for task in pushing:
            task.cancel()
        await asyncio.gather(*pushing, return_exceptions=True)
        for served in service.catalogs.values():
            await served.committer.drain()
        await run_sync(service.close)

    answering = Starlette(lifespan=lifespan)
    answering.router.default = protocol  # not mounted: a mount does not match line ends in a path
    return answering


class Protocol:
    """The REST protocol as an ASGI application."""

    def __init__(self, service: Service) -> None:
        self.service, self.router = service, Router(ROUTES)
        self._rate = RateLimit(service.settings.limits.requests_per_second)
        self._under_way: dict[tuple[str, str], anyio.Event] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        request_id = _request_id(request)
        started = time.perf_counter()
        response = await self._answered(request, request_id)
        response.headers["X-Request-ID"] = request_id
        self.service.measures.request(scope.get("icesql.route", "none"), response.status_code, time.perf_counter() - started)
        await response(scope, receive, send)
        self._log(request, response.status_code, (time.perf_counter() - started) * 1000, request_id)

    def _log(self, request: Request, status: int, took_ms: float, request_id: str) -> None:
        """Queries and headers stay out: they may hold secrets."""
        who, path = printable(request.scope.get("icesql.principal", "-")), printable(request.scope["path"])
        fields = {"method": request.method, "path": path, "status": status, "milliseconds": round(took_ms, 1), "principal": who}
        logger.info(
            "%s %s %d %.1f ms %s %s", request.method, path, status, took_ms, who, request_id,
            extra={"fields": {**fields, "request-id": request_id}},
        )  # fmt: skip

    async def _answered(self, request: Request, request_id: str) -> Response:
        """Every error becomes an answer."""
        route: Route | None = None
        try:
            method = request.method
            route, path = self.router.match(
                method, request.scope.get("raw_path", request.url.path.encode()).decode("ascii").partition("?")[0]
            )
            request.scope["icesql.route"] = route.name
            principal = EVERYONE if route.is_public else await self._principal(request, route)
            request.scope["icesql.principal"] = principal.name
            self._rate.take(principal.name if principal is not EVERYONE else _address(request))
            call = Call(
                principal=principal,
                request_id=request_id,
                service=self.service,
                served=self._served(path),
                route=route,
                path=path,
                query=request.query_params,
                headers=request.headers,
                body=await read_body(request, self.service.settings.limits.max_body_bytes) if method in ("POST", "PUT") else b"",
                router=self.router,
            )
            call.authorise()
            key = request.headers.get("idempotency-key")
            if key is not None and route.again is not None and call.served.answers is not None:
                return await self._once(call, key, call.served.answers)
            return await self._run(call)
        except Exception as error:
            problem = problem_of(error, commits=route is not None and route.changes)
            if problem.status >= 500:
                logger.exception(
                    "Request %s failed: %s", request_id, printable(request.scope["path"]), extra={"fields": {"request-id": request_id}}
                )
            return _error(problem, request.method)

    async def _principal(self, request: Request, route: Route) -> Principal:
        """Raises Problem 401. The keys of an issuer may have to be fetched."""
        authentication, header = self.service.authentication, request.headers.get("authorization")
        if route.is_page:
            header = bearer_of_basic(header)
        try:
            if not authentication.may_wait:
                return authentication.principal(header)
            return await run_sync(authentication.principal, header)
        except Problem as problem:
            if route.is_page and problem.status == 401:
                problem.headers["WWW-Authenticate"] = 'Basic realm="icesql: any name, a token as password", charset="UTF-8"'
            raise

    def _served(self, path: dict[str, str]) -> ServedCatalog:
        prefix = path.get("prefix", self.service.default)
        served = self.service.catalogs.get(prefix)
        if served is None:
            raise Problem(404, "NoSuchWarehouseException", f"Warehouse does not exist: {prefix}")
        return served

    async def _run(self, call: Call) -> Response:
        if inspect.iscoroutinefunction(call.route.function):
            response = await cast(Awaitable[Response], call.route.function(call))
        else:
            response = await call.in_thread(lambda: cast(Response, call.route.function(call)))
        if call.route.changes:
            call.served.news.tell()
        return response

    # -- requests with a key -----------------------------------------------------------------------------------------
    async def _once(self, call: Call, key: str, answers: AnswerStore) -> Response:
        """A request has one effect however often it is sent; one that is under way is waited for."""
        if not _KEY.fullmatch(key):
            raise bad_request(f"Malformed request: Idempotency-Key is no UUID of version 7: {key[:100]}")
        key = key.lower()
        fingerprint = digest(
            call.principal.name.encode(),
            call.route.name.encode(),
            repr(sorted(call.path.items())).encode(),
            repr(sorted(call.query.items())).encode(),
            call.body,
        )
        place = (call.served.name, key)
        while (other := self._under_way.get(place)) is not None:
            await other.wait()
        self._under_way[place] = anyio.Event()
        try:
            kept = await run_sync(answers.find, key)
            if kept is None:
                return await self._first(call, key, answers, fingerprint)
            return await self._again(call, kept, fingerprint)
        finally:
            self._under_way.pop(place).set()

    async def _first(self, call: Call, key: str, answers: AnswerStore, fingerprint: str) -> Response:
        call.key = key
        is_written = False

        def record(connection: Any) -> None:
            nonlocal is_written
            answers.record(key, KeptAnswer(fingerprint, call.route.status, call.answer))(connection)
            is_written = True

        call.records = (record,)
        try:
            response = await self._run(call)
        except AnsweredElsewhereError:
            kept = await run_sync(answers.find, key)
            if kept is None:
                raise
            return await self._again(call, kept, fingerprint)
        except Exception as error:
            problem = problem_of(error, commits=True)
            if problem.status < 500 and problem.status not in _NOT_KEPT:
                await run_sync(answers.keep, key, KeptAnswer(fingerprint, problem.status, problem.body()))
            raise
        if not is_written:  # it had nothing to change
            await run_sync(answers.keep, key, KeptAnswer(fingerprint, call.route.status, call.answer))
        return response

    async def _again(self, call: Call, kept: KeptAnswer, fingerprint: str) -> Response:
        if kept.request != fingerprint:
            raise Problem(400, "IdempotencyKeyReusedException", "This Idempotency-Key came with another request before")
        if kept.status >= 400:
            return Response(kept.answer, kept.status, media_type="application/json")
        call.records = ()
        again = call.route.again
        assert again is not None
        return await run_sync(again, call, kept)


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _request_id(request: Request) -> str:
    given = request.headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _error(problem: Problem, method: str) -> Response:
    if method == "HEAD":
        return Response(status_code=problem.status, headers=problem.headers)
    return Response(problem.body(), problem.status, problem.headers, media_type="application/json")


async def read_body(request: Request, most: int) -> bytes:
    """The body, decompressed. Raises Problem 413 as soon as it is larger, 400 for an encoding that is not known."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "deflate", ""):
        raise bad_request(f"Malformed request: Content-Encoding is none of gzip and deflate: {encoding}")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in ("gzip", "deflate") else None
    parts: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            part = chunk if inflate is None else inflate.decompress(chunk, most - size + 1)
            size += len(part)
            if size > most or (inflate is not None and inflate.unconsumed_tail):
                raise Problem(413, "BadRequestException", f"The request is larger than {most} bytes")
            parts.append(part)
    except zlib.error as error:
        raise bad_request(f"Malformed request: its body is no {encoding}: {error}") from None
    return b"".join(parts)
