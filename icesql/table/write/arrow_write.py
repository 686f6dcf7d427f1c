"""Writing without Spark: append, overwrite and delete of Arrow tables, and adding existing files. Each is one commit."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import ValidationError
from icesql.expr.metrics import strict_metrics
from icesql.expr.tree import TRUE, AlwaysTrue, Expression
from icesql.io.arrow.filter import row_mask
from icesql.io.data.writer import DataFileWriter, default_format
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import LINEAGE
from icesql.spec.name_mapping import name_mapping_to_json
from icesql.spec.paths import partition_path
from icesql.spec.properties import DEFAULT_NAME_MAPPING
from icesql.spec.schema import Schema
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.update_properties import UpdateProperties
from icesql.table.manifests.location_provider import LocationProvider, location_provider
from icesql.table.operations import TableVersion
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.scan.tasks import FileScanTask
from icesql.table.snapshot.known_files import already_in_table, one_spelling
from icesql.table.write.arrow_import import imported_files, name_mapping
from icesql.table.write.arrow_rows import by_partition, fitted
from icesql.table.write.written_files import removed_if_it_fails

if TYPE_CHECKING:
    from icesql.table.table import Table


# -- the operations ----------------------------------------------------------------------------------------------------
def append(table: Table, rows: pa.Table, *, branch: str, summary: Mapping[str, str]) -> TableVersion:
    """Raises ValidationError for rows that do not fit; files written are removed again unless they may have been committed."""
    files = write_rows(table.io, table.metadata, rows)
    return table.new_append().append_files(files).owning_files().to_branch(branch).set_all(summary).commit()


def overwrite(table: Table, rows: pa.Table, where: Expression, *, branch: str, summary: Mapping[str, str]) -> TableVersion:
    """Removes files all of whose rows match, rewrites files with some matching rows, and adds the rows."""
    change = _change(table, where, branch)
    with removed_if_it_fails(table.io) as added:
        added += write_rows(table.io, table.metadata, rows)
        added += write_rows(table.io, table.metadata, change.kept, schema=change.kept_schema)
    return commit_rewrite(table, change.base_snapshot_id, change.removed, added, where, branch, summary)


def delete(table: Table, where: Expression, *, branch: str, summary: Mapping[str, str]) -> TableVersion:
    """Nothing is committed where nothing matches."""
    if isinstance(where, AlwaysTrue):
        return table.new_delete().delete_from_row_filter(where).to_branch(branch).set_all(summary).commit()
    change = _change(table, where, branch)
    if not change.removed:
        return table.version
    added = write_rows(table.io, table.metadata, change.kept, schema=change.kept_schema)
    return commit_rewrite(table, change.base_snapshot_id, change.removed, added, where, branch, summary)


def add_files(table: Table, locations: Sequence[str], *, branch: str, check_duplicates: bool) -> TableVersion:
    """The files' own footers give counts and bounds; partition values come from the bounds, or from ``name=value`` folders."""
    if check_duplicates:
        _check_new(table, locations, branch)
    files = imported_files(table.io, table.metadata, locations)
    transaction = table.transaction()
    if DEFAULT_NAME_MAPPING not in table.properties:  # without it no one could tell the columns of files without ids
        transaction.add(UpdateProperties().set(DEFAULT_NAME_MAPPING, name_mapping_to_json(name_mapping(table.metadata))))
    append = AppendFiles().append_files(files).to_branch(branch)
    if check_duplicates:
        append.validate_files_are_new()
    transaction.add(append.change())
    return transaction.commit()


def _check_new(table: Table, locations: Sequence[str], branch: str) -> None:
    spelled = [one_spelling(location) for location in locations]
    if len(set(spelled)) < len(spelled):
        raise ValidationError(f"Cannot add files: a file is listed twice: {next(x for x in spelled if spelled.count(x) > 1)}")
    held = {one_spelling(path) for path in table.scan(ref=readable_ref(table, branch)).plan_files().paths}
    known = [location for location in locations if one_spelling(location) in held]
    if known:
        raise already_in_table(known)


def readable_ref(table: Table, branch: str) -> str | None:
    """The ref to read before a write to ``branch``; ``None`` (the current snapshot) for a branch that the write will make."""
    return branch if branch in table.refs else None


# -- what a filter touches ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Change:
    """Files to remove, and those of their rows that stay."""

    base_snapshot_id: int | None
    removed: list[DataFile]
    kept: pa.Table
    kept_schema: Schema


def _change(table: Table, where: Expression, branch: str) -> _Change:
    scan = table.scan(where, ref=readable_ref(table, branch))
    schema = carried_schema(table.metadata)
    reader = TaskReader(table.io, table.metadata, table.schema, schema)
    whole = strict_metrics(scan.table_schema, scan.bound_filter)
    removed, kept = [], [fitted(pa.table({field.name: pa.nulls(0) for field in schema.fields}), schema)]
    for task in scan.plan_files().tasks:
        if isinstance(task.residual, AlwaysTrue) or whole(task.data_file):
            removed.append(task.data_file)
        elif (staying := _staying(reader, scan.bound_filter, task)) is not None:
            removed.append(task.data_file)
            kept.append(staying)
    snapshot = scan.snapshot
    return _Change(None if snapshot is None else snapshot.snapshot_id, removed, pa.concat_tables(kept), schema)


def carried_schema(metadata: TableMetadata) -> Schema:
    """The columns a rewritten row takes along: in version 3 its identity too. Spec: "Row Lineage"."""
    if metadata.format_version < 3:
        return metadata.schema
    return replace(metadata.schema, fields=(*metadata.schema.fields, *LINEAGE))


def _staying(reader: TaskReader, where: Expression, task: FileScanTask) -> pa.Table | None:
    """The file's rows for which the filter is false or null; ``None`` if all of them are."""
    rows = reader.table(replace(task, residual=TRUE))
    matches = row_mask(rows, reader.wanted, where)
    return rows.filter(pc.invert(matches)) if pc.any(matches).as_py() else None


def commit_rewrite(
    table: Table,
    base_snapshot_id: int | None,
    removed: Sequence[DataFile],
    added: Sequence[DataFile],
    where: Expression,
    branch: str,
    summary: Mapping[str, str],
) -> TableVersion:
    """Replace files that were read at ``base_snapshot_id``. Raises ValidationError if rows that match ``where`` have changed since."""
    builder = table.new_overwrite().owning_files().to_branch(branch).set_all(summary)
    for file in removed:
        builder.delete_file(file)
    for file in added:
        builder.add_file(file)
    builder.validate_from_snapshot(base_snapshot_id).conflict_detection_filter(where)
    return builder.validate_no_conflicting_data().validate_no_conflicting_deletes().commit()


# -- files -------------------------------------------------------------------------------------------------------------
def write_rows(io: FileIO, metadata: TableMetadata, rows: pa.Table, *, schema: Schema | None = None) -> list[DataFile]:
    """Write rows to new data files of the current spec, one or more for each partition. If one fails, all are removed.

    ``schema``: of the rows: the table's, with the metadata columns that rewritten rows keep (row lineage).
    """
    columns = metadata.schema if schema is None else schema
    fit = fitted(rows, columns)
    provider, operation_id, numbers = location_provider(metadata), uuid.uuid4(), count(1)
    file_format = default_format(metadata.properties)
    with removed_if_it_fails(io) as written:
        for partition, part in by_partition(fit, metadata.schema, metadata.spec):
            folder = partition_path(metadata.spec, metadata.schema, partition)
            next_location = partial(_next_location, provider, folder, f"00000-0-{operation_id}", file_format, numbers)
            written += _write_partition(io, metadata, columns, next_location, partition, part)
    return written


def _next_location(provider: LocationProvider, folder: str, prefix: str, file_format: str, numbers: Iterator[int]) -> str:
    return provider.data_file(f"{prefix}-{next(numbers):05d}.{file_format}", folder)


def _write_partition(
    io: FileIO,
    metadata: TableMetadata,
    schema: Schema,
    next_location: Callable[[], str],
    partition: tuple[object, ...],
    rows: pa.Table,
) -> list[DataFile]:
    writer = DataFileWriter(next_location, schema, metadata.properties, metadata.spec.spec_id, partition, io=io)
    try:
        writer.write(rows)
        return writer.close()
    except BaseException:
        writer.abort()
        raise
