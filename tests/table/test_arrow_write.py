"""Append, overwrite, delete and add_files from Arrow, read back by us and by PyIceberg."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icesql
from icesql.catalog.base import Catalog
from icesql.errors import CommitFailedError, CommitStateUnknownError, InvalidArgumentError, ValidationError
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import parse_transform
from icesql.spec.types import LongType, NestedField, StringType, TimestampType
from icesql.table.table import Table
from tests.effort import examples

SCHEMA = Schema(
    (NestedField(1, "id", LongType(), required=True), NestedField(2, "kind", StringType()), NestedField(3, "at", TimestampType()))
)
START = datetime(2021, 10, 1)


def spec_of(*fields: tuple[int, str]) -> PartitionSpec:
    return PartitionSpec(
        fields=tuple(
            PartitionField(source_ids=(source,), field_id=1000 + i, transform=parse_transform(transform), name=f"p{i}")
            for i, (source, transform) in enumerate(fields)
        )
    )


BY_DAY = spec_of((3, "day"))
SPECS = [PartitionSpec(), BY_DAY, spec_of((2, "identity"), (1, "bucket[3]")), spec_of((1, "truncate[4]"))]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    made: Catalog = icesql.connect_catalog("c", type="memory", warehouse=tmp_path / "warehouse")
    return made


def rows(*ids: int, kind: str | None = "a") -> pa.Table:
    made = {"id": list(ids), "kind": [kind] * len(ids), "at": [START + timedelta(hours=6 * i) for i in ids]}
    fields = [pa.field("id", pa.int64(), nullable=False), pa.field("kind", pa.string()), pa.field("at", pa.timestamp("us"))]
    return pa.table(made, schema=pa.schema(fields))


def ids(table: Table, where: str | None = None) -> list[int]:
    return sorted(table.scan(where, select=["id"]).to_arrow()["id"].to_pylist())


def files_of(catalog: Catalog) -> set[Path]:
    return {path for path in Path(catalog.warehouse).rglob("*") if path.is_file()}


def test_appended_rows_are_read_back(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, spec=BY_DAY)
    table.append(rows(0, 1, 2, 3, 4))
    assert table.current_snapshot is not None
    assert table.current_snapshot.summary["added-data-files"] == "2"
    table.append(rows(5), summary={"note": "x"})
    assert table.current_snapshot.summary["note"] == "x"
    assert table.to_arrow().sort_by("id").to_pylist() == rows(0, 1, 2, 3, 4, 5).to_pylist()
    assert ids(table, "at >= '2021-10-02T00:00:00'") == [4, 5]
    plan = table.scan("at >= '2021-10-02T00:00:00'").plan_files()
    assert all("/p0=2021-10-02/" in path for path in plan.paths)


def test_delete_drops_whole_files_without_reading_them(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, spec=BY_DAY)
    table.append(rows(*range(12)))
    data = {path: path.read_bytes() for path in files_of(catalog) if path.suffix == ".parquet"}
    for path in data:
        path.write_bytes(b"unreadable")
    table.delete("at < '2021-10-02T00:00:00'")
    for path, content in data.items():
        path.write_bytes(content)
    assert ids(table) == list(range(4, 12))
    assert table.current_snapshot is not None
    assert table.current_snapshot.operation == "delete"


def test_delete_rewrites_only_touched_files(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, spec=BY_DAY)
    table.append(rows(*range(12)))
    before = set(table.scan().plan_files().paths)
    table.delete("id = 5 OR id = 6")
    after = set(table.scan().plan_files().paths)
    assert len(before - after) == len(after - before) == 1
    assert ids(table) == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]
    assert table.current_snapshot is not None
    assert table.current_snapshot.operation == "overwrite"


def test_rows_whose_condition_is_null_stay(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, kind="a"))
    table.append(pa.concat_tables([rows(2, kind=None), rows(3, kind="b"), rows(4, kind="a")]))
    table.delete("kind <> 'a'")
    assert ids(table) == [1, 2, 4]
    table.delete("kind IS NULL")
    assert ids(table) == [1, 4]


def test_a_delete_that_matches_nothing_commits_nothing(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, 2))
    before = table.metadata_location
    table.delete("id = 77")
    table.delete("kind = 'zzz' AND id = 1")
    assert catalog.load_table("db.t").metadata_location == before
    table.delete()
    assert ids(table) == []


def test_overwrite_replaces_what_matches(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, spec=BY_DAY)
    table.append(rows(*range(8)))
    table.overwrite(rows(20, 21), "id >= 2 AND id < 5")
    assert ids(table) == [0, 1, 5, 6, 7, 20, 21]
    table.overwrite(rows(30))
    assert ids(table) == [30]
    assert table.current_snapshot is not None
    assert table.current_snapshot.operation == "overwrite"


def test_writes_to_a_branch_leave_main(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, 2))
    table.append(rows(3), branch="audit")
    table.delete("id = 1", branch="audit")
    assert ids(table) == [1, 2]
    assert sorted(table.scan(ref="audit").to_arrow()["id"].to_pylist()) == [2, 3]


def test_rewritten_rows_keep_their_identity_in_version_3(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, properties={"format-version": "3"})
    table.append(rows(1, 2, 3))
    table.append(rows(4))
    columns = ["id", "_row_id", "_last_updated_sequence_number"]
    before = {row["id"]: row for row in table.scan(select=columns).to_arrow().to_pylist()}
    table.delete("id = 2")
    after = {row["id"]: row for row in table.scan(select=columns).to_arrow().to_pylist()}
    assert after == {key: row for key, row in before.items() if key != 2}
    assert all(row["_row_id"] is not None for row in after.values())


def test_conflicting_writers_are_told_and_leave_no_file(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, 2, 3))
    stale = catalog.load_table("db.t")
    table.delete("id = 1")
    before = files_of(catalog)
    with pytest.raises(ValidationError):
        stale.delete("id = 2")
    assert files_of(catalog) == before
    assert ids(catalog.load_table("db.t")) == [2, 3]


class FullDisk:
    """Wraps a FileIO: writes of some files fail as on a full disk."""

    def __init__(self, io: Any, part: str) -> None:
        self._io, self._part = io, part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._io, name)

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        self._fail(location)
        self._io.write(location, data, overwrite=overwrite)

    def open_output(self, location: str) -> Any:
        self._fail(location)
        return self._io.open_output(location)

    def _fail(self, location: str) -> None:
        if self._part in location:
            raise OSError(28, "No space left on device", location)


@pytest.mark.parametrize("part", [".parquet", "-m0.avro", "snap-", ".metadata.json"])
@pytest.mark.parametrize("kind", ["memory", "sql", "hadoop"])
def test_a_full_disk_fails_the_write_and_leaves_no_file(tmp_path: Path, kind: str, part: str) -> None:
    catalog = icesql.connect_catalog("c", type=kind, warehouse=tmp_path / "warehouse")
    table = catalog.create_table("db.t", SCHEMA, properties={"commit.retry.num-retries": "1"})
    table.append(rows(1))
    before = files_of(catalog)
    catalog.io = FullDisk(catalog.io, part)
    full = catalog.load_table("db.t")
    with pytest.raises((OSError, CommitFailedError), match="No space left on device"):
        full.append(rows(2))
    assert files_of(catalog) == before
    assert ids(catalog.load_table("db.t")) == [1]


def test_nothing_is_removed_when_the_outcome_is_unknown(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    from icesql.catalog.memory import MemoryStore

    table = catalog.create_table("db.t", SCHEMA)
    swap = MemoryStore.swap

    def lost(self: MemoryStore, *arguments: Any) -> None:
        swap(self, *arguments)
        raise CommitStateUnknownError("the answer was lost")

    monkeypatch.setattr(MemoryStore, "swap", lost)
    with pytest.raises(CommitStateUnknownError):
        table.append(rows(1))
    monkeypatch.undo()
    assert ids(catalog.load_table("db.t")) == [1]


# -- add_files ---------------------------------------------------------------------------------------------------------
def test_files_are_added_where_they_are(catalog: Catalog, tmp_path: Path) -> None:
    location = tmp_path / "one.parquet"
    pq.write_table(rows(1, 2, 3), location)
    table = catalog.create_table("db.t", SCHEMA)
    table.add_files([str(location)])
    assert ids(table, "id > 1") == [2, 3]
    assert "schema.name-mapping.default" in table.properties
    table.update_schema().rename_column("kind", "sort").commit()
    assert table.refresh().to_arrow()["sort"].to_pylist() == ["a"] * 3
    with pytest.raises(ValidationError, match="already exist within the target table"):
        table.add_files([str(location)])
    with pytest.raises(ValidationError, match="listed twice"):
        table.add_files([f"{tmp_path}/x", f"{tmp_path}/x"])


def test_partitions_come_from_folders_or_bounds(catalog: Catalog, tmp_path: Path) -> None:
    table = catalog.create_table("db.t", SCHEMA, spec=spec_of((2, "identity")))
    folder = tmp_path / "p0=x%2Fy"
    folder.mkdir()
    pq.write_table(rows(1, 2).drop_columns(["kind"]), folder / "f.parquet")
    pq.write_table(rows(3, kind="b"), tmp_path / "b.parquet")
    table.add_files([str(folder / "f.parquet"), str(tmp_path / "b.parquet")])
    assert sorted(map(tuple, (row.values() for row in table.scan(select=["id", "kind"]).to_arrow().to_pylist()))) == [
        (1, "x/y"),
        (2, "x/y"),
        (3, "b"),
    ]
    assert len(table.scan("kind = 'b'").plan_files().paths) == 1
    pq.write_table(pa.concat_tables([rows(3, kind="b"), rows(4, kind="c")]), tmp_path / "both.parquet")
    with pytest.raises(ValidationError, match="more than one string value of partition field p0"):
        table.add_files([str(tmp_path / "both.parquet")])


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"kind": ["a"]}, "lacks the required column id"),
        ({"id": ["a"]}, "column id is string, not long"),
        ({"id": [1], "at": [1.5]}, "column at is double, not timestamp"),
    ],
)
def test_files_that_do_not_fit_are_refused(catalog: Catalog, tmp_path: Path, made: dict[str, list[Any]], problem: str) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    pq.write_table(pa.table(made), tmp_path / "f.parquet")
    with pytest.raises(ValidationError, match=problem):
        table.add_files([str(tmp_path / "f.parquet")])
    assert table.refresh().current_snapshot is None


def test_a_filter_in_text_needs_a_parser(tmp_path: Path) -> None:
    from icesql.catalog.loading import load_catalog

    table = load_catalog("c", {"type": "memory", "warehouse": str(tmp_path)}).create_table("db.t", SCHEMA)
    with pytest.raises(InvalidArgumentError, match="without a parser"):
        table.scan("id = 1")


# -- any sequence of writes equals the same on a list -------------------------------------------------------------------
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.integers(0, 30), min_size=1, max_size=6), st.sampled_from(["a", "b", None])),
        st.tuples(st.just("delete"), st.integers(0, 30), st.sampled_from(["a", "b", None])),
        st.tuples(st.just("overwrite"), st.integers(0, 30), st.sampled_from(["a", "b", None])),
    ),
    min_size=1,
    max_size=6,
)


@examples(40)
@given(STEPS, st.sampled_from(SPECS), st.sampled_from(["1", "2", "3"]))
def test_writes_do_what_they_say(tmp_path_factory: pytest.TempPathFactory, steps: list[Any], spec: PartitionSpec, version: str) -> None:
    catalog = icesql.connect_catalog("c", type="memory", warehouse=tmp_path_factory.mktemp("w"))
    table = catalog.create_table("db.t", SCHEMA, spec=spec, properties={"format-version": version})
    held: list[tuple[int, str | None]] = []
    for step, value, kind in steps:
        if step == "append":
            table.append(rows(*value, kind=kind))
            held += [(number, kind) for number in value]
            continue
        where = f"id < {value}" + ("" if kind is None else f" AND kind = '{kind}'")
        held = [row for row in held if not (row[0] < value and (kind is None or row[1] == kind))]
        if step == "delete":
            table.delete(where)
        else:
            table.overwrite(rows(value, kind=kind), where)
            held.append((value, kind))
    read = table.scan(select=["id", "kind"]).to_arrow().to_pylist()
    assert sorted(map(str, ((row["id"], row["kind"]) for row in read))) == sorted(map(str, held))


@pytest.mark.interop
def test_pyiceberg_reads_what_is_written(catalog: Catalog) -> None:
    from pyiceberg.table import StaticTable

    table = catalog.create_table("db.t", SCHEMA, spec=spec_of((2, "identity"), (3, "day")))
    table.append(pa.concat_tables([rows(*range(10)), rows(10, 11, kind=None), rows(12, kind="x y/z%")]))
    table.delete("id = 3")
    table.overwrite(rows(40), "kind = 'x y/z%'")
    theirs = StaticTable.from_metadata(str(table.metadata_location))
    assert theirs.scan().to_arrow().sort_by("id").to_pylist() == table.to_arrow().sort_by("id").to_pylist()
    assert sorted(theirs.scan(row_filter="kind is null").to_arrow()["id"].to_pylist()) == [10, 11]
