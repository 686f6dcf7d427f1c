"""Ctrl-C: Spark's jobs are cancelled, and the statement ends with KeyboardInterrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from icesql.spark.jobs.running_jobs import JobGroup

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AGAIN_SECONDS = 0.2


class _Cancelling:
    """Cancels the statement's jobs, again and again until ``stop``: a statement may start its next job before it notices.

    From a thread of its own, because the connection of the interrupted thread may be waiting for an answer.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._stopped = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="icesql-cancel", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self.thread is not None:
            self.thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._cancel()
            self._stopped.wait(_AGAIN_SECONDS)


@contextmanager
def interruptible(spark: SparkSession) -> Iterator[None]:
    """Within the block, Ctrl-C cancels the jobs that it has started, and KeyboardInterrupt is raised: at once, or, where the JVM is being
    waited for, when it has answered (a second Ctrl-C does not wait). Outside of the main thread signals cannot be had, and nothing is
    changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    group = JobGroup(spark)
    with _cancelled_by_ctrl_c(_Cancelling(group.cancel)), group:  # in this order: no call to the JVM may be broken off
        yield


@contextmanager
def _cancelled_by_ctrl_c(cancelling: _Cancelling) -> Iterator[None]:
    def handler(number: int, frame: FrameType | None) -> None:
        is_first = cancelling.thread is None
        cancelling.start()
        if not (is_first and _waits_for_the_jvm(frame)):
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    except Exception as error:
        if cancelling.thread is not None:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        cancelling.stop()
    if cancelling.thread is not None:
        raise KeyboardInterrupt


def _waits_for_the_jvm(frame: FrameType | None) -> bool:
    while frame is not None:
        if "py4j" in Path(frame.f_code.co_filename).parts:
            return True
        frame = frame.f_back
    return False
