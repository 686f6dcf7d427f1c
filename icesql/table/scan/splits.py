"""Large files split at row groups and small ones combined, so that tasks read similar amounts. Java: ``TableScanUtil``, ``BinPacking``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from icesql.errors import InvalidArgumentError
from icesql.spec.properties import SPLIT_LOOKBACK, SPLIT_OPEN_FILE_COST, SPLIT_SIZE, whole_number
from icesql.table.scan.tasks import CombinedScanTask, FileScanTask

SPLIT_SIZE_BYTES = 128 * 1024 * 1024
LOOKBACK = 10
OPEN_FILE_COST_BYTES = 4 * 1024 * 1024
_SHARES = 16
_SPLITTABLE = frozenset({"parquet", "orc", "avro"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """``target_size_bytes``: what a task aims at. ``open_file_cost_bytes``: what a file counts at least. ``lookback``: open bins to try."""

    target_size_bytes: int = SPLIT_SIZE_BYTES
    lookback: int = LOOKBACK
    open_file_cost_bytes: int = OPEN_FILE_COST_BYTES

    def __post_init__(self) -> None:
        if self.target_size_bytes <= 0:
            raise InvalidArgumentError(f"Split size must be > 0: {self.target_size_bytes}")
        if self.lookback <= 0:
            raise InvalidArgumentError(f"Split planning lookback must be > 0: {self.lookback}")
        if self.open_file_cost_bytes < 0:
            raise InvalidArgumentError(f"File open cost must be >= 0: {self.open_file_cost_bytes}")


def split_options(properties: Mapping[str, str], options: Mapping[str, str] | None = None) -> SplitOptions:
    """From read options (``split-size``, ``lookback``, ``file-open-cost``), else table properties (``read.split.*``), else the defaults."""
    options = options or {}

    def number(option: str, key: str, default: int) -> int:
        text = options.get(option, options.get(key, properties.get(key)))
        if text is None:
            return default
        try:
            return whole_number(text)
        except ValueError:
            raise InvalidArgumentError(f'Cannot read option {option}: For input string: "{text}"', option=option) from None

    return SplitOptions(
        target_size_bytes=number("split-size", SPLIT_SIZE, SPLIT_SIZE_BYTES),
        lookback=number("lookback", SPLIT_LOOKBACK, LOOKBACK),
        open_file_cost_bytes=number("file-open-cost", SPLIT_OPEN_FILE_COST, OPEN_FILE_COST_BYTES),
    )


def split(task: FileScanTask, target_size_bytes: int) -> Iterator[FileScanTask]:
    """The task cut at its file's split offsets (one piece a row group), or every ``target_size_bytes`` where it has none.

    The pieces cover the file's bytes once, in order. Puffin and unknown formats are not cut.
    """
    file = task.data_file
    size = file.file_size_in_bytes
    if not task.is_whole_file or file.file_format not in _SPLITTABLE:
        yield task
        return
    starts = _usable_offsets(file.split_offsets, size) or tuple(range(0, max(size, 1), target_size_bytes))
    starts = (0, *starts[1:])  # what precedes the first row group belongs to it
    ends = (*starts[1:], size)
    for start, end in zip(starts, ends, strict=True):
        yield replace(task, start=start, length=end - start)


def row_group_pieces(tasks: Sequence[FileScanTask], most_and_least_bytes: tuple[int, int]) -> list[FileScanTask]:
    """Whole Parquet files cut between row groups into pieces of about as much, so that each of ``_SHARES`` workers has some; other tasks
    as they are. The bytes are what a piece has at most and at least, where row groups allow it."""
    most, least = most_and_least_bytes
    target = min(most, max(least, sum(task.data_file.file_size_in_bytes for task in tasks) // _SHARES))
    pieces: list[FileScanTask] = []
    for task in tasks:
        file = task.data_file
        if file.file_format != "parquet" or len(file.split_offsets) < 2 or file.file_size_in_bytes <= target:
            pieces.append(task)
            continue
        held: list[FileScanTask] = []
        for piece in split(task, target):
            held.append(piece)
            if sum(map(piece_bytes, held)) >= target:
                pieces.extend(_merged(held))
                held = []
        pieces.extend(_merged(held))
    return pieces


def piece_bytes(task: FileScanTask) -> int:
    """Bytes of the data file that the task reads."""
    return task.data_file.file_size_in_bytes if task.length is None else task.length


def _usable_offsets(offsets: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Empty unless ascending and inside the file (some writers stored offsets that are not)."""
    ascending = all(a < b for a, b in pairwise(offsets))
    return offsets if offsets and ascending and offsets[-1] < size else ()


def combine(tasks: Iterable[FileScanTask], options: SplitOptions) -> list[CombinedScanTask]:
    """Bin packing with a lookback: each task goes to the first open bin with room; the fullest bin is closed when too many are open."""

    def weight(task: FileScanTask) -> int:
        return max(task.size_bytes, task.files_count * options.open_file_cost_bytes)

    bins: list[tuple[int, list[FileScanTask]]] = []
    done: list[CombinedScanTask] = []
    for task in tasks:
        size = weight(task)
        place = next((i for i, (held, _) in enumerate(bins) if held + size <= options.target_size_bytes), None)
        if place is not None:
            held, members = bins[place]
            members.append(task)
            bins[place] = (held + size, members)
            continue
        bins.append((size, [task]))
        if len(bins) > options.lookback:
            fullest = max(range(len(bins)), key=lambda i: bins[i][0])
            done.append(CombinedScanTask(_merged(bins.pop(fullest)[1])))
    return [*done, *(CombinedScanTask(_merged(members)) for _, members in bins)]


def _merged(tasks: list[FileScanTask]) -> tuple[FileScanTask, ...]:
    """Adjacent pieces of one file, joined."""
    merged: list[FileScanTask] = []
    for task in tasks:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.data_file.file_path == task.data_file.file_path
            and last.length is not None
            and task.length is not None
            and last.start + last.length == task.start
        ):
            merged[-1] = replace(last, length=last.length + task.length)
        else:
            merged.append(task)
    return tuple(merged)


def plan_combined(tasks: Iterable[FileScanTask], options: SplitOptions) -> list[CombinedScanTask]:
    """Split, then combine."""
    pieces = (piece for task in tasks for piece in split(task, options.target_size_bytes))
    return combine(pieces, options)
