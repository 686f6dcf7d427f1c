"""Bodies of requests, checked while they are parsed. Names and types are the protocol's; unknown fields are passed over."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from icesql.server.problems import bad_request

T = TypeVar("T")


class _Body(msgspec.Struct, rename="kebab", kw_only=True):
    """A JSON object; a field without a default is required."""


class TableName(_Body):
    namespace: list[str]
    name: str


class CreateNamespace(_Body):
    namespace: list[str]
    properties: dict[str, str] | None = None


class UpdateNamespace(_Body):
    removals: list[str] | None = None
    updates: dict[str, str] | None = None


class CreateTable(_Body):
    """``schema``, ``partition_spec`` and ``write_order`` are read by the readers of table metadata."""

    name: str
    schema: dict[str, Any]
    location: str | None = None
    partition_spec: dict[str, Any] | None = None
    write_order: dict[str, Any] | None = None
    stage_create: bool | None = None
    properties: dict[str, str] | None = None


class RegisterTable(_Body):
    name: str
    metadata_location: str
    overwrite: bool | None = None


class RenameTable(_Body):
    source: TableName
    destination: TableName


class CommitTable(_Body):
    requirements: list[dict[str, Any]]
    updates: list[dict[str, Any]]
    identifier: TableName | None = None


class CommitTransaction(_Body):
    table_changes: list[CommitTable]


class CreateView(_Body):
    name: str
    schema: dict[str, Any]
    view_version: dict[str, Any]
    location: str | None = None
    properties: dict[str, str] | None = None


class CommitView(_Body):
    updates: list[dict[str, Any]]
    requirements: list[dict[str, Any]] | None = None
    identifier: TableName | None = None


class FetchScanTasks(_Body):
    plan_task: str


class RemoteSign(_Body):
    region: str
    uri: str
    method: str
    headers: dict[str, list[str]]
    properties: dict[str, str] | None = None
    body: str | None = None
    provider: str | None = None


class ReportMetrics(_Body):
    report_type: str


def parsed(body: bytes, type_: type[T]) -> T:
    """Raises Problem 400 that names the field."""
    if not body:
        raise bad_request("Malformed request: the body is empty")
    try:
        return msgspec.json.decode(body, type=type_)
    except RecursionError:
        raise bad_request("Malformed request: it is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"Malformed request: {error}") from None
