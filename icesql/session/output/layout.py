"""Cells laid out for a screen: a table, folded where it is a little too wide, or one record a row. Nothing is ever left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

AUTO, ON, OFF = "auto", "on", "off"
EXPANDED = (AUTO, ON, OFF)
FOLDED_LINES = 3
LEAST_FOLDED_WIDTH = 16
_GAP = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Where rows are shown. ``width``: in cells, ``None`` for lines of any length.

    ``expanded``: ``on`` shows a record a row, ``off`` never does, ``auto`` does where a folded table would need more than
    ``FOLDED_LINES`` lines for a row. ``scrolls``: whether lines beyond the width can be scrolled to. ``bold``: for headings.
    """

    width: int | None = None
    expanded: str = AUTO
    scrolls: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Headings and cells as text. ``numeric``: columns aligned to the right; ``foldable``: those whose cells may be broken."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]
    foldable: Sequence[bool]

    @property
    def widths(self) -> list[int]:
        return [max([cell_len(line) for cell in self.column(index) for line in cell.split("\n")]) for index in range(len(self.names))]

    def column(self, index: int) -> Iterator[str]:
        yield self.names[index]
        yield from (row[index] for row in self.rows)

    def columns(self, first: int, end: int) -> Grid:
        return Grid(
            names=self.names[first:end],
            rows=[row[first:end] for row in self.rows],
            numeric=self.numeric[first:end],
            foldable=self.foldable[first:end],
        )


def lines_of(grid: Grid, screen: Screen) -> Iterator[str]:
    """The lines without their ends. None is wider than the screen, unless the screen scrolls or is narrower than a few cells."""
    widths = grid.widths
    if screen.expanded == ON:
        yield from _records(grid, screen)
    elif screen.width is None or _total(widths) <= screen.width:
        yield from _table(grid, widths, screen)
    else:
        folded = _folded_widths(grid, widths, screen.width)
        if folded is not None and (len(widths) == 1 or _height(grid, folded) <= max(FOLDED_LINES, _height(grid, widths))):
            yield from _table(grid, folded, screen)
        elif screen.expanded == AUTO:
            yield from _records(grid, screen)
        elif screen.scrolls:
            yield from _table(grid, widths, screen)
        else:
            yield from _bands(grid, widths, screen)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fold(cell: str, width: int) -> list[str]:
    return [piece for line in cell.split("\n") for piece in (chop_cells(line, width) if line else [""])]


def _height(grid: Grid, widths: Sequence[int]) -> int:
    return max((len(_fold(cell, max(1, widths[i]))) for row in grid.rows for i, cell in enumerate(row)), default=1)


def _folded_widths(grid: Grid, natural: Sequence[int], width: int) -> list[int] | None:
    """Columns as wide as they can be together, the widest narrowed first; ``None`` where their least widths are too wide."""
    least = [_least(grid, index, wide) for index, wide in enumerate(natural)]
    if _total(least) > width:
        return None
    low, high = 0, max(natural)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _total(_capped(least, natural, middle)) <= width else (low, middle - 1)
    return _capped(least, natural, low)


def _least(grid: Grid, index: int, natural: int) -> int:
    if len(grid.names) == 1:
        return 1
    return max(cell_len(grid.names[index]), min(natural, LEAST_FOLDED_WIDTH)) if grid.foldable[index] else natural


def _capped(least: Sequence[int], natural: Sequence[int], cap: int) -> list[int]:
    return [max(low, min(wide, cap)) for low, wide in zip(least, natural, strict=True)]


# -- a table -----------------------------------------------------------------------------------------------------------
def _table(grid: Grid, widths: Sequence[int], screen: Screen) -> Iterator[str]:
    for line in _row(grid.names, widths, grid.numeric):
        yield _heading(line, screen)
    for row in grid.rows:
        yield from _row(row, widths, grid.numeric)


def _row(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> Iterator[str]:
    folded = [_fold(cell, max(1, width)) for cell, width in zip(cells, widths, strict=True)]
    for number in range(max(map(len, folded))):
        pieces = [pieces[number] if number < len(pieces) else "" for pieces in folded]
        padded = [_padded(piece, width, right) for piece, width, right in zip(pieces, widths, numeric, strict=True)]
        line = _GAP.join([*padded[:-1], padded[-1] if numeric[-1] else pieces[-1]])
        yield line if pieces[-1] else line.rstrip(" ")


def _padded(piece: str, width: int, right: bool) -> str:
    blanks = " " * max(0, width - cell_len(piece))
    return blanks + piece if right else piece + blanks


def _heading(line: str, screen: Screen) -> str:
    return f"\x1b[1m{line}\x1b[0m" if screen.bold and line else line


def _bands(grid: Grid, widths: Sequence[int], screen: Screen) -> Iterator[str]:
    """Some columns for all rows, then the next ones, each band as wide as the screen at most."""
    assert screen.width is not None
    widths = [min(width, screen.width) for width in widths]
    first = 0
    while first < len(widths):
        end = first + 1
        while end < len(widths) and _total(widths[first : end + 1]) <= screen.width:
            end += 1
        last = f" to {end}" if end > first + 1 else ""
        yield from _fold(f"-- column{'s' if last else ''} {first + 1}{last} of {len(widths)}", screen.width)
        yield from _table(grid.columns(first, end), widths[first:end], screen)
        first = end


# -- records -----------------------------------------------------------------------------------------------------------
def _records(grid: Grid, screen: Screen) -> Iterator[str]:
    """psql's expanded view: a line a value, its column's name before it."""
    name_width = max(map(cell_len, grid.names))
    value_width = max([1, *(cell_len(line) for row in grid.rows for cell in row for line in cell.split("\n"))])
    if screen.width is not None:
        name_width = min(name_width, max(1, screen.width // 2 - 2))
        value_width = min(value_width, max(1, screen.width - name_width - 3))
    for number, row in enumerate(grid.rows, 1):
        yield _heading(_record_line(number, name_width, value_width), screen)
        for name, cell in zip(grid.names, row, strict=True):
            names, values = _fold(name, name_width), _fold(cell, value_width)
            for at in range(max(len(names), len(values))):
                left = _padded(names[at] if at < len(names) else "", name_width, False)
                yield f"{left} | {values[at]}" if at < len(values) and values[at] else f"{left} |"


def _record_line(number: int, name_width: int, value_width: int) -> str:
    title = f"-[ RECORD {number} ]"
    rule = "-" * (name_width + 1) + "+" + "-" * (value_width + 1)
    return title + rule[len(title) :]
