"""Splitting and combining: every byte is read once, and tasks come out near the target."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError
from icesql.spec.files import DataFile
from icesql.table.scan.splits import SplitOptions, plan_combined, split, split_options
from icesql.table.scan.tasks import FileScanTask
from tests.effort import examples


def task(name: str, size: int, offsets: tuple[int, ...] = (), file_format: str = "parquet") -> FileScanTask:
    file = DataFile(file_path=name, file_format=file_format, record_count=1, file_size_in_bytes=size, split_offsets=offsets)
    return FileScanTask(data_file=file)


def pieces(made: FileScanTask, target: int) -> list[tuple[int, int | None]]:
    return [(piece.start, piece.length) for piece in split(made, target)]


def test_files_are_cut_at_their_row_groups() -> None:
    assert pieces(task("f", 100, (4, 40, 70)), 10) == [(0, 40), (40, 30), (70, 30)]
    assert pieces(task("f", 100, (4, 40, 200)), 30) == [(0, 30), (30, 30), (60, 30), (90, 10)], "offsets beyond the file are not believed"
    assert pieces(task("f", 100, file_format="puffin"), 10) == [(0, None)]
    assert pieces(task("f", 0), 10) == [(0, 0)]


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 500), st.booleans()), max_size=12), st.integers(1, 300), st.integers(1, 5), st.integers(0, 50))
def test_every_byte_is_planned_once(files: list[tuple[int, bool]], target: int, lookback: int, cost: int) -> None:
    tasks = [task(f"f{n}", size, tuple(range(4, size, 97)) if cut else ()) for n, (size, cut) in enumerate(files)]
    options = SplitOptions(target_size_bytes=target, lookback=lookback, open_file_cost_bytes=cost)
    covered: dict[str, list[tuple[int, int]]] = {}
    for combined in plan_combined(tasks, options):
        assert combined.tasks
        for piece in combined.tasks:
            covered.setdefault(piece.data_file.file_path, []).append((piece.start, piece.length or 0))
    for made in tasks:
        place = 0
        for start, length in sorted(covered[made.data_file.file_path]):
            assert start == place
            place += length
        assert place == made.data_file.file_size_in_bytes


def test_small_files_share_a_task_and_neighbours_merge() -> None:
    options = SplitOptions(target_size_bytes=100, open_file_cost_bytes=10)
    assert [len(c.tasks) for c in plan_combined([task(f"f{n}", 20) for n in range(10)], options)] == [5, 5]
    assert [len(c.tasks) for c in plan_combined([task(f"f{n}", 1) for n in range(20)], options)] == [10, 10], "opening a file costs"
    (whole,) = plan_combined([task("f", 90, (4, 30, 60))], options)
    assert [(piece.start, piece.length) for piece in whole.tasks] == [(0, 90)]


def test_options() -> None:
    properties = {"read.split.target-size": "7", "read.split.planning-lookback": "2"}
    assert split_options(properties, {"split-size": "5"}) == SplitOptions(target_size_bytes=5, lookback=2)
    for options in ({"split-size": "0"}, {"lookback": "0"}, {"file-open-cost": "-1"}, {"split-size": "x"}):
        bad: dict[str, Any] = dict(options)
        with pytest.raises(InvalidArgumentError):
            split_options({}, bad)
