"""Spark's errors in the user's words: about the text that the user wrote, at its places, without the names of our views.

What Spark is given is the user's text with views in the place of tables, or a larger text of ours with pieces of it (the condition of an
UPDATE within a query). An error of Spark's tells which text it parsed and where in it the fault lies; that leads back to the piece, and
from the piece to the user's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icesql.errors import SqlError
from icesql.io.lru import LruCache
from icesql.parser.text.edits import Rewritten
from icesql.parser.text.places import line_and_column, offset_of
from icesql.parser.text.tokens import Kind, tokenize
from icesql.table.scan.metadata_columns import NAMES as METADATA_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icesql.spark.jvm.error_places import ErrorPlace

_PLACE = re.compile(r"\bline (\d+),? pos(ition)? (\d+)")
_PLACE_BEHIND = re.compile(r"; line (\d+) pos (\d+)")
_VIEW = re.compile(r"`?(_ice(?:script)?\d+|__icesql_target_\d+(?:_shape)?|_ice_\w+|__icesql_\w+)`?")
_FUNCTION = re.compile(r"\b_icesql_(\w+)")
_NEAR, _BEHIND_NEAR = "Syntax error at or near ", ". SQLSTATE"
_SUGGESTIONS = "Did you mean one of the following? ["
_CONTEXT = re.compile(r"\n?== SQL .*", re.DOTALL)
_KEPT = 64


@dataclass(slots=True)
class UserText:
    """``handed``: the user's text, or pieces of it, as Spark was given them. ``views``: the users' names of what stands for tables.

    ``is_statement``: Spark may be asked what is wrong with the syntax of the text; ``False`` for a predicate.
    """

    text: str
    is_statement: bool = True
    handed: list[Rewritten] = field(default_factory=list)
    views: dict[str, str] = field(default_factory=dict)

    def offset(self, place: ErrorPlace) -> int | None:
        """The place in the user's text; ``None`` where it does not lie in a piece of it."""
        for piece in sorted(self.handed, key=lambda each: -len(each.text)):
            at = place.sql.find(piece.text) if piece.text else -1
            while at >= 0:
                if at <= place.start <= at + len(piece.text):
                    return piece.offset(place.start - at)
                at = place.sql.find(piece.text, at + 1)
        fragment = place.sql[place.start : place.end]
        return self.text.index(fragment) if fragment.strip() and self.text.count(fragment) == 1 else None


_sent: LruCache[str, UserText] = LruCache(_KEPT)
"""The user's texts by the texts of queries that Spark was given for them: a query may fail when its rows are asked for."""


def sent(sql: str, user: UserText) -> None:
    """Remember whose text a query is."""
    if sql != user.text:
        _sent.put(sql, user)


@contextmanager
def in_the_users_words(spark: SparkSession, user: UserText) -> Iterator[None]:
    """Errors that Spark raises inside speak about ``user.text``."""
    from pyspark.errors.exceptions.captured import CapturedException, ParseException

    try:
        yield
    except ParseException as error:
        from icesql.spark.jvm.spark_session import check_parses

        if _is_told(error):
            raise
        if user.is_statement:
            check_parses(spark, user.text)  # let Spark refuse the user's own text, where its grammar has such statements
        raise _refused(error, user) from None
    except CapturedException as error:
        tell(error, user)
        raise


@contextmanager
def within(spark: Any, text: str, start: int) -> Iterator[None]:
    """Errors that are raised inside about ``text[start:]``, a query within a statement, speak about the whole ``text``."""
    from pyspark.errors.exceptions.captured import CapturedException, ParseException

    from icesql.spark.jvm.spark_session import check_parses

    def place(match: re.Match[str]) -> str:
        line, column = line_and_column(text, start + offset_of(text[start:], int(match[1]), int(match[2])))
        return f"; line {line} pos {column - 1}"

    try:
        yield
    except ParseException:
        check_parses(spark, text)
        raise
    except CapturedException as error:
        error._desc = _PLACE_BEHIND.sub(place, str(error._desc))
        raise


def tell(error: Any, user: UserText) -> None:
    """Make a captured exception's message speak about the user's text."""
    from icesql.spark.jvm.error_places import error_place

    if _is_told(error) or not error._desc:
        return
    place = error_place(error)
    offset = None if place is None else user.offset(place)
    error._desc = _message(str(error._desc), user, place, offset)
    error._is_told = True


def told_text(error: BaseException) -> str | None:
    """The message of an error that a query raised when its rows were asked for, in the user's words; ``None`` for other errors."""
    from icesql.spark.jvm.error_places import error_place

    place = None if _is_told(error) else error_place(error)
    user = None if place is None else _sent.find(place.sql)
    if user is None or place is None:
        return None
    return _message(str(getattr(error, "_desc", error)), user, place, user.offset(place))


def own_message(error: BaseException) -> str | None:
    """The message of a Java exception that came through Py4J as it was; ``None`` for other errors."""
    java_exception = getattr(error, "java_exception", None)
    return None if java_exception is None else str(java_exception.getMessage() or java_exception.getClass().getName())


def _is_told(error: BaseException) -> bool:
    return getattr(error, "_is_told", False)


def _message(message: str, user: UserText, place: ErrorPlace | None, offset: int | None) -> str:
    message = with_names(_without_plan(message), user.views)
    if _CONTEXT.search(message):
        context = "" if place is None or offset is None else _context(user.text, offset, place.end - place.start)
        return _CONTEXT.sub(lambda _: context, message)
    if offset is None:
        unmoved = [piece for piece in user.handed if piece.text == user.text]
        return message if unmoved and place is None else _PLACE_BEHIND.sub("", message)
    line, column = line_and_column(user.text, offset)
    return _PLACE_BEHIND.sub(f"; line {line} pos {column - 1}", message)


def _without_plan(message: str) -> str:
    """Plans that Spark prints behind its messages are of our views."""
    return re.split(r";\n(?=['!]?[A-Z]\w*)", message, maxsplit=1)[0]


def with_names(message: str, views: Mapping[str, str]) -> str:
    """The message with the users' names of what our views and functions stand for, and without the columns that only our views have."""
    message = _VIEW.sub(lambda match: views.get(match[1], "table"), message)
    message = _FUNCTION.sub(r"system.\1", message)
    before, suggestions, rest = message.partition(_SUGGESTIONS)
    names, bracket, behind = rest.partition("]")
    kept = [name for name in names.split(", ") if not _is_hidden(name.rpartition(".")[2].strip("`"))]
    return f"{before}{suggestions}{', '.join(kept)}{bracket}{behind}"


def _is_hidden(column: str) -> bool:
    return column.startswith("__") or column in METADATA_COLUMNS


def _context(text: str, offset: int, length: int) -> str:
    """The line of the user's text, underlined as Spark does."""
    line, column = line_and_column(text, offset)
    shown = text.split("\n")[line - 1]
    width = max(1, min(length, len(shown) - column + 1))
    return f"\n== SQL (line {line}, position {column}) ==\n{shown}\n{' ' * (column - 1)}{'^' * width}\n"


def _refused(error: Any, user: UserText) -> SqlError:
    """A syntax error that only the rewritten text has: about the user's word that stands there."""
    from icesql.spark.jvm.error_places import error_place

    place = error_place(error)
    offset = None if place is None else user.offset(place)
    first = next(line for line in str(error._desc).splitlines() if line.strip())
    message = with_names(re.sub(r" \(line \d+, pos \d+\)", "", first), user.views)
    if offset is None:
        return SqlError(message)
    token = next(token for token in tokenize(user.text) if token.end > offset or token.kind is Kind.END)
    near = "end of input" if token.kind is Kind.END else f"'{token.text}'"
    line, column = line_and_column(user.text, token.start)
    before, has_near, rest = message.partition(_NEAR)
    if has_near:
        message = f"{before}{_NEAR}{near}{_BEHIND_NEAR}{rest.partition(_BEHIND_NEAR)[2]}"
    return SqlError(message, text=user.text, line=line, column=column, length=token.end - token.start)


def moved(message: str, rewritten: Rewritten, text: str) -> str:
    """``line 1 pos 7`` of a message about ``rewritten.text``, counted in the user's text; our views' names out of sight."""

    def place(match: re.Match[str]) -> str:
        line, column = int(match[1]), int(match[3])
        start = 1 if match[2] else 0
        offset = rewritten.offset(offset_of(rewritten.text, line, column - start))
        user_line, user_column = line_and_column(text, offset)
        return match[0].replace(f"line {line}", f"line {user_line}", 1).rsplit(" ", 1)[0] + f" {user_column - 1 + start}"

    return _VIEW.sub("table", _PLACE.sub(place, message))


__all__ = ["UserText", "in_the_users_words", "moved", "sent", "tell", "told_text", "with_names", "within"]
