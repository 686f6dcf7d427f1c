"""AWS signatures of requests (SigV4), as Glue and S3 Tables want them. botocore signs; the extra ``glue`` brings it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.catalog.rest import keys
from icesql.catalog.rest.auth import Auth
from icesql.catalog.rest.secrets import Secrets
from icesql.errors import InvalidArgumentError, ServiceError, UnsupportedError

if TYPE_CHECKING:
    import httpx

_SERVICE = "execute-api"


def sigv4(properties: Mapping[str, str], delegate: Auth, secrets: Secrets) -> SigV4:
    """Credentials from the settings, else from where AWS clients look for them. Raises UnsupportedError, InvalidArgumentError."""
    try:
        from botocore.credentials import Credentials
        from botocore.session import Session
    except ImportError:
        raise UnsupportedError("Cannot sign requests for AWS: package botocore is missing: pip install 'icesql[glue]'") from None
    session = Session(profile=properties.get("client.profile-name"))
    region = properties.get(keys.SIGNING_REGION) or properties.get("client.region") or session.get_config_variable("region")
    if not region:
        raise InvalidArgumentError(f"Cannot sign requests for AWS: no region is known: set {keys.SIGNING_REGION}")
    access, secret = (
        _first(properties, keys.ACCESS_KEY_ID, "client.access-key-id"),
        _first(properties, keys.SECRET_ACCESS_KEY, "client.secret-access-key"),
    )
    token = _first(properties, keys.SESSION_TOKEN, "client.session-token")
    secrets.add(access, secret, token)
    credentials = Credentials(access, secret, token) if access and secret else session.get_credentials()
    if credentials is None:
        raise InvalidArgumentError(
            f"Cannot sign requests for AWS: there are no credentials: set {keys.ACCESS_KEY_ID} and {keys.SECRET_ACCESS_KEY}"
        )
    return SigV4(credentials, region, properties.get(keys.SIGNING_NAME, _SERVICE), delegate, secrets)


def _first(properties: Mapping[str, str], *names: str) -> str | None:
    return next((properties[name] for name in names if properties.get(name)), None)


class SigV4:
    """Signs what the delegate has signed; its ``Authorization`` goes on as ``Original-Authorization``, as Java sends it."""

    def __init__(self, credentials: Any, region: str, service: str, delegate: Auth, secrets: Secrets) -> None:
        self._credentials, self._region, self._service = credentials, region, service
        self._delegate, self._secrets = delegate, secrets

    def __repr__(self) -> str:
        return f"SigV4({self._service}, {self._region})"

    def sign(self, request: httpx.Request) -> None:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        self._delegate.sign(request)
        if "Authorization" in request.headers:
            request.headers["Original-Authorization"] = request.headers.pop("Authorization")
        signed = {
            key: value for key, value in request.headers.items() if key.lower() not in ("connection", "accept-encoding", "user-agent")
        }
        aws = AWSRequest(method=request.method, url=str(request.url), data=request.content, headers=signed)
        try:
            frozen = self._credentials.get_frozen_credentials()
            self._secrets.add(frozen.access_key, frozen.secret_key, frozen.token)
            SigV4Auth(frozen, self._service, self._region).add_auth(aws)
        except BotoCoreError as error:
            raise ServiceError(f"Cannot sign request for AWS: {self._secrets.hide(str(error))}") from None
        for key, value in aws.headers.items():
            request.headers[key] = value

    def renew(self) -> bool:
        return self._delegate.renew()

    def for_tasks(self) -> Auth:
        raise UnsupportedError("Cannot ask the catalog from a task: requests to it are signed with keys of AWS, which stay here")
