"""Planning: what is pruned and why, which snapshot is read, which deletes apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError, NotFoundError, ValidationError
from icesql.expr.evaluate import row_evaluator
from icesql.expr.metrics import inclusive_metrics
from icesql.expr.projection import inclusive_projection
from icesql.expr.tree import TRUE, And, Expression, Op, Or, Predicate, Reference
from icesql.spec.files import DataFile
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY, Transform, bucket, can_transform, transform_function, truncate
from icesql.spec.types import IntegerType, LongType, NestedField, StringType, Type
from icesql.spec.values.binary import to_bytes
from icesql.table.scan.table_scan import ScanPlan, TableScan
from tests.effort import examples
from tests.expr.strategies import VALUES, leaves_over, trees
from tests.expr.test_properties import metrics_file, rows_of
from tests.table.forge import Forge

SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "p", StringType()), NestedField(3, "n", IntegerType())))
BY_P = PartitionSpec(spec_id=0, fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="p"),))


def spec_of(transform: Transform, spec_id: int = 0, source: int = 1) -> PartitionSpec:
    field = PartitionField(source_ids=(source,), field_id=1000 + spec_id, transform=transform, name=f"f{spec_id}")
    return PartitionSpec(spec_id=spec_id, fields=(field,))


def ids(low: int, high: int, rows: int = 10) -> dict[str, Any]:
    return {
        "value_counts": {1: rows}, "null_value_counts": {1: 0}, "lower_bounds": {1: to_bytes(LongType(), low)},
        "upper_bounds": {1: to_bytes(LongType(), high)},
    }  # fmt: skip


def eq(name: str, value: object) -> Expression:
    return Predicate(Op.EQ, Reference(name), (value,))


def scan(forge: Forge, where: Expression = TRUE, **more: Any) -> TableScan:
    return TableScan(forge.io, forge.metadata, where, name="t", **more)


def names(plan: ScanPlan) -> set[str]:
    return {Path(path).stem for path in plan.paths}


@pytest.fixture
def three_manifests(tmp_path: Path) -> Forge:
    forge = Forge(tmp_path, SCHEMA, BY_P)
    forge.commit(
        [forge.data("a1", ("a",), **ids(0, 9)), forge.data("a2", ("a",), **ids(10, 19))],
        [forge.data("b1", ("b",), **ids(0, 9)), forge.data("c1", ("c",), **ids(5, 7))],
        [forge.data("n1", (None,), **ids(0, 99))],
    )
    return forge


def test_the_report_says_which_predicate_left_out_what(three_manifests: Forge) -> None:
    plan = scan(three_manifests, And(eq("p", "b"), eq("id", 6))).plan_files()
    assert names(plan) == {"b1"}
    report = plan.report
    assert (report.manifests_total, report.manifests_scanned, report.manifests_skipped_count) == (3, 1, 2)
    assert [(s.predicate, s.count) for s in report.manifests_skipped] == [("p = 'b'", 2)]
    assert [(s.predicate, s.count, s.bytes) for s in report.files_skipped_by_partition] == [("p = 'b'", 1, 1000)]
    assert (report.files_total, report.files_in_skipped_manifests, report.files_scanned, report.files_planned) == (5, 3, 2, 1)
    by_metrics = scan(three_manifests, eq("id", 15)).plan_files()
    assert names(by_metrics) == {"a2", "n1"}
    assert [(s.predicate, s.count) for s in by_metrics.report.files_skipped_by_metrics] == [("id = 15", 3)]
    assert "skipped by column metrics, id = 15: 3 files" in str(by_metrics.report)


def test_paths_sizes_and_tasks_agree(three_manifests: Forge) -> None:
    plan = scan(three_manifests, Predicate(Op.NOT_NULL, Reference("p"))).plan_files()
    tasks = list(plan.tasks)
    assert [task.data_file.file_path for task in tasks] == plan.paths
    assert [task.data_file.file_size_in_bytes for task in tasks] == plan.sizes
    assert all(task.residual == TRUE for task in tasks)
    assert not plan.has_deletes and plan.is_exact and plan.total_rows == 40


def test_a_limit_stops_opening_manifests(three_manifests: Forge) -> None:
    plan = scan(three_manifests, limit=15).plan_files()
    assert plan.count == 2 and plan.report.manifests_not_needed == 2
    uncertain = scan(three_manifests, Predicate(Op.GT_EQ, Reference("id"), (0,)), limit=15).plan_files()
    assert uncertain.count == 5, "rows that may fail the residual must not be counted"
    certain = scan(three_manifests, Predicate(Op.GT_EQ, Reference("p"), ("b",)), limit=20).plan_files()
    assert names(certain) == {"b1", "c1"}


def test_deleted_entries_are_not_read(tmp_path: Path) -> None:
    forge = Forge(tmp_path, SCHEMA, BY_P)
    kept, gone = forge.data("kept", ("a",)), forge.data("gone", ("a",))
    forge.commit([kept, gone])
    forge.commit([forge.deleted(gone, 1), forge.data("new", ("a",))], keep=(), operation="overwrite")
    assert names(scan(forge).plan_files()) == {"new"}
    assert names(scan(forge, snapshot_id=100).plan_files()) == {"kept", "gone"}


def test_old_specs_prune_by_their_own_fields(tmp_path: Path) -> None:
    forge = Forge(tmp_path, SCHEMA, spec_of(IDENTITY, 0), spec_of(bucket(8), 1), spec_of(truncate(10), 2))
    function = transform_function(bucket(8), LongType())
    forge.commit(
        [forge.data(f"i{n}", (n,), spec_id=0) for n in range(20)],
        [forge.data(f"b{n}", (n,), spec_id=1) for n in range(8)],
        [forge.data(f"t{n}", (n * 10,), spec_id=2) for n in range(3)],
    )
    assert names(scan(forge, eq("id", 17)).plan_files()) == {"i17", f"b{function(17)}", "t1"}
    bucketed = Predicate(Op.EQ, Reference("id", bucket(8)), (3,))
    expected = {f"i{n}" for n in range(20) if function(n) == 3} | {"b3", "t0", "t1", "t2"}
    assert names(scan(forge, bucketed).plan_files()) == expected, "a transform of a column prunes identity partitions too"


# -- snapshots ---------------------------------------------------------------------------------------------------


def test_snapshots_and_their_schemas(tmp_path: Path) -> None:
    from dataclasses import replace

    from icesql.spec.snapshots import RefType, SnapshotRef

    forge = Forge(tmp_path, SCHEMA, BY_P)
    first = forge.commit([forge.data("one", ("a",))])
    newer = Schema((*SCHEMA.fields, NestedField(4, "extra", LongType())), 1)
    forge.metadata = replace(forge.metadata, schemas=(SCHEMA, newer), current_schema_id=1)
    forge.commit([forge.data("two", ("a",))])
    refs = {
        "tag": SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.TAG),
        "branch": SnapshotRef(snapshot_id=first.snapshot_id),
    }
    forge.metadata = replace(forge.metadata, refs={**forge.metadata.refs, **refs})
    assert names(scan(forge).plan_files()) == {"one", "two"}
    for selection, schema in (
        ({"ref": "tag"}, SCHEMA),
        ({"snapshot_id": 100}, SCHEMA),
        ({"timestamp_ms": 1999}, SCHEMA),
        ({"ref": "branch"}, newer),
    ):
        selected = scan(forge, **selection)
        assert names(selected.plan_files()) == {"one"}
        assert selected.table_schema == schema, selection
    assert scan(forge, ref="main").table_schema == newer
    with pytest.raises(NotFoundError, match=r"Cannot find a snapshot older than 1970-01-01T00:00:00\.999"):
        scan(forge, timestamp_ms=999).plan_files()
    with pytest.raises(NotFoundError, match="Cannot find snapshot with ID 7"):
        scan(forge, snapshot_id=7).plan_files()
    with pytest.raises(NotFoundError, match="branch"):
        scan(forge, ref="brunch").plan_files()
    with pytest.raises(InvalidArgumentError):
        scan(forge, ref="tag", snapshot_id=100).plan_files()


def test_an_empty_table_plans_nothing(tmp_path: Path) -> None:
    plan = scan(Forge(tmp_path, SCHEMA, BY_P), eq("id", 1)).plan_files()
    assert (plan.count, plan.paths, plan.has_deletes, plan.report.files_total) == (0, [], False, 0)


def test_unknown_columns_are_named(three_manifests: Forge) -> None:
    with pytest.raises(NotFoundError, match=r"Cannot find field 'idd' in struct.*Did you mean 'id'"):
        scan(three_manifests, eq("idd", 1)).plan_files()
    assert names(scan(three_manifests, eq("P", "b"), case_sensitive=False).plan_files()) == {"b1"}
    with pytest.raises(NotFoundError, match="Cannot find field 'P'"):
        scan(three_manifests, eq("P", "b")).plan_files()


# -- deletes -----------------------------------------------------------------------------------------------------


def deletes_by_file(forge: Forge, where: Expression = TRUE) -> dict[str, set[str]]:
    return {
        Path(t.data_file.file_path).stem: {Path(d.file_path).stem for d in t.delete_files} for t in scan(forge, where).plan_files().tasks
    }


def test_position_deletes_apply_to_files_not_newer_in_their_partition(tmp_path: Path) -> None:
    forge = Forge(tmp_path, SCHEMA, BY_P)
    forge.commit([forge.data("a1", ("a",)), forge.data("b1", ("b",))])
    forge.commit([forge.data("a2", ("a",))], [forge.positions("pd", ("a",)), forge.positions("pd_a1", ("a",), of="a1")])
    forge.commit([forge.data("a3", ("a",))])
    assert deletes_by_file(forge) == {"a1": {"pd", "pd_a1"}, "a2": {"pd"}, "a3": set(), "b1": set()}
    assert scan(forge, eq("p", "b")).plan_files().report.delete_manifests_scanned == 0


def test_equality_deletes_apply_to_strictly_older_files(tmp_path: Path) -> None:
    unpartitioned = PartitionSpec(spec_id=1)
    forge = Forge(tmp_path, SCHEMA, BY_P, unpartitioned)
    forge.commit([forge.data("a1", ("a",)), forge.data("b1", ("b",))], [forge.data("u1", spec_id=1)])
    forge.commit([forge.data("a2", ("a",))], [forge.equality("eq_a", (1,), ("a",))], [forge.equality("eq_all", (1,), spec_id=1)])
    assert deletes_by_file(forge) == {"a1": {"eq_a", "eq_all"}, "b1": {"eq_all"}, "u1": {"eq_all"}, "a2": set()}


def test_position_deletes_of_an_unpartitioned_spec_are_not_global(tmp_path: Path) -> None:
    forge = Forge(tmp_path, SCHEMA, BY_P, PartitionSpec(spec_id=1))
    forge.commit([forge.data("a1", ("a",))], [forge.data("u1", spec_id=1)])
    forge.commit([forge.positions("pd", spec_id=1)])
    assert deletes_by_file(forge) == {"a1": set(), "u1": {"pd"}}


def test_a_deletion_vector_replaces_position_deletes(tmp_path: Path) -> None:
    forge = Forge(tmp_path, SCHEMA, BY_P, format_version=3)
    forge.commit([forge.data("a1", ("a",)), forge.data("a2", ("a",))])
    forge.commit([forge.positions("old", ("a",)), forge.equality("eq", (1,), ("a",)), forge.vector("dv", "a1", ("a",))])
    assert deletes_by_file(forge) == {"a1": {"dv", "eq"}, "a2": {"old", "eq"}}
    forge.commit([forge.vector("dv2", "a1", ("a",))])
    with pytest.raises(ValidationError, match="Can't index multiple DVs"):
        deletes_by_file(forge)


def test_equality_deletes_with_other_bounds_are_left_out(tmp_path: Path) -> None:
    forge = Forge(tmp_path, SCHEMA, BY_P)
    nulls: dict[str, Any] = {"value_counts": {1: 10}, "null_value_counts": {1: 10}}
    forge.commit([forge.data("low", ("a",), **ids(0, 9)), forge.data("high", ("a",), **ids(50, 59)), forge.data("nulls", ("a",), **nulls)])
    forge.commit([forge.equality("eq", (1,), ("a",), **ids(5, 6, 1))])
    assert deletes_by_file(forge) == {"low": {"eq"}, "high": set(), "nulls": set()}
    forge.commit([forge.equality("eq_null", (1,), ("a",), value_counts={1: 1}, null_value_counts={1: 1})])
    assert deletes_by_file(forge) == {"low": {"eq"}, "high": set(), "nulls": {"eq_null"}}


# -- columns and single files say the same -----------------------------------------------------------------------

FEW = examples(8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
PAIRS = [(type_, IDENTITY) for type_ in VALUES] + [
    (type_, t) for type_ in VALUES for t in (bucket(4), truncate(3)) if can_transform(t, type_)
]


@pytest.mark.parametrize(("type_", "transform"), PAIRS, ids=str)
def test_columnar_planning_equals_planning_file_by_file(
    type_: Type, transform: Transform, tmp_path_factory: pytest.TempPathFactory
) -> None:
    schema = Schema((NestedField(1, "x", type_), NestedField(2, "y", type_)))
    spec = spec_of(transform)
    struct, function = spec.partition_type(schema), transform_function(transform, type_)

    @FEW
    @given(
        trees(leaves_over("x", type_) | leaves_over("y", type_)),
        st.lists(st.tuples(rows_of(type_), st.lists(VALUES[type_] | st.none(), min_size=1, max_size=3)), min_size=1, max_size=5),
    )
    def check(where: Expression, files: list[tuple[tuple[Any, Any], list[Any]]]) -> None:
        from dataclasses import replace

        forge = Forge(tmp_path_factory.mktemp("t"), schema, spec)
        made: list[DataFile] = []
        for number, ((x, _), ys) in enumerate(files):
            file = metrics_file(schema, [(x, y) for y in ys], truncated=2, missing=number % 3 == 2)
            made.append(replace(file, file_path=f"/f{number}", partition=(function(x),)))
        forge.commit([forge.added(file) for file in made])
        keeps_partition = row_evaluator(struct, inclusive_projection(schema, spec, where))
        keeps_file = inclusive_metrics(schema, where)
        expected = {file.file_path for file in made if keeps_partition(file.partition) is True and keeps_file(file)}
        planned = set(scan(forge, where).plan_files().paths)
        if isinstance(where, (And, Or)):
            assert planned <= expected or planned == expected  # conjuncts prune on their own, manifests too
        assert planned <= expected
        lost = expected - planned
        assert not lost or not any(_matches(where, files[int(path[1:])]) for path in lost)

    def _matches(where: Expression, file: tuple[tuple[Any, Any], list[Any]]) -> bool:
        (x, _), ys = file
        evaluate = row_evaluator(schema, where)
        return any(evaluate((x, y)) is True for y in ys)

    check()
