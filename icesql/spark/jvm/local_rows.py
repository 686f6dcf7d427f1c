"""Rows of the driver as a DataFrame without a Spark job, and small frames back as Arrow.

A ``LocalRelation`` is folded by the optimiser: collecting it, or counting it, starts no task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from icesql.spark.jvm.arrow_schema import to_arrow_schema
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject


def local_frame(spark: SparkSession, rows: Iterable[Sequence[Any] | Mapping[str, Any]], schema: StructType) -> DataFrame:
    """A DataFrame of rows (tuples in the order of ``schema``, or mappings by name) with exactly that schema, nullability included.

    Timestamps are ``datetime`` values (naive ones mean UTC) or microseconds since the epoch; maps are dicts or pairs.
    """
    arrow_schema = to_arrow_schema(schema)
    names = schema.names
    tuples = [tuple(row.get(n) for n in names) if isinstance(row, Mapping) else tuple(row) for row in rows]
    columns = list(zip(*tuples, strict=True)) if tuples else [()] * len(names)
    arrays = [_array(column, field.type) for column, field in zip(columns, arrow_schema, strict=True)]
    return arrow_frame(spark, pa.Table.from_arrays(arrays, schema=arrow_schema), schema)


def arrow_frame(spark: SparkSession, table: pa.Table, schema: StructType) -> DataFrame:
    """A DataFrame of an Arrow table; its columns are taken by position and cast to ``schema`` where their types differ."""
    bridge = bridge_of(spark)
    with record_batches(bridge, table, schema) as batches:
        return DataFrame(bridge.arrow_converters.toDataFrame(batches, schema.json(), bridge.session), spark)


@contextmanager
def record_batches(bridge: Bridge, table: pa.Table, schema: StructType) -> Iterator[JavaObject]:
    """An Arrow table as ``ArrowConverters`` takes it, a Scala iterator of byte arrays; columns as for ``arrow_frame``."""
    wanted = to_arrow_schema(schema)
    if table.schema.types != wanted.types:
        table = pa.Table.from_arrays(
            [c if c.type == f.type else c.cast(f.type) for c, f in zip(table.columns, wanted, strict=True)], schema=wanted
        )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    with bridge.input_stream(sink.getvalue().to_pybytes()) as stream:
        yield bridge.arrow_converters.getBatchesFromStream(bridge.new_channel(stream))


def collect_arrow(frame: DataFrame) -> pa.Table:
    """All rows of a frame as one Arrow table, in the types Spark sends.

    Rows of a local relation come without a Spark job. ``toArrow`` would run one, and cast, and fail on a null struct with required fields.
    """
    plan = frame._jdf.queryExecution().optimizedPlan()
    if plan.nodeName() == "LocalRelation":
        return _local_arrow(frame, plan)
    return pa.Table.from_batches(frame._collect_as_arrow(empty_list_if_zero_records=False))


def _local_arrow(frame: DataFrame, plan: JavaObject) -> pa.Table:
    bridge = bridge_of(frame.sparkSession)
    batches = bridge.arrow_converters.toBatchWithSchemaIterator(
        plan.data().iterator(), plan.schema(), 1 << 30, 64 << 20, "UTC", True, False
    )
    tables = [pa.ipc.open_stream(data).read_all() for data in bridge.byte_arrays(batches)]
    if tables:
        return pa.concat_tables(tables)
    return to_arrow_schema(frame.schema).empty_table()


def is_local(frame: DataFrame) -> bool:
    """True if the optimised plan is a local relation: its rows are in the driver already and collecting them starts no job."""
    return str(frame._jdf.queryExecution().optimizedPlan().nodeName()) in ("LocalRelation", "OneRowRelation")


def size_in_bytes(frame: DataFrame) -> int:
    """What the optimiser takes the rows to be."""
    return int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def _array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    return pa.array(values, type=type_, from_pandas=False)
