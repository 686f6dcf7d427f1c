"""The jobs that a statement runs: kept together so that they can be cancelled, and how far their stages are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from icesql.spark.jvm.spark_session import active_stages

_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@dataclass(frozen=True, slots=True)
class RunningStage:
    """What a stage has done so far, as its tasks have told (running ones do with each heartbeat). Bytes and rows are those read, from
    files or from a shuffle."""

    number: int
    done_tasks: int
    total_tasks: int
    read_bytes: int
    read_rows: int


def running_stages(spark: Any) -> list[RunningStage]:
    """Those with tasks, in the order of their numbers."""
    stages = active_stages(spark)
    listed = [_stage(stages.apply(place)) for place in range(stages.size())]
    return sorted((stage for stage in listed if stage.total_tasks), key=lambda stage: stage.number)


def _stage(stage: Any) -> RunningStage:
    return RunningStage(
        number=int(stage.stageId()),
        done_tasks=int(stage.numCompleteTasks()),
        total_tasks=int(stage.numTasks()),
        read_bytes=int(stage.inputBytes()) + int(stage.shuffleReadBytes()),
        read_rows=int(stage.inputRecords()) + int(stage.shuffleReadRecords()),
    )


@contextmanager
def cancellable(spark: Any) -> Iterator[Callable[[], None]]:
    """The jobs that this thread starts in the block are a group of their own; what is yielded cancels them, from any thread.

    Their tasks are interrupted, so that one that waits or sleeps gives its slot back at once. The thread's own group is its group
    again behind the block.
    """
    context = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in _GROUP}
    group = f"icesql-{uuid.uuid4().hex}"
    context.setLocalProperty("spark.jobGroup.id", group)
    context.setLocalProperty("spark.job.interruptOnCancel", "true")
    try:
        yield lambda: context.cancelJobGroup(group)
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)
