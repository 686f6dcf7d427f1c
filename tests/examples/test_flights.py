"""The flights script over real data: its results against pandas, and its table against PyIceberg."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.examples.conftest import Run, selects

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def source() -> Any:
    import pandas

    from sql_examples.flights import FILES, data_folder

    return SimpleNamespace(**{name: pandas.read_csv(data_folder() / file) for name, file in FILES.items()})


def test_all_flights_are_there(flights: Run):
    assert selects(flights)[0][1] == [[336_776, "2013-01-01", "2013-12-31"]]


def test_late_airlines_of_july(flights: Run, source: Any):
    july = source.flights[(source.flights.month == 7) & source.flights.arr_delay.notna()]
    by_carrier = july.groupby("carrier").arr_delay.agg(["size", "mean"]).join(source.airlines.set_index("carrier"))
    top = by_carrier.sort_values("mean", ascending=False).head(5)
    assert selects(flights)[1][1] == [[name, int(size), pytest.approx(mean, abs=0.051)] for size, mean, name in top.itertuples(index=False)]


def test_busiest_destinations_of_jfk(flights: Run, source: Any):
    joined = source.flights[source.flights.origin == "JFK"].merge(source.airports, left_on="dest", right_on="faa")
    top = joined.groupby("name").size().reset_index(name="n").sort_values(["n", "name"], ascending=[False, True]).head(5)
    assert selects(flights)[2][1] == [list(row) for row in top.itertuples(index=False)]


def test_cancelled_flights_by_origin(flights: Run, source: Any):
    data = source.flights.assign(cancelled=source.flights.air_time.isna() & source.flights.dep_delay.isna())
    wanted = data.groupby("origin").cancelled.agg(["size", "sum"]).reset_index()
    assert selects(flights)[3][1] == [list(row) for row in wanted.itertuples(index=False)]


def test_the_branch_reads_all(flights: Run, source: Any):
    assert selects(flights)[-1][1] == [[336_776, int(source.flights.arr_delay.notna().sum())]]


@pytest.mark.interop
def test_pyiceberg_reads_the_same(flights: Run):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("local", uri=f"sqlite:///{flights.warehouse}/catalog.db", warehouse=str(flights.warehouse))
    theirs = catalog.load_table("nyc.flights").scan().to_arrow()
    ours = flights.session.table("local.nyc.flights").scan().to_arrow()
    order = [(name, "ascending") for name in ("flight_date", "carrier", "flight", "origin", "dest", "distance", "dep_delay")]
    assert theirs.num_rows == ours.num_rows == 336_776
    assert theirs.select(ours.column_names).sort_by(order).to_pylist() == ours.sort_by(order).to_pylist()
