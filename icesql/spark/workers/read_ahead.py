"""Reads files in order and begins the next ones ahead of need, so that tasks work on rows while a store answers."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
_BATCHES = 2  # of each file that wait


def in_order_ahead(read: Callable[[T], Iterator[R]], tasks: Iterable[T], ahead: int) -> Iterator[R]:
    """What ``read`` gives for each task, in order. ``ahead``: how many tasks after the current one are begun, each in a thread."""
    if ahead <= 0:
        for task in tasks:
            yield from read(task)
        return
    begun: deque[_Begun[R]] = deque()
    pending = iter(tasks)
    try:
        while True:
            begun.extend(_Begun(partial(read, task)) for task in islice(pending, ahead + 1 - len(begun)))
            if not begun:
                return
            yield from begun[0]
            begun.popleft()
    finally:
        for one in begun:
            one.stop()


class _Begun(Iterable[R]):
    """A file that a thread reads; at most two batches wait."""

    def __init__(self, read: Callable[[], Iterator[R]]) -> None:
        self._results: queue.Queue[tuple[bool, R | BaseException | None]] = queue.Queue(_BATCHES)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, args=(read,), name="icesql-read-ahead", daemon=True)
        self._thread.start()

    def _run(self, read: Callable[[], Iterator[R]]) -> None:
        try:
            for result in read():
                if not self._put((True, result)):
                    return
            self._put((False, None))
        except BaseException as error:
            self._put((False, error))

    def _put(self, item: tuple[bool, R | BaseException | None]) -> bool:
        while not self._stopped:
            try:
                self._results.put(item, timeout=0.2)
            except queue.Full:
                continue
            return True
        return False

    def __iter__(self) -> Iterator[R]:
        while True:
            is_result, item = self._results.get()
            if is_result:
                yield item  # type: ignore[misc]
            elif isinstance(item, BaseException):
                raise item
            else:
                return

    def stop(self) -> None:
        """Give up: the thread ends after the batch it is at."""
        self._stopped = True
