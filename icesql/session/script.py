"""Runs a script's statements in order and stops at the first error, which says the statement's number and its place in the script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icesql.errors import IcesqlError, NotFoundError, SqlError
from icesql.parser.text.script import ScriptStatement, split
from icesql.session.spark_errors import own_message, told_text

if TYPE_CHECKING:
    from icesql.session.session import Session

_PLACE = re.compile(r"line (\d+),? pos(?:ition)? (\d+)")
_UNDERLINE = re.compile(r"^[\s-]*\^+\s*$", re.M)
_UNDERLINED = re.compile(r"[\w.`]+|\S")
_VARIABLE = re.compile(r"\$\{(?:hivevar:|hiveconf:|spark:|system:)?([A-Za-z_][\w.]*)\}")


class ScriptError(IcesqlError):
    """A statement of a script failed. ``number`` counts from 1; ``line`` and ``column`` are places in the script, of the error where
    it has one.

    The error itself is the ``__cause__``.
    """

    def __init__(self, statement: ScriptStatement, line: int, column: int, cause: BaseException) -> None:
        self.number, self.line, self.column, self.statement = statement.number, line, column, statement
        super().__init__(f"Statement {statement.number} failed (line {line}, column {column}): {underlined_text(cause, statement.text)}")


def run_script(
    session: Session, script: str | Path, variables: Mapping[str, str], before: Callable[[ScriptStatement], None] | None = None
) -> Iterator[Any]:
    """The DataFrame of each statement, run as it is asked for. ``before`` is told of each statement first. Raises ScriptError."""
    text = substituted(read_script(script), variables)
    for statement in split(text):
        if before is not None:
            before(statement)
        try:
            frame = session.sql(statement.text)
        except Exception as error:
            raise ScriptError(statement, *place_of(error, statement), error) from error
        yield frame


def read_script(script: str | Path) -> str:
    """The text of a script: of a file for a Path or a name that ends in ``.sql``. Raises NotFoundError."""
    if isinstance(script, str) and ("\n" in script or not script.strip().lower().endswith(".sql")):
        return script
    try:
        return Path(script).read_text(encoding="utf-8")
    except OSError as error:
        raise NotFoundError(f"Cannot read script: {error.strerror or error}: {script}") from None


def substituted(text: str, variables: Mapping[str, str]) -> str:
    """``${name}`` and ``${hivevar:name}`` replaced; names without a value stay for Spark."""
    if not variables or "${" not in text:
        return text
    return _VARIABLE.sub(lambda match: variables.get(match[1], match[0]), text)


def place_of(error: BaseException, statement: ScriptStatement) -> tuple[int, int]:
    """Line and column in the script: the error's own place in its statement, else where the statement begins."""
    line, column = _place_in_statement(error)
    if line is None or column is None:
        return statement.line, statement.column
    return statement.line + line - 1, column if line > 1 else statement.column + column - 1


def _place_in_statement(error: BaseException) -> tuple[int | None, int | None]:
    if isinstance(error, SqlError):
        return error.line, error.column
    match = _PLACE.search(str(getattr(error, "_desc", None) or error))
    return (int(match[1]), int(match[2]) + 1) if match else (None, None)


def underlined_text(error: BaseException, statement: str) -> str:
    """The message, and below it the line of the statement with the place underlined, where the error knows one and shows none itself."""
    text = error_text(error)
    line, column = _place_in_statement(error)
    lines = statement.splitlines()
    if line is None or column is None or not 1 <= line <= len(lines) or _UNDERLINE.search(text):
        return text
    shown = lines[line - 1]
    word = _UNDERLINED.match(shown, column - 1)
    before = re.sub(r"[^\t]", " ", shown[: column - 1])
    return f"{text.rstrip(';')}\n{shown}\n{before}{'^' * (len(word[0]) if word else 1)}"


def error_text(error: BaseException) -> str:
    """The message without JVM stack traces and plans."""
    text = (told_text(error) or own_message(error) or str(getattr(error, "_desc", None) or error)).strip()
    text = text.split("\nJVM stacktrace:")[0].split("\n\tat ")[0]
    lines = [line for line in text.split("\n") if not re.match(r"\s*[:+!'* ]*[+:]- |^'|^[A-Z]\w+ [\[(].*#\d", line)]
    return "\n".join(lines).strip() or type(error).__name__
