"""Which files a rewrite takes, and in which groups: pure planning, the reference's rules.

A file is a candidate if its size lies outside [min, max] or if deletes weigh on it. The candidates of one partition are packed into
groups; a group is worth rewriting if it has enough files, enough bytes, or a file that deletes alone make worth it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from icesql.errors import unknown_case
from icesql.spec.files import DataFile
from icesql.table.maintenance.rewrite_options import SPLIT_OVERHEAD_BYTES, JobOrder, RewriteOptions
from icesql.table.scan.delete_index import PartitionKey, partition_key
from icesql.table.scan.delete_matching import referenced_path
from icesql.table.scan.tasks import FileScanTask

Task = TypeVar("Task")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup(Generic[Task]):
    """Files of one partition that are rewritten together; ``reason`` says why."""

    partition: PartitionKey
    tasks: tuple[Task, ...]
    input_bytes: int
    expected_files: int
    split_bytes: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePlan(Generic[Task]):
    """``candidates``: files that met a criterion; ``why_not``: what kept the rest, in words."""

    groups: tuple[FileGroup[Task], ...]
    candidates: int
    why_not: str


def plan_data_files(tasks: Iterable[FileScanTask], options: RewriteOptions, current_spec_id: int) -> RewritePlan[FileScanTask]:
    """Groups of data files. Files of other specs hold rows of many partitions of the current one, so they are grouped together, and with
    those that the current spec has no partition values for."""
    everything = list(tasks)
    by_partition: dict[PartitionKey, list[FileScanTask]] = {}
    for task in everything:
        values = task.data_file.partition if task.spec_id == current_spec_id else ()
        known = any(value is not None for value in values)
        by_partition.setdefault(partition_key(current_spec_id, values if known else ()), []).append(task)
    criteria = _DataCriteria(options)
    return _plan(everything, by_partition, options, criteria, _file_bytes)


def plan_delete_files(files: Iterable[DataFile], options: RewriteOptions) -> RewritePlan[DataFile]:
    """Groups of position delete files; deletes of a partition stay in its spec."""
    everything = list(files)
    by_partition: dict[PartitionKey, list[DataFile]] = {}
    for file in everything:
        by_partition.setdefault(partition_key(file.spec_id, file.partition), []).append(file)
    return _plan(everything, by_partition, options, _SizeCriteria(options), lambda file: file.file_size_in_bytes)


def _file_bytes(task: FileScanTask) -> int:
    return task.data_file.file_size_in_bytes


class _SizeCriteria(Generic[Task]):
    """Chooses files by size and groups by count and bytes. A reason of ``None`` means: not worth a rewrite."""

    def __init__(self, options: RewriteOptions) -> None:
        self.options = options

    def file_reason(self, task: Task, size: int) -> str | None:
        if size < self.options.min_file_size_bytes:
            return "below min-file-size-bytes"
        return "above max-file-size-bytes" if size > self.options.max_file_size_bytes else None

    def group_reason(self, tasks: Sequence[Task], size: int) -> str | None:
        if 1 < len(tasks) >= self.options.min_input_files:
            return f"at least min-input-files ({self.options.min_input_files}) files"
        if len(tasks) > 1 and size > self.options.target_file_size_bytes:
            return "together more than target-file-size-bytes"
        return "more than max-file-size-bytes" if size > self.options.max_file_size_bytes else None


class _DataCriteria(_SizeCriteria[FileScanTask]):
    def file_reason(self, task: FileScanTask, size: int) -> str | None:
        return super().file_reason(task, size) or self._deletes_reason(task)

    def group_reason(self, tasks: Sequence[FileScanTask], size: int) -> str | None:
        size_reason = super().group_reason(tasks, size)
        return size_reason or next((reason for task in tasks if (reason := self._deletes_reason(task))), None)

    def _deletes_reason(self, task: FileScanTask) -> str | None:
        if task.delete_files and len(task.delete_files) >= self.options.delete_file_threshold:
            return "at least delete-file-threshold delete files"
        return "deleted rows reach delete-ratio-threshold" if deleted_ratio(task) >= self.options.delete_ratio_threshold else None


def deleted_ratio(task: FileScanTask) -> float:
    """Rows that deletes of this file alone remove, as a share of its rows; deletes of several files are not counted. Zero without any."""
    own = [file for file in task.delete_files if referenced_path(file) is not None]
    if not own or task.data_file.record_count == 0:
        return 0.0 if not own else 1.0
    return min(sum(file.record_count for file in own), task.data_file.record_count) / task.data_file.record_count


def _plan(
    everything: Sequence[Task],
    by_partition: dict[PartitionKey, list[Task]],
    options: RewriteOptions,
    criteria: _SizeCriteria[Task],
    size: Callable[[Task], int],
) -> RewritePlan[Task]:
    groups: list[FileGroup[Task]] = []
    candidates, small_groups = 0, 0
    for key, tasks in by_partition.items():
        reasons = Counter(criteria.file_reason(task, size(task)) for task in tasks)
        chosen = [task for task in tasks if options.rewrite_all or criteria.file_reason(task, size(task)) is not None]
        candidates += len(chosen)
        for packed in pack(chosen, size, options.max_file_group_size_bytes, options.max_file_group_input_files):
            total = sum(map(size, packed))
            reason = "rewrite-all" if options.rewrite_all else criteria.group_reason(packed, total)
            if reason is None:
                small_groups += 1
            else:
                groups.append(_group(key, packed, total, options, _told(reason, reasons)))
    groups = _ordered(_limited(groups, options, size), options.job_order)
    return RewritePlan(
        groups=tuple(groups),
        candidates=candidates,
        why_not=_why_not(everything, candidates, small_groups, options),
    )


def pack(tasks: Sequence[Task], size: Callable[[Task], int], max_bytes: int, max_items: int) -> list[list[Task]]:
    """Consecutive tasks in bins of at most so many bytes and items; a task that is larger alone gets a bin of its own."""
    bins: list[list[Task]] = []
    weight = 0
    for task in tasks:
        if not bins or weight + size(task) > max_bytes or len(bins[-1]) >= max_items:
            bins.append([])
            weight = 0
        bins[-1].append(task)
        weight += size(task)
    return bins


def _group(key: PartitionKey, tasks: Sequence[Task], total: int, options: RewriteOptions, reason: str) -> FileGroup[Task]:
    expected = expected_output_files(total, options)
    wanted = total // expected + SPLIT_OVERHEAD_BYTES
    split = max(options.target_file_size_bytes, min(wanted, options.write_max_file_size_bytes))
    return FileGroup(partition=key, tasks=tuple(tasks), input_bytes=total, expected_files=expected, split_bytes=split, reason=reason)


def expected_output_files(total: int, options: RewriteOptions) -> int:
    """The number of files that so many bytes are written to, without a tiny last one."""
    target = options.target_file_size_bytes
    if total < target:
        return 1
    whole, rest = divmod(total, target)
    up = whole + (1 if rest else 0)
    if rest > options.min_file_size_bytes:
        return up
    average = total // whole
    return whole if average < min(int(1.1 * target), options.write_max_file_size_bytes) else up


def _limited(groups: list[FileGroup[Task]], options: RewriteOptions, size: Callable[[Task], int]) -> list[FileGroup[Task]]:
    """At most ``max-files-to-rewrite`` files; the last group is cut."""
    if options.max_files_to_rewrite is None:
        return groups
    kept: list[FileGroup[Task]] = []
    left = options.max_files_to_rewrite
    for group in groups:
        if left <= 0:
            break
        tasks = group.tasks[:left]
        kept.append(
            group if len(tasks) == len(group.tasks) else _group(group.partition, tasks, sum(map(size, tasks)), options, group.reason)
        )
        left -= len(tasks)
    return kept


def _ordered(groups: list[FileGroup[Task]], order: JobOrder) -> list[FileGroup[Task]]:
    match order:
        case JobOrder.BYTES_ASC | JobOrder.BYTES_DESC:
            return sorted(groups, key=lambda group: group.input_bytes, reverse=order is JobOrder.BYTES_DESC)
        case JobOrder.FILES_ASC | JobOrder.FILES_DESC:
            return sorted(groups, key=lambda group: len(group.tasks), reverse=order is JobOrder.FILES_DESC)
        case JobOrder.NONE:
            return groups
        case _:
            raise unknown_case(order)


def _told(group_reason: str, file_reasons: Counter[str | None]) -> str:
    parts = [f"{count} {reason}" for reason, count in file_reasons.items() if reason is not None]
    return f"{group_reason} ({', '.join(parts)})" if parts else group_reason


def _why_not(everything: Sequence[object], candidates: int, small_groups: int, options: RewriteOptions) -> str:
    if not everything:
        return "no file matches"
    if candidates == 0:
        return (
            f"{len(everything)} files, all between min-file-size-bytes ({options.min_file_size_bytes}) "
            f"and max-file-size-bytes ({options.max_file_size_bytes})"
        )
    if small_groups:
        return (
            f"{len(everything)} files, {candidates} of them candidates, "
            f"but {small_groups} groups are below min-input-files ({options.min_input_files})"
        )
    return ""
