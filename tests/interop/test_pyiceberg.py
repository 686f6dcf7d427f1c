"""The matrix with PyIceberg: every type at its edges, under every transform it knows, each side reading what the other wrote."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionSpec as TheirSpec
from pyiceberg.schema import Schema as TheirSchema

import icesql
from icesql.spec.json.specs import spec_to_json
from icesql.spec.json.types import schema_to_json
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, FloatType, PrimitiveType, TimestampNanoType, TimestamptzNanoType, TimeType, UnknownType
from tests.expr.reference import holds
from tests.interop.test_matrix import predicates
from tests.interop.wide import GROUPS, arrow_rows, group_spec, normal, rows_of, wide_rows, wide_schema

pytestmark = pytest.mark.interop


@dataclass(frozen=True)
class Two:
    """One SQL catalog, opened by both."""

    ours: Any
    theirs: Any


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("pyiceberg")
    settings = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/warehouse"}
    ours = icesql.connect_catalog("both", type="sql", **settings)
    ours.create_namespace(("db",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Two(ours, SqlCatalog("both", **settings))
    ours.close()


def without(spec: PartitionSpec, schema: Schema, unfit: Any) -> PartitionSpec:
    """The spec without fields over columns of some types."""
    return replace(spec, fields=tuple(field for field in spec.fields if not isinstance(schema.field(field.source_id).type, unfit)))


def made_by_them(two: Two, name: str, version: int, schema: Schema, group: str) -> Any:
    their_schema = TheirSchema.model_validate(schema_to_json(schema))
    unfit = (FloatType, DoubleType) if group != "bucket" else TimeType  # it fails on partitions of NaN and on buckets of times
    ours = without(group_spec(group, schema), schema, unfit)
    by_source = {field.source_id: field for field in ours.fields}  # it takes one field a column
    spec = TheirSpec.model_validate(spec_to_json(replace(ours, fields=tuple(by_source.values()))))
    return two.theirs.create_table(("db", name), their_schema, partition_spec=spec, properties={"format-version": str(version)})


def as_they_see(schema: Schema, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """PyIceberg takes null lists of structs for empty ones, when it writes and when it reads."""
    place = [field.name for field in schema.fields].index("ls")
    return [(*row[:place], row[place] or [], *row[place + 1 :]) for row in rows]


@pytest.mark.parametrize("version", [1, 2])  # it writes no version 3
@pytest.mark.parametrize("group", GROUPS)
def test_pyiceberg_wrote_it(two: Two, version: int, group: str) -> None:
    schema, rows, name = wide_schema(version), wide_rows(version), f"theirs_{version}_{group}"
    table = made_by_them(two, name, version, schema, group)
    table.append(arrow_rows(schema, rows))
    read = two.ours.load_table(f"db.{name}")
    assert read.schema.as_struct() == schema.as_struct()
    assert normal(rows_of(schema, read.scan().to_arrow())) == normal(as_they_see(schema, rows))
    for place, field in enumerate(schema.fields):
        if not isinstance(field.type, PrimitiveType) or isinstance(field.type, UnknownType):
            continue
        for predicate in predicates(field.name, field.type, [row[place] for row in rows]):
            expected = sorted(row[0] for row in rows if holds(predicate, {field.name: row[place]}))
            assert sorted(read.scan(predicate, select=["id"]).to_arrow().column("id").to_pylist()) == expected, predicate


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("group", GROUPS)
def test_pyiceberg_reads_ours(two: Two, version: int, group: str) -> None:
    schema, rows, name = wide_schema(version), wide_rows(version), f"ours_{version}_{group}"
    spec = without(group_spec(group, schema), schema, (TimestampNanoType, TimestamptzNanoType))  # it reads no such manifests
    table = two.ours.create_table(("db", name), schema, spec=spec, properties={"format-version": str(version)})
    table.append(arrow_rows(schema, rows))
    theirs = two.theirs.load_table(("db", name))
    assert json.loads(theirs.schema().model_dump_json())["fields"] == schema_to_json(schema)["fields"]
    assert normal(rows_of(schema, theirs.scan().to_arrow())) == normal(as_they_see(schema, rows))
