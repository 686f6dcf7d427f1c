"""Credentials that the server vends for a table's files, by prefix of location, renewed before they end. Spec: ``StorageCredential``."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icesql.catalog.names import Identifier, dotted
from icesql.catalog.rest.replies import BadReplyError
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.secrets import Secrets
from icesql.io.storage.file_systems import load_file_io
from icesql.io.storage.files import FileIO

if TYPE_CHECKING:
    from icesql.catalog.rest.server import Server

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


def credentials_of(nodes: Sequence[Any], secrets: Secrets) -> tuple[Credential, ...]:
    """Longest prefix first. Raises BadReplyError."""
    by_prefix = []
    for node in nodes:
        prefix, config = (node.get("prefix"), node.get("config")) if isinstance(node, dict) else (None, None)
        if not isinstance(prefix, str) or not isinstance(config, dict):
            raise BadReplyError("Cannot read storage credentials of the server: prefix or config is missing")
        texts = {str(key): str(value) for key, value in config.items() if value is not None}
        secrets.add(*texts.values())
        by_prefix.append(Credential(prefix, texts, expiry_of(texts)))
    return tuple(sorted(by_prefix, key=lambda one: -len(one.prefix)))


def expiry_of(config: Mapping[str, str]) -> float | None:
    """The earliest time that a setting names, in seconds since the epoch."""
    named = [value for key, value in config.items() if key in _EXPIRY or key.startswith("adls.sas-token-expires-at-ms")]
    numbers = [int(value) / 1000 for value in named if value.strip().isdecimal()]
    return min(numbers, default=None)


def file_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Those of a catalog's settings that open files; what opens the catalog itself does not go to tasks."""
    return {key: value for key, value in properties.items() if key.startswith(_FILE_KEYS)}


def table_io(
    base: FileIO, server: Server, identifier: Identifier, config: Mapping[str, str], credentials: tuple[Credential, ...]
) -> FileIO:
    """The table's file system: the catalog's own, unless the server gives settings or credentials for this table."""
    own = file_properties(config)
    if not own and not credentials:
        return base
    properties = {**file_properties(server.offer.properties), **own}
    if not credentials and expiry_of(own) is None:
        return load_file_io(properties)
    from icesql.catalog.rest.vended_io import VendedFileIO

    held = credentials or (Credential("", own, expiry_of(own)),)
    return VendedFileIO(properties, held, Renewal(server, identifier))


class Renewal:
    """Asks the server for new credentials. Belongs to the process that has the catalog: in a task there is none."""

    def __init__(self, server: Server, identifier: Identifier) -> None:
        self._server, self._identifier = server, identifier
        self._lock = threading.Lock()

    def renewed(self, held: tuple[Credential, ...]) -> tuple[Credential, ...]:
        """New ones, or those held where the server has none to give and they are still good. Raises ServiceError."""
        doing = f"renew storage credentials of table {dotted(self._identifier)}"
        with self._lock:
            route = Route.LOAD_CREDENTIALS if self._server.offer.has(Route.LOAD_CREDENTIALS) else Route.LOAD_TABLE
            reply = self._server.ask(route, doing, namespace=self._identifier[:-1], names={"table": self._identifier[-1]})
        node = reply.object()
        listed = node.get("storage-credentials") or []
        if listed:
            return credentials_of(listed, self._server.secrets)
        config = {str(key): str(value) for key, value in (node.get("config") or {}).items()}
        own = file_properties(config)
        self._server.secrets.add_all(own)
        ends_at_s = expiry_of(own)
        if own and ends_at_s is not None and ends_at_s > time.time():
            return (Credential("", own, ends_at_s),)
        logger.warning("Cannot %s: the server gives none", doing)
        return held
