"""Credentials that the server vends for a table's files, by prefix of location, renewed before they end. Spec: ``StorageCredential``."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from icesql.catalog.names import Identifier, dotted
from icesql.catalog.rest import keys
from icesql.catalog.rest.replies import BadReplyError, error_for, fault_of
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.secrets import Secrets
from icesql.io.storage.file_systems import load_file_io
from icesql.io.storage.files import FileIO

if TYPE_CHECKING:
    from icesql.catalog.rest.auth import Auth
    from icesql.catalog.rest.http import Http, HttpSettings
    from icesql.catalog.rest.server import Server
    from icesql.table.scan.planning import ScanPlanner

logger = logging.getLogger(__name__)

_FILE_KEYS = ("s3.", "gcs.", "adls.", "hdfs.", "hadoop.", "client.", "io.", "oss.", "ecs.")
_EXPIRY = (
    "s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at", "expiration-time", "adls.sas-token-expires-at-ms",
)  # fmt: skip
_MARGIN_S = 300.0


@dataclass(frozen=True, slots=True)
class Credential:
    """Settings for the files below ``prefix``. ``ends_at_s``: seconds since the epoch, ``None`` where the server does not say."""

    prefix: str
    config: Mapping[str, str] = field(repr=False)
    ends_at_s: float | None = None

    def is_old(self, now_s: float) -> bool:
        return self.ends_at_s is not None and now_s >= self.ends_at_s - _MARGIN_S

    def has_ended(self, now_s: float) -> bool:
        return self.ends_at_s is not None and now_s >= self.ends_at_s


def credentials_of(nodes: Sequence[Any], secrets: Secrets) -> tuple[Credential, ...]:
    """Longest prefix first. Raises BadReplyError."""
    by_prefix = []
    for node in nodes:
        prefix, config = (node.get("prefix"), node.get("config")) if isinstance(node, dict) else (None, None)
        if not isinstance(prefix, str) or not isinstance(config, dict):
            raise BadReplyError("Cannot read storage credentials of the server: prefix or config is missing")
        by_prefix.append(credential_of(prefix, {str(key): str(value) for key, value in config.items() if value is not None}, secrets))
    return longest_first(by_prefix)


def credential_of(prefix: str, config: Mapping[str, str], secrets: Secrets) -> Credential:
    secrets.add(*config.values())
    return Credential(prefix, dict(config), expiry_of(config))


def longest_first(credentials: Iterable[Credential]) -> tuple[Credential, ...]:
    return tuple(sorted(credentials, key=lambda one: -len(one.prefix)))


def expiry_of(config: Mapping[str, str]) -> float | None:
    """The earliest time that a setting names, in seconds since the epoch."""
    named = [value for key, value in config.items() if key in _EXPIRY or key.startswith("adls.sas-token-expires-at-ms")]
    numbers = [int(value) / 1000 for value in named if value.strip().isdecimal()]
    return min(numbers, default=None)


def file_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Those of a catalog's settings that open files; what opens the catalog itself does not go to tasks."""
    return {key: value for key, value in properties.items() if key.startswith(_FILE_KEYS)}


def table_io(
    base: FileIO,
    server: Server,
    identifier: Identifier,
    config: Mapping[str, str],
    credentials: tuple[Credential, ...],
    planner: ScanPlanner | None = None,
) -> FileIO:
    """The table's file system: the catalog's own, unless the server gives settings, credentials or signatures for this table, or plans
    its scans."""
    from icesql.catalog.rest.signing import RemoteSigner

    own, offered = file_properties(config), server.offer.properties
    properties = {**file_properties(offered), **own}
    signs = any(is_signed({**properties, **one.config}) for one in credentials) or is_signed(properties)
    if not own and not credentials and not signs and planner is None:
        return base
    signer = RemoteSigner.of(server, identifier, {**offered, **config}) if signs else None
    if not credentials and expiry_of(own) is None and planner is None:
        return load_file_io(properties, signer=signer)
    from icesql.catalog.rest.vended_io import VendedFileIO

    held = credentials or (Credential("", own, expiry_of(own)),)
    return VendedFileIO(properties, held, Renewal.of(server, identifier), signer, planner)


def is_signed(properties: Mapping[str, str]) -> bool:
    """Whether requests to S3 are to be signed by the server."""
    return properties.get(keys.REMOTE_SIGNING_ENABLED, "false").strip().lower() == "true"


class Renewal:
    """Asks the server for new credentials. Picklable: in a task it asks with the token that was good when the task was made."""

    def __init__(self, address: str, name: str, settings: HttpSettings, headers: Mapping[str, str], auth: Callable[[], Auth]) -> None:
        self._address, self._name, self._settings, self._headers, self._auth = address, name, settings, dict(headers), auth
        self._lock, self.secrets = threading.Lock(), Secrets()
        self._http: Http | None = None
        self.plan_id: str | None = None
        """Of the plan whose credentials are held."""

    @staticmethod
    def of(server: Server, identifier: Identifier) -> Renewal:
        offer = server.offer
        route = Route.LOAD_CREDENTIALS if offer.has(Route.LOAD_CREDENTIALS) else Route.LOAD_TABLE
        address = offer.addresses.of(route, namespace=offer.addresses.namespace(identifier[:-1]), table=identifier[-1])
        renewal = Renewal(address, dotted(identifier), server.http_settings, server.http_headers, lambda: server.auth_of(identifier))
        renewal.secrets, renewal._http = server.secrets, server.http
        return renewal

    def __repr__(self) -> str:
        return f"Renewal({self._name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_renewal_in_task, (self._address, self._name, self._settings, self._headers, self._auth().for_tasks(), self.plan_id))

    def renewed(self, held: tuple[Credential, ...]) -> tuple[Credential, ...]:
        """New ones, or those held where the server has none to give and they are still good. Raises ServiceError."""
        from icesql.catalog.rest.http import Http, Request

        doing = f"renew storage credentials of table {self._name}"
        params = {} if self.plan_id is None else {"planId": self.plan_id}
        with self._lock:
            http = self._http = self._http or Http(self._settings, self._headers, self.secrets)
            reply = http.send(Request("GET", self._address, params=params, is_repeatable=True), self._auth())
        if not reply.is_success:
            fault = fault_of(reply)
            raise error_for(replace(fault, message=self.secrets.hide(fault.message)), doing)
        node = reply.object()
        listed = node.get("storage-credentials") or []
        if listed:
            return credentials_of(listed, self.secrets)
        config = {str(key): str(value) for key, value in (node.get("config") or {}).items()}
        own = file_properties(config)
        self.secrets.add_all(own)
        ends_at_s = expiry_of(own)
        if own and ends_at_s is not None and ends_at_s > time.time():
            return (Credential("", own, ends_at_s),)
        logger.warning("Cannot %s: the server gives none", doing)
        return held


def _renewal_in_task(
    address: str, name: str, settings: HttpSettings, headers: Mapping[str, str], auth: Auth, plan_id: str | None
) -> Renewal:
    from icesql.catalog.rest.auth import secrets_of

    renewal = Renewal(address, name, settings, headers, lambda: auth)
    renewal.plan_id, renewal.secrets = plan_id, secrets_of(auth, headers)
    return renewal
