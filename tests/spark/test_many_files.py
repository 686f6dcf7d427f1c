"""Listings of very many files: sorted before Spark sorts them, and made once for a version and a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql.types import StructType

from icesql.spark.jvm import partitions
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.read.file_index import FileSet, PythonFileIndex

pytestmark = pytest.mark.spark
COUNT = partitions.FEW_FILES + 500


@pytest.fixture
def index(spark: Any) -> Any:
    files = FileSet([f"/t/{n}.parquet" for n in range(COUNT)], [n % 7 + 1 for n in range(COUNT)], is_kept=True)
    bridge = bridge_of(spark)
    return PythonFileIndex(bridge, key="many", plan=lambda _, __: files, size_in_bytes=lambda: 1, constants=StructType([]), names={})


def _listed(index: Any) -> Any:
    return index.listFiles(index.bridge.nil, index.bridge.nil)


def test_files_come_sorted_as_spark_sorts_them(index: Any):
    files = _listed(index).apply(0).files()
    listed = [(files.apply(n).getLen(), str(files.apply(n).getPath())) for n in range(COUNT)]
    assert [size for size, _ in listed] == sorted((size for size, _ in listed), reverse=True)
    assert [path for size, path in listed if size == 7] == [f"file:/t/{n}.parquet" for n in range(6, COUNT, 7)]


def test_a_listing_is_made_once_and_again_when_the_jvm_has_dropped_it(index: Any, monkeypatch: pytest.MonkeyPatch):
    made: list[int] = []
    statuses = partitions.file_statuses

    def counted(bridge: Any, paths: Sequence[str], sizes: Sequence[int]) -> Any:
        made.append(len(paths))
        return statuses(bridge, paths, sizes)

    monkeypatch.setattr(partitions, "file_statuses", counted)
    for _ in range(3):
        assert _listed(index).apply(0).files().size() == COUNT
    assert made == [COUNT]
    kept = index._last[1]
    index._last = (index._last[0], partitions.Kept(lambda: None))
    assert kept.get() is not None and _listed(index).apply(0).files().size() == COUNT
    assert made == [COUNT, COUNT]
