"""Schemas and rows the catalog tests share."""

from __future__ import annotations

import pyarrow as pa

from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import parse_transform
from icesql.spec.types import LongType, NestedField, StringType

SCHEMA = Schema((NestedField(1, "id", LongType(), required=True), NestedField(2, "data", StringType())))
BY_ID = PartitionSpec(fields=(PartitionField(source_ids=(1,), field_id=1000, transform=parse_transform("bucket[4]"), name="id_bucket"),))


def rows(*ids: int, data: str = "a") -> pa.Table:
    fields = [pa.field("id", pa.int64(), nullable=False), pa.field("data", pa.string())]
    return pa.table({"id": list(ids), "data": [f"{data}{i}" for i in ids]}, schema=pa.schema(fields))
