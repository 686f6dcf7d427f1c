"""What pruning left, step by step, as a small SVG picture."""

from __future__ import annotations

import html
from collections.abc import Sequence

from icesql.session.output.pruning_line import Planning
from icesql.session.output.pruning_picture import Step, steps

_ROW, _BAR, _LABEL = 18, 260, 90


def pruning_svg(plannings: Sequence[Planning]) -> str:
    """One picture a table; empty where there is nothing to show."""
    return "".join(_picture(planning.report.table_name, list(steps(planning))) for planning in plannings)


def _picture(title: str, shown: Sequence[Step]) -> str:
    if not shown:
        return ""
    height = _ROW * (len(shown) + 1) + 4
    bars = "".join(_bar(step, _ROW * (index + 1)) for index, step in enumerate(shown))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" font-family="monospace" font-size="12" fill="currentColor">'
        f'<text x="0" y="13" font-weight="bold">{html.escape(title)}</text>{bars}</svg>'
    )


def _bar(step: Step, top: int) -> str:
    width = max(1.0, _BAR * step.share)
    return (
        f'<text x="{_LABEL - 8}" y="{top + 13}" text-anchor="end">{step.files:,} files</text>'
        f'<rect x="{_LABEL}" y="{top + 2}" width="{width:.1f}" height="{_ROW - 4}" fill="#2a9fd6"/>'
        f'<text x="{_LABEL + _BAR + 10}" y="{top + 13}">{html.escape(step.label)}</text>'
    )
