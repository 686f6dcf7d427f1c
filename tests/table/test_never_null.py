"""Which columns hold no null: told by the counts of every live file, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from icesql.spec.files import EntryStatus
from icesql.spec.partitioning import UNPARTITIONED
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, LongType, NestedField, StringType
from icesql.table.scan.never_null import FEWEST_ROWS, never_null
from tests.table.forge import Forge

SCHEMA = Schema(
    (
        NestedField(1, "id", LongType(), True),
        NestedField(2, "a", LongType()),
        NestedField(3, "b", StringType()),
        NestedField(4, "l", ListType(5, LongType(), element_required=False)),
    )
)


def counts(rows: int, nulls: dict[int, int]) -> dict[str, Any]:
    return {"rows": rows, "value_counts": dict.fromkeys((1, *nulls), rows), "null_value_counts": nulls}


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path, SCHEMA, UNPARTITIONED)


def found(forge: Forge) -> frozenset[int]:
    return never_null(forge.io, forge.metadata, forge.metadata.current_snapshot, SCHEMA)


def test_every_file_must_count_no_null(forge: Forge) -> None:
    assert found(forge) == frozenset()
    forge.commit([forge.data("f1", **counts(FEWEST_ROWS, {2: 0, 3: 0, 4: 0}))], [forge.data("f2", **counts(5, {2: 0, 3: 0}))])
    assert found(forge) == {2, 3}  # required columns need no proof, lists have counts of their elements
    forge.commit([forge.data("f3", **counts(7, {2: 0, 3: 1}))])
    assert found(forge) == {2}
    forge.commit([forge.data("f4", **counts(7, {3: 0}))])  # without counts of the other: it may even lack the column
    assert found(forge) == frozenset()


def test_counts_that_are_not_of_all_rows_prove_nothing(forge: Forge) -> None:
    file = counts(FEWEST_ROWS, {2: 0, 3: 0})
    file["value_counts"][2] -= 1
    forge.commit([forge.data("f1", **file)])
    assert found(forge) == {3}


def test_deleted_files_and_files_of_no_rows_do_not_count(forge: Forge) -> None:
    large = forge.data("large", **counts(FEWEST_ROWS, {2: 0, 3: 0}))
    gone = forge.data("gone", **counts(FEWEST_ROWS, {2: 1, 3: 1}))
    gone = replace(gone, status=EntryStatus.DELETED, sequence_number=1, file_sequence_number=1)
    forge.commit([large, gone, forge.data("empty", rows=0)])
    assert found(forge) == {2, 3}


def test_small_snapshots_are_not_looked_into(forge: Forge) -> None:
    forge.commit([forge.data("f1", **counts(FEWEST_ROWS - 1, {2: 0, 3: 0}))])
    assert found(forge) == frozenset()


def test_snapshots_of_many_files_are_not_looked_into(forge: Forge) -> None:
    forge.commit([forge.data(f"f{n}", **counts(FEWEST_ROWS, {2: 0, 3: 0})) for n in range(1_001)])
    assert found(forge) == frozenset()
