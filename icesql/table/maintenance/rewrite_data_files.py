"""rewrite_data_files as an operation: plan, write groups, commit them. How a group's rows are written is the caller's choice.

The rows of a table are the same before and after, whatever other writers commit meanwhile.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

from icesql.errors import InvalidArgumentError
from icesql.expr.tree import TRUE, Expression
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.after_commit import after_commit
from icesql.table.maintenance.compact import Compaction, parts_of
from icesql.table.maintenance.dangling_deletes import DanglingDeletes
from icesql.table.maintenance.rewrite_options import RewriteOptions
from icesql.table.maintenance.rewrite_plan import FileGroup, RewritePlan, plan_data_files
from icesql.table.maintenance.rewrite_run import GroupProgress, RewriteOutcome, RewriteRun, RewrittenGroup
from icesql.table.operations import TableVersion
from icesql.table.scan.tasks import FileScanTask
from icesql.table.table import Table
from icesql.table.write.written_files import removed_if_it_fails

Group = FileGroup[FileScanTask]
Rewritten = RewrittenGroup[FileScanTask]
GroupWriter = Callable[[Group], Sequence[DataFile]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteResult:
    """Counts as the procedure returns them; ``outcome`` has the groups, with the reasons of those that failed."""

    rewritten_files: int = 0
    added_files: int = 0
    rewritten_bytes: int = 0
    failed_files: int = 0
    removed_deletes: int = 0
    outcome: RewriteOutcome[FileScanTask] = field(default_factory=RewriteOutcome)


@dataclass(frozen=True, kw_only=True)
class RewriteDataFiles:
    """``where`` chooses files (those that may hold matching rows), never rows.

    ``start`` and ``plan`` raise InvalidArgumentError for a branch that is not there.
    """

    table: Table
    options: RewriteOptions
    where: Expression = TRUE
    branch: str = MAIN

    @cached_property
    def start(self) -> Snapshot | None:
        """The snapshot whose files are rewritten."""
        head = self.metadata.head(self.branch)
        if head is None and self.branch != MAIN:
            raise InvalidArgumentError(f"Cannot rewrite data files for branch {self.branch}: branch does not exist", branch=self.branch)
        return head

    @cached_property
    def metadata(self) -> TableMetadata:
        return self.table.metadata

    @property
    def io(self) -> FileIO:
        return self.table.io

    @property
    def output_spec_id(self) -> int:
        return self.metadata.default_spec_id if self.options.output_spec_id is None else self.options.output_spec_id

    @cached_property
    def plan(self) -> RewritePlan[FileScanTask]:
        tasks: Iterable[FileScanTask] = ()
        if self.start is not None:
            ref = self.branch if self.branch in self.metadata.refs else None
            scan = self.table.scan(self.where, ref=ref, case_sensitive=False)
            tasks = (replace(task, residual=TRUE) for task in scan.plan_files().tasks)
        return plan_data_files(tasks, self.options, self.metadata.default_spec_id)

    def run(self, write: GroupWriter | None = None, progress: GroupProgress | None = None) -> RewriteResult:
        """Rewrite. ``write`` makes a group's files, by default in Arrow in this process."""
        lock = threading.Lock()

        def commit(groups: Sequence[Rewritten]) -> None:
            with lock:
                self._commit(groups)

        run = RewriteRun(self.io, self.options, write or self.write_here, commit, progress or (lambda *counts: None))
        outcome = run.run(self.plan.groups)
        removed = sum(len(removed_vectors(group.group)) for group in outcome.done)
        if self.options.remove_dangling_deletes and self.start is not None:
            with after_commit("remove dangling delete files") if outcome.done else nullcontext():
                removed += len(DanglingDeletes(self.table, self.branch).commit())
        return _result(outcome, removed)

    def dry_run(self) -> RewriteResult:
        """What ``run`` is expected to count; the number of new files is an estimate."""
        groups = self.plan.groups
        removed = sum(len(removed_vectors(group)) for group in groups)
        return RewriteResult(
            rewritten_files=sum(len(group.tasks) for group in groups),
            added_files=sum(group.expected_files for group in groups),
            rewritten_bytes=sum(group.input_bytes for group in groups),
            removed_deletes=removed,
        )

    def compaction(self, operation_id: str) -> Compaction:
        return Compaction(
            io=self.io,
            metadata=self.metadata,
            spec_id=self.output_spec_id,
            target_file_size_bytes=self.options.write_max_file_size_bytes,
            operation_id=operation_id,
        )

    def write_here(self, group: Group) -> list[DataFile]:
        """The group's files written in this process, part after part."""
        compaction = self.compaction(str(uuid.uuid4()))
        with removed_if_it_fails(self.io) as written:
            for part in parts_of(group):
                written += compaction.write(part)
        return written

    def _commit(self, groups: Sequence[Rewritten]) -> TableVersion:
        assert self.start is not None
        rewrite = self.table.new_rewrite_files().validate_from_snapshot(self.start.snapshot_id).to_branch(self.branch).owning_files()
        if self.options.use_starting_sequence_number:
            rewrite.data_sequence_number(self.start.sequence_number)
        for group in groups:
            removed = [task.data_file for task in group.group.tasks]
            rewrite.rewrite_files(delete_data=removed, delete_deletes=removed_vectors(group.group), add_data=group.added)
        return rewrite.commit()


def removed_vectors(group: Group) -> list[DataFile]:
    """Deletion vectors of rewritten files, which are removed with them."""
    return list({file.key: file for task in group.tasks for file in task.delete_files if file.is_deletion_vector}.values())


def _result(outcome: RewriteOutcome[FileScanTask], removed_deletes: int) -> RewriteResult:
    return RewriteResult(
        rewritten_files=sum(len(done.group.tasks) for done in outcome.done),
        added_files=sum(len(done.added) for done in outcome.done),
        rewritten_bytes=sum(done.group.input_bytes for done in outcome.done),
        failed_files=sum(len(group.tasks) for group, _ in outcome.failed),
        removed_deletes=removed_deletes,
        outcome=outcome,
    )
