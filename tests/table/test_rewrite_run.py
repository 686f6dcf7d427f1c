"""Who removes which files when a rewrite of several groups fails: what no commit was given, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import CommitFailedError, CommitStateUnknownError, IcesqlError
from icesql.io.storage.file_systems import LocalFileIO
from icesql.spec.files import DataFile
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.rewrite_files import RewriteFiles
from icesql.table.maintenance.rewrite_options import RewriteOptions, data_rewrite_options
from icesql.table.maintenance.rewrite_plan import FileGroup
from icesql.table.maintenance.rewrite_run import RewriteRun, RewrittenGroup
from tests.table.memory import data_file, new_table
from tests.table.test_rewrite_plan import metadata

Write = Callable[[FileGroup[str]], Sequence[DataFile]]


def groups(*names: str) -> list[FileGroup[str]]:
    return [FileGroup(partition=(0, ()), tasks=(name,), input_bytes=1, expected_files=1, split_bytes=1, reason="test") for name in names]


class Files:
    """Writes a file for a group, named as its only task."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, group: FileGroup[str]) -> list[DataFile]:
        path = self.folder / f"new-{group.tasks[0]}"
        path.write_text("rows")
        return [replace(data_file("new"), file_path=str(path))]

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("new-*"))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def options(**given: str) -> RewriteOptions:
    return data_rewrite_options(given, metadata(), "BIN-PACK")


def run(files: Files, commit: Any, given: RewriteOptions, write: Write | None = None) -> RewriteRun[str]:
    return RewriteRun(LocalFileIO(), given, write or files.write, commit)


ONE_BY_ONE = {"partial-progress.enabled": "true", "max-concurrent-file-group-rewrites": "1", "partial-progress.max-commits": "3"}


@pytest.mark.parametrize("error", [CommitStateUnknownError("no answer"), KeyboardInterrupt(), OSError("connection reset")])
def test_what_a_commit_was_given_stays_when_its_outcome_is_unknown(files: Files, error: BaseException) -> None:
    def commit(done: Sequence[RewrittenGroup[str]]) -> None:
        raise error

    with pytest.raises(type(error)):
        run(files, commit, options()).run(groups("a", "b"))
    assert files.names == ["new-a", "new-b"]


@pytest.mark.parametrize("error", [CommitStateUnknownError("no answer"), KeyboardInterrupt()])
def test_with_partial_progress_only_what_waits_is_removed(files: Files, error: BaseException) -> None:
    given: list[str] = []

    def commit(done: Sequence[RewrittenGroup[str]]) -> None:
        given.extend(f"new-{group.group.tasks[0]}" for group in done)
        if len(given) == 2:
            raise error

    with pytest.raises(type(error)):
        run(files, commit, options(**ONE_BY_ONE)).run(groups("a", "b", "c"))
    assert files.names == sorted(given) and len(given) == 2


def test_a_group_that_cannot_be_written_takes_the_others_with_it(files: Files) -> None:
    written = threading.Event()

    def write(group: FileGroup[str]) -> list[DataFile]:
        if group.tasks[0] == "bad":
            written.wait(10)
            raise OSError("disk full")
        found = files.write(group)
        written.set()
        return found

    commits: list[Any] = []
    with pytest.raises(OSError, match="disk full"):
        run(files, commits.append, options(), write).run(groups("a", "bad"))
    assert files.names == [] and commits == []


def test_too_many_failed_commits_end_in_an_error(files: Files) -> None:
    def commit(done: Sequence[RewrittenGroup[str]]) -> None:
        raise CommitFailedError("another writer won")

    with pytest.raises(IcesqlError, match="3 rewrite commits failed"):
        run(files, commit, options(**ONE_BY_ONE, **{"partial-progress.max-failed-commits": "2"})).run(groups("a", "b", "c"))


@pytest.mark.parametrize(("error", "stays"), [(CommitFailedError("lost"), False), (CommitStateUnknownError("no answer"), True)])
def test_a_commit_that_owns_its_files_removes_them_only_when_it_failed_for_certain(tmp_path: Path, error: IcesqlError, stays: bool) -> None:
    operations = new_table(tmp_path)
    old, new = (replace(data_file(name), file_path=str(tmp_path / name)) for name in ("old", "new"))
    AppendFiles(operations).append_file(old).commit()
    Path(old.file_path).write_text("rows")
    Path(new.file_path).write_text("rows")
    operations.fail_next = [error] * 20
    with pytest.raises(type(error)):
        rewrite = RewriteFiles(operations, operations.load()).owning_files()
        rewrite.rewrite_files(delete_data=[old], delete_deletes=[], add_data=[new]).commit()
    assert Path(new.file_path).exists() is stays
    assert Path(old.file_path).exists()
