"""DataFrame readers and writers of an enabled Spark session answer as those of stock Spark with Iceberg's runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracle.client import Oracle
from tests.sql import catalog_steps, frame_steps, kept_steps, merge_steps, option_steps, twofold_steps
from tests.sql.engines import kept_conf


@pytest.mark.spark
@pytest.mark.interop
@pytest.mark.parametrize(
    "steps",
    [frame_steps, kept_steps, merge_steps, option_steps, catalog_steps, twofold_steps],
    ids=lambda steps: steps.__name__.rpartition(".")[2],
)
def test_readers_and_writers_do_as_the_runtime_does(spark: Any, oracle: Oracle, tmp_path: Path, steps: Any):
    import icesql

    namespace = f"local.{steps.__name__.rpartition('.')[2]}"
    oracle.sql(f"CREATE NAMESPACE {namespace}")
    wanted = oracle.call(f"{steps.__name__}:answers", namespace)
    with kept_conf(spark):
        icesql.enable(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(tmp_path)}})
        try:
            spark.sql(f"CREATE NAMESPACE {namespace}")
            found = steps.answers(spark, namespace)
        finally:
            icesql.disable(spark)
    assert [pair for pair in zip(wanted, found, strict=True) if pair[0] != pair[1]] == []
