"""The views of create_changelog_view over a table's raw changes: carry-over rows removed, net changes, or update pre- and post-images.

Copy-on-write deletes and inserts again the rows that it only carries along. As values such a pair cancels out; what is left is the change.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from icesql.spark.read.columns import quoted

TYPE, ORDINAL, SNAPSHOT = "_change_type", "_change_ordinal", "_commit_snapshot_id"
_NET = "__icesql_net"


def without_carried_over(changes: DataFrame) -> DataFrame:
    """Equal rows that one snapshot both deletes and inserts are left out, pair by pair."""
    variants = [field.name for field in changes.schema.fields if _holds_variant(field.dataType)]  # Spark groups by no variants
    keys = [F.col(quoted(name)) for name in changes.columns if name != TYPE and name not in variants]
    keys += [F.to_json(F.col(quoted(name))).alias(f"__text_{number}") for number, name in enumerate(variants)]
    values = [F.first(quoted(name)).alias(name) for name in variants]
    netted = changes.groupBy(*keys).agg(F.sum(_sign()).alias(_NET), *values).where(F.col(_NET) != 0)
    typed = netted.withColumn(TYPE, F.when(F.col(_NET) > 0, F.lit("INSERT")).otherwise(F.lit("DELETE")))
    return _repeated(typed, changes.columns)


def net_changes(changes: DataFrame) -> DataFrame:
    """Equal rows cancel out across snapshots too. What is left of a row is shown with the first change that nothing undid."""
    record = [F.col(quoted(name)) for name in changes.columns if name not in (TYPE, ORDINAL, SNAPSHOT)]
    window = Window.partitionBy(*record)
    in_order = window.orderBy(F.col(ORDINAL), F.col(TYPE), F.col("__place"))
    placed = changes.withColumn("__place", F.monotonically_increasing_id())
    counted = placed.withColumns(
        {"__row": F.row_number().over(in_order), "__sum": F.sum(_sign()).over(in_order.rowsBetween(Window.unboundedPreceding, 0))}
    )
    totals = counted.withColumns(
        {
            _NET: F.sum(_sign()).over(window),
            "__settled": F.coalesce(F.max(F.when(F.col("__sum") == 0, F.col("__row"))).over(window), F.lit(0)),
        }
    )
    return _repeated(totals.where((F.col(_NET) != 0) & (F.col("__row") == F.col("__settled") + 1)), changes.columns)


def with_update_images(changes: DataFrame, identifier_columns: Sequence[str]) -> DataFrame:
    """A delete and an insert of one snapshot with equal identifiers become UPDATE_BEFORE and UPDATE_AFTER.

    Reading the frame fails where one snapshot deletes several rows with the same identifiers.
    """
    changed = without_carried_over(changes)
    keys = [F.col(quoted(name)) for name in (*identifier_columns, ORDINAL)]
    window = Window.partitionBy(*keys)
    deleted, inserted = F.col(TYPE) == "DELETE", F.col(TYPE) == "INSERT"
    rank = F.row_number().over(Window.partitionBy(*keys, F.col(TYPE)).orderBy(F.lit(0)))
    counted = changed.withColumns(
        {
            "__deletes": F.sum(deleted.cast("int")).over(window),
            "__inserts": F.sum(inserted.cast("int")).over(window),
            "__rank": rank,
        }
    )
    names = ", ".join(identifier_columns)
    ambiguous = (
        f"Cannot compute updates because there are multiple rows with the same identifier fields([{names}]). "
        "Please make sure the rows are unique."
    )
    image = (
        F.when(F.col("__deletes") > 1, F.raise_error(F.lit(ambiguous)).cast("string"))
        .when((F.col("__deletes") == 1) & (F.col("__inserts") > 0) & deleted, F.lit("UPDATE_BEFORE"))
        .when((F.col("__deletes") == 1) & inserted & (F.col("__rank") == 1), F.lit("UPDATE_AFTER"))
        .otherwise(F.col(TYPE))
    )
    return counted.withColumn(TYPE, image).select(*map(quoted, changes.columns))


def _sign() -> Column:
    return F.when(F.col(TYPE) == "INSERT", F.lit(1)).otherwise(F.lit(-1))


def _holds_variant(type_: DataType) -> bool:
    match type_:
        case StructType():
            return any(_holds_variant(field.dataType) for field in type_.fields)
        case ArrayType():
            return _holds_variant(type_.elementType)
        case MapType():
            return _holds_variant(type_.valueType)
        case _:
            return isinstance(type_, VariantType)


def _repeated(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Each row as often as its net count says."""
    times = F.explode(F.sequence(F.lit(1), F.abs(F.col(_NET)).cast("int")))
    return frame.withColumn("__copy", times).select(*map(quoted, columns))
