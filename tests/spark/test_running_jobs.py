"""Jobs of a statement that other threads start for it."""

from __future__ import annotations

import threading

import pytest

from icesql.spark.jobs.running_jobs import JobGroup, in_this_group

pytestmark = pytest.mark.spark


def test_jobs_of_other_threads_are_of_the_statements_group(spark) -> None:
    """And end with it: the other thread's job would sleep for an hour."""
    group = JobGroup(spark)
    errors: list[Exception] = []

    def work() -> None:
        try:
            spark.sparkContext.parallelize([1], 1).map(lambda _: __import__("time").sleep(3600)).collect()
        except Exception as error:
            errors.append(error)

    with group:
        thread = threading.Thread(target=in_this_group(spark, work))
    thread.start()
    for _ in range(600):
        group.cancel()
        thread.join(0.2)
        if not thread.is_alive():
            break
    assert not thread.is_alive() and "cancelled" in str(errors[0])


def test_a_thread_of_no_group_hands_on_none(spark) -> None:
    seen: list[str | None] = []
    run = in_this_group(spark, lambda: seen.append(spark.sparkContext.getLocalProperty("spark.jobGroup.id")))
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [None]
