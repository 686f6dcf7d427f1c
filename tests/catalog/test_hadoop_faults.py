"""Every system call of a file-system table's commit fails once, before it is carried out or after: the answer is right or "unknown"."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.hadoop_versions import number_of
from icesql.catalog.loading import load_catalog
from icesql.errors import CommitStateUnknownError, IcesqlError
from icesql.table.commit import failed_for_certain
from tests.catalog.tables import SCHEMA
from tests.io.system_calls import Fault, WatchedCalls, watch

ERRORS = (errno.EIO, errno.ENOSPC, errno.ESTALE, errno.EINTR, errno.EEXIST, errno.ENOENT)
NO_RETRIES = {"commit.retry.num-retries": "0"}
UNANSWERED = {("link", errno.EEXIST), ("link", errno.EIO), ("link", errno.ENOENT), ("link", errno.ESTALE)}


class QuietFault(Fault):
    """A fault on a disk that need not be waited for."""

    def __call__(self, name: str, arguments: tuple[Any, ...], carry_out: Callable[[], Any]) -> Any:
        return super().__call__(name, arguments, (lambda: None) if name == "fsync" else carry_out)


@pytest.mark.parametrize("carried_out", [False, True], ids=["not carried out", "answer lost"])
def test_a_commit_in_which_one_call_fails(carried_out: bool, tmp_path: Path) -> None:
    struck = set()
    catalog = load_catalog("test", {"type": "hadoop", "warehouse": str(tmp_path)})
    for error in ERRORS:
        with pytest.MonkeyPatch.context() as patch:
            watch(patch, lambda name, arguments, carry_out: None if name == "fsync" else carry_out())
            table = catalog.create_table(("db", f"t{error}"), SCHEMA, properties=NO_RETRIES)
        for number in itertools.count(1):
            fault, key = QuietFault(number, error, carried_out=carried_out), f"k{number}"
            outcome: BaseException | None = None
            with pytest.MonkeyPatch.context() as patch:
                watch(patch, fault)
                try:
                    table.update_properties().set(key, "1").commit()
                except (IcesqlError, OSError) as failure:
                    outcome = failure
            current = catalog.load_table(table.identifier)
            what = f"call {number}, {fault.struck} {errno.errorcode[error]}: {outcome!r}"
            if outcome is None:
                assert current.properties.get(key) == "1", what
            elif failed_for_certain(outcome):
                assert key not in current.properties, what
            else:
                assert isinstance(outcome, (CommitStateUnknownError, OSError)), what
            if carried_out and (fault.struck, error) in UNANSWERED:
                assert outcome is None, what
            files = sorted(path.name for path in Path(current.location, "metadata").iterdir() if number_of(path.name))
            assert len(files) == number_of(str(current.metadata_location)), what
            struck.add(fault.struck)
            table = current
            if fault.left > 0:
                break
    assert {"link", "unlink", "open", "write", "fsync", "close", "replace"} <= struck


def test_the_watch_sees_every_call_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules under test reach the disk by ``os`` alone, or faults would pass them by."""
    seen: list[str] = []

    def note(name: str, arguments: tuple[Any, ...], carry_out: Callable[[], Any]) -> Any:
        seen.append(name)
        return carry_out()

    watch(monkeypatch, note)
    load_catalog("test", {"type": "hadoop", "warehouse": str(tmp_path)}).create_table("db.t", SCHEMA)
    assert seen.count("link") == 1 + seen.count("replace")  # the temporary file's own name, and the version's; the hint is replaced
    assert isinstance(WatchedCalls(note).path, type(os))
