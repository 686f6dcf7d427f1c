"""Where in the SQL that Spark was given an error lies, as the JVM tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException, ParseException, UnknownException

from icesql.spark.jvm.handles import JavaObject

_PARSER_PLACE = re.compile(r"\(line (\d+), pos (\d+)\)")


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """``sql[start:end]`` is what the error is about; ``sql`` is the whole text that Spark parsed."""

    sql: str
    start: int
    end: int


def error_place(error: BaseException) -> ErrorPlace | None:
    """``None`` where Spark does not say, and for errors that are not Spark's."""
    origin = error._origin if isinstance(error, CapturedException) else None
    if origin is None:
        return None
    return _from_context(origin) or (_from_parser(error, origin) if isinstance(error, ParseException) else None)


def _from_context(origin: JavaObject) -> ErrorPlace | None:
    if not hasattr(origin, "getQueryContext"):
        return None
    for context in origin.getQueryContext() or ():
        if context.getClass().getSimpleName() != "SQLQueryContext":
            continue
        sql, start, stop = context.sqlText(), context.originStartIndex(), context.originStopIndex()
        if sql.isDefined() and start.isDefined() and stop.isDefined():
            return ErrorPlace(str(sql.get()), int(start.get()), int(stop.get()) + 1)
    return None


def _from_parser(error: ParseException, origin: JavaObject) -> ErrorPlace | None:
    place, command = _PARSER_PLACE.search(str(error._desc)), origin.command()
    if place is None or not command.isDefined():
        return None
    sql, line, column = str(command.get()), int(place[1]), int(place[2])
    start = sum(len(each) for each in sql.splitlines(keepends=True)[: line - 1]) + column
    return ErrorPlace(sql, min(start, len(sql)), min(start + 1, len(sql)))


@contextmanager
def java_errors_as_spark_raises() -> Iterator[None]:
    """Java exceptions that PySpark has no class for are raised with their own messages: Py4J's begin ``An error occurred while calling
    o142``."""
    try:
        yield
    except Py4JJavaError as error:
        raise UnknownException(origin=error.java_exception) from error
