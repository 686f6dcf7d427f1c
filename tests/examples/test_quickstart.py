"""The quickstart: its results, its pruning, and that the runtime and PyIceberg see the same table."""

from __future__ import annotations

import datetime as dt
import glob
import struct
from pathlib import Path
from typing import Any

import mmh3
import pyarrow.parquet as pq
import pytest

from tests.examples.conftest import Run, selects
from tests.sql.normal_form import latest_metadata, metadata_in_normal_form, plain

pytestmark = pytest.mark.spark
SEED_QUERY = (
    "SELECT * FROM local.db.events WHERE device_id = 74 "
    "AND event_time > timestamp'2021-10-01 10:00:00Z' AND event_time < timestamp'2021-10-04 20:00:00Z'"
)
START = dt.datetime(2021, 9, 20, tzinfo=dt.timezone.utc)
LOW, HIGH = dt.datetime(2021, 10, 1, 10, tzinfo=dt.timezone.utc), dt.datetime(2021, 10, 4, 20, tzinfo=dt.timezone.utc)


def generated_events() -> list[tuple[dt.datetime, int, float]]:
    """The rows the first two INSERTs make, computed apart from Spark."""
    return [(START + dt.timedelta(seconds=i * 10.8), i * 7919 % 1000, i * 31 % 10000 / 100.0) for i in range(240_000)]


def test_the_seed_query_finds_the_device(quickstart: Run):
    wanted = [(when, value) for when, device, value in generated_events() if device == 74 and LOW < when < HIGH]
    row = selects(quickstart)[0][1][0]
    assert row[0] == len(wanted)
    assert row[3] == pytest.approx(sum(value for _, value in wanted), abs=0.01)


def test_late_rows_are_found_after_the_evolution(quickstart: Run):
    before, after = selects(quickstart)[0][1][0], selects(quickstart)[-1][1][0]
    assert after == [before[0] + 2, pytest.approx(before[3] + 42.0, abs=0.01)]


def test_countries(quickstart: Run):
    assert selects(quickstart)[1][1] == [[None, 240_001, pytest.approx(49.995, abs=0.001)], ["CH", 1335, pytest.approx(1.031, abs=0.001)],
                                         ["DE", 1333, 1.0], ["JP", 1333, 1.0]]  # fmt: skip


def test_time_travel_sees_the_table_as_tagged(quickstart: Run):
    assert selects(quickstart)[-2][1] == [[160_000, 1000, 99.99]]


def files_that_can_match(table: Path) -> set[str]:
    """Of the files of the table, those whose day, bucket and device bounds can match: from the folders and Parquet footers alone."""
    bucket = (mmh3.hash(struct.pack("<q", 74)) & 0x7FFFFFFF) % 16
    found = set()
    for path in glob.glob(f"{table}/data/**/*.parquet", recursive=True):
        parts = dict(part.split("=", 1) for part in Path(path).parts if "=" in part)
        day = dt.date.fromisoformat(parts["event_time_day"])
        if not LOW.date() <= day <= HIGH.date() or int(parts["device_id_bucket"]) != bucket:
            continue
        bounds = column_bounds(path, "device_id"), column_bounds(path, "event_time")
        if bounds[0][0] <= 74 <= bounds[0][1] and bounds[1][1] > LOW and bounds[1][0] < HIGH:
            found.add(path)
    return found


def column_bounds(path: str, column: str) -> tuple[Any, Any]:
    footer = pq.read_metadata(path)
    index = footer.schema.names.index(column)
    statistics = [footer.row_group(group).column(index).statistics for group in range(footer.num_row_groups)]
    return min(s.min for s in statistics), max(s.max for s in statistics)


def test_the_seed_query_reads_only_files_that_can_match(quickstart: Run, spark: Any):
    table = quickstart.warehouse / "db" / "events"
    read = {
        row[0].removeprefix("file://").removeprefix("file:")
        for row in quickstart.session.sql(SEED_QUERY.replace("*", "DISTINCT _file")).collect()
    }
    wanted = files_that_can_match(table)
    report = quickstart.session.table("local.db.events").scan(
        "device_id = 74 AND event_time > TIMESTAMP '2021-10-01 10:00:00+00:00' AND event_time < TIMESTAMP '2021-10-04 20:00:00+00:00'"
    ).plan_files()  # fmt: skip
    assert set(report.paths) == wanted
    assert read and read <= wanted
    everything = glob.glob(f"{table}/data/**/*.parquet", recursive=True)
    assert len(wanted) < len(everything) / 50


@pytest.mark.interop
def test_pyiceberg_reads_the_same_rows(quickstart: Run):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("local", uri=f"sqlite:///{quickstart.warehouse}/catalog.db", warehouse=str(quickstart.warehouse))
    theirs = catalog.load_table("db.events").scan().to_arrow()
    ours = quickstart.session.table("local.db.events").scan().to_arrow()
    order = [("event_time", "ascending"), ("device_id", "ascending"), ("event_type", "ascending")]
    assert theirs.num_rows == 244_002
    assert theirs.select(ours.column_names).sort_by(order).to_pylist() == ours.sort_by(order).to_pylist()


@pytest.mark.interop
def test_the_runtime_gives_equal_rows_for_every_select(quickstart_on_hadoop: Run, quickstart_on_the_runtime: Run):
    ours, theirs = selects(quickstart_on_hadoop), selects(quickstart_on_the_runtime)
    assert len(ours) == len(theirs) == 7
    for (text, mine), (_, other) in zip(ours, theirs, strict=True):
        assert mine == other, text


@pytest.mark.interop
def test_the_runtime_makes_equal_metadata(quickstart_on_hadoop: Run, quickstart_on_the_runtime: Run):
    forms = [
        metadata_in_normal_form(latest_metadata(run.warehouse / "db" / "events") or Path(), str(run.warehouse))
        for run in (quickstart_on_hadoop, quickstart_on_the_runtime)
    ]
    assert forms[0] == forms[1]


@pytest.mark.interop
def test_the_runtime_reads_our_table_and_we_read_its(quickstart_on_hadoop: Run, quickstart_on_the_runtime: Run, oracle: Any, spark: Any):
    import icesql

    checksum = "SELECT count(*), sum(device_id), round(sum(measurement), 2), max(event_time), count(country) FROM {}.db.events"
    oracle.sql("SET spark.sql.catalog.quick=org.apache.iceberg.spark.SparkCatalog")
    oracle.sql("SET spark.sql.catalog.quick.type=hadoop")
    oracle.sql(f"SET spark.sql.catalog.quick.warehouse={quickstart_on_hadoop.warehouse}")
    reader = icesql.connect(spark, catalogs={"theirs": {"type": "hadoop", "warehouse": oracle.warehouse}})
    ours_by_them = oracle.rows(checksum.format("quick"))
    theirs_by_us = [tuple(row) for row in reader.sql(checksum.format("theirs")).collect()]
    assert [plain(v) for v in ours_by_them[0]] == [plain(v) for v in theirs_by_us[0]]
    assert ours_by_them[0][0] == 244_002
