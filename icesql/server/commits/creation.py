"""A table that a commit creates: its metadata folded from nothing by the updates of a staged create."""

from __future__ import annotations

import time
import uuid

from icesql.errors import InvalidArgumentError
from icesql.spec.metadata import DEFAULT_FORMAT_VERSION, SUPPORTED_FORMAT_VERSION, TableMetadata
from icesql.table.metadata import update_values as u
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.metadata.requirements import AssertCreate, Requirement, check_all
from icesql.table.operations import Change

_NONE_YET = -1


def creates(requirements: tuple[Requirement, ...]) -> bool:
    return any(isinstance(requirement, AssertCreate) for requirement in requirements)


def created_metadata(changes: tuple[Change, ...], requirements: tuple[Requirement, ...]) -> TableMetadata:
    """The first version of a table. Raises InvalidArgumentError where schema, partition spec or location are missing, CommitFailedError
    for a requirement that only a table that exists can meet."""
    check_all(requirements, None)
    metadata = _nothing(changes)
    for change in changes:
        builder = MetadataBuilder(metadata)
        builder.apply_all(change.apply(metadata).updates)
        metadata = _whole(builder)
    return metadata


def _nothing(changes: tuple[Change, ...]) -> TableMetadata:
    """A table without schema, partition spec and location, which its updates give; of the format version that they ask for."""
    updates = [update for change in changes for update in getattr(change, "updates", ())]
    asked = [update.format_version for update in updates if isinstance(update, u.UpgradeFormatVersion)]
    version = next((number for number in asked if 1 <= number <= SUPPORTED_FORMAT_VERSION), DEFAULT_FORMAT_VERSION)
    return TableMetadata(
        format_version=version,
        table_uuid=str(uuid.uuid4()),
        location="",
        last_updated_ms=time.time_ns() // 1_000_000,
        last_column_id=0,
        current_schema_id=_NONE_YET,
        schemas=(),
        default_spec_id=_NONE_YET,
        partition_specs=(),
        next_row_id=0 if version >= 3 else None,
    )


def _whole(builder: MetadataBuilder) -> TableMetadata:
    held = builder.folded
    if held.current_schema_id == _NONE_YET:
        raise InvalidArgumentError("Cannot create table: its updates add no schema, or make none current")
    if held.default_spec_id == _NONE_YET:
        raise InvalidArgumentError("Cannot create table: its updates add no partition spec, or make none the default")
    if not held.location:
        raise InvalidArgumentError("Cannot create table: its updates set no location")
    return builder.build()
