"""What pruning left, step by step, as bars: for the terminal here, for the notebook in ``icesql.magic.pruning_svg``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.bar import Bar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from icesql.session.output.pruning_line import Planning, size_text

_WIDTH, _ENDLESS = 40, 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """What is still to be read after a step. ``share``: of the files there are, 0 to 1."""

    label: str
    manifests: int
    files: int
    share: float


def steps(planning: Planning) -> Iterator[Step]:
    """From all that the snapshot has to what is read; none where a writer left the counts out."""
    report = planning.report
    if report.files_total is None or report.files_in_skipped_manifests is None:
        return
    manifests, files = report.manifests_total, report.files_total

    def step(label: str) -> Step:
        return Step(label, manifests, files, files / report.files_total if report.files_total else 0.0)

    yield step("in the snapshot")
    if report.manifests_skipped:
        manifests -= report.manifests_skipped_count
        files -= report.files_in_skipped_manifests
        yield step("after manifests: " + ", ".join(skipped.predicate for skipped in report.manifests_skipped))
    for kind, skips in (("partition", report.files_skipped_by_partition), ("metrics", report.files_skipped_by_metrics)):
        for skipped in skips:
            files -= skipped.count
            yield step(f"after {kind}: {skipped.predicate}")
    manifests, files = report.manifests_scanned, report.files_planned
    yield step(f"read, {size_text(report.bytes_planned)}")


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
