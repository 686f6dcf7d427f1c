"""How a client says who it is: ``rest.auth.type`` as Iceberg names it, and PyIceberg's ``auth.type``.

none      nothing
basic     rest.auth.basic.username, rest.auth.basic.password
oauth2    token, or credential with an OAuth2 server      (icesql.catalog.rest.oauth2)
sigv4     AWS signatures, around another of these         (icesql.catalog.rest.sigv4)
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from icesql.catalog.rest import keys
from icesql.catalog.rest.secrets import Secrets
from icesql.errors import InvalidArgumentError, UnsupportedError, nearest

if TYPE_CHECKING:
    import httpx

    from icesql.catalog.rest.http import Http

TYPES = ("none", "basic", "oauth2", "sigv4")
_PYICEBERG = {"noop": "none", "basic": "basic", "oauth2": "oauth2", "legacyoauth2": "oauth2", "google": "google", "entra": "entra"}


class Auth(Protocol):
    """Thread safe."""

    def sign(self, request: httpx.Request) -> None:
        """Add to a request what shows who sends it. May fetch a token. Raises ServiceError."""

    def renew(self) -> bool:
        """The server refused what ``sign`` added; whether there may be something better now."""

    def for_tasks(self) -> Auth:
        """What shows a task, far from here, to be let in: a token that is good now, never what new ones are got with where that differs.

        Raises UnsupportedError where nothing can be handed on.
        """


class NoAuth:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoAuth)

    def __hash__(self) -> int:
        return 0

    def sign(self, request: httpx.Request) -> None:
        pass

    def renew(self) -> bool:
        return False

    def for_tasks(self) -> Auth:
        return self


class _FixedAuth:
    """One header that never changes."""

    _value: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and getattr(other, "_value", None) == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def renew(self) -> bool:
        return False

    def for_tasks(self) -> Auth:
        return self  # type: ignore[return-value]


class BasicAuth(_FixedAuth):
    def __init__(self, username: str, password: str) -> None:
        self._value = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()

    def sign(self, request: httpx.Request) -> None:
        request.headers.setdefault("Authorization", self._value)


class BearerAuth(_FixedAuth):
    """A token that nobody renews."""

    def __init__(self, token: str) -> None:
        self._value = f"Bearer {token}"

    def sign(self, request: httpx.Request) -> None:
        request.headers["Authorization"] = self._value


def secrets_of(auth: Auth, headers: Mapping[str, str]) -> Secrets:
    """What must not be seen of requests with these headers, in a process that knows nothing else."""
    secrets = Secrets()
    secrets.add_all(headers)
    if isinstance(auth, _FixedAuth):
        secrets.add(auth._value.partition(" ")[2])
    return secrets


def auth_type(properties: Mapping[str, str]) -> str:
    """One of ``TYPES``: what is configured, else what the other settings mean. Raises InvalidArgumentError, UnsupportedError."""
    given = properties.get(keys.AUTH_TYPE)
    if given is None and "auth.type" in properties:
        given = _PYICEBERG.get(properties["auth.type"].lower(), properties["auth.type"])
    if given is None:
        if keys.flag(properties, keys.SIGV4_ENABLED, default=False):
            return "sigv4"
        return "oauth2" if keys.TOKEN in properties or keys.CREDENTIAL in properties else "none"
    kind = given.lower()
    if kind in TYPES:
        return kind
    if kind in ("google", "entra", "custom") or "." in given:
        raise UnsupportedError(f"Cannot open catalog: unsupported {keys.AUTH_TYPE}: {given}. Supported: {', '.join(TYPES)}")
    raise InvalidArgumentError(f"Cannot open catalog: unknown {keys.AUTH_TYPE}: {given}.{nearest(given, TYPES)}")


def load_auth(properties: Mapping[str, str], http: Http, kind: str | None = None) -> Auth:
    """Raises InvalidArgumentError where a setting is missing, UnsupportedError for types that need what is not installed."""
    match kind or auth_type(properties):
        case "basic":
            username = properties.get(keys.BASIC_USERNAME, properties.get("auth.basic.username"))
            password = properties.get(keys.BASIC_PASSWORD, properties.get("auth.basic.password"))
            if username is None or password is None:
                raise InvalidArgumentError(
                    f"Cannot open catalog: basic authentication needs {keys.BASIC_USERNAME} and {keys.BASIC_PASSWORD}"
                )
            basic = BasicAuth(username, password)
            http.secrets.add(password, basic._value.partition(" ")[2])
            return basic
        case "oauth2":
            from icesql.catalog.rest.oauth2 import oauth2

            return oauth2(properties, http)
        case "sigv4":
            from icesql.catalog.rest.sigv4 import sigv4

            delegate = properties.get(keys.SIGV4_DELEGATE)
            if delegate is None:
                delegate = "oauth2" if keys.TOKEN in properties or keys.CREDENTIAL in properties else "none"
            if delegate.lower() == "sigv4":
                raise InvalidArgumentError(f"Cannot open catalog: {keys.SIGV4_DELEGATE} cannot be sigv4 itself")
            return sigv4(properties, load_auth(properties, http, delegate.lower()), http.secrets)
        case _:
            return NoAuth()
