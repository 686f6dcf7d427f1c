"""SHOW FUNCTIONS and DESCRIBE FUNCTION in our catalogs: Spark's own, and the seven of ``system``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.session.output.patterns import matches
from icesql.session.output.results import ResultColumns
from icesql.session.rewrite.system_functions import SYSTEM
from icesql.session.sql_errors import schema_not_found
from icesql.spark.functions.system_functions import FUNCTIONS
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

SHOWN = ResultColumns("function string!")


def show_functions(session: SessionState, statement: s.ShowFunctions | s.DescribeFunction) -> DataFrame:
    if isinstance(statement, s.DescribeFunction):
        if session.names.address(statement.function.parts) is None or len(statement.function.parts) == 1:
            return session.spark_sql(statement.text)
        catalog = session.names.address(statement.function.parts)
        assert catalog is not None
        raise UnsupportedError(
            spark_message("MISSING_CATALOG_ABILITY.FUNCTIONS", f"Catalog {catalog.catalog.name} does not support functions.")
        )
    where = session.names.namespace(None if statement.namespace is None else statement.namespace.parts)
    if where is None:
        return session.spark_sql(statement.text)
    catalog_found, namespace = where
    if namespace not in ((), (SYSTEM,)) and not catalog_found.namespace_exists(namespace):
        raise schema_not_found((catalog_found.name, *namespace))
    rows: list[str] = []
    if statement.kind != "USER":
        rows = [row[0] for row in session.spark_sql("SHOW SYSTEM FUNCTIONS").collect() if matches(row[0], statement.pattern)]
    if statement.kind != "SYSTEM" and namespace in ((), (SYSTEM,)):
        ours = [name for name in FUNCTIONS if matches(name, statement.pattern)]
        rows += [".".join((catalog_found.name, *namespace, name)) for name in ours]
    return SHOWN.frame(session.spark, [(name,) for name in rows])
