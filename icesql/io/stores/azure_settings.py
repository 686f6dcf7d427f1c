"""Iceberg's keys for Azure Data Lake Storage as settings of a client. Java: ``AzureProperties``; PyIceberg's names as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.io.stores.s3_settings import client_options
from icesql.io.stores.settings import StoreSettings, both, first, flag, sorted_items


def azure_settings(authority: str, properties: Mapping[str, str]) -> StoreSettings:
    """``authority``: ``container@account.dfs.core.windows.net``. Raises InvalidArgumentError."""
    container, at, host = authority.partition("@")
    account = host.partition(".")[0] if at else first(properties, "adls.account-name", "adls.auth.shared-key.account.name") or ""
    host = host if "." in host else ""
    connection = _connection(properties, account, host)
    account = connection.get("AccountName") or account
    if not container or not account:
        raise InvalidArgumentError(
            f"Cannot open store: an Azure location names a container and an account: abfss://<container>@<account>.dfs.core.windows.net/: "
            f"{authority}",
            location=authority,
        )
    endpoint = connection.get("BlobEndpoint") or _blob_endpoint(account, host, connection)
    credentials, config = _credentials(properties, account, host, connection)
    config |= {"account_name": account, "endpoint": endpoint}
    return StoreSettings(
        kind="azure",
        container=container,
        config=sorted_items(config),
        client=sorted_items(client_options(properties, endpoint or "")),
        credentials=credentials,
    )


def _connection(properties: Mapping[str, str], account: str, host: str) -> dict[str, str]:
    """A connection string's parts; Iceberg takes an endpoint in its place."""
    text = _of_account(properties, "adls.connection-string", account, host)
    if text is None:
        return {}
    if text.startswith(("http://", "https://")):
        return {"BlobEndpoint": text.rstrip("/")}
    parts = dict(part.split("=", 1) for part in text.split(";") if "=" in part)
    if not parts:
        raise InvalidArgumentError(f"Cannot open store: adls.connection-string.{account} is neither a connection string nor a URL")
    if "BlobEndpoint" in parts:
        parts["BlobEndpoint"] = parts["BlobEndpoint"].rstrip("/")
    return parts


def _of_account(properties: Mapping[str, str], key: str, account: str, host: str) -> str | None:
    return first(properties, *(f"{key}.{name}" for name in (host, account, host.replace(".dfs.", ".blob.")) if name), key)


def _blob_endpoint(account: str, host: str, connection: Mapping[str, str]) -> str | None:
    """``None`` for the public cloud, whose address the client knows."""
    suffix = connection.get("EndpointSuffix") or (host.partition(".")[2].removeprefix("dfs.").removeprefix("blob.") if host else "")
    if suffix in ("", "core.windows.net"):
        return None
    return f"https://{account}.{'' if 'fabric' in suffix else 'blob.'}{suffix}"


def _credentials(properties: Mapping[str, str], account: str, host: str, connection: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    sas = _of_account(properties, "adls.sas-token", account, host) or connection.get("SharedAccessSignature")
    if sas:
        return "given", {"sas_key": sas.lstrip("?")}
    shared = both(properties, ("adls.auth.shared-key.account.name", "adls.auth.shared-key.account.key"))
    key = (shared[1] if shared else None) or properties.get("adls.account-key") or connection.get("AccountKey")
    if key:
        return "given", {"account_key": key}
    if properties.get("adls.token"):
        return "given", {"token": properties["adls.token"]}
    if flag(properties, "adls.anonymous", False):
        return "anonymous", {"skip_signature": True}
    secret = {name: properties.get(f"adls.{name.replace('_', '-')}") for name in ("tenant_id", "client_id", "client_secret")}
    if secret["client_secret"]:
        return "given", secret
    return "environment", {}
