"""Runs the groups of a rewrite, several at once, and commits them: all together, or part by part.

Files of groups that never get to a commit are removed; a commit answers for the files handed over to it (``owning_files``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from icesql.errors import CommitStateUnknownError, IcesqlError
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.table.maintenance.rewrite_options import RewriteOptions
from icesql.table.maintenance.rewrite_plan import FileGroup
from icesql.table.write.written_files import remove_files

Task = TypeVar("Task")
GroupProgress = Callable[[int, int, int, int], None]
"""Told after each group: groups done, groups there are, and the bytes of both."""


@dataclass(frozen=True, slots=True)
class RewrittenGroup(Generic[Task]):
    group: FileGroup[Task]
    added: tuple[DataFile, ...]


@dataclass(slots=True)
class RewriteOutcome(Generic[Task]):
    """``failed``: groups that could not be written or committed, with the reason."""

    done: list[RewrittenGroup[Task]] = field(default_factory=list)
    failed: list[tuple[FileGroup[Task], Exception]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RewriteRun(Generic[Task]):
    """``write`` makes the new files of a group; ``commit`` puts some groups in place in one commit, and owns their files."""

    io: FileIO
    options: RewriteOptions
    write: Callable[[FileGroup[Task]], Sequence[DataFile]]
    commit: Callable[[Sequence[RewrittenGroup[Task]]], None]
    progress: GroupProgress = lambda *counts: None

    def run(self, groups: Sequence[FileGroup[Task]]) -> RewriteOutcome[Task]:
        """With partial progress a failure loses its own group or commit only; without it the first one ends all, and nothing is changed.

        Raises the failure; IcesqlError when more commits failed than allowed.
        """
        if not groups:
            return RewriteOutcome()
        return self._partial(groups) if self.options.partial_progress else self._at_once(groups)

    def _at_once(self, groups: Sequence[FileGroup[Task]]) -> RewriteOutcome[Task]:
        written: list[RewrittenGroup[Task]] = []
        with ThreadPoolExecutor(self.options.max_concurrent_file_group_rewrites, "icesql-rewrite") as pool:
            futures = [pool.submit(self._write, group) for group in groups]
            try:
                for future in as_completed(futures):
                    written.append(future.result())
                    self._tell([done.group for done in written], groups)
            except BaseException:
                self._give_up(pool, futures, ())
                raise
        self.commit(written)
        return RewriteOutcome(done=written)

    def _tell(self, finished: Sequence[FileGroup[Task]], groups: Sequence[FileGroup[Task]]) -> None:
        self.progress(len(finished), len(groups), sum(g.input_bytes for g in finished), sum(g.input_bytes for g in groups))

    def _write(self, group: FileGroup[Task]) -> RewrittenGroup[Task]:
        return RewrittenGroup(group, tuple(self.write(group)))

    def _partial(self, groups: Sequence[FileGroup[Task]]) -> RewriteOutcome[Task]:
        outcome: RewriteOutcome[Task] = RewriteOutcome()
        per_commit = math.ceil(len(groups) / self.options.max_commits)
        waiting: list[RewrittenGroup[Task]] = []
        handed_over: list[RewrittenGroup[Task]] = []
        failures: list[Exception] = []
        with ThreadPoolExecutor(self.options.max_concurrent_file_group_rewrites, "icesql-rewrite") as pool:
            futures = {pool.submit(self._write, group): group for group in groups}
            try:
                finished: list[FileGroup[Task]] = []
                for future in as_completed(futures):
                    try:
                        waiting.append(future.result())
                    except Exception as error:
                        outcome.failed.append((futures[future], error))
                    if len(waiting) >= per_commit:
                        batch, waiting = waiting, []
                        handed_over += batch
                        self._commit_some(batch, outcome, failures)
                    finished.append(futures[future])
                    self._tell(finished, groups)
            except BaseException:
                self._give_up(pool, list(futures), handed_over)
                raise
        if waiting:
            self._commit_some(waiting, outcome, failures)
        if len(failures) > self.options.max_failed_commits:
            raise IcesqlError(
                f"partial-progress.enabled is true but {len(failures)} rewrite commits failed. This is more than the maximum allowed "
                f"failures of {self.options.max_failed_commits}: {failures[0]}"
            ) from failures[0]
        return outcome

    def _commit_some(self, groups: list[RewrittenGroup[Task]], outcome: RewriteOutcome[Task], failures: list[Exception]) -> None:
        try:
            self.commit(groups)
        except CommitStateUnknownError:
            raise
        except IcesqlError as error:
            failures.append(error)
            outcome.failed += [(group.group, error) for group in groups]
        else:
            outcome.done += groups

    def _give_up(
        self, pool: ThreadPoolExecutor, futures: Sequence[Future[RewrittenGroup[Task]]], handed_over: Sequence[RewrittenGroup[Task]]
    ) -> None:
        """Wait for the groups still being written, and remove the files that were not handed to a commit."""
        pool.shutdown(wait=True, cancel_futures=True)
        kept = {id(group) for group in handed_over}
        written = [future.result() for future in futures if _succeeded(future)]
        remove_files(self.io, (file for group in written if id(group) not in kept for file in group.added))


def _succeeded(future: Future[RewrittenGroup[Task]]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
