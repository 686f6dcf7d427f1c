"""Spark's errors with their places in the user's text instead of the rewritten one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from icesql.session.rewrite.places import Rewritten, line_and_column, offset_of
from icesql.spark.jvm.spark_session import check_parses

_PLACE = re.compile(r"\bline (\d+),? pos(ition)? (\d+)")
_VIEW = re.compile(r"`?_ice\d+`?")


@contextmanager
def user_positions(spark: Any, rewritten: Rewritten, text: str) -> Iterator[None]:
    """Errors that Spark raises inside speak about ``text``, which became ``rewritten``."""
    from pyspark.errors.exceptions.captured import AnalysisException, CapturedException, ParseException

    if rewritten.text == text:
        yield
        return
    try:
        yield
    except ParseException:
        check_parses(spark, text)  # let Spark refuse the user's own text: a table's name and the view in its place parse alike
        raise
    except AnalysisException as error:
        if isinstance(error, CapturedException) and error._desc:
            error._desc = moved(error._desc, rewritten, text)
        raise


def moved(message: str, rewritten: Rewritten, text: str) -> str:
    """``line 1 pos 7`` counted in the user's text; our views' names out of sight."""

    def place(match: re.Match[str]) -> str:
        line, column = int(match[1]), int(match[3])
        start = 1 if match[2] else 0
        offset = rewritten.offset(offset_of(rewritten.text, line, column - start))
        user_line, user_column = line_and_column(text, offset)
        return match[0].replace(f"line {line}", f"line {user_line}", 1).rsplit(" ", 1)[0] + f" {user_column - 1 + start}"

    return _VIEW.sub("table", _PLACE.sub(place, message))
