"""One server over HTTP: connections, time-outs, what may be sent again, and no secret in any text.

A request is sent again by itself only where that changes nothing: it only reads, it was never sent, the server says that it was not let in
(401, 429), or a key makes the server take it for the same one. Everything else goes to the caller, who knows what is at stake.
"""

from __future__ import annotations

import email.utils
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

from icesql.catalog.rest import keys
from icesql.catalog.rest.auth import Auth
from icesql.catalog.rest.replies import NoReplyError, Reply
from icesql.catalog.rest.secrets import Secrets
from icesql.errors import InvalidArgumentError, UnsupportedError

try:
    import httpx
except ImportError:  # pragma: no cover
    raise UnsupportedError("Cannot open catalog of type rest: package httpx is missing: pip install 'icesql[rest]'") from None

RETRIED_READS = frozenset({408, 429, 502, 503, 504})
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 10.0
_LONGEST_OBEYED_S = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """``is_repeatable``: to be carried out twice is to be carried out once."""

    verb: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Of a catalog's configuration (``icesql.catalog.rest.keys``)."""

    connect_timeout_s: float = 10.0
    read_timeout_s: float = 300.0
    max_connections: int = 100
    max_retries: int = 5
    proxy: str | None = field(default=None, repr=False)
    ca_bundle: str | None = None
    client_cert: str | None = None
    client_key: str | None = None

    @staticmethod
    def of(properties: Mapping[str, str]) -> HttpSettings:
        """Raises InvalidArgumentError."""
        return HttpSettings(
            connect_timeout_s=keys.number(properties, keys.CONNECT_TIMEOUT_MS, 10_000) / 1000,
            read_timeout_s=keys.number(properties, keys.READ_TIMEOUT_MS, 300_000) / 1000,
            max_connections=max(1, keys.number(properties, keys.MAX_CONNECTIONS, 100)),
            max_retries=keys.number(properties, keys.MAX_RETRIES, 5),
            proxy=_proxy(properties),
            ca_bundle=properties.get(keys.CA_BUNDLE),
            client_cert=properties.get(keys.CLIENT_CERT),
            client_key=properties.get(keys.CLIENT_KEY),
        )


def _proxy(properties: Mapping[str, str]) -> str | None:
    """``None`` leaves it to the environment (``HTTPS_PROXY``, ``NO_PROXY``)."""
    host = properties.get(keys.PROXY_HOST)
    if not host:
        return None
    user, password = properties.get(keys.PROXY_USER), properties.get(keys.PROXY_PASSWORD, "")
    login = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user else ""
    return f"http://{login}{host}:{keys.number(properties, keys.PROXY_PORT, 80)}"


class Http:
    """Thread safe. Connects when it is first used, and again after ``close``."""

    def __init__(self, settings: HttpSettings, headers: Mapping[str, str], secrets: Secrets) -> None:
        self.settings, self.secrets = settings, secrets
        self._headers = dict(headers)
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def __repr__(self) -> str:
        return "Http()"

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                s = self.settings
                self._client = httpx.Client(
                    headers=self._headers,
                    timeout=httpx.Timeout(s.read_timeout_s, connect=s.connect_timeout_s),
                    limits=httpx.Limits(max_connections=s.max_connections, max_keepalive_connections=s.max_connections),
                    verify=self._verification,
                    proxy=s.proxy,
                    follow_redirects=False,
                )
            return self._client

    @cached_property
    def _verification(self) -> Any:
        import ssl

        s = self.settings
        if s.ca_bundle is None and s.client_cert is None:
            return True
        try:
            context = ssl.create_default_context(cafile=s.ca_bundle)
            if s.client_cert is not None:
                context.load_cert_chain(s.client_cert, s.client_key)
        except (OSError, ssl.SSLError) as error:
            raise InvalidArgumentError(f"Cannot open catalog: a certificate cannot be read: {type(error).__name__}: {error}") from None
        return context

    def send(self, request: Request, auth: Auth) -> Reply:
        """The server's answer, whatever it is. Raises NoReplyError."""
        waits = self._waits()
        has_renewed = False
        while True:
            try:
                reply = self._once(request, auth)
            except NoReplyError as error:
                wait_s = next(waits, None)
                if wait_s is None or (error.was_sent and not request.is_repeatable):
                    raise
                time.sleep(wait_s)
                continue
            if reply.status in (401, 419) and not has_renewed and auth.renew():
                has_renewed = True
                continue
            wait_s = self._wait_before_another(request, reply, waits)
            if wait_s is None:
                return reply
            time.sleep(wait_s)

    def _waits(self) -> Any:
        return (
            min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S) * random.uniform(0.75, 1.25) for attempt in range(self.settings.max_retries)
        )

    def _wait_before_another(self, request: Request, reply: Reply, waits: Any) -> float | None:
        """How long to wait before the request is sent once more; ``None`` if it is not."""
        if reply.status != 429 and not (request.is_repeatable and reply.status in RETRIED_READS):
            return None
        asked_s = retry_after_s(reply)
        if asked_s is not None and asked_s > _LONGEST_OBEYED_S:
            return None
        wait_s: float | None = next(waits, None)
        return None if wait_s is None else max(wait_s, asked_s or 0.0)

    def _once(self, request: Request, auth: Auth) -> Reply:
        client = self._open()
        headers = dict(request.headers)
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        built = client.build_request(request.verb, request.url, params=dict(request.params) or None, headers=headers, content=request.body)
        auth.sign(built)
        try:
            answer = client.send(built)
        except httpx.TransportError as error:
            raise self._no_reply(request, error) from None
        except (httpx.DecodingError, httpx.TooManyRedirects) as error:
            raise self._no_reply(request, error) from None
        return Reply(answer.status_code, {key.lower(): value for key, value in answer.headers.items()}, answer.content)

    def _no_reply(self, request: Request, error: Exception) -> NoReplyError:
        why = self.secrets.hide(f"{type(error).__name__}: {error}".rstrip(": "))
        address = self.secrets.hide(request.url.partition("?")[0])
        return NoReplyError(f"Cannot reach the catalog's server: {address}: {why}", was_sent=not isinstance(error, _NEVER_SENT))


def retry_after_s(reply: Reply) -> float | None:
    """What ``Retry-After`` asks, in seconds: a number, or a date."""
    text = reply.headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isdecimal():
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, date.timestamp() - time.time())
