"""Spark's session catalog: its tables, their partitions, and its functions. Identifiers are a database and a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTable:
    """What the catalog keeps of a table. ``location`` is a URI. ``provider`` is ``None`` for a Hive table, which has a ``serde``."""

    is_view: bool
    location: str
    provider: str | None
    serde: str | None
    schema_json: str
    partition_columns: tuple[str, ...]
    properties: dict[str, str]
    is_bucketed: bool


def current_database(spark: SparkSession) -> str:
    return str(_catalog(spark).getCurrentDatabase())


def table_exists(spark: SparkSession, database: str, name: str) -> bool:
    """Whether the catalog has a table or view of that name."""
    return bool(_catalog(spark).tableExists(_identifier(bridge_of(spark), database, name)))


def catalog_table(spark: SparkSession, database: str, name: str) -> CatalogTable:
    """Raises Spark's error where there is none; a view has no location."""
    bridge = bridge_of(spark)
    table = _catalog(spark).getTableMetadata(_identifier(bridge, database, name))
    is_view = str(table.tableType().name()) == "VIEW"
    return CatalogTable(
        is_view=is_view,
        location="" if is_view else str(table.location().toString()),
        provider=_text(table.provider()),
        serde=_text(table.storage().serde()),
        schema_json=str(table.schema().json()),
        partition_columns=tuple(map(str, bridge.as_java(table.partitionColumnNames()))),
        properties={str(key): str(value) for key, value in dict(bridge.as_java(table.properties())).items()},
        is_bucketed=bool(table.bucketSpec().isDefined()),
    )


def partitions(spark: SparkSession, database: str, name: str) -> Iterator[tuple[dict[str, str], str]]:
    """(value by column, location as a URI) of each partition that the catalog keeps of a table."""
    bridge = bridge_of(spark)
    for partition in bridge.as_java(_catalog(spark).listPartitions(_identifier(bridge, database, name), bridge.none)):
        values = {str(key): str(value) for key, value in dict(bridge.as_java(partition.spec())).items()}
        yield values, str(partition.location().toString())


def make_external(spark: SparkSession, database: str, name: str) -> None:
    """From now on, dropping or renaming the table leaves its files where they are."""
    bridge, catalog = bridge_of(spark), _catalog(spark)
    table = catalog.getTableMetadata(_identifier(bridge, database, name))
    # ``copy`` takes all fields by position, the type second.
    fields = [getattr(table, f"copy$default${place}")() for place in range(1, table.productArity() + 1)]
    fields[1] = bridge.java_class(classes.CATALOG_TABLE_TYPE).EXTERNAL()
    catalog.alterTable(table.copy(*fields))


def rename_table(spark: SparkSession, database: str, name: str, new_name: str) -> None:
    bridge = bridge_of(spark)
    _catalog(spark).renameTable(_identifier(bridge, database, name), _identifier(bridge, database, new_name))


def drop_table(spark: SparkSession, database: str, name: str) -> None:
    """Nothing happens where there is none."""
    _catalog(spark).dropTable(_identifier(bridge_of(spark), database, name), True, False)


# -- functions ---------------------------------------------------------------------------------------------------------
def register_function(bridge: Bridge, name: str, builder: object) -> None:
    """``builder``: a Scala function from a Seq of argument expressions to the expression that a call stands for."""
    bridge.state.functionRegistry().createOrReplaceTempFunction(name, builder, "scala_udf")


def drop_function(bridge: Bridge, name: str) -> None:
    """By the catalog, which knows what the registry of this version of Spark calls it. Nothing happens where there is none."""
    bridge.state.catalog().dropTempFunction(name, True)


def _catalog(spark: SparkSession) -> JavaObject:
    return bridge_of(spark).state.catalog()


def _identifier(bridge: Bridge, database: str, name: str) -> JavaObject:
    some = bridge.java_class("scala.Option").apply(database)
    return bridge.java_class(classes.TABLE_IDENTIFIER)(name, some)


def _text(option: JavaObject) -> str | None:
    return str(option.get()) if option.isDefined() else None
