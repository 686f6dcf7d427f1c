"""What a stream reads next, of tables whose history is made up: every way of cutting it reads each appended file once, in order."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icesql
from icesql.errors import InvalidArgumentError, NotFoundError, ValidationError
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.transforms import IDENTITY
from icesql.table.scan.micro_batches import START, MicroBatches, StreamOffset, StreamOptions, stream_options
from tests.effort import examples

SKIP_ALL = StreamOptions(skip_deletes=True, skip_overwrites=True)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "p": pa.array([i % 3 for i in ids], pa.int64())})


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Any:
    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(tmp_path_factory.mktemp("streams")))
    by_p = PartitionSpec(fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="p"),))  # appends have many files
    mixed = catalog.create_table(("db", "mixed"), rows().schema, spec=by_p)
    for i in range(3):
        mixed.append(rows(2 * i, 2 * i + 1))
    mixed.append(rows(6, 7))
    mixed.refresh().overwrite(rows(100), "id = 0")
    mixed.refresh().append(rows(8, 9, 10))
    mixed.refresh().delete("id < 200")
    mixed.refresh().append(rows(11))
    catalog.create_table(("db", "empty"), rows().schema)
    return catalog


def batches(tables: Any, name: str = "mixed", options: StreamOptions = SKIP_ALL) -> MicroBatches:
    table = tables.load_table(("db", name))
    return MicroBatches(table.io, table.metadata, options)


def paths(stream: MicroBatches, start: StreamOffset, end: StreamOffset) -> list[str]:
    return [task.file_path for task in stream.files(start, end)]


@examples(60)
@given(max_files=st.none() | st.integers(1, 5), max_rows=st.none() | st.integers(1, 9), restarts=st.booleans())
def test_each_file_once(tables: Any, max_files: int | None, max_rows: int | None, restarts: bool) -> None:
    whole = batches(tables)
    expected = paths(whole, START, whole.next(START))
    stream = batches(tables, options=replace(SKIP_ALL, max_files=max_files, max_rows=max_rows))
    offset, found = stream.initial(), list[str]()
    for _ in itertools.count():
        end = stream.next(offset)
        if end == offset:
            break
        batch = stream.files(offset, end)
        assert batch
        assert max_files is None or len(batch) <= max_files
        assert max_rows is None or sum(task.data_file.record_count for task in batch[:-1]) < max_rows
        found += [task.file_path for task in batch]
        offset = StreamOffset.from_json(end.to_json()) if restarts else end
    assert found == expected
    assert len(set(found)) == len(found) > 4


def test_the_rows_are_those_appended(tables: Any) -> None:
    stream = batches(tables)
    tasks = stream.files(START, stream.next(START))
    assert sum(task.data_file.record_count for task in tasks) == 12
    assert not any(task.delete_files for task in tasks)


def test_an_empty_table(tables: Any) -> None:
    stream = batches(tables, "empty")
    assert stream.initial() == stream.next(START) == START
    assert stream.files(START, START) == []


def test_no_further_than_a_snapshot(tables: Any) -> None:
    stream = batches(tables)
    second = stream.metadata.snapshots[1].snapshot_id
    assert stream.next(START, second) == StreamOffset(second, 2)


@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_from_a_time_on(tables: Any, start: int) -> None:
    snapshots = batches(tables).metadata.snapshots
    stream = batches(tables, options=replace(SKIP_ALL, from_ms=snapshots[start].timestamp_ms))
    at_or_after = next(s for s in snapshots if s.timestamp_ms >= snapshots[start].timestamp_ms)
    assert stream.initial() == StreamOffset(at_or_after.snapshot_id, 0)
    later = batches(tables, options=replace(SKIP_ALL, from_ms=snapshots[-1].timestamp_ms + 1))
    assert later.initial() == later.next(START) == START


def test_what_ends_a_stream(tables: Any) -> None:
    for options, word in (
        (StreamOptions(skip_deletes=True), "overwrite"), (StreamOptions(skip_overwrites=True), "delete"),
    ):  # fmt: skip
        with pytest.raises(ValidationError, match=f"Cannot process {word} snapshot: .* set streaming-skip-{word}-snapshots=true"):
            batches(tables, options=options).next(START)
    with pytest.raises(NotFoundError, match="Cannot load current offset at snapshot 17, the snapshot was expired or removed"):
        batches(tables).next(StreamOffset(17, 0))


def test_a_start_that_is_no_ancestor(tables: Any, tmp_path: Path) -> None:
    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(tmp_path))
    table = catalog.create_table(("db", "t"), rows().schema)
    table.append(rows(1))
    table.append(rows(2))
    first, left = (snapshot.snapshot_id for snapshot in table.refresh().metadata.snapshots)
    table.manage_snapshots().rollback_to(first).commit()
    metadata = table.refresh().metadata
    with pytest.raises(ValidationError, match="not an ancestor of table's current snapshot"):
        MicroBatches(table.io, metadata, StreamOptions()).next(StreamOffset(left, 1))


def test_options() -> None:
    assert stream_options({}) == StreamOptions()
    given = {
        "stream-from-timestamp": "5", "streaming-skip-delete-snapshots": "TRUE", "streaming-skip-overwrite-snapshots": "false",
        "streaming-max-files-per-micro-batch": "2", "streaming-max-rows-per-micro-batch": "3",
    }  # fmt: skip
    assert stream_options(given) == StreamOptions(from_ms=5, skip_deletes=True, max_files=2, max_rows=3)
    for key, value in (("stream-from-timestamp", "today"), ("streaming-max-files-per-micro-batch", "0")):
        with pytest.raises(InvalidArgumentError, match=key):
            stream_options({key: value})
    with pytest.raises(InvalidArgumentError, match="Cannot parse offset"):
        StreamOffset.from_json({"version": 2, "snapshot_id": 1, "position": 0})
