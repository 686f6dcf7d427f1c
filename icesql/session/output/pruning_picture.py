"""What pruning left, step by step, as bars: for the terminal here, for the notebook in ``icesql.pictures.pruning_svg``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.bar import Bar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from icesql.pictures.pruning_steps import Planning, steps

_WIDTH, _ENDLESS = 40, 10_000


def print_picture(plannings: Sequence[Planning], out: TextIO) -> None:
    """A bar a step for each table, as long as the share of files that is left."""
    console = Console(file=out, force_jupyter=False, highlight=False, width=None if out.isatty() else _ENDLESS)
    width = min(_WIDTH, console.width // 3)
    for planning in plannings:
        shown = list(steps(planning))
        if not shown:
            continue
        grid = Table(show_header=False, show_edge=False, box=None, padding=(0, 2, 0, 0))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(width=width)
        grid.add_column(overflow="fold")
        for step in shown:
            grid.add_row(
                f"{step.files:,} file{'' if step.files == 1 else 's'}",
                Bar(size=1.0, begin=0.0, end=step.share, width=width, color="cyan"),
                Text(step.label),
            )
        console.print(Text(planning.report.table_name, style="bold"))
        console.print(grid)
