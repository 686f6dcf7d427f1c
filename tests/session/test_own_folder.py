"""What is kept for a user is closed to others, however it came to be there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from icesql.cli.interactive import _history
from icesql.session.connecting import _folders
from icesql.session.own_folder import own_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no rights of group and others")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_what_is_made_is_closed_to_others(home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        path = own_file("history")
    finally:
        os.umask(before)
    assert (rights(home / ".icesql"), rights(path)) == (0o700, 0o600)


def test_what_was_open_is_closed_and_kept(home: Path) -> None:
    folder = home / ".icesql"
    folder.mkdir(mode=0o755)
    (folder / "history").write_text("+SELECT 1\n")
    (folder / "history").chmod(0o644)
    path = _history()
    assert path is not None
    assert (rights(folder), rights(path)) == (0o700, 0o600)
    assert path.read_text() == "+SELECT 1\n"


def test_starting_spark_closes_it(home: Path) -> None:
    assert str(home / ".icesql") in _folders()["spark.sql.warehouse.dir"]
    assert rights(home / ".icesql") == 0o700


def test_where_it_cannot_be_made_history_stays_in_memory(home: Path) -> None:
    (home / ".icesql").write_text("a file")
    assert _history() is None
    assert _folders()
