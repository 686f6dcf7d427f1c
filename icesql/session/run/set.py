"""SET and RESET: Spark's own settings; ours are re-read when a catalog's change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.parser import statements as s
from icesql.session.output.results import ResultColumns
from icesql.session.state.catalogs import SPARK_CATALOG
from icesql.session.state.default_catalog import DEFAULT_CATALOG, forget_default, take_default

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

SETTING = ResultColumns("key string!", "value string!")


def run_set(session: SessionState, statement: s.SetConfiguration | s.ResetConfiguration) -> DataFrame:
    default = session.names.default_catalog
    if statement == s.SetConfiguration(text=statement.text, key=DEFAULT_CATALOG) and default != SPARK_CATALOG:
        return SETTING.frame(session.spark, [(DEFAULT_CATALOG, default)])
    frame = session.spark_sql(statement.text)
    if statement.key is None or statement.key.startswith("spark.sql.catalog."):
        session.catalogs.reload()
    if statement.key == DEFAULT_CATALOG or (statement.key is None and isinstance(statement, s.ResetConfiguration)):
        forget_default(session)
        session.names.default_catalog = take_default(session)
    return frame
