"""What planning kept and skipped, and how far a long call is, each in one line."""

from __future__ import annotations

from collections.abc import Sequence

from icesql.pictures.pruning_steps import Planning, size_text
from icesql.procedures.progress import Progress


def pruning_line(plannings: Sequence[Planning]) -> str:
    """``manifests read 1 of 30, files read 2 of 480, 1.2 GB skipped``; empty without a scan of a table of ours."""
    if not plannings:
        return ""
    reports = [planning.report for planning in plannings]
    scanned, manifests = sum(r.manifests_scanned for r in reports), sum(r.manifests_total for r in reports)
    planned, files = sum(r.files_planned for r in reports), _known_sum([r.files_total for r in reports])
    total = _known_sum([planning.total_bytes for planning in plannings])
    skipped = "" if total is None else f", {size_text(max(0, total - sum(r.bytes_planned for r in reports)))} skipped"
    return f"manifests read {scanned:,} of {manifests:,}, files read {planned:,} of {'?' if files is None else f'{files:,}'}{skipped}"


def progress_line(progress: Progress) -> str:
    """``file groups rewritten: 3 of 12, 1.1 GB of 4.0 GB``."""
    known = progress.done_bytes is not None and progress.total_bytes is not None
    sizes = f", {size_text(progress.done_bytes or 0)} of {size_text(progress.total_bytes or 0)}" if known else ""
    return f"{progress.what}: {progress.done:,} of {progress.total:,}{sizes}"


def _known_sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
