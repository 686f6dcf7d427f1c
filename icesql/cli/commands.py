"""The shell's own commands: psql's ``\\d``, ``\\x``, ``\\i`` and duckdb's ``.tables``, ``.mode``, ``.read``."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from icesql.cli import browsing
from icesql.cli.runner import Runner
from icesql.errors import IcesqlError, InvalidArgumentError, NotFoundError, nearest
from icesql.parser.text.identifiers import parse_name
from icesql.session.output.layout import AUTO, EXPANDED, OFF, ON
from icesql.session.output.rows import FORMATS

LEAVING = ("quit", "exit")


@dataclass(slots=True)
class Shell:
    """What commands work on. ``last``: the statements run last. ``draft``: what the next prompt begins with. ``is_done``: leave."""

    runner: Runner
    last: str = ""
    draft: str = ""
    is_done: bool = False

    def enter(self, text: str) -> None:
        """Run what was typed: a command of the shell, or statements."""
        try:
            command = find_command(text)
            if command is None:
                self.last = text
                self.runner.run(text)
            else:
                command[0].run(self, command[1])
        except (IcesqlError, OSError) as error:
            self.runner.log.write(f"icesql: {error}\n")
            self.runner.log.flush()

    def tell(self, text: str) -> None:
        self.runner.log.write(text + "\n")


Run: TypeAlias = Callable[[Shell, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """``names``: psql's first, then other spellings. ``argument``: as help shows it."""

    names: tuple[str, ...]
    argument: str = ""
    help: str
    run: Run = field(repr=False)


def find_command(text: str) -> tuple[Command, str] | None:
    """The command that a line is, and its argument; ``None`` for SQL. Raises NotFoundError for a command that is not there."""
    if not is_command(text):
        return None
    word, _, argument = text.strip().partition(" ")
    if word.lower() in ("help", *LEAVING):
        argument, word = argument.rstrip("; "), word.lower()
    word = word.rstrip(";")
    command = COMMANDS.get(word) or COMMANDS.get(word.lower())
    if command is None:
        raise NotFoundError(f"Cannot run command: unknown: {word}.{nearest(word, COMMANDS)} help lists all")
    return command, argument.strip()


def is_command(text: str) -> bool:
    """Whether a text is one line for the shell itself, not SQL."""
    stripped = text.strip()
    if "\n" in stripped or not stripped:
        return False
    if stripped[0] == "\\":
        return True
    if stripped[0] == ".":
        return stripped[1:2].isalpha()
    return stripped.split(None, 1)[0].rstrip(";").lower() in ("help", *LEAVING) and "(" not in stripped


# -- what there is -----------------------------------------------------------------------------------------------------
def _describe(shell: Shell, name: str) -> None:
    from icesql.session.resolve.resolved import ResolvedTable
    from icesql.session.resolve.resolver import resolve

    name = name.rstrip(";")
    if not name:
        return _tables(shell, "")
    with shell.runner.session.statement() as state:
        resolved = resolve(state, parse_name(name))
    if not isinstance(resolved, ResolvedTable):
        shell.runner.run(f"DESCRIBE TABLE EXTENDED {name}")
        return None
    return show_description(shell.runner, browsing.describe(resolved.table))


def show_description(runner: Runner, description: browsing.Description) -> None:
    from icesql.cli.browse import facts_text

    runner.show_rows(description.columns.names, description.columns.rows)
    runner.out.write(facts_text(description.facts))


def _tables(shell: Shell, name: str) -> None:
    runner = shell.runner
    with runner.session.statement() as state:
        parts = parse_name(name.rstrip(";")) if name else None
        where = state.names.namespace(parts)
        if where is None and parts is not None:
            runner.run(f"SHOW TABLES IN {name}")
            return
        if where is not None and (parts is not None or where[1]):
            listed = [browsing.tables(where[0], where[1] or None)]
        else:
            listed = [browsing.tables(state.names.catalog(catalog)) for catalog in state.catalogs.names]
    runner.show_rows(("catalog", "namespace", "name", "kind"), [row for rows in listed for row in rows.rows])


def _namespaces(shell: Shell, name: str) -> None:
    runner = shell.runner
    with runner.session.statement() as state:
        catalogs = [name.rstrip(";")] if name else list(state.catalogs.names)
        listed = [browsing.namespaces(state.names.catalog(catalog)) for catalog in catalogs]
    runner.show_rows(("catalog", "namespace"), [row for rows in listed for row in rows.rows])


def _catalogs(shell: Shell, name: str) -> None:
    shell.runner.run("SHOW CATALOGS")


def _use(shell: Shell, name: str) -> None:
    if not name:
        raise InvalidArgumentError("Cannot change namespace: none is given: \\c CATALOG.NAMESPACE")
    shell.runner.run(f"USE {name}")


def _create_statements(shell: Shell, name: str) -> None:
    if name:
        shell.runner.run(f"SHOW CREATE TABLE {name}")
        return
    with shell.runner.session.statement() as state:
        where = state.names.namespace(None)
        tables = [] if where is None else [(where[0].name, *table) for table in where[0].list_tables(where[1])]
    if where is None:
        raise InvalidArgumentError("Cannot show the statements that made the tables: the current catalog is not Iceberg's: .schema TABLE")
    from icesql.parser.text.edits import quote

    for table in tables:
        shell.runner.run(f"SHOW CREATE TABLE {quote(*table)}")


# -- how it is shown ---------------------------------------------------------------------------------------------------
def _choose(name: str, argument: str, choices: tuple[str, ...]) -> str:
    if argument.lower() not in choices:
        raise InvalidArgumentError(f"Cannot set {name}: not one of {', '.join(choices)}: {argument}")
    return argument.lower()


def _expanded(shell: Shell, argument: str) -> None:
    display = shell.runner.display
    toggled = AUTO if display.expanded == ON else ON
    display.expanded = _choose("\\x", argument, EXPANDED) if argument else toggled
    shell.tell({
        ON: "-- one record a row",
        OFF: "-- always a table; what is wider than the screen scrolls sideways, or follows in bands of columns",
        AUTO: "-- a table where it fits, else one record a row",
    }[display.expanded])  # fmt: skip


def _timing(shell: Shell, argument: str) -> None:
    display = shell.runner.display
    display.has_timing = _choose("\\timing", argument, (ON, OFF)) == ON if argument else not display.has_timing
    shell.tell(f"-- timing is {ON if display.has_timing else OFF}")


def _pager(shell: Shell, argument: str) -> None:
    display = shell.runner.display
    display.pages = _choose("\\pager", argument, (ON, OFF)) == ON if argument else not display.pages
    shell.tell(f"-- the pager is {ON if display.pages else OFF}")


def _mode(shell: Shell, argument: str) -> None:
    display = shell.runner.display
    aliases = {"line": "table", "box": "table", "duckbox": "table", "column": "table", "jsonlines": "json", "md": "markdown"}
    form = argument.lower()
    display.form = _choose("format", aliases.get(form, form), FORMATS)
    display.expanded = ON if form == "line" else AUTO if form in aliases or form == "table" else display.expanded
    shell.tell(f"-- results are shown as {'records' if form == 'line' else display.form}")


def _limit(shell: Shell, argument: str) -> None:
    if argument.lower() == "all":
        shell.runner.display.limit = None
    elif argument.isdigit():
        shell.runner.display.limit = int(argument)
    else:
        raise InvalidArgumentError(f"Cannot set rows shown: not a number or all: {argument or 'nothing'}")


# -- files -------------------------------------------------------------------------------------------------------------
def _include(shell: Shell, argument: str) -> None:
    if not argument:
        raise InvalidArgumentError("Cannot run script: none is given: \\i FILE")
    shell.runner.run(_path(argument))


def _output(shell: Shell, argument: str) -> None:
    shell.runner.redirect(None if argument in ("", "stdout") else _path(argument))
    shell.tell(f"-- results go to {argument or 'the screen'}")


def _edit(shell: Shell, argument: str) -> None:
    """The last statements, or a file, in the user's editor; what comes of them is the next prompt's draft."""
    if argument:
        path = _path(argument)
        _run_editor(path)
        shell.draft = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else ""
        return
    with tempfile.TemporaryDirectory(prefix="icesql-") as folder:
        path = Path(folder) / "statement.sql"
        path.write_text(shell.last + "\n", encoding="utf-8")
        _run_editor(path)
        shell.draft = path.read_text(encoding="utf-8").rstrip("\n")


def _run_editor(path: Path) -> None:
    command = [*shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"), str(path)]
    try:
        done = subprocess.run(command, check=False)
    except OSError as error:
        raise NotFoundError(f"Cannot start editor: {error.strerror}: {command[0]}. Set VISUAL or EDITOR") from None
    if done.returncode:
        raise InvalidArgumentError(f"Cannot use what was edited: the editor failed with code {done.returncode}: {command[0]}")


def _path(argument: str) -> Path:
    return Path(argument.strip("'\"")).expanduser()


# -- the rest ----------------------------------------------------------------------------------------------------------
def _help(shell: Shell, topic: str) -> None:
    from icesql.cli.help import help_text

    shell.runner.display.text(help_text(topic), shell.runner.out)
    shell.runner.out.flush()


def _leave(shell: Shell, argument: str) -> None:
    shell.is_done = True


_ALL = (
    Command(names=("help", "\\?", "\\h", ".help"), argument="[TOPIC]", help="this; the procedures (CALL), one (CALL NAME)", run=_help),
    Command(names=("\\d", ".describe", ".columns"), argument="[NAME]", help="columns, layout, state of a table; or tables", run=_describe),
    Command(names=("\\dt", ".tables"), argument="[NAMESPACE]", help="tables and views", run=_tables),
    Command(names=("\\dn", ".namespaces"), argument="[CATALOG]", help="namespaces", run=_namespaces),
    Command(names=("\\l", ".databases", ".catalogs"), help="catalogs", run=_catalogs),
    Command(names=("\\sc", ".schema"), argument="[TABLE]", help="the statements that make the tables", run=_create_statements),
    Command(names=("\\c", ".use"), argument="CATALOG.NAMESPACE", help="change the current namespace", run=_use),
    Command(names=("\\x", ".expanded"), argument="[on|off|auto]", help="one record a row; auto: for wide tables", run=_expanded),
    Command(names=("\\format", ".mode"), argument="NAME", help="table, csv, json, markdown or line", run=_mode),
    Command(names=("\\timing", ".timer"), argument="[on|off]", help="the seconds that statements take", run=_timing),
    Command(names=("\\limit", ".maxrows"), argument="ROWS|all", help="how many rows of a result are shown", run=_limit),
    Command(names=("\\pager", ".pager"), argument="[on|off]", help="a pager for what is larger than the screen", run=_pager),
    Command(names=("\\i", ".read"), argument="FILE", help="run a script", run=_include),
    Command(names=("\\e", ".edit"), argument="[FILE]", help="edit the last statement, or a file, and run it", run=_edit),
    Command(names=("\\o", ".output"), argument="[FILE]", help="results into a file; without one: to the screen again", run=_output),
    Command(names=("\\q", "quit", "exit", ".quit", ".exit"), help="leave; Ctrl-D does too", run=_leave),
)  # fmt: skip
COMMANDS = {name: command for command in _ALL for name in command.names}
EVERY_COMMAND = _ALL
