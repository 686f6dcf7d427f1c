"""Every system call of a write or rename fails once, before it is carried out or after: the answer is right, or says nothing."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from icesql.errors import AlreadyExistsError, IcesqlError
from icesql.io.storage.local_files import LocalFileIO
from tests.io.system_calls import Fault, watch

IO = LocalFileIO()
ERRORS = (errno.EIO, errno.ENOSPC, errno.ESTALE, errno.EINTR, errno.EEXIST, errno.ENOENT, errno.EPERM)
OLD, NEW = b"old" * 100, b"new" * 200


def faults(run: Callable[[Fault], None]) -> Iterator[Fault]:
    """Run once for each call, error and moment, until there is no such call."""
    for number in itertools.count(1):
        for error, carried_out in itertools.product(ERRORS, (False, True)):
            fault = Fault(number, error, carried_out=carried_out)
            run(fault)
            if fault.left > 0:
                return
            yield fault


@pytest.mark.parametrize("there", [None, OLD], ids=["free", "taken"])
@pytest.mark.parametrize("way", ["write", "overwrite", "rename"])
def test_a_call_that_fails(way: str, there: bytes | None, tmp_path: Path) -> None:
    struck = set()
    folders = (tmp_path / f"f{number}" for number in itertools.count())

    def run(fault: Fault) -> None:
        folder = next(folders) / "deep"
        target, source = folder / "v1", folder / "source"
        folder.mkdir(parents=True)
        if there is not None:
            target.write_bytes(there)
        if way == "rename":
            source.write_bytes(NEW)
        outcome = outcome_of(way, str(source), str(target), fault)
        held = target.read_bytes() if target.exists() else None
        what = f"{way} {fault.struck} {errno.errorcode[fault.error]} carried out: {fault.carried_out}: {outcome}"
        placeholder = held == b"" and there is None and fault.error == errno.EPERM
        assert held in (there, NEW) or (outcome != "done" and placeholder), what
        if outcome == "done":
            assert held == NEW, what
        if outcome == "taken":
            assert held == there == OLD, what
        if way != "overwrite" and there is not None:
            assert held == OLD, what
        if fault.struck != "unlink" and way != "rename":
            assert [path.name for path in folder.iterdir()] == (["v1"] if held is not None else []), what

    for fault in faults(run):
        struck.add(fault.struck)
    assert ({"replace"} if way == "overwrite" else {"link"}) <= struck
    assert {"open", "write", "fsync", "close", "unlink", "stat"} <= struck or way == "rename"


def outcome_of(way: str, source: str, target: str, fault: Fault) -> str:
    with pytest.MonkeyPatch.context() as patch:
        watch(patch, fault)
        try:
            if way == "rename":
                IO.rename_without_overwrite(source, target)
            else:
                IO.write(target, NEW, overwrite=way == "overwrite")
        except AlreadyExistsError:
            return "taken"
        except (OSError, IcesqlError):
            return "open"
    return "done"


def test_a_link_that_is_carried_out_twice_is_one_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS: the server carries the link out, the answer is lost, and the call sent again meets its own work."""

    def twice(name: str, arguments: tuple[object, ...], carry_out: Callable[[], object]) -> object:
        if name == "link":
            carry_out()
        return carry_out()

    watch(monkeypatch, twice)
    IO.write(f"{tmp_path}/a", NEW, overwrite=False)
    with pytest.raises(AlreadyExistsError):
        IO.write(f"{tmp_path}/a", NEW, overwrite=False)  # the same bytes, and yet another file
    (tmp_path / "source").write_bytes(OLD)
    IO.rename_without_overwrite(f"{tmp_path}/source", f"{tmp_path}/b")
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == [("a", NEW), ("b", OLD)]


# -- without hard links ------------------------------------------------------------------------------------------------
def no_links(name: str, arguments: tuple[object, ...], carry_out: Callable[[], object]) -> object:
    if name == "link":
        raise PermissionError(errno.EPERM, "no hard links here")
    return carry_out()


def test_without_links_a_name_is_given_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch(monkeypatch, no_links)
    IO.write(f"{tmp_path}/a", NEW, overwrite=False)
    with pytest.raises(AlreadyExistsError):
        IO.write(f"{tmp_path}/a", OLD, overwrite=False)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", NEW)]


def test_a_claim_is_left_to_its_writer_for_a_while_and_then_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch(monkeypatch, no_links)
    (tmp_path / "a").touch()
    with pytest.raises(AlreadyExistsError):
        IO.write(f"{tmp_path}/a", NEW, overwrite=False)
    os.utime(tmp_path / "a", (1, 1))
    IO.write(f"{tmp_path}/a", NEW, overwrite=False)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", NEW)]


class _Died(BaseException):
    pass


@pytest.mark.parametrize("slow_writer_wakes", ["after", "just before", "never"])
def test_a_slow_writer_and_one_that_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_writer_wakes: str) -> None:
    """The slow writer stops between the two halves of its claim. Exactly one of the two has the name in the end, and both know it."""
    target, outcomes = tmp_path / "a", []

    def slow(name: str, arguments: tuple[object, ...], carry_out: Callable[[], object]) -> object:
        if name == "replace":
            os.utime(target, (1, 1))  # it sleeps for longer than anyone's patience
            watch(monkeypatch, fast)
            if slow_writer_wakes != "just before":
                outcomes.append(("fast", give(NEW)))
            if slow_writer_wakes == "never":
                raise _Died
        return no_links(name, arguments, carry_out)

    def fast(name: str, arguments: tuple[object, ...], carry_out: Callable[[], object]) -> object:
        return no_links(name, arguments, carry_out)

    def give(data: bytes) -> str:
        try:
            IO.write(str(target), data, overwrite=False)
        except AlreadyExistsError:
            return "taken"
        return "done"

    watch(monkeypatch, slow)
    with contextlib.suppress(_Died):
        outcomes.append(("slow", give(OLD)))
    if slow_writer_wakes == "just before":
        outcomes.append(("fast", give(NEW)))
    winners = [name for name, outcome in outcomes if outcome == "done"]
    assert winners == (["slow"] if slow_writer_wakes == "just before" else ["fast"])
    assert target.read_bytes() == (OLD if winners == ["slow"] else NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
