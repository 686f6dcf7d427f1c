"""Iceberg's keys for S3 as settings of a client. Java: ``S3FileIOProperties``, ``AwsClientProperties``; PyIceberg's names as well."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.stores.aws_profiles import profile_of, profile_region
from icesql.io.stores.settings import MIB, Retries, StoreSettings, both, first, flag, sorted_items, whole
from icesql.io.stores.signing import RequestSigner

_PROVIDERS = {
    "DefaultCredentialsProvider": None,
    "EnvironmentVariableCredentialsProvider": "environment",
    "SystemPropertyCredentialsProvider": "environment",
    "InstanceProfileCredentialsProvider": "environment",
    "ContainerCredentialsProvider": "environment",
    "WebIdentityTokenFileCredentialsProvider": "environment",
    "AnonymousCredentialsProvider": "anonymous",
    "ProfileCredentialsProvider": "profile",
}
_SSE = {"none": None, "s3": "AES256", "kms": "aws:kms", "dsse-kms": "aws:kms:dsse", "custom": "sse-c"}


def s3_settings(bucket: str, properties: Mapping[str, str], signer: RequestSigner | None = None) -> StoreSettings:
    """Raises InvalidArgumentError and UnsupportedError, before any request, for values that cannot be served."""
    credentials, config, role = _credentials(properties) if signer is None else ("catalog", {}, ())
    config |= _address(bucket, properties, credentials)
    config |= _encryption(properties)
    if flag(properties, "s3.checksum-enabled", False):
        config["checksum_algorithm"] = "SHA256"
    acl = properties.get("s3.acl")
    return StoreSettings(
        kind="s3",
        container=bucket,
        config=sorted_items(config),
        client=sorted_items(client_options(properties, str(config.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL", "")))),
        credentials=credentials,
        role=role,
        retries=_retries(properties),
        part_bytes=whole(properties, "s3.multipart.part-size-bytes", 16 * MIB, least=5 * MIB),
        upload_threads=whole(properties, "s3.multipart.num-threads", 4, least=1),
        delete_batch=min(1000, whole(properties, "s3.delete.batch-size", 1000, least=1)),
        storage_class=properties.get("s3.write.storage-class"),
        tags=tuple(sorted((key[14:], value) for key, value in properties.items() if key.startswith("s3.write.tags."))),
        deletes=flag(properties, "s3.delete-enabled", True),
        refused_writes=None if acl in (None, "private") else f"s3.acl={acl} cannot be set on objects here; remove s3.acl",
        signer=signer,
    )


# -- who asks ----------------------------------------------------------------------------------------------------------


def _credentials(properties: Mapping[str, str]) -> tuple[str, dict[str, Any], tuple[tuple[str, str], ...]]:
    """(where from, config, role to assume)."""
    role = _role(properties)
    given = both(properties, ("s3.access-key-id", "s3.secret-access-key"), ("client.access-key-id", "client.secret-access-key"))
    if given is not None:
        token = first(properties, "s3.session-token", "client.session-token")
        config = {"access_key_id": given[0], "secret_access_key": given[1], "session_token": token}
        return (f"role {dict(role)['arn']}" if role else "given"), config, role
    if flag(properties, "s3.remote-signing-enabled", False):
        raise UnsupportedError(
            "Cannot open store: s3.remote-signing-enabled needs a catalog of type rest, which signs the requests; "
            "set s3.access-key-id and s3.secret-access-key, or remove the setting"
        )
    provider = properties.get("client.credentials-provider")
    chosen = None
    if provider:
        name = provider.rpartition(".")[2]
        if name not in _PROVIDERS:
            known = ", ".join(sorted(_PROVIDERS))
            raise UnsupportedError(f"Cannot open store: unknown client.credentials-provider: {provider}. Known: {known}")
        chosen = _PROVIDERS[name]
    if chosen == "anonymous" or flag(properties, "s3.anonymous", False):
        return "anonymous", {"skip_signature": True}, ()
    if role:
        return f"role {dict(role)['arn']}", {}, role
    profile = first(properties, "s3.profile-name", "client.profile-name") or os.environ.get("AWS_PROFILE")
    if profile or chosen == "profile" or (chosen is None and "AWS_ACCESS_KEY_ID" not in os.environ and profile_of("default") is not None):
        name = profile or "default"
        settings = profile_of(name)
        if settings is None:
            raise InvalidArgumentError(
                f"Cannot open store: there is no AWS profile {name} in ~/.aws; set client.profile-name", profile=name
            )
        return f"profile {name}", settings, ()
    return "environment", {}, ()


def _role(properties: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    arn = first(properties, "client.assume-role.arn", "s3.role-arn", "client.role-arn")
    if arn is None:
        return ()
    session = first(properties, "client.assume-role.session-name", "s3.role-session-name", "client.role-session-name") or "icesql"
    values = {
        "arn": arn,
        "session": session,
        "external-id": properties.get("client.assume-role.external-id"),
        "region": first(properties, "client.assume-role.region", "client.region", "s3.region"),
        "seconds": str(whole(properties, "client.assume-role.timeout-sec", 3600, least=900)),
    }
    return sorted_items(values)


# -- where it is -------------------------------------------------------------------------------------------------------


def _address(bucket: str, properties: Mapping[str, str], credentials: str) -> dict[str, Any]:
    endpoint = properties.get("s3.endpoint")
    path_style = flag(properties, "s3.path-style-access", not flag(properties, "s3.force-virtual-addressing", endpoint is None))
    if endpoint is not None:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidArgumentError(f"Cannot open store: s3.endpoint must be a URL: {endpoint}", key="s3.endpoint")
        host = parts.netloc if path_style else f"{bucket}.{parts.netloc}"
        endpoint = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
    profile = credentials.partition(" ")[2] if credentials.startswith("profile ") else None
    region = first(properties, "s3.region", "client.region") or _environment_region() or profile_region(profile)
    if region is None:
        region = "us-east-1" if endpoint or "AWS_ENDPOINT_URL" in os.environ else _region_of(bucket)
    return {
        "endpoint": endpoint,
        "region": region,
        "virtual_hosted_style_request": not path_style and (endpoint is not None or "." not in bucket),
    }


def _environment_region() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def _region_of(bucket: str) -> str:
    """Asked of S3 itself, once a process. Raises InvalidArgumentError where it does not say."""
    from functools import partial

    from icesql.io.stores.regions import known_region

    region = known_region(bucket, partial(_ask_region, bucket))
    if region is None:
        raise InvalidArgumentError(f"Cannot open store: the region of bucket {bucket} is not known; set s3.region", bucket=bucket)
    return region


def _ask_region(bucket: str) -> str | None:
    from pyarrow import fs

    try:
        return str(fs.resolve_s3_region(bucket))
    except OSError:
        return None


# -- how it is stored and sent -----------------------------------------------------------------------------------------


def _encryption(properties: Mapping[str, str]) -> dict[str, Any]:
    kind = properties.get("s3.sse.type", "none").lower()
    if kind not in _SSE:
        raise InvalidArgumentError(f"Cannot open store: unknown s3.sse.type: {kind}. Known: {', '.join(_SSE)}", key="s3.sse.type")
    key = properties.get("s3.sse.key")
    if kind == "custom" and not key:
        raise InvalidArgumentError("Cannot open store: s3.sse.type custom needs a key; set s3.sse.key", key="s3.sse.key")
    if _SSE[kind] is None:
        return {}
    config: dict[str, Any] = {"server_side_encryption": _SSE[kind]}
    if kind == "custom":
        config["sse_customer_key_base64"] = key
    elif kind in ("kms", "dsse-kms") and key:
        config["sse_kms_key_id"] = key
    return config


def _retries(properties: Mapping[str, str]) -> Retries:
    usual = Retries()
    return Retries(
        count=whole(properties, "s3.retry.num-retries", usual.count),
        least_ms=whole(properties, "s3.retry.min-wait-ms", usual.least_ms, least=1),
        most_ms=whole(properties, "s3.retry.max-wait-ms", usual.most_ms, least=1),
    )


def client_options(properties: Mapping[str, str], endpoint: str) -> dict[str, Any]:
    """Time limits, the proxy, and whether plain HTTP may be spoken: to an endpoint that says so."""
    connect = whole(properties, "http-client.apache.connection-timeout-ms", 0) or whole(
        properties, "http-client.urlconnection.connection-timeout-ms", 0
    )
    read = whole(properties, "http-client.apache.socket-timeout-ms", 0) or whole(
        properties, "http-client.urlconnection.socket-timeout-ms", 0
    )
    connect = connect or _seconds(properties, "s3.connect-timeout")
    read = read or _seconds(properties, "s3.request-timeout")
    return {
        "allow_http": True if endpoint.startswith("http://") else None,
        "connect_timeout": f"{connect or 3000}ms",
        "read_timeout": f"{read or 20_000}ms",
        "timeout": "10m",
        "proxy_url": first(properties, "http-client.proxy-endpoint", "s3.proxy-uri"),
    }


def _seconds(properties: Mapping[str, str], key: str) -> int:
    text = properties.get(key)
    try:
        return 0 if text is None else int(float(text) * 1000)
    except ValueError:
        raise InvalidArgumentError(f"Cannot open store: {key} must be seconds: {text}", key=key) from None
