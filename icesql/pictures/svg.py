"""What the pictures share: rows of monospaced text with bars and lines beside them."""

from __future__ import annotations

import html

ROW, FONT_SIZE = 18, 12
CHARACTER = 7.3
"""Width of a character of the font, generously."""
BLUE, GREEN, GREY = "#2a9fd6", "#5cb85c", "#888888"


def width_of(text: str) -> float:
    return len(text) * CHARACTER


def text(x: float, y: float, shown: str, *, anchor: str = "start", bold: bool = False, fill: str = "") -> str:
    weight = ' font-weight="bold"' if bold else ""
    colour = f' fill="{fill}"' if fill else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}{colour}>{html.escape(shown)}</text>'


def bar(x: float, y: float, width: float, fill: str = BLUE) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(1.0, width):.1f}" height="{ROW - 4}" fill="{fill}"/>'


def picture(title: str, shapes: str, *, width: float, rows: int) -> str:
    """``rows``: below the title. The picture is a block of its own, narrowed where the page is narrower."""
    height = ROW * (rows + 1) + 4
    return (
        f'<div style="overflow-x:auto"><svg xmlns="http://www.w3.org/2000/svg" style="display:block" width="{width:.0f}" height="{height}" '
        f'font-family="monospace" font-size="{FONT_SIZE}" fill="currentColor">{text(0, 13, title, bold=True)}{shapes}</svg></div>'
    )
