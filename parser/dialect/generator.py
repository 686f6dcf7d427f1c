"""Trees of the dialect back to SQL. Pretty, each clause of a statement stands on a line of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from icesql.parser.dialect import nodes
from icesql.parser.dialect.print_catalog import PrintCatalog
from icesql.parser.dialect.print_rows import PrintRowChanges
from icesql.parser.dialect.print_session import PrintSession
from icesql.parser.dialect.print_tables import PrintTables
from icesql.parser.dialect.sqlglot_source import Spark, exp

_Types = exp.DataType.Type


class Generator(PrintTables, PrintCatalog, PrintRowChanges, PrintSession):
    EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[Any]] = set()
    TABLESAMPLE_SEED_KEYWORD = "REPEATABLE"

    TYPE_MAPPING = {
        **Spark.Generator.TYPE_MAPPING,
        _Types.TIME: "TIME", _Types.UUID: "UUID", _Types.NULL: "VOID", _Types.CHAR: "CHAR", _Types.VARCHAR: "VARCHAR",
        _Types.TIMESTAMP_NS: "TIMESTAMP_NS", _Types.TIMESTAMPLTZ: "TIMESTAMP_LTZ", _Types.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
        _Types.VARIANT: "VARIANT", _Types.GEOMETRY: "GEOMETRY", _Types.GEOGRAPHY: "GEOGRAPHY",
    }  # fmt: skip


def _own_nodes() -> dict[Any, Any]:
    """Newer releases find the methods of nodes that are their own only."""
    own = (node for node in vars(nodes).values() if isinstance(node, type) and issubclass(node, exp.Expression))
    return {node: getattr(Generator, f"{node.__name__.lower()}_sql") for node in own if hasattr(Generator, f"{node.__name__.lower()}_sql")}


_CHANGED = (exp.Insert, exp.Delete, exp.Update, exp.Merge, exp.When, exp.ColumnDef, exp.DataType, exp.Anonymous, exp.Property)
Generator.TRANSFORMS = {
    **Spark.Generator.TRANSFORMS,
    **_own_nodes(),
    **{node: getattr(Generator, f"{node.__name__.lower()}_sql") for node in _CHANGED},
    exp.LikeProperty: Generator.likeproperty_sql,
    exp.ExternalProperty: Generator.externalproperty_sql,
    exp.With: Generator.with_sql,  # Spark 4 knows recursive ones
}
