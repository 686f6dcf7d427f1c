"""One warehouse that icesql, the oracle and PyIceberg share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import icesql
from icesql.spec.json.specs import spec_to_json
from icesql.spec.json.types import schema_to_json
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.table.table import Table


@dataclass(frozen=True)
class Shared:
    """A hadoop catalog ``local``, seen by icesql's light API, its Spark session and the oracle; ``folder(name)`` is a table's place."""

    catalog: Any
    session: Any
    oracle: Any

    def folder(self, name: str) -> str:
        return f"{self.oracle.warehouse}/interop/{name}"

    def load(self, name: str) -> Table:
        table: Table = self.catalog.load_table(f"interop.{name}")
        return table

    def call(self, target: str, *args: Any) -> Any:
        """A function of ``tests.interop.java_tables`` (or of the module given before a colon) in the oracle process."""
        return self.oracle.call(target if ":" in target else f"tests.interop.java_tables:{target}", *args)

    def frame(self, query: str) -> Any:
        return self.session.sql(query)

    def light(self, name: str, **options: Any) -> pa.Table:
        return self.load(name).scan(**options).to_arrow()


def texts(schema: Schema, spec: PartitionSpec) -> tuple[str, str]:
    return json.dumps(schema_to_json(schema)), json.dumps(spec_to_json(spec))


@pytest.fixture(scope="session")
def shared(spark: Any, oracle: Any) -> Iterator[Shared]:
    configuration = {"type": "hadoop", "warehouse": oracle.warehouse}
    catalog = icesql.connect_catalog("local", **configuration)
    session = icesql.connect(spark, catalogs={"local": configuration})
    yield Shared(catalog, session, oracle)
    catalog.close()
