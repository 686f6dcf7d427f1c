"""What other libraries hand to a table and take from it by Arrow's stream protocol; upsert; the types that an editor sees."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icesql
from icesql.catalog.base import Catalog
from icesql.errors import InvalidArgumentError, NotFoundError, UnsupportedError, ValidationError
from icesql.spec.partitioning import UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.transforms import parse_transform
from icesql.table.metadata_tables.registry import METADATA_TABLES
from icesql.table.table import Table
from tests.effort import examples

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", None, "c"]})
SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda rows: rows,
    "batch": lambda rows: rows.combine_chunks().to_batches()[0],
    "reader": lambda rows: rows.to_reader(max_chunksize=2),
    "polars": pl.from_arrow,
    "pandas": lambda rows: rows.to_pandas(),
    "duckdb": lambda rows: duckdb.connect().from_arrow(rows),
}
BY_BUCKET = PartitionSpec(fields=(PartitionField(source_ids=(1,), field_id=1000, transform=parse_transform("bucket[3]"), name="b"),))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    made = icesql.connect_catalog("c", type="memory", warehouse=tmp_path / "warehouse")
    made.create_namespace("db")
    return made


def held(table: Table) -> list[dict[str, Any]]:
    return table.to_arrow().sort_by("id").to_pylist()


@pytest.mark.parametrize("source", SOURCES)
def test_every_library_writes(catalog: Catalog, source: str) -> None:
    make = SOURCES[source]
    table = catalog.create_table("db.t", make(ROWS))
    assert held(table) == ROWS.to_pylist()
    assert len(table.snapshots) == 1
    table.append(make(ROWS.slice(0, 1)))
    assert table.scan().count() == 4
    table.overwrite(make(ROWS))
    assert held(table) == ROWS.to_pylist()


def test_every_library_reads(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    scan = table.scan("id > 1")
    expected = ROWS.slice(1).to_pylist()
    assert pa.table(scan).to_pylist() == expected
    assert pl.DataFrame(scan).to_dicts() == scan.to_polars().to_dicts() == expected
    assert scan.to_pandas()["id"].tolist() == pd.DataFrame({"id": [2, 3]})["id"].tolist()
    assert scan.to_duckdb("t").sql("SELECT id FROM t ORDER BY id").fetchall() == [(2,), (3,)]
    mine = duckdb.connect()
    assert scan.to_duckdb("t", mine) is mine
    assert pa.table(table).num_rows == 3


def test_rows_that_do_not_fit_make_no_table(catalog: Catalog) -> None:
    with pytest.raises(UnsupportedError, match="duration"):
        catalog.create_table("db.t", pa.table({"d": pa.array([1], pa.duration("s"))}))
    nanos = pa.table({"at": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(ValidationError, match="at: a value does not fit"):
        catalog.create_table("db.t", nanos)
    assert not catalog.table_exists("db.t")
    assert catalog.create_table("db.t", nanos, properties={"format-version": "3"}).to_arrow()["at"].cast(pa.int64()).to_pylist() == [1]


def test_an_arrow_schema_makes_an_empty_table(catalog: Catalog) -> None:
    nested = pa.schema(
        [
            pa.field("id", pa.int64(), False),
            ("at", pa.timestamp("ns", "UTC")),
            ("s", pa.struct([("x", pa.large_string())])),
            ("m", pa.map_(pa.string(), pa.list_(pa.int32()))),
            ("c", pa.dictionary(pa.int8(), pa.string())),
        ]
    )
    table = catalog.create_table("db.t", nested)
    assert table.current_snapshot is None
    shown = [(field.name, str(field.type), field.required) for field in table.schema.fields]
    assert [entry[0] for entry in shown] == nested.names
    assert [shown[0], shown[1], shown[4]] == [("id", "long", True), ("at", "timestamptz", False), ("c", "string", False)]
    assert sorted(table.schema.names_by_id) == list(range(1, 10))
    assert catalog.create_table_if_not_exists("db.t", nested).metadata == table.metadata
    catalog.create_namespace_if_not_exists("db")


def test_what_is_no_stream_is_refused(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    for rows in ([1], {"id": [1]}, None):
        with pytest.raises(InvalidArgumentError, match="__arrow_c_stream__"):
            table.append(rows)  # type: ignore[arg-type]
    assert len(table.snapshots) == 1


@examples(30)
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=4),
    st.integers(0, 12),
    st.integers(0, 9),
)
def test_batches_are_the_whole_and_limit_takes_no_more(appends: list[list[int]], limit: int, least: int) -> None:
    table = _memory_table(UNPARTITIONED)
    for ids in appends:
        table.append(pa.table({"id": pa.array(ids, pa.int64()), "s": ["x"] * len(ids)}))
    scan = table.scan(f"id >= {least}")
    whole = scan.to_arrow()
    assert pa.Table.from_batches(scan.to_arrow_batches(), whole.schema).equals(whole)
    assert scan.to_arrow_batch_reader().read_all().equals(whole)
    limited = table.scan(f"id >= {least}", limit=limit)
    assert limited.to_arrow().num_rows == min(limit, whole.num_rows)
    assert sum(batch.num_rows for batch in limited.to_arrow_batches()) == min(limit, whole.num_rows)


_ROWS = st.dictionaries(st.integers(0, 12), st.sampled_from([None, "a", "b"]), max_size=8)


@examples(40)
@given(st.lists(_ROWS, min_size=1, max_size=4), st.sampled_from([UNPARTITIONED, BY_BUCKET]), st.sampled_from(["2", "3"]))
def test_upsert_is_a_dictionary_update(batches: list[dict[int, str | None]], spec: PartitionSpec, version: str) -> None:
    table = _memory_table(spec, version)
    model: dict[int, str | None] = {}
    row_ids: dict[int, int] = {}
    for batch in batches:
        snapshots = len(table.snapshots)
        changed = sum(key in model and model[key] != value for key, value in batch.items())
        added = len(batch.keys() - model.keys())
        result = table.upsert(pa.table({"id": pa.array(list(batch), pa.int64()), "s": pa.array(list(batch.values()), pa.string())}), ["id"])
        model |= batch
        assert (result.rows_updated, result.rows_inserted) == (changed, added)
        assert len(table.snapshots) == snapshots + bool(changed or added)
        assert {row["id"]: row["s"] for row in held(table)} == model
        assert table.scan().count() == len(model)
        if version == "3":  # a row keeps its identity
            now = {row["id"]: row["_row_id"] for row in table.scan(select=["id", "_row_id"]).to_arrow().to_pylist()}
            assert {key: now[key] for key in row_ids} == row_ids
            row_ids = now


def _memory_table(spec: PartitionSpec, version: str = "2") -> Table:
    import tempfile

    catalog = icesql.connect_catalog("c", type="memory", warehouse=tempfile.mkdtemp())
    catalog.create_namespace("db")
    return catalog.create_table("db.t", ROWS.schema, spec=spec, properties={"format-version": version})


def test_upsert_by_dates_and_texts_beyond_one_filter(catalog: Catalog) -> None:
    from datetime import date, timedelta

    days = [date(2000, 1, 1) + timedelta(days=i) for i in range(500)]
    rows = pa.table({"id": days, "k": [f"k{i:03}" for i in range(500)], "v": [0] * 500})
    table = catalog.create_table("db.t", rows)
    changed = rows.set_column(2, "v", pa.array([i % 2 for i in range(500)]))
    result = table.upsert(changed, ["id", "k"])
    assert (result.rows_updated, result.rows_inserted) == (250, 0)
    assert held(table) == changed.to_pylist()


def test_keys_that_are_not_keys_are_refused(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    with pytest.raises(InvalidArgumentError, match="no key columns"):
        table.upsert(ROWS)
    with pytest.raises(InvalidArgumentError, match="can be a key: x"):
        table.upsert(ROWS, ["x"])
    with pytest.raises(ValidationError, match="key is null: s"):
        table.upsert(ROWS, ["s"])
    with pytest.raises(ValidationError, match="two rows have the same key"):
        table.upsert(pa.concat_tables([ROWS, ROWS]), ["id"])
    table.append(ROWS)
    with pytest.raises(ValidationError, match="the table holds rows with the same key"):
        table.upsert(ROWS, ["id"])
    assert len(table.snapshots) == 2


def test_inspect_has_every_metadata_table(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    for name in METADATA_TABLES:
        assert getattr(table.inspect, name)().equals(table.inspect.read(name)), name
    assert table.inspect.snapshots()["operation"].to_pylist() == ["append"]
    assert table.inspect.read("files", "record_count = 3", select=["record_count"]).to_pylist() == [{"record_count": 3}]
    with pytest.raises(NotFoundError, match="snapshots"):
        table.inspect.read("snapshot")


def test_what_the_prompt_shows_is_short(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    assert repr(table) == "Table c.db.t (format version 2, 3 rows, 1 snapshot)\n  id long\n  s string"
    assert "<td" in table._repr_html_()
    assert repr(table.scan("id > 1", limit=2)) == "TableScan(c.db.t, where='id > 1', limit=2)"


def test_a_day_is_its_midnight_in_a_filter(catalog: Catalog) -> None:
    from datetime import datetime

    table = catalog.create_table("db.t", pa.table({"id": [1, 2], "at": [datetime(2024, 1, 1), datetime(2024, 1, 2)]}))
    for where in ("at >= timestamp'2024-01-02'", "at >= '2024-01-02'", "at > timestamp_ntz '2024-01-01 12:00:00'"):
        assert table.scan(where).to_arrow()["id"].to_pylist() == [2]


@pytest.mark.slow
def test_an_editor_sees_the_types(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        'import icesql\ncatalog = icesql.connect_catalog("local")\nreveal_type(catalog)\ntable = catalog.load_table("db.t")\n'
        "reveal_type(table)\nreveal_type(table.scan())\nreveal_type(table.inspect)\n"
    )
    environment = {**os.environ, "MYPYPATH": str(Path(icesql.__file__).parents[1])}
    options = ["--no-incremental", "--ignore-missing-imports", "--follow-imports=silent", "--python-version=3.11"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(script)], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert [line.split('"')[1].rpartition(".")[2] for line in done.stdout.splitlines() if "Revealed" in line] == [
        "Catalog", "Table", "TableScan", "Inspect",
    ], done.stdout + done.stderr  # fmt: skip
