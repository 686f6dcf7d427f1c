"""Server-side scan planning as JSON: nothing is lost on the way, and what is wrong is told by its path."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError
from icesql.expr.binding import bind
from icesql.expr.evaluate import row_evaluator
from icesql.expr.rewrite import has_patterns
from icesql.expr.tree import FALSE, TRUE, Expression, Op, Predicate, Reference
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import LongType
from icesql.spec.values.binary import to_bytes
from icesql.table.metadata.create import new_metadata
from icesql.table.remote_scan.plan_request import PlanRequest, plan_request_from_json, plan_request_to_json
from icesql.table.remote_scan.plan_result import PlanFailure, PlanResult, PlanStatus, plan_result_from_json, plan_result_to_json
from icesql.table.remote_scan.scan_tasks import ScanTasks, scan_tasks_from_json, scan_tasks_to_json, with_metrics_of
from icesql.table.remote_scan.storage_credential import StorageCredential
from icesql.table.scan.tasks import FileScanTask
from tests.effort import examples
from tests.expr.strategies import VALUES
from tests.expr.test_properties import rows_of, schema_of, tree_of
from tests.table.memory import BY_P, SCHEMA, data_file, deletion_vector, equality_deletes, position_deletes

METADATA = new_metadata(SCHEMA, location="/t", spec=BY_P, format_version=3)
ID_IS_5 = bind(SCHEMA, Predicate(Op.EQ, Reference("id"), (5,)))
MAYBE = st.none() | st.integers(0, 2**63 - 1)
NAMES = st.none() | st.lists(st.text(max_size=5), max_size=3).map(tuple)


def keeps(schema: Schema, expression: Expression) -> Callable[[Any], bool]:
    test = row_evaluator(schema, bind(schema, expression))
    return lambda row: test(row) is True


def sent(node: Any) -> Any:
    return json.loads(json.dumps(node))


# -- requests ----------------------------------------------------------------------------------------------------------
@given(
    snapshot=MAYBE,
    between=st.none() | st.tuples(MAYBE, st.integers(0, 2**63 - 1)),
    select=NAMES,
    stats=NAMES,
    least=MAYBE,
    flags=st.tuples(st.booleans(), st.booleans()),
)
def test_a_request_comes_back(snapshot: Any, between: Any, select: Any, stats: Any, least: Any, flags: Any) -> None:
    start, end = between or (None, None)
    request = PlanRequest(
        snapshot_id=None if between else snapshot,
        start_snapshot_id=start,
        end_snapshot_id=end,
        select=select,
        stats_fields=stats,
        min_rows_requested=least,
        case_sensitive=flags[0],
        use_snapshot_schema=flags[1],
    )
    assert plan_request_from_json(sent(plan_request_to_json(request))) == request


@examples(60)
@given(data=st.data(), type_=st.sampled_from(list(VALUES)))
def test_a_filter_keeps_its_rows(data: st.DataObject, type_: Any) -> None:
    """With SQL's meaning of null on both sides, and never fewer where it has LIKE."""
    schema = schema_of(type_)
    filter_ = bind(schema, data.draw(tree_of(type_)))
    node = sent(plan_request_to_json(PlanRequest(filter=filter_)))
    kept, arrived = keeps(schema, filter_), keeps(schema, plan_request_from_json(node, schema).filter)
    for row in data.draw(st.lists(rows_of(type_), max_size=6)):
        assert arrived(row) if has_patterns(filter_) and kept(row) else has_patterns(filter_) or arrived(row) == kept(row)


def test_a_request_says_only_what_it_must() -> None:
    assert plan_request_to_json(PlanRequest()) == {}
    assert plan_request_from_json({}) == PlanRequest()


def test_a_filter_of_two_truth_values_finds_null() -> None:
    """What Java's clients send is true for null where SQL's is not."""
    request = plan_request_from_json({"filter": {"type": "not-eq", "term": "p", "value": 5}}, SCHEMA)
    assert keeps(SCHEMA, request.filter)((1, None, None))
    own = plan_request_from_json(plan_request_to_json(PlanRequest(filter=Predicate(Op.NOT_EQ, Reference("p"), (5,)))), SCHEMA)
    assert not keeps(SCHEMA, own.filter)((1, None, None))


@pytest.mark.parametrize(
    "node",
    [
        [],
        {"snapshot-id": "1"},
        {"snapshot-id": True},
        {"snapshot-id": 2**63},
        {"select": "id"},
        {"select": [1]},
        {"case-sensitive": "yes"},
        {"start-snapshot-id": 1},
        {"snapshot-id": 1, "end-snapshot-id": 2},
        {"min-rows-requested": -1},
        {"filter": {"type": "dance"}},
        {"stats-fields": {}},
    ],
    ids=str,
)
def test_a_request_that_is_wrong(node: Any) -> None:
    with pytest.raises((CorruptMetadataError, InvalidArgumentError)):
        plan_request_from_json(node)


# -- answers -----------------------------------------------------------------------------------------------------------
def tasks() -> tuple[FileScanTask, ...]:
    one, two = data_file("one", (7,), ids=(1, 9)), data_file("two", (None,), ids=(2, 3))
    shared, vector = equality_deletes("e", (7,)), deletion_vector("v", two)
    positions = position_deletes("p", of=one)
    return (
        FileScanTask(data_file=one, delete_files=(shared, positions), residual=ID_IS_5, data_sequence_number=3, file_sequence_number=2),
        FileScanTask(data_file=two, delete_files=(vector,)),
        FileScanTask(data_file=data_file("three", (7,)), delete_files=(shared,), residual=ID_IS_5, data_sequence_number=4),
    )


def test_tasks_come_back() -> None:
    scanned = ScanTasks(tasks=tasks(), plan_tasks=("next",))
    node = sent(scan_tasks_to_json(scanned, METADATA, stats_ids={1}))
    assert scan_tasks_from_json(node, METADATA, SCHEMA) == scanned
    assert len(node["delete-files"]) == 3  # each once
    assert [task.get("delete-file-references") for task in node["file-scan-tasks"]] == [[0, 1], [2], [0]]


def test_metrics_are_sent_for_the_fields_asked_for() -> None:
    node: Any = scan_tasks_to_json(ScanTasks(tasks=tasks()), METADATA)
    assert not {"lower-bounds", "value-counts"} & set(node["file-scan-tasks"][0]["data-file"])
    assert with_metrics_of(tasks()[0].data_file, {2}).value_counts == {}


def test_no_tasks_at_all() -> None:
    assert scan_tasks_to_json(ScanTasks(), METADATA) == {"file-scan-tasks": []}
    assert scan_tasks_from_json({}, METADATA, SCHEMA) == ScanTasks()
    assert scan_tasks_to_json(ScanTasks(plan_tasks=("a",)), METADATA) == {"plan-tasks": ["a"]}


def test_a_residual_that_is_left_out_is_the_filter_in_that_partition() -> None:
    filter_ = bind(SCHEMA, Predicate(Op.EQ, Reference("p"), (7,)))
    node: Any = scan_tasks_to_json(ScanTasks(tasks=tasks()), METADATA)
    for task in node["file-scan-tasks"]:
        del task["residual-filter"]
    read = scan_tasks_from_json(node, METADATA, SCHEMA, filter=filter_)
    assert read.tasks[0].residual == TRUE
    assert read.tasks[1].residual == FALSE  # null is not 7


def test_bounds_as_bytes_are_passed_over() -> None:
    """So Iceberg's own server writes them."""
    node: Any = sent(scan_tasks_to_json(ScanTasks(tasks=tasks()), METADATA, stats_ids={1}))
    for task in node["file-scan-tasks"]:
        task["data-file"]["lower-bounds"] = {"keys": [1], "values": [to_bytes(LongType(), 1).hex().upper()]}
    read = scan_tasks_from_json(node, METADATA, SCHEMA).tasks[0].data_file
    assert read.lower_bounds == {} and read.value_counts == {1: 10}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda node: node.update({"file-scan-tasks": 1}), "file-scan-tasks"),
        (lambda node: node["file-scan-tasks"][1].update({"delete-file-references": [9]}), "delete-file-references[0]"),
        (lambda node: node["file-scan-tasks"][1].update({"delete-file-references": [-1]}), "delete-file-references[0]"),
        (lambda node: node["file-scan-tasks"][0].pop("data-file"), "file-scan-tasks[0]"),
        (lambda node: node["file-scan-tasks"][0]["data-file"].update(content="equality-deletes"), "data-file.content"),
        (lambda node: node["delete-files"][0].update(content="data"), "delete-files[0].content"),
        (lambda node: node["delete-files"][0].update(partition=[1, 2]), "delete-files[0].partition"),
        (lambda node: node.update({"plan-tasks": [1]}), "plan-tasks[0]"),
    ],
)
def test_tasks_that_are_wrong(change: Any, path: str) -> None:
    node: Any = sent(scan_tasks_to_json(ScanTasks(tasks=tasks()), METADATA))
    change(node)
    with pytest.raises(CorruptMetadataError) as raised:
        scan_tasks_from_json(node, METADATA, SCHEMA)
    assert path in str(raised.value)


def test_a_residual_of_a_column_that_is_not_there() -> None:
    node: Any = sent(scan_tasks_to_json(ScanTasks(tasks=tasks()), METADATA))
    node["file-scan-tasks"][0]["residual-filter"] = {"type": "eq", "term": "nothing", "value": 1}
    with pytest.raises(NotFoundError):
        scan_tasks_from_json(node, METADATA, SCHEMA)


SECRET = StorageCredential(prefix="s3://b/t", config={"s3.secret-access-key": "hidden"})


@pytest.mark.parametrize(
    "result",
    [
        PlanResult(status=PlanStatus.SUBMITTED, plan_id="p1"),
        PlanResult(status=PlanStatus.CANCELLED),
        PlanResult(status=PlanStatus.FAILED, failure=PlanFailure(message="no", type="ValidationException", code=400)),
        PlanResult(status=PlanStatus.COMPLETED, plan_id="p2", scanned=ScanTasks(tasks=tasks()), credentials=(SECRET,)),
        PlanResult(status=PlanStatus.COMPLETED),
    ],
    ids=lambda result: result.status.value,
)
def test_a_result_comes_back(result: PlanResult) -> None:
    assert plan_result_from_json(sent(plan_result_to_json(result, METADATA, stats_ids={1})), METADATA, SCHEMA) == result


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"status": "done"},
        {"status": "failed"},
        {"status": "completed", "storage-credentials": [{"prefix": "s3://b", "config": {"a": 1}}]},
    ],
    ids=str,
)
def test_a_result_that_is_wrong(node: Any) -> None:
    with pytest.raises(CorruptMetadataError):
        plan_result_from_json(node, METADATA, SCHEMA)


def test_no_repr_has_a_secret() -> None:
    assert "hidden" not in repr(PlanResult(status=PlanStatus.COMPLETED, credentials=(SECRET,)))


@examples(40)
@given(data=st.data(), type_=st.sampled_from(list(VALUES)))
def test_files_of_every_type_come_back(data: st.DataObject, type_: Any) -> None:
    schema = schema_of(type_)
    metadata: TableMetadata = new_metadata(schema, location="/t", format_version=3)
    field = schema.fields[0]
    values = sorted((to_bytes(type_, data.draw(VALUES[type_])) for _ in range(2)), key=lambda raw: raw)
    file = DataFile(
        content=FileContent.DATA,
        file_path=data.draw(st.text(min_size=1, max_size=8)),
        file_format="parquet",
        record_count=data.draw(st.integers(0, 2**63 - 1)),
        file_size_in_bytes=data.draw(st.integers(0, 2**63 - 1)),
        lower_bounds={field.id: values[0]},
        upper_bounds={field.id: values[1]},
    )
    scanned = ScanTasks(tasks=(FileScanTask(data_file=file, residual=bind(schema, data.draw(tree_of(type_, with_patterns=False)))),))
    read = scan_tasks_from_json(sent(scan_tasks_to_json(scanned, metadata, stats_ids={field.id})), metadata, schema)
    assert read.tasks[0].data_file == file
    before, after = keeps(schema, scanned.tasks[0].residual), keeps(schema, read.tasks[0].residual)
    for row in data.draw(st.lists(rows_of(type_), max_size=6)):
        assert before(row) == after(row)
