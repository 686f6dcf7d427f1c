"""``/v1/{prefix}/events``: what has changed since a cursor, at once, as soon as there is something, or as it comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from anyio.to_thread import run_sync
from starlette.responses import Response, StreamingResponse

from icesql.errors import UnsupportedError
from icesql.server.access.privileges import Privilege
from icesql.server.http.call import Call, json_answer
from icesql.server.http.routing import Route
from icesql.server.problems import bad_request
from icesql.server.storage.events import EventStore

_MOST, _MOST_SECONDS = 1000, 60
_LOOK_EVERY_SECONDS = 0.5  # other processes commit, too
_ALIVE_EVERY_SECONDS = 15


async def events(call: Call) -> Response:
    """``after`` is a cursor, an event's id, without which the oldest events come first, or ``latest``. ``wait`` is for how many seconds an
    answer may be held back until there is an event."""
    store = _store(call)
    cursor = await _cursor(call, store)
    if "text/event-stream" in call.headers.get("accept", ""):
        return StreamingResponse(_stream(call, store, cursor), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
    most = _number(call, "limit", 100, _MOST)
    deadline = time.monotonic() + _number(call, "wait", 0, _MOST_SECONDS)
    while True:
        events, cursor = await _next(call, store, cursor, most)
        if events or time.monotonic() >= deadline:
            return json_answer({"events": events, "next-cursor": str(cursor)})
        await _something_new(call, min(_LOOK_EVERY_SECONDS, max(0.0, deadline - time.monotonic())))


def _store(call: Call) -> EventStore:
    if call.served.events is None:
        raise UnsupportedError(f"Cannot tell of changes: catalog {call.served.name} has no database to keep them in")
    return call.served.events


async def _cursor(call: Call, store: EventStore) -> int:
    text = call.headers.get("last-event-id") or call.query.get("after", "0")
    if text == "latest":
        return await run_sync(store.last_id)
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise bad_request(f"Malformed request: no such cursor: {text[:100]}")
    return int(text)


def _number(call: Call, name: str, default: int, most: int) -> int:
    text = call.query.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit():
        raise bad_request(f"Malformed request: {name} is no number: {text[:100]}")
    return min(int(text), most)


async def _next(call: Call, store: EventStore, cursor: int, most: int) -> tuple[list[dict[str, Any]], int]:
    """Those that the reader may see, and the cursor after them and after those he may not."""
    stored = await run_sync(store.after, cursor, max(1, most))
    seen = [event for _, event in stored if _may_read(call, event)]
    return seen, stored[-1][0] if stored else cursor


def _may_read(call: Call, event: dict[str, Any]) -> bool:
    identifier = event["identifier"]
    return call.principal.may(Privilege.READ, (call.served.name, *identifier["namespace"], identifier["name"]))


async def _something_new(call: Call, seconds: float) -> None:
    """Until a commit of this process, or for so long."""
    try:
        await asyncio.wait_for(call.served.news.wait(), seconds)
    except asyncio.TimeoutError:
        return


async def _stream(call: Call, store: EventStore, cursor: int) -> AsyncIterator[bytes]:
    """Server-sent events. A reader that comes again says how far it was by Last-Event-ID."""
    told = time.monotonic()
    while not call.service.is_stopping:
        events, cursor = await _next(call, store, cursor, _MOST)
        for event in events:
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (event["event-id"], event["type"].encode(), msgspec.json.encode(event))
        if events:
            told = time.monotonic()
            continue
        if time.monotonic() - told > _ALIVE_EVERY_SECONDS:
            told = time.monotonic()
            yield b": still here\n\n"
        await _something_new(call, _LOOK_EVERY_SECONDS)


ROUTES = (Route(method="GET", path="/v1/{prefix}/events", function=events, privilege=None),)
