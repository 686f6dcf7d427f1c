"""The oracle process: stock PySpark with Iceberg's own runtime JAR, asked over a pipe.

It lives in a process of its own because a Python process has one JVM, and icesql's must not have the JAR.
Requests: ("sql", text), ("call", "module:function", args), ("stop",). Answers: ("rows", columns, rows), ("value", value), ("error", text).
"""

from __future__ import annotations

import importlib
import logging
import os
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

JARS = Path(__file__).resolve().parents[2] / ".oracle" / "jars"
# Only the oracle's answers count: for tables of a few rows, compiling each of its plans to Java classes costs half its processor time.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
# The runtime reads and filters manifests in threads, and what it lists in the order they end is chance: with one thread it has one answer.
ONE_THREAD = "-Diceberg.worker.num-threads=1"

# Hadoop's local file system starts the program chmod for each file and folder it makes, a tenth of the oracle's time: this one does not.
FILES_WITHOUT_MODES = """
package oracle;
public class FilesWithoutModes extends org.apache.hadoop.fs.RawLocalFileSystem {
    public void setPermission(org.apache.hadoop.fs.Path path, org.apache.hadoop.fs.permission.FsPermission mode) {}
    public String getScheme() { return "file"; }
}
"""


def start_session(warehouse: str, conf: dict[str, str]) -> Any:
    """Stock Spark with the runtime, and the hadoop catalog ``local`` on ``warehouse``."""
    from pyspark.sql import SparkSession

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True
    jars = sorted(str(jar) for jar in JARS.glob("*.jar"))
    if sum("iceberg-spark-runtime" in jar for jar in jars) != 1:
        raise RuntimeError(f"Cannot start the oracle: one Iceberg runtime is wanted in {JARS}: run scripts/fetch_oracle.sh")
    settings = {
        **conf,
        **INTERPRETED,
        "spark.jars": ",".join(jars),
        "spark.driver.extraJavaOptions": ONE_THREAD,
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.local.type": "hadoop",
        "spark.sql.catalog.local.warehouse": warehouse,
        "spark.sql.catalog.local.cache-enabled": "false",
        "spark.sql.warehouse.dir": f"{warehouse}/../oracle-spark-warehouse",
    }
    builder = SparkSession.builder.master("local[2]").appName("oracle")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    leave_modes_alone(spark)
    return spark


def leave_modes_alone(spark: Any) -> None:
    """Let this JVM open files through ``FILES_WITHOUT_MODES``: Hadoop keeps one file system per scheme, and this becomes the first."""
    jvm = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()  # comes with Spark
    compiler.cook(FILES_WITHOUT_MODES)
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.setClassLoader(compiler.getClassLoader())
    configuration.set("fs.file.impl", "oracle.FilesWithoutModes")
    jvm.org.apache.hadoop.fs.FileSystem.closeAll()
    jvm.org.apache.hadoop.fs.FileSystem.get(jvm.java.net.URI.create("file:///"), configuration)


def answer(spark: Any, request: tuple[Any, ...]) -> tuple[Any, ...]:
    """One request, answered; Spark's errors come back as text."""
    match request:
        case ("sql", str(text)):
            frame = spark.sql(text)
            rows = frame.collect()
            return ("rows", [(f.name, f.dataType.simpleString()) for f in frame.schema.fields], [tuple(row) for row in rows])
        case ("call", str(target), args):
            module, function = target.split(":")
            return ("value", getattr(importlib.import_module(module), function)(spark, *args))
    raise ValueError(f"unknown request: {request!r}")


def serve(pipe: Connection, warehouse: str, conf: dict[str, str]) -> None:
    """Answer until told to stop. Runs in the child process."""
    os.environ.pop("SPARK_CONF_DIR", None)
    try:
        spark = start_session(warehouse, conf)
    except Exception as error:
        pipe.send(("error", f"{type(error).__name__}: {error}"))
        return
    pipe.send(("value", "ready"))
    while (request := pipe.recv()) != ("stop",):
        try:
            pipe.send(answer(spark, request))
        except Exception as error:
            pipe.send(("error", f"{type(error).__name__}: {getattr(error, 'desc', None) or error}"))
    spark.stop()
