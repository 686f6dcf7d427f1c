"""Where names lead before any USE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import icesql
from tests.oracle.client import Oracle
from tests.sql.default_catalog_steps import answers

pytestmark = [pytest.mark.spark, pytest.mark.interop]


def test_names_lead_where_they_lead_with_the_runtime(spark: Any, oracle: Oracle, tmp_path: Path):
    wanted = oracle.call("tests.sql.default_catalog_steps:answers", "homes", oracle.warehouse)
    catalogs = {"local": {"type": "hadoop", "warehouse": str(tmp_path)}}
    found = answers(spark, "homes", str(tmp_path), lambda session: icesql.enable(session, catalogs=catalogs))
    assert [pair for pair in zip(wanted, found, strict=True) if pair[0] != pair[1]] == []
    assert [text for text, answer in found if answer == "refused"] == ["SELECT * FROM t"]  # in spark_catalog


def test_sessions_over_one_spark_session_share_the_setting(spark: Any, tmp_path: Path):
    beneath = spark.newSession()
    beneath.conf.set("spark.sql.defaultCatalog", "here")
    again = type(beneath)(beneath.sparkContext, beneath._jsparkSession)  # as SparkSession.getActiveSession() makes it
    catalogs = {"here": {"type": "hadoop", "warehouse": str(tmp_path)}}
    assert [icesql.connect(each, catalogs=catalogs).state.names.current_catalog for each in (beneath, again)] == ["here", "here"]
    assert icesql.connect(again).state.names.current_catalog == "spark_catalog"  # it has no catalog of that name
    assert icesql.connect(spark, catalogs=catalogs).state.names.current_catalog == "spark_catalog"
    assert beneath.sql("SELECT current_catalog()").collect() == [("spark_catalog",)]
