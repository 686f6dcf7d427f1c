"""Looks up in a running Spark what ``icesql.spark.jvm.classes`` lists. Needs nothing of icesql, so that any release of Spark can run it:

python tests/spark/jvm_walk.py icesql/spark/jvm/classes.py
"""

from __future__ import annotations

import re
import runpy
import sys
from typing import Any

_SIGNATURE = re.compile(r"([\w.$]+)\(([^()]*)\)")


def missing_calls(spark: Any, table: dict[str, Any], version: str) -> list[str]:
    """What the table says of that version of Spark and the running one lacks; and classes it has that the table denies it."""
    missing = []
    for name, entry in table.items():
        known = _signatures(spark._jvm, name)
        if version not in entry.versions:
            missing += [] if known is None else [f"{name}: is there after all"]
        elif known is None:
            missing.append(name)
        else:
            missing += [f"{name}.{call}" for call in entry.calls_in(version) if call not in known]
    return missing


def _signatures(jvm: Any, name: str) -> set[str] | None:
    """Methods, inherited ones too, and constructors (``new``) as ``name/number of arguments``; ``None`` if there is no such class."""
    from py4j.protocol import Py4JJavaError

    try:
        class_ = jvm.java.lang.Class.forName(name, False, jvm.java.lang.Thread.currentThread().getContextClassLoader())
    except Py4JJavaError:
        return None
    members = (class_.getMethods(), class_.getDeclaredMethods(), class_.getConstructors(), class_.getDeclaredConstructors())
    signatures = set()
    for array in members:
        text = jvm.scala.runtime.ScalaRunTime.stringOf(array).removeprefix("Array(")
        for full, arguments in _SIGNATURE.findall(text):
            count = arguments.count(",") + 1 if arguments else 0
            signatures.add(f"{'new' if full == name else full.rpartition('.')[2]}/{count}")
    return signatures


if __name__ == "__main__":
    from pyspark import __version__
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    print(__version__, *missing_calls(session, runpy.run_path(sys.argv[1])["TABLE"], ".".join(__version__.split(".")[:2])), sep="\n")
    session.stop()
