"""The section ``storage`` of the server's settings: a table for each catalog whose clients get access to files from the server."""

from __future__ import annotations

from typing import Literal

import msgspec


class _Section(msgspec.Struct, rename="kebab", kw_only=True, forbid_unknown_fields=True, frozen=True):
    pass


class StsSettings(_Section, frozen=True):
    """Credentials are those of this role, for a session that may only reach the table's folders."""

    role_arn: str
    external_id: str | None = None
    endpoint: str | None = None
    region: str | None = None
    duration_seconds: int = 3600


class StaticSettings(_Section, frozen=True):
    """Settings that are handed out as they are, to principals with ``privilege`` on the table: they reach whatever their keys reach."""

    config: dict[str, str]
    privilege: Literal["read", "insert", "modify", "admin"] = "admin"


class StorageSettings(_Section, frozen=True):
    """``sts`` and ``static`` vend credentials; at most one of them is given. ``remote_signing``: the server signs requests to S3 with the
    catalog's own keys."""

    remote_signing: bool = False
    sts: StsSettings | None = None
    static: StaticSettings | None = None
