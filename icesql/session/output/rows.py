"""Rows as text: aligned tables, CSV, JSON lines and Markdown."""

from __future__ import annotations

import base64
import csv
import datetime
import decimal
import io
import json
from collections.abc import Sequence
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

FORMATS = ("table", "csv", "json", "markdown")


def print_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], form: str, out: TextIO) -> None:
    """``rows`` in one of ``FORMATS``. A result without columns prints nothing."""
    if not names:
        return
    {"table": _print_table, "csv": _print_csv, "json": _print_json, "markdown": _print_markdown}[form](names, rows, out)


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


def _print_table(names: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO) -> None:
    cells = [[text(value) for value in row] for row in rows]
    widths = [max([cell_len(name), *(cell_len(row[i]) for row in cells)]) for i, name in enumerate(names)]
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="bold", padding=(0, 2, 0, 0))
    for index, name in enumerate(names):
        numeric = any(isinstance(row[index], int | float | decimal.Decimal) and not isinstance(row[index], bool) for row in rows)
        table.add_column(_literal(name), justify="right" if numeric else "left", no_wrap=True, min_width=widths[index])
    for row in cells:
        table.add_row(*(_literal(cell) for cell in row))
    is_terminal = hasattr(out, "isatty") and out.isatty()
    width = None if is_terminal else sum(widths) + 2 * len(widths) + 2
    Console(file=out, force_jupyter=False, width=width, highlight=False, soft_wrap=is_terminal).print(table)


def _literal(cell: str) -> Any:
    from rich.text import Text

    return Text(cell)


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
