"""Events pushed to a webhook as CloudEvents, in order, each at least once: the cursor moves only once the receiver has taken an event."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import hmac
import logging
import urllib.error
import urllib.request
from typing import Any

import msgspec
from anyio.to_thread import run_sync

from icesql.server.served import ServedCatalog
from icesql.server.settings import Events
from icesql.server.storage.events import EventStore

logger = logging.getLogger(__name__)
_BATCH = 100
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.5, 60.0
_TIMEOUT_SECONDS = 30


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """A receiver that sends elsewhere has not taken the event."""


def cloud_event(catalog: str, event: dict[str, Any]) -> dict[str, Any]:
    """CloudEvents 1.0, structured mode. ``id`` is the same each time that an event is sent."""
    moment = dt.datetime.fromtimestamp(event["timestamp-ms"] / 1000, dt.timezone.utc)
    name = event["identifier"]
    return {
        "specversion": "1.0",
        "id": f"{catalog}-{event['event-id']}",
        "source": f"/icesql/{catalog}",
        "type": f"icesql.{event['type']}",
        "subject": ".".join((*name["namespace"], name["name"])),
        "time": moment.isoformat(),
        "datacontenttype": "application/json",
        "data": event,
    }


async def push(served: ServedCatalog, store: EventStore, settings: Events) -> None:
    """Until cancelled."""
    reader = f"webhook {settings.webhook}"
    wait = _FIRST_WAIT_SECONDS
    while True:
        try:
            cursor = await run_sync(store.cursor, reader)
            for number, event in await run_sync(store.after, cursor, _BATCH):
                await run_sync(_send, settings, cloud_event(served.name, event))
                await run_sync(store.move_cursor, reader, number)
                wait = _FIRST_WAIT_SECONDS
            await asyncio.sleep(_FIRST_WAIT_SECONDS)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            logger.warning("Cannot push events of %s, next try in %.1f s: %s", served.name, wait, error)
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)


def _send(settings: Events, event: dict[str, Any]) -> None:
    """Raises OSError unless the receiver answers 2xx."""
    body = msgspec.json.encode(event)
    headers = {"Content-Type": "application/cloudevents+json; charset=utf-8"}
    if settings.webhook_secret:
        digest = hmac.new(settings.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        headers["X-Icesql-Signature"] = f"sha256={digest}"
    request = urllib.request.Request(str(settings.webhook), body, headers, method="POST")
    with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_SECONDS) as answer:
        answer.read(1)
