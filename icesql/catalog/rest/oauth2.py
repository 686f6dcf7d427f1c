"""OAuth2: client credentials, token exchange, and tokens fetched anew before they end. RFC 6749 section 4.4, RFC 8693."""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from icesql.catalog.rest import keys
from icesql.catalog.rest.auth import Auth, BearerAuth, NoAuth
from icesql.catalog.rest.replies import BadReplyError, fault_of
from icesql.errors import InvalidArgumentError, ServiceError

if TYPE_CHECKING:
    import httpx

    from icesql.catalog.rest.http import Http

logger = logging.getLogger(__name__)

_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
TOKEN_TYPES = tuple(f"urn:ietf:params:oauth:token-type:{kind}" for kind in ("id_token", "access_token", "jwt", "saml2", "saml1"))
_EXPIRES_IN_MS = 3_600_000  # of tokens that do not say
_MARGIN_SHARE, _MARGIN_MAX_S = 0.1, 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth2Settings:
    """``server`` is where tokens come from; the secret values are never shown."""

    server: str
    token: str | None = field(default=None, repr=False)
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str = "catalog"
    optional: Mapping[str, str] = field(default_factory=dict)
    expires_in_s: float = _EXPIRES_IN_MS / 1000
    is_refreshed: bool = True
    may_exchange: bool = True
    subject: tuple[str, str] | None = field(default=None, repr=False)  # (token type, token) to exchange at the beginning


def oauth2(properties: Mapping[str, str], http: Http) -> Auth:
    """Raises InvalidArgumentError where there is neither a token nor a credential."""
    settings = oauth2_settings(properties)
    http.secrets.add(settings.token, settings.client_secret, settings.subject[1] if settings.subject else None)
    return OAuth2(settings, http)


def oauth2_settings(properties: Mapping[str, str]) -> OAuth2Settings:
    """Java's keys, and PyIceberg's ``auth.oauth2.*``."""
    client_id, client_secret = _credential(properties)
    token = properties.get(keys.TOKEN)
    subject = next(((kind, properties[kind]) for kind in TOKEN_TYPES if kind in properties), None)
    if token is None and client_secret is None and subject is None:
        raise InvalidArgumentError(f"Cannot open catalog: oauth2 needs {keys.TOKEN} or {keys.CREDENTIAL}")
    expires_ms = keys.number(properties, keys.TOKEN_EXPIRES_IN_MS, _EXPIRES_IN_MS)
    server = properties.get(keys.OAUTH2_SERVER_URI) or properties.get("auth.oauth2.token_url")
    return OAuth2Settings(
        server=_server(server, str(properties.get(keys.URI, "")).rstrip("/")),
        token=token,
        client_id=client_id,
        client_secret=client_secret,
        scope=properties.get(keys.SCOPE) or properties.get("auth.oauth2.scope") or "catalog",
        optional={key: properties[key] for key in (keys.AUDIENCE, keys.RESOURCE) if key in properties},
        expires_in_s=expires_ms / 1000,
        is_refreshed=keys.flag(properties, keys.TOKEN_REFRESH_ENABLED, default=True),
        may_exchange=keys.flag(properties, keys.TOKEN_EXCHANGE_ENABLED, default=True),
        subject=subject,
    )


def _server(configured: str | None, uri: str) -> str:
    """The catalog's own endpoint, which the specification deprecates, where none is configured; a path is one of the catalog's server."""
    if not configured:
        return f"{uri}/v1/oauth/tokens"
    return configured if "://" in configured else f"{uri}/{configured.lstrip('/')}"


def _credential(properties: Mapping[str, str]) -> tuple[str | None, str | None]:
    """``id:secret``, or a secret alone."""
    given = properties.get(keys.CREDENTIAL)
    if given is None:
        return properties.get("auth.oauth2.client_id"), properties.get("auth.oauth2.client_secret")
    client_id, colon, secret = given.partition(":")
    if colon and (not client_id or not secret):
        raise InvalidArgumentError(f"Cannot open catalog: {keys.CREDENTIAL} is not written as id:secret")
    return (client_id, secret) if colon else (None, given)


@dataclass(frozen=True, slots=True)
class _Held:
    """A token, when it was got and when it ends, by the monotonic clock; ``ends_at`` is infinite where nobody renews it."""

    token: str = field(repr=False)
    got_at: float
    ends_at: float

    def is_old(self, now: float) -> bool:
        margin = min(_MARGIN_MAX_S, (self.ends_at - self.got_at) * _MARGIN_SHARE)
        return now >= self.ends_at - margin


class OAuth2:
    """A bearer token that is fetched when first needed, and again before it ends. Threads wait for the one that fetches."""

    def __init__(self, settings: OAuth2Settings, http: Http) -> None:
        self._settings, self._http, self._lock = settings, http, threading.Lock()
        self._held: _Held | None = None

    def __repr__(self) -> str:
        return f"OAuth2({self._settings.server})"

    def sign(self, request: httpx.Request) -> None:
        request.headers["Authorization"] = f"Bearer {self._current().token}"

    def for_tasks(self) -> Auth:
        """The token of now, without the credential."""
        return BearerAuth(self._current().token)

    def renew(self) -> bool:
        """The token was refused before its time."""
        refused = self._held
        with self._lock:
            if self._held is not refused:
                return True  # another thread was here
            try:
                fetched = self._fetch(refused)
            except ServiceError as error:
                logger.warning("Cannot fetch a new token: %s", error)
                return False
            if fetched is None:
                return False
            self._held = fetched
            return True

    def _current(self) -> _Held:
        held = self._held
        if held is not None and not (self._settings.is_refreshed and held.is_old(time.monotonic())):
            return held
        with self._lock:
            if self._held is not held and self._held is not None:
                return self._held
            self._held = self._first() if held is None else self._next(held)
            return self._held

    def _first(self) -> _Held:
        s = self._settings
        if s.subject is not None:
            actor = s.token or (self._by_credential().token if s.client_secret is not None else None)
            return self._exchanged(s.subject, actor)
        return self._by_credential() if s.token is None else self._given(s.token)

    def _given(self, token: str) -> _Held:
        now, s = time.monotonic(), self._settings
        remaining_s = _remaining_s(token)
        if remaining_s is None and s.client_secret is None:
            return _Held(token, now, float("inf"))  # nobody knows when it ends, and it can only be exchanged while it is good
        return _Held(token, now, now + (s.expires_in_s if remaining_s is None else remaining_s))

    def _next(self, held: _Held) -> _Held:
        """A token that is old and good still serves if no new one can be had."""
        try:
            return self._fetch(held) or held
        except ServiceError as error:
            if time.monotonic() >= held.ends_at:
                raise
            logger.warning("Cannot fetch a new token ahead of its end: %s", error)
            return held

    def _fetch(self, held: _Held | None) -> _Held | None:
        if self._settings.client_secret is not None:
            return self._by_credential()
        if held is not None and self._settings.may_exchange and self._settings.is_refreshed:
            return self._exchanged((_ACCESS_TOKEN, held.token), None, auth=BearerAuth(held.token))
        return None

    def _by_credential(self) -> _Held:
        s = self._settings
        form = {"grant_type": "client_credentials", "client_secret": s.client_secret or "", "scope": s.scope, **s.optional}
        if s.client_id is not None:
            form["client_id"] = s.client_id
        return self._ask(form, NoAuth())

    def _exchanged(self, subject: tuple[str, str], actor: str | None, auth: Auth | None = None) -> _Held:
        s = self._settings
        form = {"grant_type": _EXCHANGE, "subject_token": subject[1], "subject_token_type": subject[0], "scope": s.scope, **s.optional}
        if actor is not None:
            form |= {"actor_token": actor, "actor_token_type": _ACCESS_TOKEN}
        return self._ask(form, auth or (NoAuth() if actor is None else BearerAuth(actor)))

    def _ask(self, form: Mapping[str, str], auth: Auth) -> _Held:
        from icesql.catalog.rest.http import Request

        request = Request(
            "POST",
            self._settings.server,
            body=urlencode(form).encode(),
            content_type="application/x-www-form-urlencoded",
            is_repeatable=True,
        )
        asked_at = time.monotonic()
        reply = self._http.send(request, auth)
        if not reply.is_success:
            fault = fault_of(reply)
            why = self._http.secrets.hide(fault.message or fault.kind or "no reason was given")
            raise ServiceError(f"Cannot get a token from {self._settings.server}: refused ({reply.status}): {why}", status=reply.status)
        return self._read(reply.object(), asked_at)

    def _read(self, node: dict[str, Any], asked_at: float) -> _Held:
        token = node.get("access_token")
        if not isinstance(token, str) or not token:
            raise BadReplyError(f"Cannot get a token from {self._settings.server}: the reply holds none")
        self._http.secrets.add(token)
        lifetime = node.get("expires_in")
        known_s = float(lifetime) if isinstance(lifetime, int | float) and not isinstance(lifetime, bool) else _remaining_s(token)
        return _Held(token, asked_at, asked_at + (self._settings.expires_in_s if known_s is None else known_s))


def _remaining_s(token: str) -> float | None:
    """How long a JWT is good, by its ``exp``; ``None`` for what is no JWT or has none. Its signature is the server's to check."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"]) - time.time()
    except (ValueError, KeyError, TypeError):
        return None
