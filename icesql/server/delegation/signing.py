"""Signatures of requests to S3 with the catalog's own keys. botocore signs; the extra ``aws`` brings it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from icesql.errors import UnsupportedError

_REGION = re.compile(r"[a-z0-9-]{1,40}")
_SIGNED = ("host", "content-type", "content-md5", "if-none-match")
_PAYLOAD = "x-amz-content-sha256"
_HASHES = re.compile(r"[0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER")
_NEVER = frozenset({"authorization", "x-amz-date", "x-amz-security-token", "date"})

Headers = dict[str, list[str]]


class S3Signer:
    """Of one catalog. Raises UnsupportedError where botocore is missing or there are no keys."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        try:
            import botocore.auth  # noqa: F401
        except ImportError:
            raise UnsupportedError("Cannot sign requests to S3: package botocore is missing: pip install 'icesql[aws]'") from None
        self._properties = dict(properties)
        self.region = properties.get("client.region") or properties.get("s3.region")
        self._session: Any = None

    def _credentials(self) -> Any:
        from botocore.credentials import Credentials

        key, secret = self._properties.get("s3.access-key-id"), self._properties.get("s3.secret-access-key")
        if key and secret:
            return Credentials(key, secret, self._properties.get("s3.session-token"))
        if self._session is None:
            import botocore.session

            self._session = botocore.session.get_session()
        found = self._session.get_credentials()
        if found is None:
            raise UnsupportedError("Cannot sign requests to S3: the server has no keys")
        return found.get_frozen_credentials()

    def signed(self, method: str, uri: str, region: str, headers: Mapping[str, Sequence[str]], body: str | None) -> Headers:
        """All headers to send. A body that was looked at is part of the signature."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest

        given = {name.lower(): list(values) for name, values in headers.items() if name.lower() not in _NEVER}
        payload = hashlib.sha256(body.encode()).hexdigest() if body else next(iter(given.get(_PAYLOAD, ())), "UNSIGNED-PAYLOAD")
        if not _HASHES.fullmatch(payload):
            payload = "UNSIGNED-PAYLOAD"
        given[_PAYLOAD] = [payload]
        request = AWSRequest(method=method, url=uri)
        for name, values in given.items():
            if name in _SIGNED or name.startswith("x-amz-"):
                request.headers[name] = ",".join(values)

        class _Auth(S3SigV4Auth):  # type: ignore[misc]
            def payload(self, request: Any) -> str:
                return payload

        wanted = self.region or (region if _REGION.fullmatch(region) else "us-east-1")
        _Auth(self._credentials(), "s3", wanted).add_auth(request)
        found = {name.lower(): [value] for name, value in request.headers.items()}
        return {**{name: values for name, values in given.items() if name not in found}, **found}
