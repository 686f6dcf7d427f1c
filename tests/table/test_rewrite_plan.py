"""Which files a rewrite takes: the reference's rules, one by one, and that no plan loses or repeats a file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import InvalidArgumentError
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.table.maintenance.rewrite_options import RewriteOptions, data_rewrite_options, delete_rewrite_options
from icesql.table.maintenance.rewrite_plan import RewritePlan, expected_output_files, pack, plan_data_files
from icesql.table.metadata.create import new_metadata
from icesql.table.scan.tasks import FileScanTask
from tests.effort import examples
from tests.table.maintained import BY_P, SCHEMA

MB = 1 << 20


def metadata() -> TableMetadata:
    return new_metadata(SCHEMA, spec=BY_P, location="/t", properties={})


def task(number: int, size: int, *, p: int = 0, deletes: tuple[DataFile, ...] = (), records: int = 100, spec_id: int = 0) -> FileScanTask:
    file = DataFile(
        file_path=f"/t/{number}", file_format="parquet", partition=(p,), record_count=records, file_size_in_bytes=size, spec_id=spec_id
    )
    return FileScanTask(data_file=file, delete_files=deletes, spec_id=spec_id)


def delete_of(path: str | None, records: int) -> DataFile:
    return DataFile(
        content=FileContent.POSITION_DELETES, file_path=f"/d/{path}", file_format="parquet", record_count=records, file_size_in_bytes=1,
        referenced_data_file=path,
    )  # fmt: skip


def plan(tasks: list[FileScanTask], **options: str) -> RewritePlan[FileScanTask]:
    given_options = {key.replace("_", "-"): value for key, value in options.items()}
    return plan_data_files(tasks, data_rewrite_options(given_options, metadata(), "BIN-PACK"), 0)


def groups(found: RewritePlan[FileScanTask]) -> list[list[str]]:
    return [[t.data_file.file_path for t in group.tasks] for group in found.groups]


def test_five_small_files_of_a_partition_are_a_group():
    tasks = [task(i, MB) for i in range(5)] + [task(10 + i, MB, p=1) for i in range(4)]
    found = plan(tasks)
    assert groups(found) == [[f"/t/{i}" for i in range(5)]]
    assert "min-input-files" in found.groups[0].reason


def test_files_within_the_range_are_left_alone_and_the_plan_says_so():
    found = plan([task(i, 500 * MB) for i in range(40)])
    assert not found.groups
    assert "40 files, all between" in found.why_not


def test_too_few_small_files_are_left_alone_and_the_plan_says_so():
    found = plan([task(i, MB) for i in range(4)])
    assert not found.groups
    assert "1 groups are below min-input-files (5)" in found.why_not


def test_two_files_that_together_exceed_the_target_are_a_group():
    assert groups(plan([task(1, 300 * MB), task(2, 300 * MB)])) == [["/t/1", "/t/2"]]


def test_one_file_above_the_maximum_is_split():
    found = plan([task(1, 2000 * MB)])
    assert groups(found) == [["/t/1"]]
    assert found.groups[0].expected_files == 4


@pytest.mark.parametrize(("records", "chosen"), [(29, False), (30, True), (100, True)])
def test_a_file_with_many_of_its_rows_deleted_is_rewritten(records: int, chosen: bool):
    one = task(1, 500 * MB, deletes=(delete_of("/t/1", records),))
    assert bool(groups(plan([one]))) is chosen


def test_deletes_of_several_files_do_not_count_for_the_ratio():
    assert not groups(plan([task(1, 500 * MB, deletes=(delete_of(None, 100),))]))


def test_a_file_with_enough_delete_files_is_rewritten():
    deletes = (delete_of(None, 1), delete_of(None, 2))
    assert not groups(plan([task(1, 500 * MB, deletes=deletes)]))
    assert groups(plan([task(1, 500 * MB, deletes=deletes)], delete_file_threshold="2"))


def test_files_of_other_specs_come_together():
    tasks = [task(i, MB, p=i, spec_id=0) for i in range(3)] + [task(10 + i, MB, p=i, spec_id=1) for i in range(3)]
    found = plan_data_files(tasks, data_rewrite_options({"rewrite-all": "true"}, metadata(), "BIN-PACK"), 1)
    assert sorted(len(group.tasks) for group in found.groups) == [1, 1, 1, 3]


@pytest.mark.parametrize(
    ("order", "wanted"), [("bytes-asc", [2, 7]), ("bytes-desc", [7, 2]), ("files-asc", [7, 2]), ("files-desc", [2, 7]), ("NONE", [2, 7])]
)
def test_jobs_go_in_the_order_asked_for(order: str, wanted: list[int]):
    tasks = [task(1, MB), task(2, MB), task(7, 5 * MB, p=1)]
    found = plan(tasks, rewrite_all="true", rewrite_job_order=order)
    assert [int(group.tasks[-1].data_file.file_path[3:]) for group in found.groups] == wanted


def test_at_most_so_many_files_are_rewritten():
    tasks = [task(i, MB, p=i // 4) for i in range(12)]
    found = plan(tasks, rewrite_all="true", max_files_to_rewrite="6")
    assert [len(group.tasks) for group in found.groups] == [4, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nope": "1"}, "Cannot use options [nope], they are not supported by the action or the rewriter BIN-PACK"),
        ({"target-file-size-bytes": "0"}, "'target-file-size-bytes' is set to 0 but must be > 0"),
        ({"min-file-size-bytes": "1000000000"}, "all new files will be smaller than the min threshold"),
        ({"max-file-size-bytes": "10"}, "all new files will be larger than the max threshold"),
        ({"min-input-files": "0"}, "'min-input-files' is set to 0 but must be > 0"),
        ({"max-concurrent-file-group-rewrites": "0"}, "Cannot set max-concurrent-file-group-rewrites to 0, the value must be positive."),
        ({"partial-progress.enabled": "true", "partial-progress.max-commits": "0"}, "the value must be positive when"),
        ({"output-spec-id": "7"}, "Cannot use output spec id 7 because the table does not contain a reference to this spec-id."),
        ({"rewrite-job-order": "x"}, "Invalid rewrite job order name: x"),
        ({"delete-ratio-threshold": "0"}, "'delete-ratio-threshold' is set to 0.0 but must be > 0"),
        ({"min-input-files": "many"}, 'For input string: "many"'),
    ],
)
def test_wrong_options_are_refused(options: Mapping[str, str], message: str):
    with pytest.raises(InvalidArgumentError) as raised:
        data_rewrite_options(options, metadata(), "BIN-PACK")
    assert message in str(raised.value)


def test_sort_and_zorder_have_options_of_their_own():
    assert data_rewrite_options({"compression-factor": "2.5"}, metadata(), "SORT").compression_factor == 2.5
    assert data_rewrite_options({"max-output-size": "9"}, metadata(), "Z-ORDER").max_output_size == 9
    assert data_rewrite_options({"compression-factor": "2"}, metadata(), "HILBERT").compression_factor == 2.0
    for rewriter, key in (("BIN-PACK", "compression-factor"), ("SORT", "max-output-size")):
        with pytest.raises(InvalidArgumentError):
            data_rewrite_options({key: "1"}, metadata(), rewriter)
    with pytest.raises(InvalidArgumentError):
        delete_rewrite_options({"delete-file-threshold": "1"}, metadata())


@given(st.lists(st.integers(0, 400), max_size=40), st.integers(1, 500), st.integers(1, 10))
@examples(80)
def test_packing_keeps_every_item_in_order_and_within_the_bounds(sizes: list[int], limit: int, items: int):
    bins = pack(sizes, lambda size: size, limit, items)
    assert [size for one in bins for size in one] == sizes
    assert all(len(one) <= items and (sum(one) <= limit or len(one) == 1) for one in bins)


@given(st.integers(1, 1 << 44))
@examples(80)
def test_expected_files_fit_between_the_bounds(total: int):
    options = RewriteOptions(target_file_size_bytes=512 * MB, min_file_size_bytes=384 * MB, max_file_size_bytes=921 * MB)
    count = expected_output_files(total, options)
    assert count >= 1
    assert total / count <= max(options.write_max_file_size_bytes, options.target_file_size_bytes)
