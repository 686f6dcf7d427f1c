"""Tables with columns named like metadata columns: as with Iceberg's runtime, those cannot be read until they are renamed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from icesql.spec.schema import Schema
from icesql.table.scan.metadata_columns import NAMES


def without_reserved_names(frame: DataFrame, schema: Schema) -> DataFrame:
    """The frame, in which a column of the table that has a reserved name fails the query that needs its values; other columns are read."""
    reserved = [field.name for field in schema.fields if field.name in NAMES]
    if not reserved:
        return frame
    message = (
        "Table column names conflict with names reserved for Iceberg metadata columns: "
        f"[{', '.join(reserved)}].\nPlease, use ALTER TABLE statements to rename the conflicting table columns."
    )
    types = {field.name: field.dataType for field in frame.schema.fields}
    return frame.withColumns({name: F.raise_error(F.lit(message)).cast(types[name]) for name in reserved})
