"""Every type at its edges, under every transform, in every version and format: each side reads what the other wrote.

Iceberg's Java API writes and reads what Spark SQL cannot say (uuid, time, fixed, nanoseconds); PyIceberg has Parquet only for writing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from icesql.expr.tree import Op, Predicate, Reference
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, FloatType, PrimitiveType, StringType, Type, UnknownType
from tests.expr.reference import holds
from tests.interop.conftest import Shared, texts
from tests.interop.wide import GROUPS, arrow_rows, group_spec, micros_only, normal, rows_of, rows_of_spark, wide_rows, wide_schema

pytestmark = [pytest.mark.spark, pytest.mark.interop]

VERSIONS, FORMATS = (1, 2, 3), ("parquet", "avro", "orc")
MATRIX = list(itertools.product(VERSIONS, FORMATS, GROUPS))
IDS = [f"v{version}-{file_format}-{group}" for version, file_format, group in MATRIX]


def properties(version: int, file_format: str) -> dict[str, str]:
    return {"format-version": str(version), "write.format.default": file_format}


@pytest.fixture(scope="module")
def sources(shared: Shared) -> dict[tuple[int, str], str]:
    """The folder of a table of all rows for each version and format: what Java copies from."""
    found = {}
    for version, file_format in itertools.product(VERSIONS, FORMATS):
        schema, name = wide_schema(version), f"source_{version}_{file_format}"
        table = shared.catalog.create_table(("interop", name), schema, properties=properties(version, "avro"))
        table.append(arrow_rows(schema, wide_rows(version, file_format)))
        found[version, file_format] = shared.folder(name)
    return found


def check_read(shared: Shared, name: str, schema: Schema, expected: list[tuple[Any, ...]]) -> None:
    """Both of icesql's readers give the expected rows."""
    table = shared.load(name)
    assert table.schema.as_struct() == schema.as_struct()
    assert normal(rows_of(schema, table.scan().to_arrow())) == normal(expected)
    assert normal(rows_of_spark(schema, shared.frame(f"SELECT * FROM local.interop.{name}"))) == normal(micros_only(schema, expected))


@pytest.mark.parametrize(("version", "file_format", "group"), MATRIX, ids=IDS)
def test_java_wrote_it(shared: Shared, sources: dict[tuple[int, str], str], version: int, file_format: str, group: str) -> None:
    schema, name = wide_schema(version), f"java_{version}_{file_format}_{group}"
    spec = group_spec(group, schema)
    shared.call("copy", sources[version, file_format], shared.folder(name), *texts(schema, spec), properties(version, file_format))
    check_read(shared, name, schema, wide_rows(version, file_format))


@pytest.mark.parametrize(("version", "file_format", "group"), MATRIX, ids=IDS)
def test_java_reads_ours(shared: Shared, version: int, file_format: str, group: str) -> None:
    schema, name = wide_schema(version), f"ours_{version}_{file_format}_{group}"
    spec = group_spec(group, schema)
    table = shared.catalog.create_table(("interop", name), schema, spec=spec, properties=properties(version, file_format))
    rows = wide_rows(version, file_format)
    table.append(arrow_rows(schema, rows))
    assert normal(shared.call("read", shared.folder(name))) == normal(rows)
    assert normal(rows_of(schema, table.scan().to_arrow())) == normal(rows)


@pytest.mark.parametrize(
    ("version", "file_format", "group"), [(v, f, g) for (v, f), g in zip(itertools.product(VERSIONS, FORMATS), itertools.cycle(GROUPS))]
)
def test_java_reads_what_spark_wrote(
    shared: Shared, sources: dict[tuple[int, str], str], version: int, file_format: str, group: str
) -> None:
    """Written through SQL: partition values are the JVM's, files those of tasks. Nanoseconds are cut, so the first of all times is too."""
    schema, name = wide_schema(version), f"spark_{version}_{file_format}_{group}"
    spec = group_spec(group, schema)
    shared.catalog.create_table(("interop", name), schema, spec=spec, properties=properties(version, file_format))
    shared.frame(f"INSERT INTO local.interop.{name} SELECT * FROM local.interop.source_{version}_{file_format} WHERE id <> 1")
    rows = [row for row in micros_only(schema, wide_rows(version, file_format)) if row[0] != 1]
    assert normal(shared.call("read", shared.folder(name))) == normal(rows)
    assert normal(rows_of(schema, shared.load(name).scan().to_arrow())) == normal(rows)


OPERATORS = (Op.EQ, Op.NOT_EQ, Op.LT, Op.LT_EQ, Op.GT, Op.GT_EQ, Op.IN, Op.NOT_IN)


def predicates(name: str, type_: Type, values: list[Any]) -> Iterator[Predicate]:
    """Each operator with one of the column's values in turn, and what takes none."""
    term = Reference(name)
    literals = [v for v in values if v is not None and v == v]
    for number, op in enumerate(OPERATORS):
        literal = literals[number % len(literals)]
        yield Predicate(op, term, (literal, literals[0]) if op in (Op.IN, Op.NOT_IN) else (literal,))
    yield from (Predicate(op, term) for op in (Op.IS_NULL, Op.NOT_NULL))
    if isinstance(type_, FloatType | DoubleType):
        yield from (Predicate(op, term) for op in (Op.IS_NAN, Op.NOT_NAN))
    if isinstance(type_, StringType):
        yield from (Predicate(op, term, ("ice",)) for op in (Op.STARTS_WITH, Op.NOT_STARTS_WITH))


@pytest.mark.parametrize("group", GROUPS)
def test_pruning_loses_no_row(shared: Shared, sources: dict[tuple[int, str], str], group: str) -> None:
    """Files as Java wrote and measured them: a filtered scan returns what the filter keeps of all rows, and leaves some files out."""
    schema, rows, name = wide_schema(3), wide_rows(3), f"pruned_{group}"
    shared.call("copy", sources[3, "parquet"], shared.folder(name), *texts(schema, group_spec(group, schema)), properties(3, "parquet"))
    table, left_out = shared.load(name), 0
    for place, field in enumerate(schema.fields):
        if not isinstance(field.type, PrimitiveType) or isinstance(field.type, UnknownType):
            continue
        for predicate in predicates(field.name, field.type, [row[place] for row in rows]):
            expected = sorted(row[0] for row in rows if holds(predicate, {field.name: row[place]}))
            scan = table.scan(predicate, select=["id"])
            assert sorted(scan.to_arrow().column("id").to_pylist()) == expected, predicate
            left_out += 6 - scan.plan_files().count
    assert left_out > 100


CONDITIONS = [
    "flag", "NOT flag", "i > 0", "i IN (34, 2147483647)", "l <= -1", "l <> 34", "f > 0", "f = 0", "isnan(x)", "x < 0", "n9 >= 14.20",
    "n18 = -1", "n38 < 0", "d < DATE '1970-01-01'", "d IS NULL", "t > TIME '12:00:00'", "ts >= TIMESTAMP_NTZ '1970-01-01 00:00:00'",
    "tz < TIMESTAMP '1970-01-01 00:00:00 UTC'", "s LIKE 'ice%'", "s NOT LIKE 'h%'", "s = ''", "u = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
    "u IS NOT NULL", "fx = X'6162636465'", "b > X'00'", "st.p > 0", "st IS NULL", "size(ls) = 1", "i > 0 OR flag IS NULL",
]  # fmt: skip


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_pruning_in_spark_loses_no_row(shared: Shared, sources: dict[tuple[int, str], str], file_format: str) -> None:
    """Each condition as a filter keeps the rows for which the same condition, computed as a column, is true."""
    schema, name = wide_schema(2), f"spark_pruned_{file_format}"
    spec = group_spec("bucket", schema)
    shared.call("copy", sources[2, file_format], shared.folder(name), *texts(schema, spec), properties(2, file_format))
    columns = ", ".join(f"({condition}) AS c{i}" for i, condition in enumerate(CONDITIONS))
    found = shared.frame(f"SELECT id, {columns} FROM local.interop.{name}").collect()
    assert len(found) == 6
    for number, condition in enumerate(CONDITIONS):
        kept = shared.frame(f"SELECT id FROM local.interop.{name} WHERE {condition}").collect()
        assert sorted(row[0] for row in kept) == sorted(row[0] for row in found if row[number + 1]), condition
