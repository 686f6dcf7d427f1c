"""``%sql`` and ``%%sql``: statements in, tables out, variables both ways.

``%%sql result`` keeps the DataFrame of the last statement in the variable ``result``; ``{name}`` in the text is the Python variable of that
name, as a SQL literal. A variable ``spark`` or ``ice`` of the notebook is used where there is one.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.magic.progress import CellOutput, shown_progress
from icesql.magic.pruning_svg import pruning_svg
from icesql.parser.text.script import split
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.session.connecting import connect
from icesql.session.interrupt import interruptible
from icesql.session.output.pruning_line import pruning_line
from icesql.session.output.rows import text as cell_text
from icesql.session.run.call import sql_text
from icesql.session.session import Session

SHOWN_ROWS = 200
_VARIABLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_SESSION = "ice"


class Result:
    """What a cell shows: rows as a table, notices, and a line with time, rows and pruning. ``frame`` is the DataFrame itself."""

    def __init__(self, session: Session, frame: Any, started: float) -> None:
        self.frame = frame
        rows = frame.limit(SHOWN_ROWS + 1).collect() if frame.columns else []
        self.columns: Sequence[str] = frame.columns
        self.rows, self.has_more = rows[:SHOWN_ROWS], len(rows) > SHOWN_ROWS
        parts = [f"{time.perf_counter() - started:.3f} s", f"{len(self.rows)}{'+' if self.has_more else ''} rows" if self.columns else ""]
        self.footer = ", ".join(part for part in (*parts, pruning_line(session.last_plannings)) if part)
        planned = [f"would {action.action}: {action.what} {action.reason}".strip() for action in session.last_plan]
        self.notices = [*session.last_notices, *planned]
        self.picture = pruning_svg(session.last_explained)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell_text(value))}</td>" for value in row) + "</tr>" for row in self.rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notices)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if self.columns else ""
        return f"{table}{self.picture}{notes}<small>{html.escape(self.footer)}</small>"

    def __repr__(self) -> str:
        from icesql.session.output.rows import as_text

        return "\n".join([as_text(self.columns, self.rows).rstrip(), *self.notices, self.footer]).strip()


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
    found = variables.get(_SESSION)
    if isinstance(found, Session):
        return found
    from icesql.spark.jvm.spark_session import is_classic

    spark = variables.get("spark")
    session = connect(spark) if spark is not None and is_classic(spark) else connect()
    variables[_SESSION] = session
    return session


def run_cell(line: str, cell: str | None, variables: dict[str, Any]) -> Result | None:
    """Run the statements of a cell (or line) and return what the last one gives. ``line`` of a cell may name the variable to keep it in."""
    target = line.strip() if cell is not None else ""
    if target and not target.isidentifier():
        raise InvalidArgumentError(f"Cannot keep result: not a variable's name: {target}")
    session = session_of(variables)
    with interruptible(session.spark), shown_progress(session, CellOutput()):
        started = time.perf_counter()
        frame = None
        for statement in split(substituted(line if cell is None else cell, variables)):
            started = time.perf_counter()
            frame = session.sql(statement.text)
        if frame is None:
            return None
        if target:
            variables[target] = frame
        return Result(session, frame, started)


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext icesql``."""

    from IPython.core.magic import no_var_expand

    def sql(line: str, cell: str | None = None) -> Result | None:
        return run_cell(line, cell, shell.user_ns)

    # IPython's own expansion of {name} knows no SQL literals
    shell.register_magic_function(no_var_expand(sql), magic_kind="line_cell", magic_name="sql")


def unload_ipython_extension(shell: Any) -> None:
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("sql", None)
