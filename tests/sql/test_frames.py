"""DataFrame readers and writers of an enabled Spark session answer as those of stock Spark with Iceberg's runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracle.client import Oracle
from tests.sql.engines import kept_conf
from tests.sql.frame_steps import answers


@pytest.mark.spark
@pytest.mark.interop
def test_readers_and_writers_do_as_the_runtime_does(spark: Any, oracle: Oracle, tmp_path: Path):
    import icesql

    oracle.sql("CREATE NAMESPACE local.frames")
    wanted = oracle.call("tests.sql.frame_steps:answers", "local.frames")
    with kept_conf(spark):
        icesql.enable(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(tmp_path)}})
        try:
            spark.sql("CREATE NAMESPACE local.frames")
            found = answers(spark, "local.frames")
        finally:
            icesql.disable(spark)
    assert [pair for pair in zip(wanted, found, strict=True) if pair[0] != pair[1]] == []
