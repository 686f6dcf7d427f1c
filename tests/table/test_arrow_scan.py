"""Reading tables without Spark: deletes, evolution, constants, metadata columns. PyIceberg reads the same where it can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from icesql.expr.tree import TRUE, Expression, Not, Op, Or, Predicate, Reference
from icesql.io.data.files import write_data_file
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import write_equality_deletes, write_position_deletes
from icesql.spec.files import ManifestEntry
from icesql.spec.partitioning import UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY
from icesql.spec.types import DoubleType, IntegerType, LongType, NestedField, StringType, StructType
from icesql.table.scan.aggregates import Aggregate, AggregateFunction, aggregate_from_metadata
from icesql.table.scan.table_scan import TableScan
from tests.table.forge import Forge

SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "p", StringType()), NestedField(3, "x", DoubleType())))
BY_P = PartitionSpec(spec_id=0, fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="p"),))


class RealForge(Forge):
    """A forge whose files are real."""

    def file(
        self, name: str, rows: list[dict[str, Any]], partition: tuple[object, ...] = (), spec_id: int = 0, drop: tuple[str, ...] = ()
    ) -> ManifestEntry:
        from icesql.io.arrow.types import to_arrow_schema

        schema = Schema(tuple(field for field in self.metadata.schema.fields if field.name not in drop))
        data = pa.Table.from_pylist([{k: v for k, v in row.items() if k not in drop} for row in rows], to_arrow_schema(schema))
        written = write_data_file(
            self.io, str(self.folder / f"{name}.parquet"), "parquet", data, schema, properties={}, spec_id=spec_id, partition=partition,
        )  # fmt: skip
        return self.added(written)

    def position_file(self, name: str, positions: dict[str, list[int]], partition: tuple[object, ...] = ()) -> ManifestEntry:
        by_path = {str(self.folder / f"{data}.parquet"): found for data, found in positions.items()}
        return self.added(write_position_deletes(self.io, str(self.folder / f"{name}.parquet"), by_path, partition=partition))

    def equality_file(
        self, name: str, ids: tuple[int, ...], rows: list[dict[str, Any]], partition: tuple[object, ...] = (), spec_id: int = 0
    ) -> ManifestEntry:
        from icesql.io.arrow.types import to_arrow_schema

        columns = Schema(tuple(self.metadata.schema.field(i) for i in ids))
        data = pa.Table.from_pylist(rows, to_arrow_schema(columns))
        (file,) = write_equality_deletes(
            self.io, lambda: str(self.folder / f"{name}.parquet"), data, self.metadata.schema, ids, partition=partition, spec_id=spec_id
        )
        return self.added(file)

    def vector_file(self, name: str, data: str, positions: list[int], partition: tuple[object, ...] = ()) -> ManifestEntry:
        (file,) = write_dvs(
            self.io, str(self.folder / f"{name}.puffin"), {str(self.folder / f"{data}.parquet"): positions}, partition=partition
        )
        return self.added(file)


def rows(low: int, high: int, p: str | None = "a", x: float | None = 1.0) -> list[dict[str, Any]]:
    return [{"id": n, "p": p, "x": x} for n in range(low, high)]


def read(forge: Forge, where: Expression = TRUE, **more: Any) -> pa.Table:
    return TableScan(forge.io, forge.metadata, where, name="t", **more).to_arrow()


def ids(forge: Forge, where: Expression = TRUE, **more: Any) -> list[int | None]:
    return sorted(read(forge, where, **more).column("id").to_pylist(), key=lambda v: (v is None, v))


def test_deletes_of_every_kind(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, BY_P)
    forge.commit([forge.file("a1", rows(0, 10), ("a",)), forge.file("b1", rows(10, 20, "b"), ("b",))])
    forge.commit([forge.position_file("pd", {"a1": [0, 9]}, ("a",))], [forge.equality_file("eq", (1,), [{"id": 5}, {"id": 15}], ("a",))])
    assert ids(forge) == [1, 2, 3, 4, 6, 7, 8, *range(10, 20)]
    assert ids(forge, Predicate(Op.LT, Reference("id"), (5,))) == [1, 2, 3, 4]
    assert ids(forge, snapshot_id=100) == list(range(20))
    assert ids(forge, limit=3) and len(ids(forge, limit=3)) == 3
    with_deleted = read(forge, Predicate(Op.LT, Reference("id"), (10,)), select=("id", "_deleted", "_pos"))
    assert [row["id"] for row in with_deleted.to_pylist() if row["_deleted"]] == [0, 5, 9]
    assert with_deleted.column("_pos").to_pylist() == list(range(10))
    assert TableScan(forge.io, forge.metadata).count() == 17


def test_equality_deletes_over_nulls_nans_and_several_columns(tmp_path: Path) -> None:
    nan = float("nan")
    forge = RealForge(tmp_path, SCHEMA, UNPARTITIONED)
    data: list[dict[str, Any]] = [
        {"id": 1, "p": None, "x": 1.0}, {"id": 2, "p": "b", "x": None}, {"id": None, "p": "c", "x": nan}, {"id": 4, "p": "d", "x": nan},
        {"id": 5, "p": "e", "x": -0.0},
    ]  # fmt: skip
    forge.commit([forge.file("f", data)])
    forge.commit(
        [forge.equality_file("one", (1,), [{"id": None}])],
        [forge.equality_file("two", (2, 3), [{"p": "b", "x": None}, {"p": "d", "x": nan}])],
    )
    assert ids(forge) == [1, 5]
    forge.commit([forge.equality_file("three", (2,), [{"p": None}])])
    forge.commit([forge.file("again", [{"id": 9, "p": None, "x": 2.0}])])
    assert ids(forge) == [5, 9]
    assert read(forge, select=("id",)).column_names == ["id"], "columns read for deletes alone are not returned"


def test_equality_deletes_compare_columns_that_are_gone(tmp_path: Path) -> None:
    from dataclasses import replace

    forge = RealForge(tmp_path, SCHEMA, UNPARTITIONED)
    forge.commit([forge.file("f", rows(0, 3, "gone") + rows(3, 5, "kept"))])
    forge.commit([forge.equality_file("eq", (2,), [{"p": "gone"}])])
    newer = Schema((SCHEMA.fields[0], NestedField(9, "added", IntegerType(), initial_default=7)), 1)
    forge.metadata = replace(forge.metadata, schemas=(SCHEMA, newer), current_schema_id=1)
    assert read(forge).to_pylist() == [{"id": 3, "added": 7}, {"id": 4, "added": 7}]


def test_deletion_vectors_and_row_lineage(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, BY_P, format_version=3)
    forge.commit([forge.file("a1", rows(0, 5), ("a",)), forge.file("b1", rows(5, 8, "b"), ("b",))])
    forge.commit([forge.vector_file("dv", "a1", [1, 3], ("a",))])
    found = read(forge, select=("id", "_row_id", "_last_updated_sequence_number", "_file", "_spec_id", "_partition"))
    assert [(row["id"], row["_row_id"], row["_last_updated_sequence_number"]) for row in found.to_pylist()] == [
        (0, 0, 1), (2, 2, 1), (4, 4, 1), (5, 5, 1), (6, 6, 1), (7, 7, 1)
    ]  # fmt: skip
    assert {Path(row["_file"]).stem: row["_partition"] for row in found.to_pylist()} == {"a1": {"p": "a"}, "b1": {"p": "b"}}
    assert set(found.column("_spec_id").to_pylist()) == {0}


def test_identity_partitions_stand_for_columns_a_file_lacks(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, BY_P)
    forge.commit([forge.file("a1", rows(0, 2), ("a",), drop=("p",)), forge.file("n1", rows(2, 3, None), (None,), drop=("p",))])
    assert read(forge).column("p").to_pylist() == ["a", "a", None]
    assert ids(forge, Predicate(Op.EQ, Reference("p"), ("a",))) == [0, 1]
    assert ids(forge, Not(Predicate(Op.EQ, Reference("p"), ("a",)))) == [], "not (null = 'a') is null"


def test_three_valued_logic_over_partitions_with_nulls(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, BY_P)
    forge.commit(
        [
            forge.file("a", rows(0, 2, "a", 2.0), ("a",)),
            forge.file("n", [{"id": 5, "p": None, "x": 2.0}, {"id": 6, "p": None, "x": 0.0}], (None,)),
        ]
    )
    where = Or(Not(Predicate(Op.EQ, Reference("p"), ("a",))), Predicate(Op.GT, Reference("x"), (1.0,)))
    assert ids(forge, where) == [0, 1, 5]


def test_nan_is_the_largest_and_both_zeros_are_one(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, UNPARTITIONED)
    forge.commit(
        [forge.file("nan", rows(0, 1, x=float("nan")))], [forge.file("zero", rows(1, 2, x=-0.0))], [forge.file("two", rows(2, 3, x=2.0))]
    )
    assert ids(forge, Predicate(Op.GT, Reference("x"), (1.5,))) == [0, 2]
    assert ids(forge, Predicate(Op.EQ, Reference("x"), (0.0,))) == [1]
    assert ids(forge, Predicate(Op.LT, Reference("x"), (1.5,))) == [1]
    assert ids(forge, Predicate(Op.EQ, Reference("x"), (float("nan"),))) == [0]


def test_renamed_promoted_and_nested_columns(tmp_path: Path) -> None:
    from dataclasses import replace

    old = Schema(
        (
            NestedField(1, "i", IntegerType()),
            NestedField(2, "s", StructType((NestedField(3, "a", LongType()), NestedField(4, "b", StringType())))),
        )
    )
    forge = RealForge(tmp_path, old, UNPARTITIONED)
    forge.commit([forge.file("f", [{"i": 1, "s": {"a": 10, "b": "x"}}, {"i": 2, "s": None}])])
    renamed = StructType((NestedField(4, "text", StringType()), NestedField(3, "a", LongType()), NestedField(5, "new", LongType())))
    forge.metadata = replace(
        forge.metadata, schemas=(old, Schema((NestedField(2, "t", renamed), NestedField(1, "id", LongType())), 1)), current_schema_id=1
    )
    assert read(forge).to_pylist() == [{"t": {"text": "x", "a": 10, "new": None}, "id": 1}, {"t": None, "id": 2}]
    assert read(forge, Predicate(Op.EQ, Reference("t.a"), (10,)), select=("t.text",)).to_pylist() == [{"t": {"text": "x"}}]
    assert read(forge, Predicate(Op.IS_NULL, Reference("t.a")), select=("id",)).to_pylist() == [{"id": 2}]


def test_aggregates_come_from_metadata_only_where_exact(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, BY_P)
    data: list[dict[str, Any]] = [{"id": 3, "p": "a", "x": float("nan")}, {"id": None, "p": "a", "x": -1.5}]
    forge.commit([forge.file("a", data, ("a",)), forge.file("b", rows(5, 9, "b", None), ("b",))])

    def ask(where: Expression = TRUE, **more: Any) -> Any:
        count = Aggregate(AggregateFunction.COUNT_STAR)
        columns = (("count", "id"), ("min", "id"), ("max", "id"), ("min", "x"), ("max", "x"))
        return aggregate_from_metadata(
            TableScan(forge.io, forge.metadata, where, **more), (count, *(Aggregate(AggregateFunction(f), c) for f, c in columns))
        )

    found = ask()
    assert found[:5] == (6, 5, 3, 8, -1.5) and found[5] != found[5]
    assert ask(Predicate(Op.EQ, Reference("p"), ("b",))) == (4, 4, 5, 8, None, None)
    assert ask(Predicate(Op.GT, Reference("id"), (5,))) is None, "a residual is left"
    assert aggregate_from_metadata(TableScan(forge.io, forge.metadata), (Aggregate(AggregateFunction.MAX, "p"),)) is None, (
        "text bounds may be cut"
    )
    forge.commit([forge.position_file("pd", {"a": [0]}, ("a",))])
    assert ask() is None
    assert ask(Predicate(Op.EQ, Reference("p"), ("b",))) == (4, 4, 5, 8, None, None), "deletes elsewhere do not matter"


@pytest.mark.interop
def test_pyiceberg_reads_the_same_rows(tmp_path: Path) -> None:
    from pyiceberg.table import StaticTable

    from icesql.spec.json.metadata import metadata_to_json

    forge = RealForge(tmp_path, SCHEMA, BY_P)
    forge.commit(
        [forge.file("a1", rows(0, 10), ("a",)), forge.file("b1", rows(10, 20, "b"), ("b",)), forge.file("n1", rows(20, 22, None), (None,))]
    )
    forge.commit([forge.position_file("pd", {"a1": [0, 9]}, ("a",))])
    location = tmp_path / "v1.metadata.json"
    location.write_bytes(metadata_to_json(forge.metadata))
    theirs = StaticTable.from_metadata(str(location))
    for where, text in (
        (TRUE, "id is null or id is not null"),
        (Predicate(Op.GT, Reference("id"), (5,)), "id > 5"),
        (Predicate(Op.IN, Reference("p"), ("a", "b")), "p in ('a', 'b')"),
        (Or(Predicate(Op.EQ, Reference("p"), ("b",)), Predicate(Op.EQ, Reference("id"), (1,))), "p = 'b' or id = 1"),
        (Predicate(Op.IS_NULL, Reference("p")), "p is null"),
        (Predicate(Op.STARTS_WITH, Reference("p"), ("a",)), "p like 'a%'"),
    ):
        scan = theirs.scan(row_filter=text)
        assert sorted(read(forge, where).column("id").to_pylist()) == sorted(scan.to_arrow().column("id").to_pylist()), text
        planned = {task.file.file_path for task in scan.plan_files()}
        assert set(TableScan(forge.io, forge.metadata, where).plan_files().paths) == planned, text
