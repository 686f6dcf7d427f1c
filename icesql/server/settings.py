"""The server's settings: a TOML file, the command line over it, and defaults that serve ``./warehouse`` on loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from icesql.catalog.config import DEFAULT_CATALOG, catalog_configurations
from icesql.errors import InvalidArgumentError
from icesql.server.access.settings import Access
from icesql.server.delegation.settings import StorageSettings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8181


class _Section(msgspec.Struct, rename="kebab", kw_only=True, forbid_unknown_fields=True, frozen=True):
    """A table of the file; a key that is not one of its fields is a mistake."""


class Limits(_Section, frozen=True):
    """What one request may ask for. Sizes count after decompression."""

    max_body_bytes: int = 32 * 1024 * 1024
    max_files: int = 50_000
    """Data and delete files named in one request."""
    requests_per_second: float = 0
    """For one client, by principal or address; 0 is no limit."""


class Commits(_Section, frozen=True):
    """``max_snapshots``: of a table; once there are half as many more, the oldest that no branch or tag needs are expired. 0 is no
    limit."""

    max_group: int = 256
    """Requests that are committed together at most."""
    max_snapshots: int = 2_000
    clean_after_seconds: float = 900
    """How long the files of expired snapshots stay, for readers that have loaded the table before."""
    check_files: Literal["none", "exists", "footer"] = "none"
    """``none``: what a client says of its files is believed. ``exists``: each must be there with its size. ``footer``: a Parquet file must
    have the rows it is said to have, and the metrics of its footer replace those of the request."""
    refuse_known_files: bool = False
    """Data files that are in the table already are refused: every manifest of the table is read for that."""
    allow_foreign_files: bool = False
    """Files may lie outside of the table's own folders."""


class Planning(_Section, frozen=True):
    """Of scans that the server plans. ``submit_above_manifests``: a plan of more manifests is made while the client asks for it again;
    0: never."""

    files_per_answer: int = 5_000
    submit_above_manifests: int = 0
    max_plans: int = 1_000
    keep_minutes: float = 60


class Idempotency(_Section, frozen=True):
    lifetime_minutes: int = 30


class Events(_Section, frozen=True):
    """``webhook``: a URL that each event is sent to, signed with ``webhook_secret`` if there is one."""

    keep_days: float = 7
    webhook: str | None = None
    webhook_secret: str | None = None


class Tls(_Section, frozen=True):
    """PEM files."""

    certificate: str
    key: str


class Settings(_Section, frozen=True):
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    default_catalog: str | None = None
    catalogs: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    workers: int = 1
    log_format: Literal["text", "json"] = "text"
    limits: Limits = msgspec.field(default_factory=Limits)
    commits: Commits = msgspec.field(default_factory=Commits)
    planning: Planning = msgspec.field(default_factory=Planning)
    idempotency: Idempotency = msgspec.field(default_factory=Idempotency)
    events: Events = msgspec.field(default_factory=Events)
    access: Access = msgspec.field(default_factory=Access)
    tls: Tls | None = None
    storage: dict[str, StorageSettings] = msgspec.field(default_factory=dict)
    """By catalog."""

    def catalog_properties(self, environ: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
        """Properties of every catalog by name: of the file, over those of the environment. ``local`` stands for none."""
        held = catalog_configurations(keyword=self.catalogs, environ=os.environ if environ is None else environ)
        if len(held) > 1 and DEFAULT_CATALOG not in self.catalogs and not held[DEFAULT_CATALOG]:
            del held[DEFAULT_CATALOG]
        return held

    def default_name(self, names: Mapping[str, object]) -> str:
        """Which catalog a client gets that names none. Raises InvalidArgumentError."""
        if self.default_catalog is None:
            return DEFAULT_CATALOG if DEFAULT_CATALOG in names else next(iter(names))
        if self.default_catalog not in names:
            raise InvalidArgumentError(
                f"Cannot serve catalog {self.default_catalog}: it is not configured; there are: {', '.join(sorted(names))}"
            )
        return self.default_catalog


def read_settings(path: Path | None) -> Settings:
    """Those of a TOML file; the defaults without one. Raises InvalidArgumentError that names file and key."""
    if path is None:
        return Settings()
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Settings)
    except OSError as error:
        raise InvalidArgumentError(f"Cannot read the server's settings {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise InvalidArgumentError(f"Cannot read the server's settings {path}: {error}") from None
