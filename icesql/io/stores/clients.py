"""Clients of object stores, one for each bucket and set of keys in a process, and the requests made through them."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.lru import LruCache
from icesql.io.stores.failures import StoreDeniedError, code_of, failure, status_of
from icesql.io.stores.requests import ObstoreRequests, StoreRequests
from icesql.io.stores.settings import Retries, StoreSettings
from icesql.io.stores.signed_requests import SignedRequestError, SignedRequests

T = TypeVar("T")

_FIRST_CONTACT = Retries(count=5, least_ms=100, most_ms=1_000, timeout_s=5)
_FIRST_READ_TIMEOUT = "8s"
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})


class ObjectClient:
    """Requests to one bucket or container. Thread safe.

    Until the store has answered once, a client gives up after a few seconds: a wrong endpoint or a missing network is not waited for as
    long as a store that is busy.
    """

    def __init__(self, settings: StoreSettings) -> None:
        self.settings = settings
        self._has_answered = False
        self.has_served = False
        """Whether the bucket and the keys have proved right: an answer of 404 without a code can then only mean the object."""
        self.creates_atomically: bool | None = None
        """Whether of several conditional puts one wins; ``None`` until it was tried."""

    @cached_property
    def _patient(self) -> StoreRequests:
        return _requests(self.settings)

    @cached_property
    def _hasty(self) -> StoreRequests:
        client = tuple((key, _FIRST_READ_TIMEOUT if key == "read_timeout" else value) for key, value in self.settings.client)
        given = self.settings.retries
        retries = replace(_FIRST_CONTACT, count=min(given.count, _FIRST_CONTACT.count))
        return _requests(replace(self.settings, client=client, retries=retries))

    def call(self, operation: str, location: str, request: Callable[[StoreRequests], T], *, is_repeatable: bool = True) -> T:
        """What ``request(store)`` gives; ``operation`` is a verb for the message. Raises NotFoundError, StoreError, UnsupportedError.

        The client library repeats what it knows to be safe. Here what got no answer is repeated, too, unless what it sends is gone: to do
        it twice is to do it once. An error of the request's own, not of the store, is raised as it is.
        """
        tries, begun = 1, time.monotonic()
        while True:
            try:
                result = request(self._patient if self._has_answered or not is_repeatable else self._hasty)
            except Exception as error:
                was_first_contact, status = not self._has_answered, status_of(error)
                self._has_answered = self._has_answered or status is not None
                again = was_first_contact and status in _TRANSIENT
                if is_without_answer(error):
                    retries = _FIRST_CONTACT if was_first_contact else self.settings.retries
                    most = min(retries.count, self.settings.retries.count)
                    again = tries <= most and time.monotonic() - begun < retries.timeout_s
                if not (again and is_repeatable):
                    raise self._failure(error, operation, location, tries, time.monotonic() - begun) from error
                time.sleep(_pause_s(self.settings.retries, tries))
                tries += 1
                continue
            self._has_answered = self.has_served = True
            return result

    def _failure(self, error: Exception, operation: str, location: str, tries: int, seconds: float) -> Exception:
        if not is_of_store(error):
            return error
        if isinstance(error, ValueError):
            return InvalidArgumentError(f"Cannot {operation} {location}: not the name of an object: {_line(error)}", location=location)
        if type(error).__name__ == "NotSupportedError":
            return UnsupportedError(f"Cannot {operation} {location}: {_line(error)}", location=location)
        tried = f"{tries} tries in {seconds:.1f} s" if tries > 1 else ""
        kind = self.settings.kind if self.settings.signer is None else "signed"
        return failure(error, kind, operation, location, self.settings.container, tried)


def is_of_store(error: BaseException) -> bool:
    """Whether an error is the client library's."""
    from obstore.exceptions import BaseError

    if isinstance(error, BaseError | SignedRequestError):
        return True
    return isinstance(error, FileNotFoundError | ValueError) and type(error) in (FileNotFoundError, ValueError)


def is_without_answer(error: BaseException) -> bool:
    """Whether a request was lost on the way there or back, once, and the library gave up at that."""
    text = str(error)
    return is_of_store(error) and status_of(error) is None and "HTTP error:" in text and " retries, " not in text


def _pause_s(retries: Retries, tries: int) -> float:
    """Longer from try to try, with jitter, so that clients that failed together do not come back together."""
    longest_ms: int = min(retries.most_ms, retries.least_ms << (tries - 1))
    return random.uniform(0.5, 1) * longest_ms / 1000


def _line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0]


_clients: LruCache[StoreSettings, ObjectClient] = LruCache(256)
_lock = threading.Lock()


def client_of(settings: StoreSettings) -> ObjectClient:
    """The process's client for these settings."""
    with _lock:
        return _clients.find_or_make(settings, lambda: ObjectClient(settings))


# -- the client library's stores -----------------------------------------------------------------------------------------


def _requests(settings: StoreSettings) -> StoreRequests:
    if settings.signer is not None:
        return SignedRequests(settings, settings.signer)
    return ObstoreRequests(_store(settings), settings)


def _store(settings: StoreSettings) -> Any:
    try:
        from obstore.store import AzureStore, GCSStore, S3Store
    except ImportError as error:
        raise UnsupportedError("Cannot open object store: the package obstore is missing: pip install obstore") from error
    _require_credentials(settings)
    retries = settings.retries
    options: dict[str, Any] = {
        "config": dict(settings.config),
        "client_options": dict(settings.client),
        "retry_config": {
            "max_retries": retries.count,
            "retry_timeout": timedelta(seconds=retries.timeout_s),
            "backoff": {
                "init_backoff": timedelta(milliseconds=retries.least_ms),
                "max_backoff": timedelta(milliseconds=max(retries.least_ms, retries.most_ms)),
                "base": 2,
            },
        },
    }
    provider = _provider(settings)
    if provider is not None:
        options["credential_provider"] = provider
    make = {"s3": S3Store, "gcs": GCSStore, "azure": AzureStore}[settings.kind]
    try:
        return make(settings.container, **options)
    except Exception as error:
        if not is_of_store(error):
            raise
        raise InvalidArgumentError(f"Cannot open store {settings.container}: {_line(error)}", container=settings.container) from error


def _provider(settings: StoreSettings) -> Any:
    """Who makes S3 keys that must be asked for: a role's, and those of a profile that holds none itself."""
    name = settings.credentials.partition(" ")[2]
    has_keys = any(key == "access_key_id" for key, _ in settings.config)
    if not settings.role and not (settings.credentials.startswith("profile ") and not has_keys):
        return None
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider, StsCredentialProvider
    except ImportError as error:
        what = "a role is assumed" if settings.role else f"AWS profile {name} is signed in"
        raise UnsupportedError(f"Cannot open store {settings.container}: {what} through boto3: pip install 'icesql[aws]'") from error
    if not settings.role:
        return Boto3CredentialProvider(boto3.Session(profile_name=name))
    role, config = dict(settings.role), dict(settings.config)
    session = boto3.Session(
        aws_access_key_id=config.get("access_key_id"),
        aws_secret_access_key=config.get("secret_access_key"),
        aws_session_token=config.get("session_token"),
        region_name=role.get("region"),
    )
    more = {"ExternalId": role["external-id"]} if "external-id" in role else {}
    return StsCredentialProvider(
        session, RoleArn=role["arn"], RoleSessionName=role["session"], DurationSeconds=int(role["seconds"]), **more
    )


_IN_ENVIRONMENT = {
    "s3": (
        "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_SKIP_SIGNATURE", "AWS_METADATA_ENDPOINT",
    ),
    "gcs": (
        "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_BEARER_TOKEN", "GOOGLE_SKIP_SIGNATURE", "GCE_METADATA_HOST", "GCE_METADATA_IP",
    ),
    "azure": (
        "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY", "AZURE_STORAGE_TOKEN",
        "AZURE_CLIENT_ID", "AZURE_STORAGE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_USE_AZURE_CLI", "AZURE_SKIP_SIGNATURE",
        "AZURE_MSI_ENDPOINT", "AZURE_IDENTITY_ENDPOINT",
    ),
}  # fmt: skip
_INSTANCE = {"s3": ("169.254.169.254", 80), "gcs": ("metadata.google.internal", 80), "azure": ("169.254.169.254", 80)}
_SET = {
    "s3": "s3.access-key-id and s3.secret-access-key, client.profile-name, AWS_ACCESS_KEY_ID in the environment, or s3.anonymous=true",
    "gcs": "gcs.oauth2.token, GOOGLE_APPLICATION_CREDENTIALS in the environment, or gcs.no-auth=true",
    "azure": "adls.auth.shared-key.account.name and .key, adls.sas-token.<account>, AZURE_STORAGE_ACCOUNT_KEY in the environment, "
    "or adls.anonymous=true",
}  # fmt: skip


def _require_credentials(settings: StoreSettings) -> None:
    """Without keys anywhere only a virtual machine of the cloud can say who asks; elsewhere the client would look for one for minutes.

    Raises StoreDeniedError.
    """
    kind = settings.kind
    if settings.credentials != "environment" or any(os.environ.get(name) for name in _IN_ENVIRONMENT[kind]):
        return
    if kind == "gcs" and (Path.home() / ".config/gcloud/application_default_credentials.json").exists():
        return
    try:
        socket.create_connection(_INSTANCE[kind], timeout=1).close()
    except OSError:
        where = f"no credentials for {settings.container}, and no cloud instance that gives any"
        raise StoreDeniedError(f"Cannot open store: {where}; set {_SET[kind]}", container=settings.container) from None


__all__ = ["ObjectClient", "client_of", "code_of", "is_of_store"]
