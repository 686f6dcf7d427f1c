"""Requests to S3 that the catalog's server signs: ``s3.remote-signing-enabled``. Spec: ``RemoteSignRequest``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from icesql.catalog.names import Identifier
from icesql.catalog.rest import keys
from icesql.catalog.rest.auth import Auth, secrets_of
from icesql.catalog.rest.http import Http, HttpSettings, Request
from icesql.catalog.rest.replies import BadReplyError, Reply, error_for, fault_of
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.secrets import Secrets
from icesql.io.lru import LruCache
from icesql.io.stores.signing import SignedRequest, UnsignedRequest

if TYPE_CHECKING:
    from icesql.catalog.rest.server import Server

_KEPT_S = 30.0
_KEPT_MOST = 1_000
_OLD_ENDPOINT = "v1/aws/s3/sign"  # of servers that tell none


class RemoteSigner:
    """Implements ``RequestSigner``: thread safe and picklable. In a task it asks with the token that was good when the task was made."""

    def __init__(
        self, address: str, settings: HttpSettings, headers: Mapping[str, str], auth: Auth, secrets: Secrets | None = None
    ) -> None:
        self._address, self._settings, self._headers, self._auth = address, settings, dict(headers), auth
        self._http = Http(settings, headers, secrets or secrets_of(auth, headers))
        self._kept: LruCache[tuple[str, str, str], tuple[float, SignedRequest]] = LruCache(_KEPT_MOST)

    @staticmethod
    def of(server: Server, identifier: Identifier, properties: Mapping[str, str]) -> RemoteSigner:
        """The signer that the settings of a table name. Java: ``signer.uri``, ``signer.endpoint``; before 1.11 with ``s3.`` before them."""
        offer = server.offer
        base = (properties.get(keys.SIGNER_URI) or properties.get(keys.S3_SIGNER_URI) or server.uri).rstrip("/")
        endpoint = properties.get(keys.SIGNER_ENDPOINT) or properties.get(keys.S3_SIGNER_ENDPOINT)
        if endpoint is None and offer.has(Route.SIGN):
            endpoint = offer.addresses.of(Route.SIGN, namespace=offer.addresses.namespace(identifier[:-1]), table=identifier[-1])
        endpoint = endpoint or _OLD_ENDPOINT
        address = endpoint if "://" in endpoint else f"{base}/{endpoint.lstrip('/')}"
        return RemoteSigner(address, server.http_settings, server.http_headers, server.auth_of(identifier), server.secrets)

    def __repr__(self) -> str:
        return f"RemoteSigner({self._address!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (RemoteSigner, (self._address, self._settings, self._headers, self._auth.for_tasks()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteSigner) and (self._address, self._auth) == (other._address, other._auth)

    def __hash__(self) -> int:
        return hash(self._address)

    def signed(self, request: UnsignedRequest, *, anew: bool = False) -> SignedRequest:
        """Signatures are kept for half a minute where the server allows it (``Cache-Control: private``). Raises IcesqlError."""
        key = (request.verb, request.region, request.url)
        is_plain = request.verb in ("GET", "HEAD")
        if is_plain and not anew:
            kept = self._kept.find(key)
            if kept is not None and kept[0] > time.monotonic():
                return kept[1]
        reply = self._ask(request)
        signed = self._read(reply)
        if is_plain and reply.headers.get("cache-control", "").strip().lower() == "private":
            self._kept.put(key, (time.monotonic() + _KEPT_S, signed))
        return signed

    def _ask(self, request: UnsignedRequest) -> Reply:
        node: dict[str, Any] = {
            "region": request.region,
            "uri": request.url,
            "method": request.verb,
            "headers": {key: [value] for key, value in request.headers.items()},
            "properties": {},
            "provider": "s3",
        }
        if request.body is not None:
            node["body"] = request.body
        body = msgspec.json.encode(node)
        reply = self._http.send(Request("POST", self._address, body=body, is_repeatable=True), self._auth)
        if not reply.is_success:
            error = error_for(fault_of(reply), f"sign {request.verb} {request.url.partition('?')[0]}")
            error.message = self._http.secrets.hide(error.message)
            error.args = (error.message,)
            raise error
        return reply

    @staticmethod
    def _read(reply: Reply) -> SignedRequest:
        node = reply.object()
        uri, headers = node.get("uri"), node.get("headers")
        if not isinstance(uri, str) or not isinstance(headers, dict):
            raise BadReplyError("Cannot sign request: the reply of the server has no uri and headers")
        joined = {str(key): ",".join(map(str, values)) if isinstance(values, list) else str(values) for key, values in headers.items()}
        return SignedRequest(uri, joined)
