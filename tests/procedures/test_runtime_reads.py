"""Statistics files as Iceberg's own runtime reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from icesql.table.maintenance.partition_statistics import compute_partition_statistics
from icesql.table.maintenance.table_statistics import columns_for_statistics, compute_table_statistics
from tests.oracle.client import Oracle
from tests.table.maintained import delete_positions, new_table, paths, rows

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("version", [2, 3])
def test_the_runtime_reads_statistics(oracle: Oracle, tmp_path: Path, version: int) -> None:
    table = new_table(tmp_path, version=version)
    table.append(rows(1, 2, 3, p=0))
    table.append(rows(4, 4, p=1))
    delete_positions(table, next(path for path in paths(table) if "p=0" in path), [1])
    assert table.current_snapshot is not None
    compute_partition_statistics(table, table.current_snapshot)
    found = oracle.call("tests.procedures.runtime:partition_statistics", str(tmp_path), "db.t")
    assert sorted(found) == [("0", 3, 1, 1, 1 if version == 2 else 0), ("1", 2, 1, 0, 0)]
    compute_table_statistics(table, table.current_snapshot, columns_for_statistics(table.schema, ["id", "p"]))
    blobs = oracle.call("tests.procedures.runtime:blob_types", str(tmp_path), "db.t")
    assert [(kind, fields, ndv) for kind, fields, ndv, _ in blobs] == [
        ("apache-datasketches-theta-v1", [1], "3"),
        ("apache-datasketches-theta-v1", [3], "2"),
    ]
    assert [size for *_, size in blobs] == [16 + 8 * 3, 16 + 8 * 2]
