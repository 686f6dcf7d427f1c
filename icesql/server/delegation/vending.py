"""Credentials for a table's folders: a session of a role that may reach nothing else, or settings that are handed out as they are."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from icesql.errors import ServiceError, UnsupportedError
from icesql.io.lru import LruCache
from icesql.server.access.privileges import Privilege
from icesql.server.delegation.places import TablePlaces
from icesql.server.delegation.settings import StorageSettings, StsSettings
from icesql.table.remote_scan.storage_credential import StorageCredential

_KEPT_FOR = 0.5  # of their lifetime, before a client is given others
_READ = ("s3:GetObject", "s3:GetObjectVersion")
_WRITE = ("s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")


@dataclass(frozen=True, slots=True)
class _Session:
    config: Mapping[str, str]
    until_s: float


class Vending:
    """Of one catalog. Thread safe."""

    def __init__(self, settings: StorageSettings) -> None:
        self._settings = settings
        self._sessions: LruCache[str, _Session] = LruCache(10_000)
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def is_offered(self) -> bool:
        return self._settings.sts is not None or self._settings.static is not None

    def credentials(self, places: TablePlaces, privilege: Privilege, principal: str) -> tuple[StorageCredential, ...]:
        """One for each folder of the table; none where there are none for who asks."""
        static = self._settings.static
        if static is not None:
            if privilege < Privilege[static.privilege.upper()]:
                return ()
            return tuple(StorageCredential(prefix=folder, config=static.config) for folder in places.spelled)
        if self._settings.sts is None:
            return ()
        held = zip(places.folders, places.spelled, strict=True)
        folders = {folder: spelled for folder, spelled in held if folder.startswith("s3://")}
        if not folders:
            return ()
        config = self._session(self._settings.sts, policy(list(folders), places.metadata, privilege), principal)
        return tuple(StorageCredential(prefix=spelled, config=config) for spelled in folders.values())

    def _session(self, sts: StsSettings, text: str, principal: str) -> Mapping[str, str]:
        key = f"{principal}\0{text}"
        with self._lock:
            kept = self._sessions.find(key)
        if kept is not None and kept.until_s > time.time():
            return kept.config
        asked: dict[str, Any] = {
            "RoleArn": sts.role_arn,
            "RoleSessionName": re.sub(r"[^\w+=,.@-]", "-", principal)[:64].ljust(2, "-"),
            "Policy": text,
            "DurationSeconds": sts.duration_seconds,
        }
        if sts.external_id is not None:
            asked["ExternalId"] = sts.external_id
        answer = self._assumed(sts, asked)["Credentials"]
        ends_s = answer["Expiration"].timestamp()
        config = {
            "s3.access-key-id": answer["AccessKeyId"],
            "s3.secret-access-key": answer["SecretAccessKey"],
            "s3.session-token": answer["SessionToken"],
            "s3.session-token-expires-at-ms": str(int(ends_s * 1000)),
        }
        with self._lock:
            self._sessions.put(key, _Session(config, time.time() + (ends_s - time.time()) * _KEPT_FOR))
        return config

    def _assumed(self, sts: StsSettings, asked: Mapping[str, Any]) -> Any:
        """Raises ServiceError, which says no more than AWS's code: clients read it."""
        client = self._sts(sts)
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return client.assume_role(**asked)
        except ClientError as error:
            raise ServiceError(f"Cannot vend credentials: the role was not assumed: {error.response['Error']['Code']}") from error
        except BotoCoreError as error:
            raise ServiceError(f"Cannot vend credentials: the role was not assumed: {type(error).__name__}") from error

    def _sts(self, sts: StsSettings) -> Any:
        if self._client is None:
            try:
                import boto3
            except ImportError:
                raise UnsupportedError("Cannot vend credentials: package boto3 is missing: pip install 'icesql[aws]'") from None
            self._client = boto3.client("sts", endpoint_url=sts.endpoint, region_name=sts.region)
        return self._client


def policy(folders: list[str], metadata: str, privilege: Privilege) -> str:
    """A session policy: what the privilege lets do in these folders, and nothing else anywhere."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(_statements(folders, metadata, privilege))}, separators=(",", ":"))


def _statements(folders: list[str], metadata: str, privilege: Privilege) -> Iterator[dict[str, Any]]:
    everything = [f"{_arn(folder)}/*" for folder in folders]
    actions = [*_READ]
    if privilege >= Privilege.INSERT:
        actions += _WRITE
    if privilege >= Privilege.MODIFY:
        actions.append("s3:DeleteObject")
    yield {"Effect": "Allow", "Action": actions, "Resource": everything}
    if Privilege.INSERT <= privilege < Privilege.ADMIN:
        yield {"Effect": "Deny", "Action": [*_WRITE, "s3:DeleteObject"], "Resource": [f"{_arn(metadata)}/*"]}
    for folder in folders:
        bucket, _, key = folder.removeprefix("s3://").partition("/")
        condition = {"StringLike": {"s3:prefix": [f"{_literal(key)}/*"]}}
        yield {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [f"arn:aws:s3:::{bucket}"], "Condition": condition}


def _arn(folder: str) -> str:
    return f"arn:aws:s3:::{_literal(folder.removeprefix('s3://'))}"


def _literal(text: str) -> str:
    """With what policies take for a pattern as itself."""
    return text.replace("$", "${$}").replace("*", "${*}").replace("?", "${?}")
