"""SHOW PROCEDURES and DESCRIBE PROCEDURE, as Spark 4 has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s
from icesql.procedures.registry import procedures
from icesql.session.output.patterns import matches
from icesql.session.output.results import ResultColumns
from icesql.session.rewrite.system_functions import SYSTEM
from icesql.session.run.call import find_procedure
from icesql.session.sql_errors import no_procedures
from icesql.spec.case_folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

PROCEDURES = ResultColumns("catalog string!", "namespace array<string>", "schema string", "procedure_name string!")
DESCRIPTION = ResultColumns("procedure_desc string!")
_CLASS_NAMES = {
    "add_files": "AddFiles",
    "ancestors_of": "AncestorsOf",
    "expire_snapshots": "ExpireSnapshotProcedure",
    "fast_forward": "FastForwardBranchProcedure",
    "migrate": "MigrateTableProcedure",
    "publish_changes": "ApplyWapChangesProcedure",
    "snapshot": "SnapshotTableProcedure",
}  # those that are not named after their procedures


def show_procedures(session: SessionState, statement: s.ShowProcedures) -> DataFrame:
    """The namespace is echoed in the case it was given, as the runtime does."""
    where = session.names.namespace(None if statement.namespace is None else statement.namespace.parts)
    if where is None:
        raise no_procedures(session.names.current_catalog)
    catalog, namespace = where
    rows: list[tuple[Any, ...]] = []
    if len(namespace) == 1 and fold(namespace[0]) == SYSTEM:
        rows = [(catalog.name, list(namespace), namespace[0], p.name) for p in procedures() if matches(p.name, statement.pattern)]
    return PROCEDURES.frame(session.spark, rows)


def describe_procedure(session: SessionState, statement: s.DescribeProcedure) -> DataFrame:
    """Spark prints what Iceberg's runtime calls its description: the name of the class."""
    _, described = find_procedure(session, statement.procedure.parts)
    class_name = _CLASS_NAMES.get(described.name) or "".join(word.capitalize() for word in described.name.split("_")) + "Procedure"
    return DESCRIPTION.frame(session.spark, [(f"Procedure:   {described.name}",), (f"Description: {class_name}",)])
