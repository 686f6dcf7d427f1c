"""The rows that a row-level statement affects, turned into a commit: copy-on-write or merge-on-read, with the validations that its
isolation level asks for.

Both modes need the same of the statement: the positions of deleted rows, and the new rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from icesql.errors import InvalidArgumentError
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import delete_format, write_position_deletes
from icesql.spark.row_level.few_rows import NewRows
from icesql.spark.row_level.target import LAST_UPDATED, ROW_ID, Target
from icesql.spark.write.data_files import WriteSettings, write_frame, write_rows
from icesql.spark.write.distribution import distribution_of
from icesql.spec.files import DataFile, FileContent
from icesql.spec.paths import partition_path
from icesql.spec.properties import (
    DELETE_GRANULARITY,
    DELETE_TARGET_FILE_SIZE_BYTES,
    ISOLATION_LEVELS,
    ROW_LEVEL_MODES,
    property_as_int,
    property_as_string,
)
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.row_delta import RowDelta
from icesql.table.manifests.location_provider import LocationProvider
from icesql.table.scan.delete_matching import referenced_path
from icesql.table.scan.read_numbers import check_splits
from icesql.table.scan.tasks import FileScanTask
from icesql.table.snapshot.snapshot_update import SnapshotUpdate
from icesql.table.write.written_files import removed_if_it_fails

if TYPE_CHECKING:
    from pyroaring import BitMap64

COPY_ON_WRITE, MERGE_ON_READ = "copy-on-write", "merge-on-read"


@dataclass(frozen=True, kw_only=True)
class RowLevelResult:
    """``builder``: the commit, ``None`` if nothing is to be committed. ``metadata_only``: decided without reading rows, so never staged."""

    builder: SnapshotUpdate | None
    metadata_only: bool = False
    metrics: Mapping[str, int] = field(default_factory=dict)  # by their keys in the snapshot's summary


def mode_of(target: Target, verb: str) -> str:
    """``write.<verb>.mode``; tables of version 1 know copy-on-write only. Raises InvalidArgumentError for an unknown mode."""
    mode = target.metadata.properties.get(ROW_LEVEL_MODES[verb], COPY_ON_WRITE).lower()
    if mode not in (COPY_ON_WRITE, MERGE_ON_READ):
        raise InvalidArgumentError(f"Unknown row-level operation mode: {mode}", mode=mode)
    return mode


def check_settings(target: Target, verb: str) -> None:
    """Raises InvalidArgumentError for an unknown mode or isolation level, though neither may be needed."""
    mode_of(target, verb)
    isolation_of(target, verb)


def check_distribution(target: Target, verb: str) -> None:
    """Raises InvalidArgumentError for an unknown ``write.<verb>.distribution-mode``, though nothing may be written."""
    distribution_of(target.metadata, target.metadata.spec, verb=verb, options=target.options, session=target.session)


def check_changes(target: Target, verb: str) -> None:
    """As ``check_distribution``; and ValidationError for what is no size of delete files or, in copy-on-write, of splits."""
    check_distribution(target, verb)
    if mode_of(target, verb) == MERGE_ON_READ:
        property_as_int(target.metadata.properties, DELETE_TARGET_FILE_SIZE_BYTES)
    else:
        check_splits(target.metadata.properties, target.options)


def isolation_of(target: Target, verb: str) -> str:
    """Raises InvalidArgumentError for an unknown level."""
    level = target.metadata.properties.get(ISOLATION_LEVELS[verb], "serializable").lower()
    if level not in ("serializable", "snapshot"):
        raise InvalidArgumentError(f"Invalid isolation level: {level}", level=level)
    return level


def change(
    target: Target,
    verb: str,
    deleted_positions: Mapping[str, BitMap64],
    new_rows: DataFrame | NewRows | None,
    replaced: AbstractSet[str] = frozenset(),
    *,
    new_row_count: int | None = None,
) -> SnapshotUpdate:
    """The commit that removes positions ``deleted_positions`` (bitmaps by data file path) and adds the rows ``new_rows``.

    ``new_rows`` has the table's columns and, where rows keep their lineage, the two lineage columns behind them.
    ``replaced``: files that copy-on-write replaces though no row of theirs is deleted. ``new_row_count``: ``None`` where it is not known.
    """
    if mode_of(target, verb) == MERGE_ON_READ:
        return merge_on_read(target, verb, deleted_positions, new_rows, new_row_count)
    return copy_on_write(target, verb, deleted_positions, new_rows, replaced)


# -- copy-on-write ------------------------------------------------------------------------------------------------------


def copy_on_write(
    target: Target,
    verb: str,
    deleted_positions: Mapping[str, BitMap64],
    new_rows: DataFrame | NewRows | None,
    replaced: AbstractSet[str] = frozenset(),
) -> OverwriteFiles:
    """Files with deleted rows, and those of ``replaced``, are replaced by files with their other rows and the new rows."""
    tasks = target.planned_tasks()
    touched = [tasks[path] for path in sorted(deleted_positions.keys() | replaced)]
    frame = _carried_over(target, touched, deleted_positions)
    if new_rows is not None:
        new = new_rows.frame() if isinstance(new_rows, NewRows) else new_rows
        frame = new if frame is None else frame.union(new)
    added = [] if frame is None else written(target, verb, frame)
    overwrite = OverwriteFiles(target.table.operations, target.table.version)
    overwrite.delete_files([task.data_file for task in touched], _only_about(touched))
    for file in added:
        overwrite.add_file(file)
    overwrite.owning_files()
    return _validated_overwrite(target, verb, overwrite)


def _carried_over(target: Target, touched: Sequence[FileScanTask], deleted_positions: Mapping[str, BitMap64]) -> DataFrame | None:
    """Live rows that stay; ``None`` if every row of every touched file is deleted."""
    kept = [
        task
        for task in touched
        if _live_rows(target, task) is None or _live_rows(target, task) != len(deleted_positions.get(task.data_file.file_path, ()))
    ]
    return target.without_rows(kept, deleted_positions, columns_of(target)) if kept else None


def _live_rows(target: Target, task: FileScanTask) -> int | None:
    """Rows of a file that are not deleted, ``None`` where only reading it would tell."""
    if any(file.content is FileContent.EQUALITY_DELETES for file in task.delete_files):
        return None
    deleted = target.existing_deletes.bitmap(task)
    return task.data_file.record_count - (len(deleted) if deleted else 0)


def _only_about(tasks: Sequence[FileScanTask]) -> list[DataFile]:
    """Deletion vectors of removed data files go with them; other delete files may serve more files and stay."""
    return [file for task in tasks for file in task.delete_files if file.is_deletion_vector]


def _validated_overwrite(target: Target, verb: str, overwrite: OverwriteFiles) -> OverwriteFiles:
    overwrite.validate_from_snapshot(target.snapshot_id).conflict_detection_filter(target.scan_filter())
    if isolation_of(target, verb) == "serializable":
        overwrite.validate_no_conflicting_data()
    return overwrite.validate_no_conflicting_deletes()


# -- merge-on-read ------------------------------------------------------------------------------------------------------


def merge_on_read(
    target: Target,
    verb: str,
    deleted_positions: Mapping[str, BitMap64],
    new_rows: DataFrame | NewRows | None,
    new_row_count: int | None = None,
) -> RowDelta:
    """Position deletes (version 2) or deletion vectors (version 3) for deleted rows, data files for new rows."""
    if deleted_positions and target.metadata.format_version < 2:
        raise InvalidArgumentError("Deletes are supported in V2 and above")
    delta = RowDelta(target.table.operations, target.table.version).owning_files()
    tasks = target.planned_tasks()
    with removed_if_it_fails(target.table.io) as rows:
        rows += [] if new_rows is None else written(target, verb, new_rows, new_row_count)
        deletes, superseded = write_deletes(target, {path: tasks[path] for path in deleted_positions}, deleted_positions)
    for file in rows:
        delta.add_rows(file)
    for file in deletes:
        delta.add_deletes(file)
    for file in superseded:
        delta.remove_deletes(file)
    delta.validate_from_snapshot(target.snapshot_id).conflict_detection_filter(target.scan_filter()).validate_data_files_exist(
        deleted_positions
    )
    if verb != "delete":
        delta.validate_deleted_files()
    delta.validate_no_conflicting_delete_files()
    if isolation_of(target, verb) == "serializable":
        delta.validate_no_conflicting_data_files()
    return delta


def write_deletes(
    target: Target, tasks: Mapping[str, FileScanTask], deleted_positions: Mapping[str, BitMap64]
) -> tuple[list[DataFile], list[DataFile]]:
    """(new delete files, delete files they take over). Deletes kept by data file are merged into its new ones."""
    is_by_partition = target.metadata.format_version < 3 and _is_by_partition(target.metadata.properties)
    merged, superseded = {}, []
    for path, positions in deleted_positions.items():
        own = [] if is_by_partition else [file for file in tasks[path].delete_files if _is_only_about(file, path)]
        older = [target.existing_deletes.positions(file, path) for file in own]
        for bitmap in older:
            positions = positions if bitmap is None else positions | bitmap
        merged[path] = positions
        superseded += own
    if not merged:
        return [], []
    if target.metadata.format_version >= 3:
        every = {path: _with_shared(target, tasks[path], positions) for path, positions in merged.items()}
        location = _locations(target).data_file(f"{uuid.uuid4()}-deletes.puffin")
        targets = {path: task.data_file for path, task in tasks.items()}
        return write_dvs(target.table.io, location, every, targets=targets), superseded
    if is_by_partition:
        return _by_partition(target, tasks, merged), superseded
    return _position_files(target, [(tasks[path], {path: positions}) for path, positions in merged.items()]), superseded


def _is_by_partition(properties: Mapping[str, str]) -> bool:
    """Raises InvalidArgumentError for an unknown granularity."""
    granularity = (property_as_string(properties, DELETE_GRANULARITY) or "").lower()
    if granularity not in ("file", "partition"):
        raise InvalidArgumentError(f"Unknown delete granularity: {granularity}", granularity=granularity)
    return granularity == "partition"


def _is_only_about(file: DataFile, path: str) -> bool:
    return file.content is FileContent.POSITION_DELETES and referenced_path(file) == path


def _with_shared(target: Target, task: FileScanTask, positions: BitMap64) -> BitMap64:
    """A deletion vector hides all position delete files of its data file, so it takes over those it shares with others too."""
    earlier = target.existing_deletes.bitmap(task)
    return positions if earlier is None else positions | earlier


def _by_partition(target: Target, tasks: Mapping[str, FileScanTask], merged: Mapping[str, BitMap64]) -> list[DataFile]:
    groups: dict[tuple[int, tuple[object, ...]], dict[str, BitMap64]] = {}
    for path, positions in merged.items():
        file = tasks[path].data_file
        groups.setdefault((file.spec_id, file.partition), {})[path] = positions
    return _position_files(target, [(tasks[next(iter(group))], group) for group in groups.values()])


def _position_files(target: Target, contents: Sequence[tuple[FileScanTask, Mapping[str, BitMap64]]]) -> list[DataFile]:
    """A file each. If one fails, those written are removed."""
    with removed_if_it_fails(target.table.io) as files:
        for task, positions in contents:
            files.append(_position_file(target, task, positions))
    return files


def _position_file(target: Target, task: FileScanTask, positions: Mapping[str, BitMap64]) -> DataFile:
    metadata, file = target.metadata, task.data_file
    file_format = delete_format(metadata.properties)
    spec = metadata.specs_by_id[file.spec_id]
    folder = partition_path(spec, metadata.schema, file.partition) if spec.fields else ""
    location = _locations(target).data_file(f"{uuid.uuid4()}-deletes.{file_format}", folder)
    return write_position_deletes(
        target.table.io, location, positions, file_format=file_format, properties=metadata.properties, spec_id=file.spec_id,
        partition=file.partition,
    )  # fmt: skip


def _locations(target: Target) -> LocationProvider:
    return LocationProvider(target.metadata.location, dict(target.metadata.properties))


# -- rows ---------------------------------------------------------------------------------------------------------------


def columns_of(target: Target) -> list[str]:
    """The table's columns, and the lineage columns where rows keep them."""
    return [*(f.name for f in target.metadata.schema.fields), *((ROW_ID, LAST_UPDATED) if target.keeps_lineage else ())]


def written(target: Target, verb: str, rows: DataFrame | NewRows, count: int | None = None) -> list[DataFile]:
    """The files of new rows. ``count``: how many they are, where that is known."""
    settings = WriteSettings(verb=verb, options=target.options, session=target.session, row_lineage=target.keeps_lineage, rows=count)
    if isinstance(rows, NewRows):
        if target.metadata.sort_order.is_unsorted:
            return write_rows(rows.table, target.metadata, target.table.io, settings)
        rows = rows.frame()
    return write_frame(target.spark, rows, target.metadata, target.table.io, settings)
