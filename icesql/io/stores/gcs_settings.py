"""Iceberg's keys for Google Cloud Storage as settings of a client. Java: ``GCPProperties``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.stores.s3_settings import client_options
from icesql.io.stores.settings import StoreSettings, first, flag, sorted_items


def gcs_settings(bucket: str, properties: Mapping[str, str]) -> StoreSettings:
    """Raises InvalidArgumentError, UnsupportedError."""
    token, open_ = properties.get("gcs.oauth2.token"), flag(properties, "gcs.no-auth", False)
    if token and open_:
        raise InvalidArgumentError("Cannot open store: gcs.no-auth and gcs.oauth2.token exclude each other; remove one", key="gcs.no-auth")
    for key in ("gcs.encryption-key", "gcs.decryption-key", "gcs.user-project", "gcp.impersonate.service-account"):
        if properties.get(key):
            raise UnsupportedError(f"Cannot open store: {key} is not supported; remove it", key=key)
    host = first(properties, "gcs.service.host", "gcs.endpoint")
    config: dict[str, Any] = {"base_url": None if host is None else host.rstrip("/"), "bearer_token": token}
    if open_:
        config["skip_signature"] = True
    return StoreSettings(
        kind="gcs",
        container=bucket,
        config=sorted_items(config),
        client=sorted_items(client_options(properties, host or "")),
        credentials="given" if token else "anonymous" if open_ else "environment",
    )
