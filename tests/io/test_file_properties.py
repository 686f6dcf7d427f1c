"""Values of ``write.parquet.*`` and ``write.orc.*`` that Iceberg's writers refuse are refused, whether pyarrow knows them or not."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest

from icesql.errors import InvalidArgumentError
from icesql.io.avro.writer import AvroFileWriter
from icesql.io.data.writer import DataFileWriter
from icesql.io.metrics.column_metrics import FULL, MetricsConfig
from icesql.io.orc.files import OrcFileWriter
from icesql.io.parquet.files import ParquetFileWriter
from icesql.spec.schema import NestedField, Schema
from icesql.spec.types import IntegerType, ListType, StructType

SCHEMA = Schema((NestedField(1, "id", IntegerType()),))
CONFIG = MetricsConfig(default=FULL)


@pytest.mark.parametrize(
    ("writer", "key", "value", "reason"),
    [
        (ParquetFileWriter, "write.parquet.row-group-size-bytes", "0", "Row group size must be > 0"),
        (ParquetFileWriter, "write.parquet.page-version", "v9", "Unsupported Parquet page version: v9"),
        (ParquetFileWriter, "write.parquet.page-row-limit", "0", "Page row count limit must be > 0"),
        (ParquetFileWriter, "write.parquet.row-group-check-min-record-count", "20000", "must be >= minimal record count"),
        (AvroFileWriter, "write.avro.compression-level", "10", "gzip has no compression level 10"),
        (OrcFileWriter, "write.orc.vectorized.batch-size", "0", "batch size must be > 0"),
        (OrcFileWriter, "write.orc.stripe-size-bytes", "0", "Stripe size must be > 0"),
        (OrcFileWriter, "write.orc.compression-strategy", "nope", "unknown compression strategy: nope"),
        (OrcFileWriter, "write.orc.bloom.filter.fpp", "2", "Bloom filter fpp must be > 0.0 and < 1.0"),
    ],
)
def test_a_value_is_refused(writer: type[ParquetFileWriter | OrcFileWriter | AvroFileWriter], key: str, value: str, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        writer(io.BytesIO(), SCHEMA, {key: value}, CONFIG)


def test_a_bloom_filter_has_a_rate_between_0_and_1(tmp_path: Path) -> None:
    properties = {"write.parquet.bloom-filter-enabled.column.id": "true", "write.parquet.bloom-filter-fpp.column.id": "2.0"}
    writer = DataFileWriter(lambda: f"{tmp_path}/data.parquet", SCHEMA, properties)
    writer.write(pa.table({"id": pa.array([1], pa.int32())}))
    with pytest.raises(InvalidArgumentError, match=r"false positives of id should be between 0\.0 and 1\.0: 2\.0"):
        writer.close()
    assert not list(tmp_path.iterdir())  # no empty file is left


def test_levels_of_parquet() -> None:
    """As Spark wrote with Iceberg 1.11: zstd takes the nearest level that it has, gzip refuses."""
    for level in ("99", "-200000"):
        ParquetFileWriter(io.BytesIO(), SCHEMA, {"write.parquet.compression-level": level}, CONFIG).abandon()
    gzip = {"write.parquet.compression-codec": "gzip", "write.parquet.compression-level": "99"}
    with pytest.raises(InvalidArgumentError, match="compression level 99 of gzip is not between"):
        ParquetFileWriter(io.BytesIO(), SCHEMA, gzip, CONFIG)


def test_stripes_of_no_size_are_refused_where_rows_are_written(tmp_path: Path) -> None:
    writer = DataFileWriter(lambda: f"{tmp_path}/data.orc", SCHEMA, {"write.orc.stripe-size-bytes": "0"}, file_format="orc")
    writer.write(pa.table({"id": pa.array([1], pa.int32())}))
    with pytest.raises(InvalidArgumentError, match="Stripe size must be > 0"):
        writer.close()
    writer.abort()
    assert not list(tmp_path.iterdir())


def test_a_struct_without_fields_is_refused_for_parquet() -> None:
    schema = Schema((NestedField(1, "a", ListType(2, StructType(()))),))
    with pytest.raises(InvalidArgumentError, match=r"struct without fields: a\.element"):
        ParquetFileWriter(io.BytesIO(), schema, {}, CONFIG)
