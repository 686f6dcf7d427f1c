"""Statements that look, call, set and move about, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from icesql.parser.constants import Constant
from icesql.parser.statements.base import Statement
from icesql.parser.text.names import NameParts, References, Span, TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Statement):
    """Anything that yields rows and starts with SELECT, WITH, FROM, VALUES, TABLE or a bracket."""

    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Statement):
    """EXPLAIN [mode] statement. ``mode``: None, EXTENDED, CODEGEN, COST, FORMATTED, LOGICAL, or our PRUNING; ``body``: the statement."""

    mode: str | None
    body: Span
    statement: Statement  # parsed from body's text: its offsets count from body.start


@dataclass(frozen=True, slots=True, kw_only=True)
class CallArgument:
    """``value`` is None when the expression is not a constant we fold: then Spark evaluates ``expression``."""

    name: str | None
    expression: Span
    value: Constant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Statement):
    procedure: TableName
    arguments: tuple[CallArgument, ...] = ()
    references: References = field(default_factory=References)  # tables in subqueries of arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Statement):
    """USE [NAMESPACE | SCHEMA | DATABASE] name; ``namespace_only`` when the keyword is there. SET CATALOG gives UseCatalog."""

    name: TableName
    namespace_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCatalog(Statement):
    """SET CATALOG name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTables(Statement):
    namespace: TableName | None = None
    pattern: str | None = None
    extended: bool = False
    partition: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowViews(Statement):
    namespace: TableName | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNamespaces(Statement):
    parent: TableName | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCatalogs(Statement):
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCurrentNamespace(Statement):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTableProperties(Statement):
    table: TableName
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowColumns(Statement):
    """SHOW COLUMNS IN t [IN ns]; ``namespace`` is the second, which replaces the table's."""

    table: TableName
    namespace: TableName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCreateTable(Statement):
    table: TableName
    as_serde: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPartitions(Statement):
    table: TableName
    partition: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowFunctions(Statement):
    """``kind``: ALL, SYSTEM or USER."""

    kind: str = "ALL"
    namespace: TableName | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowProcedures(Statement):
    namespace: TableName | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTable(Statement):
    """DESCRIBE [TABLE] [EXTENDED | FORMATTED] t [PARTITION (...)] [column] [AS JSON]."""

    table: TableName
    extended: bool = False
    column: NameParts | None = None
    partition: Span | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeNamespace(Statement):
    namespace: TableName
    extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeFunction(Statement):
    function: TableName
    extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeProcedure(Statement):
    procedure: TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeQuery(Statement):
    """DESCRIBE [QUERY] query."""

    query: Span
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTable(Statement):
    table: TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTable(Statement):
    """CACHE [LAZY] TABLE name [OPTIONS (...)] [[AS] query]. Without a query ``table`` is cached; with one it names a new temporary view."""

    table: TableName
    lazy: bool = False
    options: tuple[tuple[str, str], ...] = ()
    query: Span | None = None
    references: References = field(default_factory=References)


@dataclass(frozen=True, slots=True, kw_only=True)
class UncacheTable(Statement):
    table: TableName
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeTable(Statement):
    """ANALYZE TABLE t ... COMPUTE STATISTICS ...; ``tables_in`` instead for ANALYZE TABLES [IN ns]."""

    table: TableName | None = None
    tables_in: TableName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedTableCommand(Statement):
    """A command Spark parses but does not do for v2 tables: ``form`` is LOAD DATA, MSCK REPAIR TABLE, CREATE INDEX, DROP INDEX ..."""

    table: TableName
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetConfiguration(Statement):
    """SET, SET -v, SET key, SET key = value. ``key`` None lists all. Session variables and SET TIME ZONE are left to Other."""

    key: str | None = None
    value: str | None = None
    verbose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetConfiguration(Statement):
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginTransaction(Statement):
    """BEGIN [WORK | TRANSACTION] or START TRANSACTION, as a statement of its own. A BEGIN ... END script is ``Other``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitTransaction(Statement):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackTransaction(Statement):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteImmediate(Statement):
    """EXECUTE IMMEDIATE e [INTO a, b] [USING ...]. ``sql`` is the statement to run where ``e`` is a string, else None."""

    sql: str | None
    rest: Span | None = None  # INTO ... USING ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Other(Statement):
    """Everything no grammar of ours knows, for Spark to judge.

    It may go to Spark only if no reference is a table of ours. ``error`` is set when the statement began like one of ours and then
    went wrong: raise it if a reference is ours.
    """

    references: References = field(default_factory=References)
    error: Exception | None = None
