"""Deleted positions as the JVM tests them: bits and Roaring bitmaps agree, at every border."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest
from pyroaring import BitMap64
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from icesql.io.deletes.files import write_position_deletes
from icesql.spark.read.aggregates import aggregate_frame
from icesql.spark.read.columns import DELETES, ROW_INDEX
from icesql.spark.read.deleted_bits import NOTHING_DELETED, deleted_bits, holds_bits, size_in_bytes
from icesql.spark.read.deletes import BITS_LIMIT_BYTES, DeletedPositions, for_the_jvm, is_deleted
from icesql.spark.read.table_scan import scan_dataframe
from tests.spark.conftest import append

pytestmark = pytest.mark.spark

_BORDERS = (0, 1, 7, 8, 63, 64, 4095, 4096, 4097, 8191, 8192, 65_535, 65_536, 100_000, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)


def _sets() -> list[set[int]]:
    chance = random.Random(7)
    sets: list[set[int]] = [set(), {0}, {4095}, {4096}, {4095, 4096}, {65_535}, {100_000}, set(range(20_000)), {3, 1 << 20}]
    return sets + [{chance.randrange(10 ** chance.randint(1, 6)) for _ in range(chance.randint(1, 300))} for _ in range(20)]


def test_bits_and_bitmaps_answer_alike(spark):
    rows, want = [], []
    for positions in _sets():
        asked = sorted(positions | set(_BORDERS) | {p + 1 for p in positions} | {max(p - 1, 0) for p in positions})
        bitmap = BitMap64(positions)
        for data in (for_the_jvm(bitmap, "f"), for_the_jvm(bitmap, "f", limit_bytes=0) if positions else NOTHING_DELETED):
            rows += [(bytearray(data), position) for position in asked]
            want += [position in positions for position in asked]
    schema = StructType([StructField(DELETES, BinaryType(), False), StructField(ROW_INDEX.name, LongType(), False)])
    frame = spark.createDataFrame(rows, schema).coalesce(1)
    assert [row[0] for row in frame.select(is_deleted(spark)).collect()] == want
    assert frame.where(~is_deleted(spark)).count() == want.count(False)


def test_the_form_is_chosen_by_size():
    few_in_many = BitMap64([5, 30_000_000])
    many = BitMap64(range(0, 4_000_000, 100))
    assert for_the_jvm(few_in_many, "f")[0] == 0 and len(for_the_jvm(few_in_many, "f")) < 40_000
    assert for_the_jvm(many, "f")[0] == 0x3A and for_the_jvm(many, "f", limit_bytes=1 << 20)[0] == 0
    widest = np.arange(0, 1_900_000, 50)
    assert size_in_bytes(widest) <= BITS_LIMIT_BYTES and size_in_bytes(widest) == len(deleted_bits(widest))
    in_a_row, in_pages = deleted_bits(widest), deleted_bits(np.array([5, 30_000_000]))
    assert in_a_row[:4] == bytes(4) and len(in_a_row) == 4 + 1_899_950 // 8 + 1 + 1
    assert in_pages[:4] != bytes(4) and size_in_bytes(np.array([5, 30_000_000])) == len(in_pages)


def test_bits_of_all_files_are_bounded():
    gone = {f"f{number}": BitMap64(range(0, 400_000, 1000)) for number in range(4)}
    size = len(for_the_jvm(gone["f0"], "f0"))
    made = DeletedPositions(None, gone, bits_bytes=2 * size)
    files = [SimpleNamespace(file_path=path, delete_files=()) for path in (*gone, "other")]
    assert [holds_bits(made(file)) for file in files] == [True, True, False, False, True]
    assert [made(file) for file in files] == [made(file) for file in files]


def test_wide_rows_get_the_smaller_form(spark, make_table):
    wide = ", ".join(f"id + {number} AS c{number}" for number in range(120))
    table = make_table("t", spark.sql(f"SELECT id, {wide} FROM range(50)").coalesce(1))
    [file] = {row[0] for row in scan_dataframe(spark, table, metadata_columns=("_file",)).select("_file").collect()}
    _delete(table, {file: [0, 49]})
    frame = scan_dataframe(spark, table)
    assert sorted(row.c7 for row in frame.collect()) == list(range(8, 56))
    assert frame.count() == 48


def test_files_with_and_without_deletes_are_one_relation(spark, make_table):
    table = make_table("t", spark.range(0, 10).coalesce(1))
    for start in range(10, 60, 10):
        append(spark, table, spark.range(start, start + 10).coalesce(1))
    paths = {row[1]: row[0] for row in scan_dataframe(spark, table, metadata_columns=("_file",)).select("_file", "id").collect()}
    _delete(table, {paths[0]: [0, 9], paths[30]: [5]})
    frame = scan_dataframe(spark, table, metadata_columns=("_pos", "_deleted"))
    kept = scan_dataframe(spark, table)
    assert sorted(row.id for row in kept.collect()) == [i for i in range(60) if i not in (0, 9, 35)]
    assert "Union" not in kept._jdf.queryExecution().optimizedPlan().toString()
    assert sorted(tuple(row) for row in frame.where("_deleted").collect()) == [(0, 0, True), (9, 9, True), (35, 5, True)]
    named = scan_dataframe(spark, table, metadata_columns=("_file",))
    assert named.where(named["_file"] == paths[20]).count() == 10 and named.where(named["_file"] == paths[30]).count() == 9


def test_where_rows_are_deleted_metadata_is_not_asked_and_the_query_not_planned_for_it(spark, make_table):
    table = make_table("t", spark.range(0, 10).coalesce(1))
    [file] = {row[0] for row in scan_dataframe(spark, table, metadata_columns=("_file",)).select("_file").collect()}
    _delete(table, {file: [3]})
    snapshot_id = table.metadata.current_snapshot_id
    assert aggregate_frame(spark, None, table, snapshot_id=snapshot_id, schema=table.metadata.schema) is None
    assert scan_dataframe(spark, table).selectExpr("count(*)", "max(id)").first()[:] == (9, 9)


def test_a_column_may_have_the_name_of_sparks_positions(spark, make_table):
    table = make_table("t", spark.sql(f"SELECT id, id * 10 AS `{ROW_INDEX.name}` FROM range(5)").coalesce(1))
    assert sorted(map(tuple, scan_dataframe(spark, table).collect())) == [(i, i * 10) for i in range(5)]


def _delete(table, positions):
    delta = table.new_row_delta()
    for number, (path, gone) in enumerate(positions.items()):
        delta.add_deletes(write_position_deletes(table.io, f"{table.location}/data/deletes-{number}.parquet", {path: gone}))
    delta.commit()
