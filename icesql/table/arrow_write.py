"""Writing without Spark: append, overwrite and delete of Arrow tables, and taking existing files in. Each is one commit."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import CommitStateUnknownError, IcesqlError, ValidationError
from icesql.expr.metrics import strict_metrics
from icesql.expr.tree import TRUE, AlwaysTrue, Expression
from icesql.io.arrow_filter import row_mask
from icesql.io.data_files import write_data_file
from icesql.io.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.paths import partition_path
from icesql.table.arrow_rows import by_partition, fitted
from icesql.table.arrow_scan import read_task
from icesql.table.location_provider import location_provider
from icesql.table.operations import TableVersion
from icesql.table.scan_tasks import FileScanTask

if TYPE_CHECKING:
    from icesql.table.table import Table

_TARGET_FILE_SIZE = "write.target-file-size-bytes"
_TARGET_FILE_SIZE_DEFAULT = 512 * 1024 * 1024
_FORMAT = "write.format.default"


# -- the operations ----------------------------------------------------------------------------------------------------
def append(table: Table, rows: pa.Table, *, branch: str, summary: Mapping[str, str]) -> TableVersion:
    """Raises ValidationError for rows that do not fit; files written are removed again unless they may have been committed."""
    files = write_rows(table.io, table.metadata, rows)
    with _removing_on_failure(table.io, files):
        return table.new_append().append_files(files).to_branch(branch).set_all(summary).commit()


def overwrite(table: Table, rows: pa.Table, where: Expression, *, branch: str, summary: Mapping[str, str]) -> TableVersion:
    """Files all of whose rows match go, files some of whose rows match are rewritten without them, and the rows are added."""
    change = _change(table, where, branch)
    added = write_rows(table.io, table.metadata, rows)
    with _removing_on_failure(table.io, added):
        added += write_rows(table.io, table.metadata, change.kept)
        return _commit_rewrite(table, change, added, where, branch, summary)


def delete(table: Table, where: Expression, *, branch: str, summary: Mapping[str, str]) -> TableVersion:
    """Nothing is committed where nothing matches."""
    if isinstance(where, AlwaysTrue):
        return table.new_delete().delete_from_row_filter(where).to_branch(branch).set_all(summary).commit()
    change = _change(table, where, branch)
    if not change.removed:
        return table.version
    added = write_rows(table.io, table.metadata, change.kept)
    with _removing_on_failure(table.io, added):
        return _commit_rewrite(table, change, added, where, branch, summary)


def add_files(table: Table, locations: Sequence[str], *, branch: str, check_duplicates: bool) -> TableVersion:
    """The files' own footers give counts and bounds; partition values come from the bounds, or from ``name=value`` folders."""
    from icesql.table.arrow_import import imported_files

    if check_duplicates:
        _check_new(table, locations, branch)
    files = imported_files(table.io, table.metadata, locations)
    return table.new_append().append_files(files).to_branch(branch).commit()


def _check_new(table: Table, locations: Sequence[str], branch: str) -> None:
    if len(set(locations)) < len(locations):
        raise ValidationError(f"Cannot add files: a file is listed twice: {next(x for x in locations if locations.count(x) > 1)}")
    held = set(table.scan(ref=_readable(table, branch)).plan_files().paths)
    known = [location for location in locations if location in held]
    if known:
        raise ValidationError(
            "Cannot complete import because data files to be imported already exist within the target table: " + ", ".join(known)
        )


def _readable(table: Table, branch: str) -> str | None:
    """The ref to read before a write to ``branch``; ``None`` (the current snapshot) for a branch that the write will make."""
    return branch if branch in table.refs else None


# -- what a filter touches ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Change:
    """Files that go, and the rows of theirs that stay."""

    base_snapshot_id: int | None
    removed: list[DataFile]
    kept: pa.Table


def _change(table: Table, where: Expression, branch: str) -> _Change:
    scan = table.scan(where, ref=_readable(table, branch))
    whole = strict_metrics(scan.table_schema, scan.bound_filter)
    removed, kept = [], []
    for task in scan.plan_files().tasks:
        if isinstance(task.residual, AlwaysTrue) or whole(task.data_file):
            removed.append(task.data_file)
            continue
        if (staying := _staying(table, scan.bound_filter, task)) is not None:
            removed.append(task.data_file)
            kept.append(staying)
    empty = fitted(pa.table({field.name: pa.nulls(0) for field in table.schema.fields}), table.schema)
    snapshot = scan.snapshot
    return _Change(None if snapshot is None else snapshot.snapshot_id, removed, pa.concat_tables([empty, *kept]))


def _staying(table: Table, where: Expression, task: FileScanTask) -> pa.Table | None:
    """The file's rows for which the filter is false or null; ``None`` if that is all of them."""
    rows = read_task(table.io, table.metadata, replace(task, residual=TRUE), table.schema)
    matches = row_mask(rows, table.schema, where)
    if not pc.any(matches).as_py():
        return None
    return rows.filter(pc.invert(matches))


def _commit_rewrite(
    table: Table, change: _Change, added: list[DataFile], where: Expression, branch: str, summary: Mapping[str, str]
) -> TableVersion:
    builder = table.new_overwrite().to_branch(branch).set_all(summary)
    for file in change.removed:
        builder.delete_file(file)
    for file in added:
        builder.add_file(file)
    builder.validate_from_snapshot(change.base_snapshot_id).conflict_detection_filter(where)
    return builder.validate_no_conflicting_data().validate_no_conflicting_deletes().commit()


@contextmanager
def _removing_on_failure(io: FileIO, files: list[DataFile]) -> Iterator[None]:
    """Remove data files whose commit failed for certain. ``files`` may grow meanwhile."""
    try:
        yield
    except CommitStateUnknownError:
        raise
    except IcesqlError:
        io.delete_many(file.file_path for file in files)
        raise


# -- files -------------------------------------------------------------------------------------------------------------
def write_rows(io: FileIO, metadata: TableMetadata, rows: pa.Table) -> list[DataFile]:
    """Write rows to new data files of the current spec, one or more a partition. If one fails, those written are removed."""
    fit = fitted(rows, metadata.schema)
    provider, operation_id = location_provider(metadata), uuid.uuid4()
    file_format = metadata.properties.get(_FORMAT, "parquet").lower()
    written: list[DataFile] = []
    try:
        for partition, part in by_partition(fit, metadata.schema, metadata.spec):
            folder = partition_path(metadata.spec, metadata.schema, partition) if metadata.spec.fields else ""
            for piece in _pieces(part, int(metadata.properties.get(_TARGET_FILE_SIZE, _TARGET_FILE_SIZE_DEFAULT))):
                name = f"00000-0-{operation_id}-{len(written) + 1:05d}.{file_format}"
                written.append(_write(io, metadata, provider.data_file(name, folder), file_format, piece, partition))
    except BaseException:
        io.delete_many(file.file_path for file in written)
        raise
    return written


def _write(
    io: FileIO, metadata: TableMetadata, location: str, file_format: str, rows: pa.Table, partition: tuple[object, ...]
) -> DataFile:
    return write_data_file(
        io, location, file_format, rows, metadata.schema, metadata.properties, spec_id=metadata.spec.spec_id, partition=partition
    )


def _pieces(rows: pa.Table, target_bytes: int) -> Iterator[pa.Table]:
    """Slices of about the target size, measured in memory: an upper bound of what compressed files take."""
    per_file = max(1, rows.num_rows * target_bytes // max(1, rows.nbytes))
    for start in range(0, rows.num_rows, per_file):
        yield rows.slice(start, per_file)
