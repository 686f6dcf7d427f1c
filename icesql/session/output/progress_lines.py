"""What a statement at work has done so far: stages of its Spark jobs, files written, and how far a long CALL is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icesql.pictures.pruning_steps import size_text
from icesql.procedures.progress import Progress
from icesql.session.output.pruning_line import progress_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icesql.spark.jobs.running_jobs import RunningStage
    from icesql.spark.jobs.written_so_far import Written


@dataclass(frozen=True, slots=True)
class Line:
    """``key`` tells one line from the others while its text changes. ``share``: 0 to 1, ``None`` where the end is not known."""

    key: str
    text: str
    share: float | None = None


@dataclass(slots=True)
class Watch:
    """One statement, watched from the start of it. ``lines`` asks Spark and may be called from any thread; ``told`` is for
    ``Session.watched_by``."""

    spark: SparkSession
    _calls: dict[str, Progress] = field(default_factory=dict)
    _before: Written | None = None

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Another statement begins."""
        self._calls.clear()
        self._before = self._written()

    def _written(self) -> Written:
        from icesql.spark.jobs.written_so_far import written_counts

        return written_counts(self.spark).so_far

    def told(self, progress: Progress) -> None:
        self._calls[progress.what] = progress

    def lines(self) -> list[Line]:
        from icesql.spark.jobs.running_jobs import running_stages

        assert self._before is not None
        calls = [Line(progress.what, progress_line(progress), progress.share) for progress in list(self._calls.values())]
        shown = [line for line in calls if line.share is not None and line.share < 1]
        try:
            stages = running_stages(self.spark)
        except Exception:  # Spark is being stopped, or its connection is in use by nobody any more: there is nothing to show then
            stages = []
        shown += [Line(f"stage {stage.number}", stage_line(stage), stage.done_tasks / stage.total_tasks) for stage in stages]
        written = self._written().since(self._before)
        return shown + ([Line("written", written_line(written))] if written.files else [])


def stage_line(stage: RunningStage) -> str:
    """``stage 3: 12 of 200 tasks, 1.2 GB and 3,400,000 rows read``."""
    read = f", {size_text(stage.read_bytes)} and {stage.read_rows:,} rows read" if stage.read_rows else ""
    return f"stage {stage.number}: {stage.done_tasks:,} of {stage.total_tasks:,} tasks{read}"


def written_line(written: Written) -> str:
    """``written: 12 files, 1.2 GB and 3,400,000 rows``."""
    return f"written: {written.files:,} file{'' if written.files == 1 else 's'}, {size_text(written.bytes)} and {written.rows:,} rows"


def as_text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)
