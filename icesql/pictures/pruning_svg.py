"""What pruning left, step by step, as a small SVG picture."""

from __future__ import annotations

from collections.abc import Sequence

from icesql.pictures import svg
from icesql.pictures.pruning_steps import Planning, Step, steps

_BAR, _LABEL = 260, 100


def pruning_svg(plannings: Sequence[Planning]) -> str:
    """One picture a table; empty where there is nothing to show."""
    return "".join(_picture(planning.report.table_name, list(steps(planning))) for planning in plannings)


def _picture(title: str, shown: Sequence[Step]) -> str:
    if not shown:
        return ""
    bars = "".join(_bar(step, svg.ROW * (index + 1)) for index, step in enumerate(shown))
    longest = max(svg.width_of(title), _LABEL + _BAR + 10 + max(svg.width_of(step.label) for step in shown))
    return svg.picture(title, bars, width=longest, rows=len(shown))


def _bar(step: Step, top: int) -> str:
    counted = svg.text(_LABEL - 8, top + 13, f"{step.files:,} file{'' if step.files == 1 else 's'}", anchor="end")
    return counted + svg.bar(_LABEL, top + 2, _BAR * step.share) + svg.text(_LABEL + _BAR + 10, top + 13, step.label)
