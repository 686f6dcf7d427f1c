"""A plan that came as tasks, in the form that plans made here have: rows of manifests, and the deletes of each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from icesql.expr.describe import describe
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.writer import ManifestWriter
from icesql.spec.files import DataFile, EntryStatus, ManifestContent, ManifestEntry
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import spec_of
from icesql.table.scan.delete_index import DeleteIndex
from icesql.table.scan.planning import PlanContext, PlannedFiles, PlannedManifest
from icesql.table.scan.report import ScanReport
from icesql.table.scan.tasks import FileScanTask

if TYPE_CHECKING:
    from icesql.io.storage.files import FileIO


class GivenDeletes(DeleteIndex):
    """The delete files of each data file as someone else has matched them."""

    def __init__(self, by_path: Mapping[str, Sequence[DataFile]]) -> None:
        super().__init__((), is_global=lambda _: False, types={})
        self._by_path = {path: list(files) for path, files in by_path.items() if files}
        different = {file.key: file for files in self._by_path.values() for file in files}
        self.entries = [ManifestEntry(status=EntryStatus.EXISTING, snapshot_id=None, data_file=file) for file in different.values()]

    @property
    def names_every_file(self) -> bool:
        return True

    @property
    def named_files(self) -> frozenset[str]:
        return frozenset(self._by_path)

    def candidates(self, path: str, spec_id: int, partition: tuple[object, ...], sequence_number: int) -> list[DataFile]:
        return self._by_path.get(path, [])

    def for_file(self, file: DataFile, sequence_number: int) -> tuple[DataFile, ...]:
        return tuple(self._by_path.get(file.file_path, ()))


def planned_files(
    context: PlanContext, snapshot: Snapshot, tasks: Sequence[FileScanTask], *, planner: str, planning_ms: float
) -> PlannedFiles:
    """``planner`` says who planned, for the report."""
    manifests = tuple(_manifests(context, snapshot, tasks))
    deletes = GivenDeletes({task.file_path: task.delete_files for task in tasks})
    files = deletes.files
    report = ScanReport(
        table_name=context.table_name,
        snapshot_id=snapshot.snapshot_id,
        schema_id=context.schema.schema_id,
        filter=describe(context.filter),
        planner=planner,
        files_total=_total_files(snapshot),
        files_planned=len(tasks),
        bytes_planned=sum(task.file_size_in_bytes for task in tasks),
        rows_planned=sum(task.data_file.record_count for task in tasks),
        delete_files_planned=len(files),
        position_delete_files=sum(file.content == 1 and not file.is_deletion_vector for file in files),
        equality_delete_files=sum(file.content == 2 for file in files),
        deletion_vectors=sum(file.is_deletion_vector for file in files),
        planning_ms=planning_ms,
    )
    return PlannedFiles(manifests, deletes, report)


def _total_files(snapshot: Snapshot) -> int | None:
    text = snapshot.summary.get("total-data-files", "")
    return int(text) if text.isdecimal() else None


def _manifests(context: PlanContext, snapshot: Snapshot, tasks: Sequence[FileScanTask]) -> Iterable[PlannedManifest]:
    """One manifest in memory for the files of each partition spec."""
    by_spec: dict[int, list[FileScanTask]] = {}
    for task in tasks:
        by_spec.setdefault(task.spec_id, []).append(task)
    for spec_id, members in by_spec.items():
        spec, held = spec_of(context.metadata, spec_id, "scan task"), _Held()
        writer = ManifestWriter(
            cast("FileIO", held),
            "memory:/plan.avro",
            format_version=max(2, context.metadata.format_version),
            spec=spec,
            schema=context.metadata.schema,
            content=ManifestContent.DATA,
            snapshot_id=snapshot.snapshot_id,
            compression="none",
            sequence_number=snapshot.sequence_number,
        )
        for task in members:
            writer.add(
                ManifestEntry(
                    status=EntryStatus.EXISTING,
                    snapshot_id=snapshot.snapshot_id,
                    sequence_number=task.data_sequence_number,
                    file_sequence_number=task.data_sequence_number if task.file_sequence_number is None else task.file_sequence_number,
                    data_file=replace(task.data_file, spec_id=spec_id),
                )
            )
        columns = read_manifest_columns(cast("FileIO", held), writer.close(), spec=spec, use_cache=False)
        yield PlannedManifest(columns, np.arange(len(members)))


class _Held:
    """The bytes of one file."""

    def __init__(self) -> None:
        self._data = b""

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        self._data = data

    def read(self, location: str) -> bytes:
        return self._data
