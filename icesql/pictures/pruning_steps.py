"""What pruning left of a table, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from icesql.table.scan.report import ScanReport


@dataclass(frozen=True, slots=True)
class Planning:
    """One planning of files. ``total_bytes``: of all data files of the snapshot, ``None`` where its summary does not say."""

    report: ScanReport
    total_bytes: int | None = None


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


def size_text(size: float) -> str:
    """``0 B``, ``1.5 MB``; powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
