"""SHOW PROCEDURES and DESCRIBE PROCEDURE, as Spark 4 has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import NotFoundError
from icesql.parser import statements as s
from icesql.procedures.base import Procedure
from icesql.procedures.registry import NAMES, procedure, procedures
from icesql.session.output.results import ResultColumns
from icesql.session.rewrite.system_functions import SYSTEM
from icesql.session.run.show.patterns import matches
from icesql.session.sql_errors import no_procedures, routine_not_found
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


def find_procedure(session: SessionState, parts: tuple[str, ...]) -> tuple[str, Procedure]:
    """The catalog's name and the procedure. Raises UnsupportedError for a catalog without procedures, NotFoundError with the nearest
    name."""
    if len(parts) > 1 and parts[0] in session.catalogs:
        catalog, rest = parts[0], parts[1:]
    elif session.names.is_ours:
        catalog, rest = session.names.current_catalog, parts if len(parts) > 1 else (*session.names.current_namespace, *parts)
    else:
        raise no_procedures(session.names.current_catalog)
    full = (catalog, *rest)
    if len(rest) != 2 or fold(rest[0]) != SYSTEM:
        raise routine_not_found(full, NAMES)
    try:
        return catalog, procedure(rest[1])
    except NotFoundError:
        raise routine_not_found(full, NAMES) from None


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
