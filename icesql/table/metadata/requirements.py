"""The requirements of the REST protocol: what must hold of the table before updates are folded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from icesql.errors import CommitFailedError, unknown_case
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN
from icesql.table.metadata import update_values as u


@dataclass(frozen=True, slots=True)
class AssertCreate:
    pass


@dataclass(frozen=True, slots=True)
class AssertTableUuid:
    uuid: str


@dataclass(frozen=True, slots=True)
class AssertRefSnapshotId:
    """The ref points to the snapshot; ``None``: the ref does not exist."""

    ref: str
    snapshot_id: int | None


@dataclass(frozen=True, slots=True)
class AssertLastAssignedFieldId:
    last_assigned_field_id: int


@dataclass(frozen=True, slots=True)
class AssertCurrentSchemaId:
    current_schema_id: int


@dataclass(frozen=True, slots=True)
class AssertLastAssignedPartitionId:
    last_assigned_partition_id: int


@dataclass(frozen=True, slots=True)
class AssertDefaultSpecId:
    default_spec_id: int


@dataclass(frozen=True, slots=True)
class AssertDefaultSortOrderId:
    default_sort_order_id: int


Requirement: TypeAlias = (
    AssertCreate
    | AssertTableUuid
    | AssertRefSnapshotId
    | AssertLastAssignedFieldId
    | AssertCurrentSchemaId
    | AssertLastAssignedPartitionId
    | AssertDefaultSpecId
    | AssertDefaultSortOrderId
)


def check(requirement: Requirement, metadata: TableMetadata | None) -> None:
    """Raises CommitFailedError ``Requirement failed: ...`` if it does not hold. ``None``: the table does not exist."""
    problem = _problem(requirement, metadata)
    if problem is not None:
        raise CommitFailedError(f"Requirement failed: {problem}", requirement=requirement)


def check_all(requirements: Iterable[Requirement], metadata: TableMetadata | None) -> None:
    for requirement in requirements:
        check(requirement, metadata)


def _problem(requirement: Requirement, metadata: TableMetadata | None) -> str | None:
    if isinstance(requirement, AssertCreate):
        return None if metadata is None else "table already exists"
    if metadata is None:
        return "current table metadata is missing"
    match requirement:
        case AssertTableUuid(uuid=uuid):
            return None if uuid.lower() == metadata.table_uuid.lower() else _differs("UUID does not match", uuid, metadata.table_uuid)
        case AssertRefSnapshotId(ref=ref, snapshot_id=snapshot_id):
            return _ref_problem(ref, snapshot_id, metadata)
        case AssertLastAssignedFieldId(last_assigned_field_id=expected):
            return _changed("last assigned field id changed", expected, metadata.last_column_id)
        case AssertCurrentSchemaId(current_schema_id=expected):
            return _changed("current schema changed", expected, metadata.current_schema_id)
        case AssertLastAssignedPartitionId(last_assigned_partition_id=expected):
            return _changed("last assigned partition id changed", expected, metadata.last_partition_id)
        case AssertDefaultSpecId(default_spec_id=expected):
            return _changed("default partition spec changed", expected, metadata.default_spec_id)
        case AssertDefaultSortOrderId(default_sort_order_id=expected):
            return _changed("default sort order changed", expected, metadata.default_sort_order_id)
        case _:
            raise unknown_case(requirement)


def _ref_problem(name: str, snapshot_id: int | None, metadata: TableMetadata) -> str | None:
    ref = metadata.refs.get(name)
    if ref is None:
        return None if snapshot_id is None else f"branch or tag {name} is missing, expected {snapshot_id}"
    kind = ref.type.value
    if snapshot_id is None:
        return f"{kind} {name} was created concurrently"
    if snapshot_id != ref.snapshot_id:
        return f"{kind} {name} has changed: expected id {snapshot_id} != {ref.snapshot_id}"
    return None


def _changed(what: str, expected: int, actual: int) -> str | None:
    return None if expected == actual else f"{what}: expected id {expected} != {actual}"


def _differs(what: str, expected: object, actual: object) -> str:
    return f"{what}: expected {expected} != {actual}"


def requirements_for(base: TableMetadata | None, updates: Iterable[u.Update], *, replace: bool = False) -> tuple[Requirement, ...]:
    """The requirements the reference sends with these updates on ``base`` (``None``: create). With ``replace``, refs and ids may have
    changed.
    """
    if base is None:
        return (AssertCreate(),)
    requirements: dict[Requirement, None] = {AssertTableUuid(base.table_uuid): None}
    for update in updates:
        for requirement in _implied(base, update, replace):
            requirements.setdefault(requirement)
    return tuple(requirements)


def _implied(base: TableMetadata, update: u.Update, replace: bool) -> tuple[Requirement, ...]:
    match update:
        case u.SetSnapshotRef(name=name):
            if replace:
                return ()
            ref = base.refs.get(name)
            return (AssertRefSnapshotId(name, None if ref is None else ref.snapshot_id),)
        case u.AddSchema():
            return (AssertLastAssignedFieldId(base.last_column_id),)
        case u.SetCurrentSchema():
            return () if replace else (AssertCurrentSchemaId(base.current_schema_id),)
        case u.AddPartitionSpec():
            return (AssertLastAssignedPartitionId(base.last_partition_id),)
        case u.SetDefaultSpec():
            return () if replace else (AssertDefaultSpecId(base.default_spec_id),)
        case u.SetDefaultSortOrder():
            return () if replace else (AssertDefaultSortOrderId(base.default_sort_order_id),)
        case u.RemovePartitionSpecs():
            return (AssertDefaultSpecId(base.default_spec_id), *_branches(base))
        case u.RemoveSchemas():
            return (AssertCurrentSchemaId(base.current_schema_id), *_branches(base))
        case (
            u.AssignUuid()
            | u.UpgradeFormatVersion()
            | u.AddSortOrder()
            | u.AddSnapshot()
            | u.RemoveSnapshots()
            | u.RemoveSnapshotRef()
            | u.SetLocation()
            | u.SetProperties()
            | u.RemoveProperties()
            | u.SetStatistics()
            | u.RemoveStatistics()
            | u.SetPartitionStatistics()
            | u.RemovePartitionStatistics()
            | u.AddEncryptionKey()
            | u.RemoveEncryptionKey()
        ):
            return ()
        case _:
            raise unknown_case(update)


def _branches(base: TableMetadata) -> tuple[Requirement, ...]:
    named = ((name, ref) for name, ref in base.refs.items() if ref.is_branch and name != MAIN)
    return tuple(AssertRefSnapshotId(name, ref.snapshot_id) for name, ref in named)
