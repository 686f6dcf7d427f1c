"""``spark.catalog`` for stock Spark with Iceberg's runtime and, after ``icesql.enable(spark)``, for icesql: the answers must be equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.sql.frame_steps import answered


def answers(spark: Any, namespace: str) -> list[tuple[str, Any]]:
    """Each call's name, and what it answers or ``"refused"``."""
    columns = "id INT COMMENT 'the id', s STRING, p INT"
    spark.sql(f"CREATE TABLE {namespace}.c1 ({columns}) USING iceberg PARTITIONED BY (p, bucket(4, id)) COMMENT 'c'")
    spark.sql(f"INSERT INTO {namespace}.c1 VALUES (1, 'a', 0)")
    try:
        return [(name, answered(step)) for part in (_named, _current, _kept) for name, step in part(spark, spark.catalog, namespace)]
    finally:
        spark.sql("USE spark_catalog.default")


Steps = Iterator[tuple[str, Callable[[], Any]]]


def _named(spark: Any, c: Any, ns: str) -> Steps:
    """By full names, from Spark's own catalog."""
    catalog = ns.split(".")[0]
    yield "where", lambda: (c.currentCatalog(), c.currentDatabase())
    yield "catalogs", lambda: "local" in [each.name for each in c.listCatalogs()]
    yield "catalogs like", lambda: [each.name for each in c.listCatalogs("loc*")]
    yield "tables that exist", lambda: [c.tableExists(f"{ns}.{each}") for each in ("c1", "nope", "c1.files", "c1.branch_main")]
    yield "tables that exist nowhere", lambda: (c.tableExists("nope"), c.tableExists("c1", ns), c.tableExists(f"{catalog}.zz.c1"))
    yield "namespaces that exist", lambda: [c.databaseExists(each) for each in (ns, f"{catalog}.nope", "default", "nope")]
    yield "table", lambda: c.getTable(f"{ns}.c1")
    yield "no table", lambda: c.getTable(f"{ns}.nope")
    yield "namespace", lambda: c.getDatabase(ns)._replace(locationUri="")
    yield "no namespace", lambda: c.getDatabase(f"{catalog}.nope")
    yield "columns", lambda: c.listColumns(f"{ns}.c1")
    yield "no columns", lambda: c.listColumns(f"{ns}.nope")
    yield "no tables", lambda: c.listTables(f"{catalog}.nope")
    yield "functions", lambda: [c.functionExists(each) for each in ("abs", "nope", f"{catalog}.system.bucket")]
    yield "another catalog's namespace", lambda: c.setCurrentDatabase(ns)
    yield "no catalog", lambda: c.setCurrentCatalog("zzz")
    yield "still", lambda: (c.currentCatalog(), c.currentDatabase())


def _current(spark: Any, c: Any, ns: str) -> Steps:
    """By short names, where the tables are."""
    catalog, name = ns.split(".")
    yield "catalog", lambda: c.setCurrentCatalog(catalog)
    yield "in the catalog", lambda: (c.currentCatalog(), c.currentDatabase())
    yield "its namespaces", lambda: [(each.name, each.catalog) for each in c.listDatabases(f"{name}*")]
    yield "current namespace", lambda: c.setCurrentDatabase(name)
    yield "in the namespace", lambda: (c.currentCatalog(), c.currentDatabase())
    yield "by SQL", lambda: spark.sql("SELECT current_catalog(), current_database()")
    yield "no such namespace", lambda: c.setCurrentDatabase("nope")
    yield "no name of both", lambda: c.setCurrentDatabase(ns)
    yield "rows", lambda: spark.table("c1")
    yield "read", lambda: spark.read.table("c1")
    yield "exist", lambda: (c.tableExists("c1"), c.tableExists(f"{name}.c1"), c.tableExists("nope"))
    yield "its columns", lambda: [each.name for each in c.listColumns("c1")]
    yield "append", lambda: spark.sql("SELECT 2 AS id, 'b' AS s, 1 AS p").writeTo("c1").append()
    yield "insert", lambda: spark.sql("SELECT 3 AS id, 'b' AS s, 1 AS p").write.insertInto("c1")
    yield "make", lambda: c.createTable("c3", schema=spark.table("c1").schema, source="iceberg", description="d", k="v")
    yield "made", lambda: spark.sql(f"SHOW TBLPROPERTIES {ns}.c3").where("key NOT IN ('owner', 'current-snapshot-id')")
    yield "make without columns", lambda: c.createTable("c4", source="iceberg")
    yield "make again", lambda: c.createTable("c3", schema=spark.table("c1").schema, source="iceberg")


def _kept(spark: Any, c: Any, ns: str) -> Steps:
    """Caches, and temporary views that hide tables."""
    yield "keep", lambda: c.cacheTable("c1")
    yield "kept", lambda: (c.isCached("c1"), c.isCached(f"{ns}.c1"))
    yield "rows kept", lambda: spark.table("c1")
    yield "let go", lambda: c.uncacheTable("c1")
    yield "gone", lambda: c.isCached("c1")
    yield "keep nothing", lambda: c.cacheTable("nope")
    yield "is nothing kept", lambda: c.isCached("nope")
    yield "let nothing go", lambda: c.uncacheTable("nope")
    yield "refresh", lambda: c.refreshTable("c1")
    yield "refresh nothing", lambda: c.refreshTable("nope")
    yield "recover", lambda: c.recoverPartitions("c1")
    yield "view", lambda: spark.table("c1").createOrReplaceTempView("seen")
    yield "its rows", lambda: spark.table("seen")
    yield "its entry", lambda: (c.tableExists("seen"), c.getTable("seen"))
    yield "hide", lambda: spark.range(1).createOrReplaceTempView("c1")
    yield "hidden", lambda: spark.table("c1")
    yield "hidden columns", lambda: [each.name for each in c.listColumns("c1")]
    yield "append to what hides", lambda: spark.range(1).writeTo("c1").append()
    yield "show", lambda: (c.dropTempView("c1"), c.dropTempView("seen"), c.dropTempView("nope"))
    yield "shown", lambda: spark.table("c1").select("id")
    yield "with a frame", lambda: spark.sql("SELECT id FROM {frame} WHERE id > {least}", frame=spark.table("c1"), least=1)
