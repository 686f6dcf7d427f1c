"""The table of Spark's classes and calls (``icesql.spark.jvm.classes``) is true of the installed Spark, and whole."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pyspark
import pytest
from py4j.java_gateway import JavaClass, JavaMember
from pyspark.sql import functions as F

from icesql.expr.tree import TRUE
from icesql.spark.jvm.classes import PYTHON_ATTRIBUTES, PYTHON_NAMES, SUPPORTED, TABLE
from icesql.spark.read.table_scan import scan_dataframe
from icesql.spec.transforms import IDENTITY
from tests.spark.jvm_walk import missing_calls

pytestmark = pytest.mark.spark
_VERSION = pyspark.__version__.rpartition(".")[0]
_FREE = ("java.", "jdk.", "sun.", "com.sun.", "py4j.", "[")  # of Java itself and of Py4J, and arrays


def test_this_spark_has_what_the_table_says(spark):
    version = ".".join(pyspark.__version__.split(".")[:2])
    assert version in SUPPORTED
    assert not missing_calls(spark, TABLE, version)


def test_this_pyspark_has_what_the_table_says(spark):
    for name in PYTHON_NAMES:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
    objects = {
        "Catalog": spark.catalog,
        "Column": F.lit(1),
        "DataFrame": spark.range(1),
        "SparkContext": spark.sparkContext,
        "SparkSession": spark,
    }
    for owner, attributes in PYTHON_ATTRIBUTES.items():
        assert not [attribute for attribute in attributes if not hasattr(objects[owner], attribute)]


def test_calls_of_reads_and_writes_are_in_the_table(spark, make_table):
    """What the JVM is called for by icesql's own modules while a table is written, read through filters, and read again."""
    with _recorded() as calls:
        table = make_table("t", spark.sql("SELECT id, CAST(id % 4 AS STRING) AS p FROM range(100)"), [("p", IDENTITY)])
        frame = scan_dataframe(spark, table, metadata_columns=("_pos",), where=TRUE)
        assert frame.where("p = '1' AND id > 50").count() == 12
    assert calls
    assert not {call for call in calls if not _is_listed(spark, *call)}


@contextmanager
def _recorded() -> Iterator[set[tuple[str, str]]]:
    """(class, ``name/number of arguments``) of each call from a module of icesql: of constructors, static methods and objects."""
    calls: set[tuple[str, str]] = set()
    of_member, of_class = JavaMember.__call__, JavaClass.__call__

    def from_icesql() -> bool:
        return sys._getframe(2).f_globals.get("__name__", "").startswith("icesql.")

    def call(member, *arguments):
        if from_icesql():
            owner = member.target_id
            name = owner[2:] if owner.startswith("z:") else _class_name(member)
            calls.add((name, f"{member.name}/{len(arguments)}"))
        return of_member(member, *arguments)

    def _class_name(member) -> str:
        class_ = of_member(JavaMember("getClass", member.container, member.target_id, member.gateway_client))
        return of_member(JavaMember("getName", class_, class_._target_id, member.gateway_client))

    def construct(class_, *arguments):
        if from_icesql():
            calls.add((class_._fqn, f"new/{len(arguments)}"))
        return of_class(class_, *arguments)

    JavaMember.__call__, JavaClass.__call__ = call, construct
    try:
        yield calls
    finally:
        JavaMember.__call__, JavaClass.__call__ = of_member, of_class


def _is_listed(spark, name: str, call: str) -> bool:
    """Whether the table has the call for the class or one that it extends."""
    if name.startswith(_FREE) or call == "getClass/0" or call == "toString/0":
        return True
    if name in TABLE and call in TABLE[name].calls_in(_VERSION):
        return True
    classes = spark._jvm.java.lang.Class
    return any(
        call in entry.calls_in(_VERSION) and classes.forName(entry.name).isAssignableFrom(classes.forName(name))
        for entry in TABLE.values()
        if _VERSION in entry.versions
    )
