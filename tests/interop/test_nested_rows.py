"""Nested rows with nulls at every depth through every statement that writes, in each format: a model's rows, here and in the runtime."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

from tests.interop.conftest import Shared

pytestmark = [pytest.mark.interop, pytest.mark.spark]
STRUCT = "struct<a: int, b: string, n: struct<x: bigint, l: array<struct<k: int, v: string>>>>"
COLUMNS = f"id bigint, c {STRUCT}, m map<string, struct<y: int>>, d date"
Row = tuple[Any, ...]


def random_row(draw: random.Random, number: int) -> Row:
    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.3 else value

    def pairs() -> list[Any]:
        return [maybe((maybe(number), maybe(f"v{i}"))) for i in range(draw.randrange(3))]

    inner = maybe((maybe(number * 10), maybe(pairs())))
    struct = maybe((maybe(number), maybe(f"b{number}"), inner))
    entries = maybe({key: maybe((maybe(number),)) for key in draw.sample("xyz", draw.randrange(3))})
    return number, struct, entries, datetime.date(1969 + draw.randrange(3), 1, 1)


def plain(value: Any) -> Any:
    match value:
        case tuple() | list():
            return tuple(map(plain, value))
        case dict():
            return tuple(sorted((key, plain(v)) for key, v in value.items()))
    return value


def plain_rows(rows: Any) -> list[Any]:
    return sorted((plain(row) for row in rows), key=lambda row: row[0])


@pytest.mark.parametrize(
    ("file_format", "mode"), [("orc", "copy-on-write"), ("orc", "merge-on-read"), ("avro", "copy-on-write"), ("parquet", "copy-on-write")]
)
def test_nested_rows_through_every_statement(shared: Shared, file_format: str, mode: str) -> None:
    draw, name = random.Random(19), f"local.interop.nested_{file_format}_{mode[:4]}"
    modes = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    properties = f"'write.format.default' = '{file_format}', {modes}"
    shared.frame(f"CREATE TABLE {name} ({COLUMNS}) USING iceberg PARTITIONED BY (years(d)) TBLPROPERTIES ({properties})")
    model = {i: random_row(draw, i) for i in range(1500)}
    changes = {i: random_row(draw, i) for i in range(1000, 1700)}
    for view, rows in (("nested_rows", model), ("nested_changes", changes)):
        shared.session.spark.createDataFrame(list(rows.values()), COLUMNS).createOrReplaceTempView(view)

    def check(step: str) -> None:
        assert plain_rows(shared.frame(f"SELECT * FROM {name}").collect()) == plain_rows(model.values()), step

    shared.frame(f"INSERT INTO {name} SELECT * FROM nested_rows")
    check("INSERT")
    shared.frame(f"DELETE FROM {name} WHERE id % 7 = 3")
    model = {i: row for i, row in model.items() if i % 7 != 3}
    check("DELETE")
    shared.frame(f"UPDATE {name} SET c.b = 'u' WHERE id % 5 = 0 AND c IS NOT NULL")
    model = {i: (i, (c[0], "u", c[2]), m, d) if i % 5 == 0 and c is not None else (i, c, m, d) for i, c, m, d in model.values()}
    check("UPDATE")
    shared.frame(
        f"MERGE INTO {name} t USING nested_changes s ON t.id = s.id WHEN MATCHED AND s.id % 3 = 0 THEN UPDATE SET c = s.c, m = s.m "
        "WHEN MATCHED AND s.id % 3 = 1 THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    )
    for i, row in changes.items():
        if i not in model:
            model[i] = row
        elif i % 3 == 0:
            model[i] = (i, *row[1:3], model[i][3])
        elif i % 3 == 1:
            del model[i]
    check("MERGE")
    few = [row[0] for row in model.values() if row[1] is not None and row[1][2] is not None and (row[1][2][0] or 0) > 12_000]
    assert sorted(row.id for row in shared.frame(f"SELECT id FROM {name} WHERE c.n.x > 12000").collect()) == sorted(few)
    shared.frame(f"CALL local.system.rewrite_data_files(table => 'interop.{name.split('.')[-1]}', options => map('rewrite-all', 'true'))")
    check("rewrite_data_files")
    assert plain_rows(shared.oracle.rows(f"SELECT * FROM {name}")) == plain_rows(model.values())
