"""How many rows a MERGE touched, by the keys of the snapshot's summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from icesql.spark.row_level.merge_clauses import Action, Clause, ClauseKind
from icesql.spark.row_level.target import Target

if TYPE_CHECKING:
    from pyroaring import BitMap64

_METRICS = (
    "copied", "deleted", "updated", "inserted", "matched-updated", "matched-deleted", "not-matched-by-source-updated",
    "not-matched-by-source-deleted",
)  # fmt: skip


def merge_metrics(clauses: Sequence[Clause], taken: Sequence[int], copied: int) -> dict[str, int]:
    """``taken``: how many rows each clause took. ``copied``: how many copy-on-write carries over."""
    counts = dict.fromkeys(_METRICS, 0)
    for clause, count in zip(clauses, taken, strict=True):
        for key in _counted(clause):
            counts[key] += count
    counts["copied"] = copied
    return {f"spark.merge-into.num-target-rows-{key}": count for key, count in counts.items()}


def copied_rows(target: Target, deleted_positions: Mapping[str, BitMap64], replaced: AbstractSet[str]) -> int:
    """Rows that copy-on-write carries over unchanged, of files with rows that go and of those that are replaced anyway."""
    tasks = target.planned_tasks()
    total = 0
    for path in deleted_positions.keys() | replaced:
        deleted = target.existing_deletes.bitmap(tasks[path])
        total += tasks[path].data_file.record_count - len(deleted_positions.get(path, ())) - (len(deleted) if deleted else 0)
    return total


def _counted(clause: Clause) -> tuple[str, ...]:
    """The metrics that count a row which the clause takes."""
    if clause.action is Action.INSERT:
        return ("inserted",)
    verb = "updated" if clause.action is Action.UPDATE else "deleted"
    prefix = "matched" if clause.kind is ClauseKind.MATCHED else "not-matched-by-source"
    return (verb, f"{prefix}-{verb}")
