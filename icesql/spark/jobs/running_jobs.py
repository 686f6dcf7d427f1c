"""The jobs that a statement runs: kept together so that they can be cancelled, and how far their stages are."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from icesql.spark.jvm.spark_session import active_stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
_INHERITED = ("spark.jobGroup.id", "spark.job.tags", "spark.job.interruptOnCancel")
_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


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


def in_this_group(spark: SparkSession, function: Callable[..., T]) -> Callable[..., T]:
    """``function`` for other threads: the jobs that it starts there are cancelled with those of this thread."""
    context: Any = spark.sparkContext
    inherited = {key: value for key in _INHERITED if (value := context.getLocalProperty(key)) is not None}

    def call(*arguments: Any) -> T:
        for key, value in inherited.items():
            context.setLocalProperty(key, value)
        return function(*arguments)

    return call


class JobGroup:
    """The jobs that a thread starts inside ``with`` are a group of their own, which ``cancel`` cancels, from any thread.

    Their tasks are interrupted, so that one that waits or sleeps gives its slot back at once. The thread's own group is its group
    again behind the block, unless KeyboardInterrupt ends it: a call to the JVM may then wait for its answer still.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._context: Any = spark.sparkContext
        self._name = f"icesql-{uuid.uuid4().hex}"
        self._before: dict[str, str | None] = {}

    def cancel(self) -> None:
        self._context.cancelJobGroup(self._name)

    def __enter__(self) -> JobGroup:
        self._before = {key: self._context.getLocalProperty(key) for key in _PROPERTIES}
        self._context.setLocalProperty("spark.jobGroup.id", self._name)
        self._context.setLocalProperty("spark.job.interruptOnCancel", "true")
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            for key, value in self._before.items():
                self._context.setLocalProperty(key, value)
