"""Rows of -0.0 and 0.0 in an identity partition are two partitions: a reader may take the value from the partition."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import icesql

pytestmark = pytest.mark.spark
VALUES = {0: "0.0", 1: "'-0.0'", 2: "double('nan')", 3: "NULL", 4: "1.5"}


@pytest.mark.parametrize("small", [True, False])
def test_both_zeros_are_partitions(spark: Any, tmp_path: Path, small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("icesql.spark.write.data_files.is_small", lambda *given: small)
    session = icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(tmp_path)}})
    session.sql("CREATE TABLE local.db.zeros (id int, x double, f float) USING iceberg PARTITIONED BY (x, f)")
    which = " ".join(f"WHEN {k} THEN CAST({v} AS DOUBLE)" for k, v in VALUES.items())
    source = f"SELECT CAST(id AS INT) AS id, CASE id % 5 {which} END AS x FROM range(0, 100, 1, 1)"
    session.sql(f"INSERT INTO local.db.zeros SELECT id, x, CAST(x AS FLOAT) FROM ({source})")

    def signs() -> dict[str, int]:
        found = session.sql("SELECT id, x, f, _partition.x AS p FROM local.db.zeros").collect()
        assert all(repr(row.x) == repr(row.f) == repr(row.p) for row in found)
        return {text: sum(repr(row.x) == text for row in found) for text in ("0.0", "-0.0", "nan", "None", "1.5")}

    assert signs() == {"0.0": 20, "-0.0": 20, "nan": 20, "None": 20, "1.5": 20}
    assert session.sql("SELECT count(*) FROM local.db.zeros.files").collect()[0][0] == len(VALUES)
    session.sql("CALL local.system.rewrite_data_files(table => 'db.zeros', options => map('rewrite-all', 'true'))")
    assert signs() == {"0.0": 20, "-0.0": 20, "nan": 20, "None": 20, "1.5": 20}
    table = session.table("local.db.zeros")
    partitions = [file.data_file.partition[0] for file in table.refresh().scan().plan_files().tasks]
    assert sorted(math.copysign(1, p) for p in partitions if p == 0) == [-1, 1]
    if small:
        table.append(table.scan().to_arrow())
        assert signs() == {"0.0": 40, "-0.0": 40, "nan": 40, "None": 40, "1.5": 40}
