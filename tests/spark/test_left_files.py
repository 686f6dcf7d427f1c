"""Files of cancelled tasks are looked for again."""

from __future__ import annotations

import time

import pytest

from icesql.spark.write import left_files


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Job 3 cancelled part of cancelled job tags")])
def test_after_a_cancelled_write(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    monkeypatch.setattr(left_files, "_AGAIN_SECONDS", (0.01, 0.02))
    times: list[float] = []

    def remove() -> None:
        times.append(time.monotonic())
        if len(times) == 2:
            raise OSError("the second time")

    left_files.remove_left(remove, error)
    end = time.monotonic() + 30
    while len(times) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(times) == 3


def test_once_after_another_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_files, "_AGAIN_SECONDS", (0.01,))
    times: list[int] = []
    left_files.remove_left(lambda: times.append(1), ValueError("division by zero"))
    time.sleep(0.2)
    assert times == [1]
