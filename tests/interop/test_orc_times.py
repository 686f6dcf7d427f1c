"""Times of any year in ORC through SQL: each engine reads what the other wrote."""

from __future__ import annotations

import pytest

from tests.interop.conftest import Shared

pytestmark = [pytest.mark.interop, pytest.mark.spark]
SECOND = 1_000_000
MICROS = (
    -1_500_000, -1_000_001, -999_500, -1 * SECOND, -86_400_100_000, 0, 1_510_871_468_000_001, -62_135_596_800_500_000,
    253_402_300_800_000_001, -(2**63), 2**63 - 1,
)  # fmt: skip
NEAR = tuple(v for v in MICROS if abs(v) < 2**52)  # what pyarrow reads within structs


def test_times_of_any_year(shared: Shared) -> None:
    values = ", ".join(f"({i}, {v if v > -(2**63) else 'CAST(-9223372036854775807 AS BIGINT) - 1'})" for i, v in enumerate(MICROS))
    near = f"IF(abs(v / 2) < {2**51}, timestamp_micros(v), NULL)"
    rows = f"SELECT i, timestamp_micros(v), named_struct('t', {near}) FROM VALUES {values} AS s(i, v)"
    shared.frame("CREATE NAMESPACE IF NOT EXISTS local.interop")
    expected = [(i, v, v if v in NEAR else None) for i, v in enumerate(MICROS)]
    for name, write in (("ours", shared.frame), ("theirs", shared.oracle.sql)):
        table = f"local.interop.times_{name}"
        columns, orc = "i INT, t TIMESTAMP, s STRUCT<t: TIMESTAMP>", "TBLPROPERTIES ('write.format.default' = 'orc')"
        write(f"CREATE TABLE {table} ({columns}) USING iceberg {orc}")
        write(f"INSERT INTO {table} {rows}")
        query = f"SELECT i, unix_micros(t), unix_micros(s.t) FROM {table} ORDER BY i"
        assert [tuple(row) for row in shared.frame(query).collect()] == expected, name
        assert shared.oracle.rows(query) == expected, name
        pruned = f"SELECT i FROM {table} WHERE t < TIMESTAMP '1970-01-01 00:00:00' ORDER BY i"
        early = [(i,) for i, v in enumerate(MICROS) if v < 0]
        assert [tuple(row) for row in shared.frame(pruned).collect()] == early, name
        assert shared.oracle.rows(pruned) == early, name
    with pytest.raises(Exception, match="ORC has no times of the last second of 1969"):
        shared.frame("INSERT INTO local.interop.times_ours VALUES (1, timestamp_micros(-500000L), NULL)")
