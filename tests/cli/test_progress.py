"""Lines of progress, without Spark: what it would tell is made here."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest

from icesql.cli.watching import Drawing, watched
from icesql.procedures.progress import Progress
from icesql.session.output.progress_lines import Line, Watch, stage_line, written_line
from icesql.spark.jobs import written_so_far
from icesql.spark.jobs.running_jobs import RunningStage, running_stages
from icesql.spark.jobs.written_so_far import Written


def stage_data(number: int, done: int, total: int, read: tuple[int, int] = (0, 0), shuffled: tuple[int, int] = (0, 0)) -> Any:
    values = {
        "stageId": number, "numCompleteTasks": done, "numTasks": total, "inputBytes": read[0], "inputRecords": read[1],
        "shuffleReadBytes": shuffled[0], "shuffleReadRecords": shuffled[1],
    }  # fmt: skip
    return SimpleNamespace(**{name: lambda value=value: value for name, value in values.items()})


class Accumulator:
    def __init__(self, value: int) -> None:
        self.value = value

    def add(self, more: int) -> None:
        self.value += more


class Context:
    """A Spark context with stages that run."""

    def __init__(self, stages: list[Any]) -> None:
        listed = SimpleNamespace(size=lambda: len(stages), apply=lambda at: stages[at])
        store = SimpleNamespace(activeStages=lambda: listed)
        self._jsc = SimpleNamespace(sc=lambda: SimpleNamespace(statusStore=lambda: store))

    def accumulator(self, value: int) -> Accumulator:
        return Accumulator(value)


@pytest.fixture
def session() -> Any:
    stages = [stage_data(7, 0, 0), stage_data(4, 5, 20, shuffled=(10, 2)), stage_data(3, 12, 200, read=(1_200_000_000, 3_400_000))]
    return SimpleNamespace(spark=SimpleNamespace(sparkContext=Context(stages)))


def test_stages_tell_tasks_bytes_and_rows_read(session: Any) -> None:
    first, second = running_stages(session.spark)
    assert first == RunningStage(3, 12, 200, 1_200_000_000, 3_400_000)
    assert stage_line(first) == "stage 3: 12 of 200 tasks, 1.2 GB and 3,400,000 rows read"
    assert stage_line(second) == "stage 4: 5 of 20 tasks, 10 B and 2 rows read"
    assert stage_line(RunningStage(1, 0, 2, 0, 0)) == "stage 1: 0 of 2 tasks"


def test_what_is_written_counts_from_the_statements_beginning(session: Any) -> None:
    counts = written_so_far.written_counts(session.spark)
    files = [SimpleNamespace(record_count=10, file_size_in_bytes=500)] * 2
    counts.add(files)  # type: ignore[arg-type]
    watch = Watch(session.spark)
    assert not [line for line in watch.lines() if line.key == "written"]
    counts.add(files[:1])  # type: ignore[arg-type]
    assert watch.lines()[-1] == Line("written", "written: 1 file, 500 B and 10 rows")
    watch.restart()
    assert not [line for line in watch.lines() if line.key == "written"]
    assert written_line(Written(files=2, rows=20, bytes=1000)) == "written: 2 files, 1.0 kB and 20 rows"


def test_calls_that_are_not_done_come_first(session: Any) -> None:
    watch = Watch(session.spark)
    watch.told(Progress("file groups rewritten", 3, 12, 100, 400))
    watch.told(Progress("snapshots expired", 5, 5))
    assert [line.key for line in watch.lines()] == ["file groups rewritten", "stage 3", "stage 4"]
    assert watch.lines()[0].share == 0.25


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_while_results_are_printed(session: Any) -> None:
    screen = Terminal()
    drawing = Drawing(session, screen)
    drawing.show_now()
    assert "12 of 200 tasks" in screen.getvalue()
    with drawing.paused():
        length = len(screen.getvalue())
        drawing.show_now()
        assert len(screen.getvalue()) == length
    drawing.show_now()
    assert len(screen.getvalue()) > length


def test_where_output_is_kept_calls_tell_a_line_each(session: Any) -> None:
    from contextlib import contextmanager

    told: list[Any] = []

    @contextmanager
    def watched_by(watcher: Any) -> Any:
        told.append(watcher)
        yield

    session.watched_by = watched_by
    log = io.StringIO()
    with watched(session, log, silent=False) as drawing:
        assert drawing is None
        told[0](Progress("file groups rewritten", 3, 12))
    assert log.getvalue() == "-- file groups rewritten: 3 of 12\n"
