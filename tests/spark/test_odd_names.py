"""Columns whose names hold what Spark takes for syntax are written in tasks, sorted and Z-ordered as others are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import icesql

pytestmark = pytest.mark.spark
NAMES = ("a`b", "x.y", "`q`", "it's")


def test_names_that_spark_takes_for_syntax(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("icesql.spark.write.data_files.is_small", lambda *given: False)  # so that tasks write
    session = icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(tmp_path)}})
    names = ["`" + name.replace("`", "``") + "`" for name in NAMES]
    columns = ", ".join(f"{name} int" for name in names)
    session.sql(f"CREATE TABLE local.db.odd (id bigint, {columns}) USING iceberg")
    session.sql(f"ALTER TABLE local.db.odd WRITE ORDERED BY {names[0]} DESC")
    values = ", ".join(f"CAST((id * {k}) % 5 AS INT)" for k in range(2, 2 + len(names)))
    session.sql(f"INSERT INTO local.db.odd SELECT id, {values} FROM range(0, 40, 1, 2)")
    rows = {tuple(row) for row in session.sql("SELECT * FROM local.db.odd").collect()}
    assert rows == {(i, *((i * k) % 5 for k in range(2, 2 + len(names)))) for i in range(40)}
    for order in (None, f"{names[1]} DESC NULLS LAST, id", f"zorder({', '.join(names)}, id)"):
        given = "" if order is None else f', sort_order => "{order}"'
        call = f"rewrite_data_files(table => 'db.odd', options => map('rewrite-all', 'true'), strategy => 'sort'{given})"
        (done,) = session.sql(f"CALL local.system.{call}").collect()
        assert done.added_data_files_count == 1
        found = session.sql("SELECT * FROM local.db.odd ORDER BY _file, _pos").collect()
        assert {tuple(row) for row in found} == rows
        if order is None or "zorder" not in order:
            key = [row[1] if order is None else row[2] for row in found]
            assert key == sorted(key, reverse=True)
