"""Rows as an HTML table: numbers to the right, text to the left, whatever the notebook's own style says."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from icesql.session.output.rows import is_numeric, text

_LEFT, _RIGHT = "text-align:left", "text-align:right"
_CELL = "white-space:pre-wrap;vertical-align:top"


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Wide ones scroll within their own box."""
    sides = [_RIGHT if is_numeric([row[i] for row in rows if row[i] is not None]) else _LEFT for i in range(len(names))]
    head = "".join(f'<th style="{side}">{html.escape(name)}</th>' for name, side in zip(names, sides, strict=True))
    body = "".join("<tr>" + "".join(map(_cell, row, sides)) + "</tr>" for row in rows)
    return f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: Any, side: str) -> str:
    shown = "<i>NULL</i>" if value is None else html.escape(text(value))
    return f'<td style="{side};{_CELL}">{shown}</td>'


def description(rows: Sequence[Sequence[Any]]) -> str:
    """What DESCRIBE gives: a row that begins with ``#`` is the heading of those below it, empty ones part nothing any more."""
    body = []
    for name, *values in rows:
        shown = [value for value in values if value]
        if str(name).startswith("#") and not (shown and shown[0] == "data_type"):
            body.append(f'<tr><th colspan="3" style="{_LEFT};padding-top:1em">{html.escape(str(name).lstrip("# "))}</th></tr>')
        elif name and not str(name).startswith("#"):
            body.append("<tr>" + "".join(_cell(value or "", _LEFT) for value in (name, *values)) + "</tr>")
    head = "".join(f'<th style="{_LEFT}">{name}</th>' for name in ("column", "type", "comment"))
    return f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def notes(texts: Sequence[str], footer: str) -> str:
    """Below all else, each on lines of its own."""
    return "".join(f"<p>{html.escape(one)}</p>" for one in texts) + f'<div style="clear:both"><small>{html.escape(footer)}</small></div>'
