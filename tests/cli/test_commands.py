"""The shell's own commands, without Spark: the session knows no statement."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from icesql.cli.commands import COMMANDS, Shell, find_command, is_command
from icesql.cli.runner import Runner
from icesql.errors import NotFoundError
from icesql.procedures.registry import NAMES, procedure


@pytest.fixture
def shell() -> Shell:
    session: Any = None
    return Shell(Runner(session, out=io.StringIO(), log=io.StringIO()))


def said(shell: Shell) -> str:
    return shell.runner.out.getvalue() + shell.runner.log.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\d local.db.t", True), (".tables", True), ("help", True), ("help CALL expire_snapshots;", True), ("quit;", True), ("EXIT", True),
        ("SELECT 1", False), ("", False), (".5 + 1", False), ("SELECT\n\\d", False), ("exit(1)", False),
    ],
)  # fmt: skip
def test_what_is_a_command(text: str, expected: bool) -> None:
    assert is_command(text) is expected


def test_arguments_and_other_spellings() -> None:
    assert find_command("\\dt  db ") == find_command(".tables db") == (COMMANDS["\\dt"], "db")
    assert find_command("SELECT 1") is None
    with pytest.raises(NotFoundError, match=r"unknown: \.tabels\. Did you mean '\.tables'\?"):
        find_command(".tabels")


def test_help_lists_every_command(shell: Shell) -> None:
    shell.enter("help")
    for command in COMMANDS.values():
        assert command.help in said(shell)
    for name in COMMANDS:
        assert name in said(shell)


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_procedure_is_its_documentation(shell: Shell, name: str) -> None:
    shell.enter(f"help CALL {name}")
    one = procedure(name)
    assert one.summary in said(shell)
    for parameter in one.signature:
        assert f"  {parameter.name} " in said(shell)
        assert parameter.description in said(shell)
    for output in one.output:
        assert output.name in said(shell)


def test_help_of_what_is_not_there_names_the_nearest(shell: Shell) -> None:
    shell.enter("help CALL rewrite_data_file")
    shell.enter("help expire_snapshot")
    assert "Did you mean 'rewrite_data_files'?" in said(shell)
    assert "Did you mean 'expire_snapshots'?" in said(shell)


def test_settings_of_the_display(shell: Shell) -> None:
    display = shell.runner.display
    for text in ("\\x", "\\timing", ".mode csv", "\\limit 5", "\\pager on"):
        shell.enter(text)
    assert (display.expanded, display.has_timing, display.form, display.limit, display.pages) == ("on", False, "csv", 5, True)
    for text in ("\\x off", ".timer on", ".maxrows all", ".pager off", ".mode line"):
        shell.enter(text)
    assert (display.expanded, display.has_timing, display.form, display.limit, display.pages) == ("on", True, "table", None, False)
    shell.enter("\\x sideways")
    shell.enter("\\limit many")
    assert "not one of auto, on, off: sideways" in said(shell)
    assert "not a number or all: many" in said(shell)
    assert display.expanded == "on"


def test_results_go_into_a_file_and_back(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell.enter(f"\\o {tmp_path}/out.txt")
    shell.runner.show_rows(("a",), [("first",)])
    shell.enter("\\o")
    shell.runner.show_rows(("a",), [("second",)])
    assert (tmp_path / "out.txt").read_text() == "a\nfirst\n"
    assert "second" in capsys.readouterr().out
    shell.enter(f"\\o {tmp_path}/none/out.txt")
    assert "No such file" in shell.runner.log.getvalue()


def test_the_editor_gives_the_next_draft(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i s/1/2/ $1\n")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    shell.last = "SELECT 1;"
    shell.enter("\\e")
    assert shell.draft == "SELECT 2;"
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    shell.enter("\\e")
    assert "Cannot start editor" in said(shell)


def test_leaving(shell: Shell) -> None:
    shell.enter("\\q")
    assert shell.is_done
