"""Checks sizes that read options and properties give. icesql splits and batches by its own rules, but refuses what Iceberg refuses."""

from __future__ import annotations

from collections.abc import Mapping

from icesql.errors import InvalidArgumentError
from icesql.spec.properties import (
    METADATA_SPLIT_SIZE,
    PARQUET_BATCH_SIZE,
    SPLIT_LOOKBACK,
    SPLIT_OPEN_FILE_COST,
    SPLIT_SIZE,
    property_as_int,
    whole_number,
)
from icesql.table.scan.splits import SPLIT_SIZE_BYTES, split_options


def check_splits(properties: Mapping[str, str], options: Mapping[str, str] | None = None) -> None:
    """Check ``read.split.*`` of a table, or the options that replace them; the property must be a number even then.

    Raises InvalidArgumentError, ValidationError.
    """
    for key in (SPLIT_SIZE, SPLIT_LOOKBACK, SPLIT_OPEN_FILE_COST):
        property_as_int(properties, key)
    split_options(properties, options)


def check_metadata_splits(properties: Mapping[str, str], metadata_table: str = "all_manifests") -> None:
    """As ``check_splits`` for a metadata table, whose split size is another property; Iceberg's procedures that search for files read one.

    Raises InvalidArgumentError, ValidationError.
    """
    key = SPLIT_SIZE if metadata_table == "position_deletes" else METADATA_SPLIT_SIZE
    check_splits({**properties, SPLIT_SIZE: properties.get(key, str(SPLIT_SIZE_BYTES))})


def check_batch_size(properties: Mapping[str, str], options: Mapping[str, str] | None = None) -> None:
    """Rows of a batch, by the option ``batch-size`` or ``read.parquet.vectorization.batch-size``. Raises InvalidArgumentError."""
    text = (options or {}).get("batch-size", properties.get(PARQUET_BATCH_SIZE, "1"))
    try:
        fits = whole_number(text) > 0
    except ValueError:
        fits = False
    if not fits:
        raise InvalidArgumentError(f'Cannot read option batch-size: For input string: "{text}"')
