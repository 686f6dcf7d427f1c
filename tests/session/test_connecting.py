"""``icesql.connect`` beside a session that runs already."""

from __future__ import annotations

from typing import Any

import pytest

import icesql

pytestmark = pytest.mark.spark


def test_connecting_again_names_the_settings_that_come_too_late(spark: Any) -> None:
    late = {"spark.driver.memory": "3g", "spark.sql.warehouse.dir": "/elsewhere"}
    in_time = {"spark.sql.shuffle.partitions": 4, "spark.sql.catalog.late.type": "hadoop"}
    with pytest.warns(UserWarning, match=r"Cannot apply settings: .*running already") as told:
        icesql.connect(conf={**late, **in_time}, master="local[7]")
    try:
        (message,) = [str(warning.message) for warning in told]
        assert all(text in message for text in ("master=local[7]", *(f"{key}={value}" for key, value in late.items())))
        assert not any(key in message for key in in_time)
        assert spark.conf.get("spark.sql.catalog.late.type") == "hadoop"
    finally:
        spark.conf.unset("spark.sql.catalog.late.type")
