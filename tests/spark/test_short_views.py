"""Views that live for a statement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import icesql
from icesql.spark.jvm import short_views

pytestmark = pytest.mark.spark


def test_a_view_is_as_spark_makes_it(spark: Any) -> None:
    frame = spark.range(3).selectExpr("id", "id * 2 AS double")
    short_views.show(frame, "short")
    frame.createOrReplaceTempView("whole")
    try:
        assert spark.sql("SELECT short.id, s.double FROM short JOIN short s ON short.id = s.id WHERE s.id > 1").collect() == [(2, 4)]
        for text in ("DESCRIBE {}", "DESCRIBE EXTENDED {}", "SHOW TBLPROPERTIES {}"):
            ours, theirs = ([tuple(row) for row in spark.sql(text.format(name)).collect()] for name in ("short", "whole"))
            assert [row for row in ours if row[0] not in ("Created Time", "Table")] == [
                row for row in theirs if row[0] not in ("Created Time", "Table")
            ]
        plan = frame.sparkSession.table("short")._jdf.queryExecution().analyzed().toString()
        assert "SubqueryAlias short" in plan
        short_views.show(spark.range(1), "short")
        assert spark.table("short").collect() == [(0,)]
    finally:
        short_views.hide(spark, "short")
        spark.catalog.dropTempView("whole")
    assert not spark.catalog.tableExists("short")
    short_views.hide(spark, "short")  # which is not there


def test_what_the_user_caches_stays_cached(spark: Any, tmp_path: Path) -> None:
    session = icesql.connect(spark, catalogs={"short": {"type": "hadoop", "warehouse": str(tmp_path)}})
    session.sql("CREATE TABLE short.db.t AS SELECT id FROM range(3)")
    cached = session.sql("SELECT * FROM short.db.t").cache()
    try:
        assert cached.count() == 3
        assert session.sql("SELECT * FROM short.db.t").count() == 3
        assert cached.storageLevel.useMemory
        assert "InMemoryTableScan" in cached._jdf.queryExecution().executedPlan().toString()
    finally:
        cached.unpersist()
