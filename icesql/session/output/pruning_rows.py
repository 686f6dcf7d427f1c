"""The rows of EXPLAIN PRUNING and ``icesql plan``: manifests and files in all, removed by each predicate, and left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icesql.pictures.pruning_steps import Planning
from icesql.table.scan.report import ScanReport

NAMES = ("table", "step", "predicate", "manifests", "files", "bytes")


def pruning_rows(planning: Planning) -> Iterator[tuple[Any, ...]]:
    """One row a step, in the columns ``NAMES``; what was removed is negative."""
    report, name = planning.report, planning.report.table_name
    all_manifests, read_manifests = (None, None) if report.planner else (report.manifests_total, report.manifests_scanned)
    yield name, "in the snapshot", None, all_manifests, report.files_total, planning.total_bytes
    for skipped in report.manifests_skipped:
        yield name, "manifests skipped by partition summaries", skipped.predicate, -skipped.count, None, None
    if report.files_in_skipped_manifests:
        yield name, "files in skipped manifests", None, None, -report.files_in_skipped_manifests, None
    for skipped in report.files_skipped_by_partition:
        yield name, "files skipped by partition", skipped.predicate, None, -skipped.count, -skipped.bytes
    for skipped in report.files_skipped_by_metrics:
        yield name, "files skipped by column metrics", skipped.predicate, None, -skipped.count, -skipped.bytes
    yield name, _read(report), report.filter, read_manifests, report.files_planned, report.bytes_planned


def _read(report: ScanReport) -> str:
    """Who reads the files, and who planned them, where that is not Spark's reader and this process."""
    planned = f", planned by {report.planner}" if report.planner else ""
    return f"read {report.reader}".rstrip() + planned
