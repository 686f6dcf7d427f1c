"""Rows as text: aligned tables, CSV, JSON lines and Markdown."""

from __future__ import annotations

import base64
import csv
import datetime
import decimal
import io
import json
import re
from collections.abc import Sequence
from typing import Any, TextIO

from icesql.session.output.layout import Grid, Screen, lines_of

FORMATS = ("table", "csv", "json", "markdown")
ENDLESS = Screen()
_NUMBERS = (int, float, decimal.Decimal)
_WHOLE = (*_NUMBERS, datetime.date, datetime.time)  # values that are not broken to fit a screen
_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def print_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], form: str, out: TextIO, screen: Screen = ENDLESS) -> None:
    """``rows`` in one of ``FORMATS``; ``screen`` is of tables only. A result without columns prints nothing."""
    if not names:
        return
    if form == "table":
        print_table(names, rows, out, screen)
    else:
        {"csv": _print_csv, "json": _print_json, "markdown": _print_markdown}[form](names, rows, out)


def text(value: Any) -> str:
    """A value as SQL users read it: NULL, lower-case booleans, ISO times, JSON for nested values."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            return value
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case bytes() | bytearray():
            return "X'" + bytes(value).hex().upper() + "'"
        case list() | tuple() | dict():
            return json.dumps(plain(value), ensure_ascii=False)
        case _:
            return str(value)


def plain(value: Any) -> Any:
    """A value that JSON can hold."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value == value and abs(value) != float("inf") else str(value)
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case decimal.Decimal():
            return str(value)
        case bytes() | bytearray():
            return base64.b64encode(bytes(value)).decode()
        case dict():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case _ if hasattr(value, "asDict"):
            return {key: plain(item) for key, item in zip(value.__fields__, value, strict=True)}
        case list() | tuple() | set():
            return [plain(item) for item in value]
        case _:
            return str(value)


def print_table(names: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO, screen: Screen) -> None:
    """``rows`` as a table or as records, whichever suits the screen."""
    if not names:
        return
    for line in lines_of(grid_of(names, rows), screen):
        out.write(line + "\n")


def grid_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Grid:
    columns = [[row[index] for row in rows if row[index] is not None] for index in range(len(names))]
    return Grid(
        names=[visible(name) for name in names],
        rows=[[visible(text(value)) for value in row] for row in rows],
        numeric=[is_numeric(column) for column in columns],
        foldable=[not all(isinstance(value, _WHOLE) for value in column) for column in columns],
    )


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether all values that are not null are numbers, and there is one."""
    return bool(values) and all(isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in values)


def visible(cell: str) -> str:
    """Without characters that steer a terminal: each as ``\\x1b``, tabs as blanks. Line ends stay."""
    return _STEERING.sub(lambda match: _shown_control(match[0]), cell)


def _shown_control(character: str) -> str:
    return "    " if character == "\t" else f"\\x{ord(character):02x}"


def _print_csv(names: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None else text(value) for value in row] for row in rows)


def _print_json(names: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO) -> None:
    for row in rows:
        out.write(json.dumps({name: plain(value) for name, value in zip(names, row, strict=True)}, ensure_ascii=False) + "\n")


def _print_markdown(names: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO) -> None:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells) + " |\n"

    out.write(line(names) + "|" + "---|" * len(names) + "\n")
    for row in rows:
        out.write(line([text(value) for value in row]))


def as_text(names: Sequence[str], rows: Sequence[Sequence[Any]], form: str = "table") -> str:
    out = io.StringIO()
    print_rows(names, rows, form, out)
    return out.getvalue()
