"""Tables for the Spark room's tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

import icesql
from icesql.spark.jvm.types import from_spark
from icesql.spark.write.data_files import WriteSettings, write_frame
from icesql.spark.write.store_assignment import assigned_frame
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.transforms import Transform
from icesql.table.table import Table


@pytest.fixture
def catalog(tmp_path) -> Any:
    catalog = icesql.connect_catalog(
        "local", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path / "warehouse é %20")
    )
    catalog.create_namespace(("db",))
    return catalog


@pytest.fixture
def make_table(spark, catalog) -> Callable[..., Table]:
    """``make_table(name, frame, [(column, transform)], properties)``: a table with the frame's rows."""

    def make(name: str, frame: Any, parts: list[tuple[str, Transform]] | None = None, properties: Mapping[str, str] | None = None) -> Table:
        given = from_spark(frame.schema)
        schema = replace(given, fields=tuple(replace(field, required=False) for field in given.fields))
        fields = tuple(
            PartitionField(source_ids=(schema.field(c).id,), field_id=1000 + i, transform=t, name=c if t.is_identity else f"{c}_{t.name}")
            for i, (c, t) in enumerate(parts or [])
        )
        table = catalog.create_table(("db", name), schema, spec=PartitionSpec(fields=fields), properties=dict(properties or {}))
        append(spark, table, frame)
        return table

    return make


def append(spark: Any, table: Table, frame: Any, **settings: Any) -> Table:
    """Write the frame's rows and commit them."""
    assigned = assigned_frame(spark, frame, table.schema, table_name=table.name)
    builder = table.new_append()
    for file in write_frame(spark, assigned, table.metadata, table.io, WriteSettings(**settings)):
        builder.append_file(file)
    builder.commit()
    return table
