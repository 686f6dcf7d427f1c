"""What a server answers to a request for a plan. Spec: ``PlanTableScanResult``, ``FetchPlanningResult``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Any

from icesql.expr.tree import TRUE, Expression
from icesql.spec.json.faults import (
    JsonFault,
    JsonObject,
    JsonValue,
    array_field,
    as_object,
    each,
    int_field,
    optional_string,
    required,
    string_field,
    within,
)
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.table.remote_scan.scan_tasks import NO_TASKS, ScanTasks, scan_tasks_from_json, scan_tasks_to_json
from icesql.table.remote_scan.storage_credential import StorageCredential, storage_credential_from_json, storage_credential_to_json

_CREDENTIALS = "storage-credentials"


class PlanStatus(str, Enum):
    COMPLETED = "completed"
    SUBMITTED = "submitted"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFailure:
    """Why planning failed, as the protocol's error."""

    message: str
    type: str
    code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult:
    """``scanned`` and ``credentials`` belong to a completed plan, ``failure`` to a failed one; a submitted plan has an id."""

    status: PlanStatus
    plan_id: str | None = None
    scanned: ScanTasks = NO_TASKS
    credentials: tuple[StorageCredential, ...] = ()
    failure: PlanFailure | None = None


def plan_result_to_json(result: PlanResult, metadata: TableMetadata, *, stats_ids: Collection[int] = ()) -> JsonObject:
    node: dict[str, Any] = {"status": result.status.value}
    if result.plan_id is not None:
        node["plan-id"] = result.plan_id
    if result.failure is not None:
        node["error"] = {"message": result.failure.message, "type": result.failure.type, "code": result.failure.code}
    if result.status is PlanStatus.COMPLETED:
        node |= scan_tasks_to_json(result.scanned, metadata, stats_ids=stats_ids)
        if result.credentials:
            node[_CREDENTIALS] = [storage_credential_to_json(one) for one in result.credentials]
    return node


def plan_result_from_json(
    node: JsonValue, metadata: TableMetadata, schema: Schema, *, filter: Expression = TRUE, case_sensitive: bool = True
) -> PlanResult:
    """The arguments are those of ``scan_tasks_from_json``. Raises CorruptMetadataError, InvalidArgumentError, ValidationError."""
    fields = as_object(node)
    status = _status(string_field(fields, "status"))
    plan_id = optional_string(fields, "plan-id")
    if status is PlanStatus.FAILED:
        return PlanResult(status=status, plan_id=plan_id, failure=_failure(fields))
    if status is not PlanStatus.COMPLETED:
        return PlanResult(status=status, plan_id=plan_id)
    scanned = scan_tasks_from_json(fields, metadata, schema, filter=filter, case_sensitive=case_sensitive)
    return PlanResult(status=status, plan_id=plan_id, scanned=scanned, credentials=_credentials(fields))


def _status(text: str) -> PlanStatus:
    try:
        return PlanStatus(text)
    except ValueError:
        raise JsonFault(f"unknown status: {text}", "status") from None


def _failure(node: JsonObject) -> PlanFailure:
    with within("error"):
        error = as_object(required(node, "error"))
        return PlanFailure(message=string_field(error, "message"), type=string_field(error, "type"), code=int_field(error, "code"))


def _credentials(node: JsonObject) -> tuple[StorageCredential, ...]:
    credentials = []
    for path, one in each(
        [] if node.get("storage-credentials") is None else array_field(node, "storage-credentials"), "storage-credentials"
    ):
        with within(path):
            credentials.append(storage_credential_from_json(one))
    return tuple(credentials)
