"""rewrite_position_delete_files as an operation: small position delete files merged, dangling positions dropped.

In version 2 the result is position delete files, one a data file or one a partition (``write.delete.granularity``); in version 3 deletion
vectors. Existing deletion vectors are never touched.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from icesql.expr.binding import bind
from icesql.expr.evaluate import row_evaluator
from icesql.expr.projection import inclusive_projection
from icesql.expr.tree import TRUE, Expression
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import delete_format, sorted_positions, write_position_deletes
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.paths import partition_path
from icesql.spec.properties import DELETE_GRANULARITY
from icesql.spec.snapshots import Snapshot
from icesql.table.maintenance.rewrite_options import RewriteOptions
from icesql.table.maintenance.rewrite_plan import FileGroup, RewritePlan, plan_delete_files
from icesql.table.maintenance.rewrite_run import GroupProgress, RewriteOutcome, RewriteRun, RewrittenGroup
from icesql.table.manifests.access import manifests_of, of_content, schema_for_spec
from icesql.table.manifests.location_provider import location_provider
from icesql.table.scan.position_sets import deleted_positions, positions_of
from icesql.table.scan.tasks import FileScanTask
from icesql.table.table import Table
from icesql.table.write.written_files import removed_if_it_fails

Group = FileGroup[DataFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRewriteResult:
    rewritten_files: int = 0
    added_files: int = 0
    rewritten_bytes: int = 0
    added_bytes: int = 0
    outcome: RewriteOutcome[DataFile] | None = None


@dataclass(frozen=True, kw_only=True)
class RewritePositionDeletes:
    """``where`` chooses delete files by their partition."""

    table: Table
    options: RewriteOptions
    where: Expression = TRUE

    @cached_property
    def metadata(self) -> TableMetadata:
        return self.table.metadata

    @cached_property
    def start(self) -> Snapshot | None:
        return self.metadata.current_snapshot

    @cached_property
    def plan(self) -> RewritePlan[DataFile]:
        return plan_delete_files([file for file, _ in self._entries if self._matches(file)], self.options)

    @cached_property
    def _entries(self) -> list[tuple[DataFile, int]]:
        """Live position delete files other than vectors, with their data sequence numbers."""
        entries = []
        for manifest in of_content(manifests_of(self.table.io, self.start), ManifestContent.DELETES):
            columns = read_manifest_columns(self.table.io, manifest, spec=self.metadata.specs_by_id.get(manifest.partition_spec_id))
            for row in columns.live.nonzero()[0].tolist():
                file = columns.data_file(row)
                if file.content is FileContent.POSITION_DELETES and not file.is_deletion_vector:
                    entries.append((file, max(int(columns.sequence_number[row]), 0)))
        return entries

    @cached_property
    def _sequence_numbers(self) -> dict[str, int]:
        return {file.file_path: number for file, number in self._entries}

    @cached_property
    def _tests(self) -> dict[int, Callable[[Sequence[Any]], bool | None]]:
        bound = bind(self.metadata.schema, self.where, case_sensitive=False)
        tests = {}
        for spec in self.metadata.partition_specs:
            schema = schema_for_spec(self.metadata, spec)
            tests[spec.spec_id] = row_evaluator(spec.partition_type(schema), inclusive_projection(self.metadata.schema, spec, bound))
        return tests

    def _matches(self, file: DataFile) -> bool:
        return self.where == TRUE or self._tests[file.spec_id](file.partition) is True

    @cached_property
    def _tasks(self) -> dict[str, FileScanTask]:
        """Every live data file with the deletes that apply to it: positions of other files dangle."""
        return {task.data_file.file_path: task for task in self.table.scan().plan_files().tasks}

    @cached_property
    def _applying(self) -> dict[str, frozenset[str]]:
        """Paths of the delete files that apply to each live data file, by its path."""
        return {path: frozenset(file.file_path for file in task.delete_files) for path, task in self._tasks.items()}

    def run(self, progress: GroupProgress | None = None) -> DeleteRewriteResult:
        run = RewriteRun(self.table.io, self.options, self._write, self._commit, progress or (lambda *counts: None))
        outcome = run.run(self.plan.groups)
        added = [file for done in outcome.done for file in done.added]
        return DeleteRewriteResult(
            rewritten_files=sum(len(done.group.tasks) for done in outcome.done),
            added_files=len(added),
            rewritten_bytes=sum(done.group.input_bytes for done in outcome.done),
            added_bytes=sum(_bytes(file) for file in added),
            outcome=outcome,
        )

    def dry_run(self) -> DeleteRewriteResult:
        """What ``run`` is expected to count; the number of new files is exact, their bytes are an estimate."""
        groups = self.plan.groups
        total = sum(group.input_bytes for group in groups)
        added = sum(len(self._outputs(group, self._positions(group))) for group in groups)
        return DeleteRewriteResult(
            rewritten_files=sum(len(group.tasks) for group in groups),
            added_files=added,
            rewritten_bytes=total,
            added_bytes=total if added else 0,
        )

    # -- writing ---------------------------------------------------------------------------------------------------
    def _positions(self, group: Group) -> dict[str, Any]:
        """Deleted positions of all the group's files, by path of live data files.

        Only for data files that the delete file applies to: the new file has the highest sequence number of the group, and would apply to
        more.
        """
        by_path: dict[str, Any] = {}
        for file in group.tasks:
            for path, positions in deleted_positions(self.table.io, file).items():
                if file.file_path in self._applying.get(path, ()):
                    by_path[path] = by_path[path] | positions if path in by_path else positions
        return by_path

    def _write(self, group: Group) -> list[DataFile]:
        outputs = self._outputs(group, self._positions(group))
        if self.metadata.format_version >= 3:
            return self._write_vectors(outputs)
        with removed_if_it_fails(self.table.io) as written:
            for output in outputs:
                written.append(self._write_file(group.tasks[0], output))
        return written

    def _outputs(self, group: Group, positions: Mapping[str, Any]) -> list[Mapping[str, Any] | pa.Table]:
        """The content of each new file (version 3: of each vector)."""
        if self.metadata.format_version >= 3:
            return [{path: self._all_positions(path, deleted)} for path, deleted in positions.items() if not self._has_vector(path)]
        if self.metadata.properties.get(DELETE_GRANULARITY, "file").lower() == "file":
            return [{path: deleted} for path, deleted in positions.items()]
        return list(_slices(sorted_positions(positions), group.expected_files)) if positions else []

    def _has_vector(self, path: str) -> bool:
        """A vector holds all positions of its data file already."""
        return any(file.is_deletion_vector for file in self._tasks[path].delete_files)

    def _all_positions(self, path: str, positions: Any) -> Any:
        """A new vector hides every position delete file of its data file, those of other groups too."""
        others = positions_of(self.table.io, path, self._tasks[path].delete_files)
        return positions if others is None else positions | others

    def _write_vectors(self, outputs: Sequence[Mapping[str, Any] | pa.Table]) -> list[DataFile]:
        vectors = {path: positions for output in outputs for path, positions in output.items()}
        if not vectors:
            return []
        location = location_provider(self.metadata).data_file(f"{uuid.uuid4()}-deletes.puffin")
        return write_dvs(self.table.io, location, vectors, targets={path: self._tasks[path].data_file for path in vectors})

    def _write_file(self, like: DataFile, positions: Mapping[str, Any] | pa.Table) -> DataFile:
        metadata, file_format = self.metadata, delete_format(self.metadata.properties)
        spec = metadata.specs_by_id[like.spec_id]
        folder = partition_path(spec, schema_for_spec(metadata, spec), like.partition) if spec.fields else ""
        location = location_provider(metadata).data_file(f"{uuid.uuid4()}-deletes.{file_format}", folder)
        return write_position_deletes(
            self.table.io, location, positions, file_format=file_format, properties=metadata.properties, spec_id=like.spec_id,
            partition=like.partition,
        )  # fmt: skip

    def _commit(self, groups: Sequence[RewrittenGroup[DataFile]]) -> None:
        assert self.start is not None
        rewrite = self.table.new_rewrite_files().validate_from_snapshot(self.start.snapshot_id).owning_files()
        for done in groups:
            newest = max(self._sequence_numbers[file.file_path] for file in done.group.tasks)
            for file in done.group.tasks:
                rewrite.delete_file(file)
            for file in done.added:
                rewrite.add_file(file, newest)
        rewrite.commit()


def _slices(table: pa.Table, count: int) -> Iterator[pa.Table]:
    """About equal parts, in order, none empty."""
    size = max(1, -(-table.num_rows // count))
    for start in range(0, table.num_rows, size):
        yield table.slice(start, size)


def _bytes(file: DataFile) -> int:
    return file.file_size_in_bytes if file.content_size_in_bytes is None else file.content_size_in_bytes
