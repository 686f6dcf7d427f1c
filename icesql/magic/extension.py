"""``%sql`` and ``%%sql``: statements in, tables out, variables both ways.

``%%sql --limit 5 result`` shows five rows and keeps the DataFrame of the last statement in the variable ``result``; ``{name}`` in the text
is the Python variable of that name, as a SQL literal. A variable ``spark`` or ``ice`` of the notebook is used where there is one.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icesql.errors import IcesqlError, InvalidArgumentError, nearest
from icesql.magic.progress import CellOutput, shown_progress
from icesql.magic.result import SHOWN_ROWS, Result
from icesql.parser.text.script import split
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.session.connecting import connect
from icesql.session.interrupt import interruptible
from icesql.session.run.call import sql_text
from icesql.session.script import underlined_text
from icesql.session.session import Session

_VARIABLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_SESSION = "ice"


def substituted(text: str, variables: Mapping[str, Any]) -> str:
    """``{name}`` -> the literal of that variable; other braces stay, and so do comments.

    Raises InvalidArgumentError for a value without a literal, and for a variable inside quotes, which its literal's own quotes would end.
    """
    pieces, kept = [], 0
    tokens = tokenize(text)
    for position, token in enumerate(tokens):
        if token.kind in (Kind.STRING, Kind.QUOTED):
            _check_quoted(token.text, variables)
        name = _named_at(tokens, position)
        if name in variables:
            end = tokens[position + 2].end
            pieces += [text[kept : token.start], _apart(text[: token.start], _literal(name, variables[name]), text[end:])]
            kept = end
    return "".join([*pieces, text[kept:]])


def _named_at(tokens: Sequence[Token], position: int) -> str:
    """The name in ``{name}`` that begins at a token; ``""`` where none does."""
    if tokens[position].key != "{":
        return ""
    opening, name, closing = tokens[position : position + 3] if position + 3 <= len(tokens) else (tokens[position],) * 3
    is_whole = name.kind is Kind.WORD and closing.key == "}" and opening.end == name.start and name.end == closing.start
    return name.text if is_whole else ""


def _check_quoted(quoted: str, variables: Mapping[str, Any]) -> None:
    for name in _VARIABLE.findall(quoted):
        if name in variables:
            raise InvalidArgumentError(
                f"Cannot put variable into SQL: {{{name}}} stands inside quotes: {quoted}. Write it without them, as it becomes a whole "
                f"literal, or put the whole text into a variable"
            )


def _literal(name: str, value: Any) -> str:
    try:
        return sql_text(value)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"Cannot put variable into SQL: no literal for {type(value).__name__}: {name}") from error


def _apart(before: str, literal: str, after: str) -> str:
    """The literal with blanks where it would run into its neighbours: ``5-{v}`` with -1 must not begin a comment."""
    left = "" if not before or before[-1].isspace() or before[-1] in "(,[" else " "
    right = "" if not after or after[0].isspace() or after[0] in "),];" else " "
    return f"{left}{literal}{right}"


def session_of(variables: dict[str, Any]) -> Session:
    """The notebook's session: ``ice``, else one over ``spark``, else a new one; kept as ``ice``."""
    kept = variables.get(_SESSION)
    if isinstance(kept, Session):
        return kept
    from icesql.spark.jvm.spark_session import is_classic

    spark = variables.get("spark")
    session = connect(spark) if spark is not None and is_classic(spark) else connect()
    variables[_SESSION] = session
    return session


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOptions:
    """What stands on the line of ``%%sql``. ``target``: the variable that keeps the DataFrame, ``""`` for none."""

    target: str = ""
    limit: int = SHOWN_ROWS
    traceback: bool = False


def cell_options(line: str) -> CellOptions:
    """``[--limit N] [--traceback] [NAME]``. Raises InvalidArgumentError."""
    words, options = line.split(), CellOptions()
    while words:
        word = words.pop(0)
        if word == "--traceback":
            options = replace(options, traceback=True)
        elif word == "--limit" or word.startswith("--limit="):
            number = word.partition("=")[2] or (words.pop(0) if words else "")
            if not number.isdigit():
                raise InvalidArgumentError(f"Cannot limit rows: not a number: {number or 'nothing'}")
            options = replace(options, limit=int(number))
        elif word.startswith("-"):
            raise InvalidArgumentError(f"Cannot run cell: unknown option: {word}.{nearest(word, ('--limit', '--traceback'))}")
        elif options.target or not word.isidentifier():
            raise InvalidArgumentError(f"Cannot keep result: not a variable's name: {line.strip()}")
        else:
            options = replace(options, target=word)
    return options


def run_cell(line: str, cell: str | None, variables: dict[str, Any], began: Callable[[str], None] = lambda text: None) -> Result | None:
    """Run the statements of a cell (or line) and return what the last one gives. ``line`` of a cell has its options.

    ``began``: told the text of each statement before it runs.
    """
    options = CellOptions() if cell is None else cell_options(line)
    session = session_of(variables)
    with interruptible(session.spark), shown_progress(session, CellOutput()):
        started = time.perf_counter()
        frame, text = None, ""
        for statement in split(substituted(line if cell is None else cell, variables)):
            started, text = time.perf_counter(), statement.text
            began(text)
            frame = session.sql(text)
        if frame is None:
            return None
        if options.target:
            variables[options.target] = frame
        return Result(session, frame, started, text=text, limit=options.limit)


class SqlMagic:
    """``%sql`` and ``%%sql`` of one IPython shell. An error is shown without its traceback, which ``%sql --traceback`` shows then."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._last_error: BaseException | None = None
        self._statement = ""

    def __call__(self, line: str, cell: str | None = None) -> Result | None:
        if cell is None and line.strip() == "--traceback":
            self._show_traceback()
            return None
        self._statement = ""
        try:
            return run_cell(line, cell, self._shell.user_ns, self._begin)
        except KeyboardInterrupt:
            raise
        except Exception as error:
            self._last_error = error
            if is_told_well(error) and not (cell is not None and "--traceback" in line.split()):
                shown = error_lines(error, self._statement)
                error._render_traceback_ = lambda: shown  # type: ignore[attr-defined]  # what IPython shows instead of the traceback
            raise

    def _begin(self, text: str) -> None:
        self._statement = text

    def _show_traceback(self) -> None:
        if self._last_error is None:
            print("No %sql has failed.")
            return
        print("".join(traceback.format_exception(self._last_error)), end="")


def is_told_well(error: Exception) -> bool:
    """Whether the message says all: ours, and Spark's. Other errors are faults, and their tracebacks are needed."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(error, IcesqlError | PySparkException | Py4JError)


def error_lines(error: Exception, statement: str = "") -> list[str]:
    """The box: what kind of error, its message with the place in the text, and how to see more."""
    first, *others = underlined_text(error, statement).splitlines()
    return [f"{type(error).__name__}: {first}", *others, "", "%sql --traceback shows where it was raised."]


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext icesql``."""
    from IPython.core.magic import no_var_expand

    magic = SqlMagic(shell)

    def sql(line: str, cell: str | None = None) -> Result | None:
        return magic(line, cell)

    # IPython's own expansion of {name} knows no SQL literals
    shell.register_magic_function(no_var_expand(sql), magic_kind="line_cell", magic_name="sql")


def unload_ipython_extension(shell: Any) -> None:
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("sql", None)
