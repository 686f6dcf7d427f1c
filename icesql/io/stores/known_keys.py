"""Iceberg's FileIO keys: those that are served, those that only tune another client, and those that ask for what is not served."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

_PREFIXES = ("s3.", "client.", "gcs.", "gcp.", "adls.", "http-client.")

_SERVED = frozenset(
    {
        "s3.endpoint", "s3.region", "s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms",
        "s3.path-style-access", "s3.force-virtual-addressing", "s3.anonymous", "s3.profile-name", "s3.role-arn", "s3.role-session-name",
        "s3.sse.type", "s3.sse.key", "s3.sse.md5", "s3.acl", "s3.checksum-enabled", "s3.delete-enabled", "s3.delete.batch-size",
        "s3.multipart.part-size-bytes", "s3.multipart.num-threads", "s3.retry.num-retries", "s3.retry.min-wait-ms", "s3.retry.max-wait-ms",
        "s3.write.storage-class", "s3.proxy-uri", "s3.connect-timeout", "s3.request-timeout", "s3.remote-signing-enabled",
        "s3.signer.uri", "s3.signer.endpoint",
        "client.region", "client.access-key-id", "client.secret-access-key", "client.session-token", "client.profile-name",
        "client.role-arn", "client.role-session-name", "client.credentials-provider", "client.factory", "client.assume-role.arn",
        "client.assume-role.external-id", "client.assume-role.session-name", "client.assume-role.timeout-sec", "client.assume-role.region",
        "http-client.proxy-endpoint", "http-client.apache.connection-timeout-ms", "http-client.apache.socket-timeout-ms",
        "http-client.urlconnection.connection-timeout-ms", "http-client.urlconnection.socket-timeout-ms",
        "gcs.project-id", "gcs.service.host", "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.no-auth", "gcs.endpoint",
        "adls.auth.shared-key.account.name", "adls.auth.shared-key.account.key", "adls.account-name", "adls.account-key", "adls.sas-token",
        "adls.connection-string", "adls.tenant-id", "adls.client-id", "adls.client-secret", "adls.token", "adls.anonymous",
    }
)  # fmt: skip
_SERVED_PREFIXES = (
    "s3.write.tags.",
    "adls.sas-token.",
    "adls.sas-token-expires-at-ms.",
    "adls.connection-string.",
    "client.assume-role.tags.",
)
_TUNING = frozenset(
    {
        "s3.staging-dir", "s3.preload-client-enabled", "s3.read.num-threads", "s3.delete.num-threads", "s3.multipart.threshold",
        "s3.multipart.num-threads", "s3.client-factory-impl", "s3.chunked-encoding-enabled", "s3.crt.enabled", "s3.crt.max-concurrency",
        "s3.duplicate-bucket-objects-enabled", "s3.resolve-region", "client.refresh-credentials-enabled",
        "client.refresh-credentials-endpoint", "gcs.channel.read.chunk-size-bytes", "gcs.channel.write.chunk-size-bytes",
        "gcs.delete.batch-size", "gcs.client-lib-token", "gcs.oauth2.refresh-credentials-endpoint",
        "gcs.oauth2.refresh-credentials-enabled", "gcs.analytics-core.enabled", "adls.read.block-size-bytes",
        "adls.write.block-size-bytes", "adls.refresh-credentials-endpoint", "adls.refresh-credentials-enabled", "http-client.type",
    }
)  # fmt: skip
_TUNING_PREFIXES = ("s3.analytics-accelerator.", "http-client.apache.", "http-client.urlconnection.", "http-client.crt.")

_told: set[str] = set()


def unserved_keys(properties: Mapping[str, str]) -> list[str]:
    """Keys of object stores that have no effect here, in order. Keys that only tune another client are not among them."""
    return sorted(key for key in properties if key.startswith(_PREFIXES) and not _is_known(key))


def _is_known(key: str) -> bool:
    return key in _SERVED or key in _TUNING or key.startswith(_SERVED_PREFIXES) or key.startswith(_TUNING_PREFIXES)


def tell_of_unserved(properties: Mapping[str, str]) -> None:
    """Warn of the keys that have no effect, once a process each."""
    _tell(unserved_keys(properties))


def _tell(keys: Iterable[str]) -> None:
    new = [key for key in keys if key not in _told]
    if new:
        _told.update(new)
        warnings.warn(f"These settings of object stores have no effect here: {', '.join(new)}", stacklevel=4)
