"""SET and RESET: Spark's own settings; ours are re-read when a catalog's change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s

if TYPE_CHECKING:
    from icesql.session.session import Session


def run_set(session: Session, statement: s.SetConfiguration | s.ResetConfiguration) -> Any:
    frame = session.spark_sql(statement.text)
    if statement.key is None or statement.key.startswith("spark.sql.catalog."):
        session.catalogs.reload()
    return frame
