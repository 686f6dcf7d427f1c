"""A statement that was cancelled commits nothing, and what it wrote is removed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import icesql
from icesql.errors import IcesqlError
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField
from icesql.table.after_commit import telling

SCHEMA = Schema((NestedField(1, "id", LongType()),))
ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})


class _Cancelled:
    def notice(self, text: str) -> None:
        raise AssertionError(text)

    def committed(self) -> None:
        raise AssertionError("it was cancelled")

    def check_wanted(self) -> None:
        raise IcesqlError("[OPERATION_CANCELED] Operation has been canceled.")


@pytest.mark.parametrize("kind", ["memory", "sql", "hadoop"])
def test_nothing_is_committed_and_no_file_stays(tmp_path: Path, kind: str) -> None:
    catalog = icesql.connect_catalog("c", type=kind, warehouse=tmp_path / "warehouse")
    catalog.create_namespace(("db",))
    table = catalog.create_table(("db", "t"), SCHEMA)
    table.append(ROWS)
    before = {path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in (".parquet", ".avro", ".json")}
    for change in (lambda: table.append(ROWS), lambda: table.delete("id = 1"), lambda: table.overwrite(ROWS)):
        with telling(_Cancelled()), pytest.raises(IcesqlError, match="OPERATION_CANCELED"):
            change()
    after = {path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in (".parquet", ".avro", ".json")}
    assert after == before
    assert catalog.load_table(("db", "t")).scan().to_arrow().num_rows == 2
