"""``spark.catalog`` of an enabled Spark session: names of our catalogs are answered by icesql, all others by Spark as before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.catalog import Catalog, CatalogMetadata, Column, Database, Function, Table

from icesql.parser import statements as s
from icesql.parser.frozen import folding
from icesql.parser.statements.families import AnyStatement
from icesql.parser.text.edits import quote
from icesql.parser.text.identifiers import parse_name
from icesql.session.dataframe_api.builders import is_table, leads_to_ours, read_table
from icesql.session.dispatch import run_statement
from icesql.session.resolve.resolved import MetadataTable, Missing, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import not_found, readable, required, resolve
from icesql.session.resolve.time_travel import current
from icesql.session.rewrite.system_functions import SYSTEM
from icesql.session.run.ddl.table_properties import is_iceberg
from icesql.session.run.show import describing
from icesql.session.sql_errors import schema_not_found
from icesql.session.state.catalogs import SPARK_CATALOG
from icesql.spark.functions.system_functions import FUNCTIONS
from icesql.spark.jvm.types import from_spark
from icesql.spec.case_folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from icesql.catalog.base import Catalog as OurCatalog
    from icesql.catalog.base import Namespace
    from icesql.session.session import Session
    from icesql.spec.metadata import TableMetadata


ICEBERG = "iceberg"
_DEFAULT = "CURRENT_DEFAULT"


class EnabledCatalog(Catalog):  # type: ignore[misc]  # PySpark's classes are untyped to us
    def __init__(self, session: Session) -> None:
        super().__init__(session.spark)
        self._session, self._names = session, session.state.names

    # -- where the session is ------------------------------------------------------------------------------------
    def currentCatalog(self) -> str:
        return self._names.current_catalog

    def setCurrentCatalog(self, catalogName: str) -> None:
        self._run(s.UseCatalog(text="", name=catalogName))

    def listCatalogs(self, pattern: str | None = None) -> list[CatalogMetadata]:
        rows = self._run(s.ShowCatalogs(text="", pattern=pattern)).collect()
        return [CatalogMetadata(name=row[0], description=None) for row in rows]

    def currentDatabase(self) -> str:
        if not self._names.is_ours:
            return str(super().currentDatabase())
        return describing.quoted_if_needed(*self._names.current_namespace)

    def setCurrentDatabase(self, dbName: str) -> None:
        """A namespace of the current catalog. Raises NotFoundError."""
        if not self._names.is_ours:
            super().setCurrentDatabase(dbName)
            return
        full = (self._names.current_catalog, *parse_name(dbName))
        if not self._names.catalog().namespace_exists(full[1:]):
            raise schema_not_found(full)
        self._run(s.Use(text="", name=_name(full)))

    # -- namespaces ----------------------------------------------------------------------------------------------
    def listDatabases(self, pattern: str | None = None) -> list[Database]:
        if not self._names.is_ours:
            return list(super().listDatabases(pattern))
        rows = self._run(s.ShowNamespaces(text="", parent=_name((self._names.current_catalog,)), pattern=pattern)).collect()
        return [_database(self._names.catalog(), tuple(parse_name(row[0]))) for row in rows]

    def getDatabase(self, dbName: str) -> Database:
        """Raises NotFoundError."""
        namespace = self._names.namespace(parse_name(dbName))
        if namespace is None:
            return super().getDatabase(dbName)
        if not namespace[0].namespace_exists(namespace[1]):
            raise schema_not_found(namespace[1])
        return _database(*namespace)

    def databaseExists(self, dbName: str) -> bool:
        namespace = self._names.namespace(parse_name(dbName))
        return bool(super().databaseExists(dbName)) if namespace is None else namespace[0].namespace_exists(namespace[1])

    # -- tables --------------------------------------------------------------------------------------------------
    def listTables(self, dbName: str | None = None, pattern: str | None = None) -> list[Table]:
        """Those of a namespace (default: the current one), temporary views among them."""
        where = self._names.namespace(None if dbName is None else parse_name(dbName))
        if where is None:
            return list(super().listTables(dbName, pattern))
        namespace = (where[0].name, *where[1])
        rows = self._run(s.ShowTables(text="", namespace=_name(namespace), pattern=pattern)).collect()
        return [_temporary(row[1]) if row[2] else self.getTable(quote(*namespace, row[1])) for row in rows]

    def getTable(self, tableName: str) -> Table:
        """Raises NotFoundError."""
        if not self._is_ours(tableName):
            return super().getTable(tableName)
        parts = parse_name(tableName)
        match resolve(self._session.state, parts):
            case ResolvedTable() | MetadataTable() as table:
                address, properties = table.address, table.table.metadata.properties
                kind = "EXTERNAL" if properties.get("external") == "true" else "MANAGED"
            case StoredView() as stored:
                address, properties, kind = stored.address, stored.view.properties, "VIEW"
            case TemporaryView() | SparkOwned() | Missing():
                raise not_found(self._session.state, parts)
        return Table(
            name=address.identifier[-1], catalog=address.catalog.name, namespace=list(address.namespace),
            description=properties.get("comment"), tableType=kind, isTemporary=False,
        )  # fmt: skip

    def tableExists(self, tableName: str, dbName: str | None = None) -> bool:
        """With ``dbName``: a table of Spark's own catalog, as PySpark has it."""
        if dbName is not None or not self._is_ours(tableName):
            return bool(super().tableExists(tableName, dbName))
        return isinstance(resolve(self._session.state, parse_name(tableName)), ResolvedTable | MetadataTable | StoredView)

    def listColumns(self, tableName: str, dbName: str | None = None) -> list[Column]:
        """Raises NotFoundError."""
        if dbName is not None or not self._is_ours(tableName):
            return list(super().listColumns(tableName, dbName))
        table = readable(self._session.state, parse_name(tableName))
        transforms = _transforms(table.table.metadata) if isinstance(table, ResolvedTable) else set()
        return [
            Column(
                name=field.name, description=field.metadata.get("comment"), dataType=describing.type_text(field.dataType),
                nullable=field.nullable, isPartition=(field.name, "identity") in transforms, isBucket=(field.name, "bucket") in transforms,
                isCluster=False,
            )
            for field in read_table(self._session, tableName).schema.fields
        ]  # fmt: skip

    def createTable(
        self,
        tableName: str,
        path: str | None = None,
        source: str | None = None,
        schema: StructType | None = None,
        description: str | None = None,
        **options: str,
    ) -> DataFrame:
        """Raises AlreadyExistsError."""
        if not self._is_ours(tableName) or self._is_sparks_own(tableName, source):
            return super().createTable(tableName, path, source, schema, description, **options)
        statement = s.CreateTable(
            text="",
            table=_name(parse_name(tableName)),
            columns=() if schema is None else _columns(schema),
            provider=source,
            options=tuple((key, str(value)) for key, value in options.items()),
            comment=description or None,
            location=path,
        )
        self._run(statement)
        return read_table(self._session, tableName)

    # -- what is kept in memory ----------------------------------------------------------------------------------
    def cacheTable(self, tableName: str, storageLevel: Any = None) -> None:
        if not self._runs(s.CacheTable(text="", table=_name(parse_name(tableName)))):
            super().cacheTable(tableName, storageLevel)

    def uncacheTable(self, tableName: str) -> None:
        if not self._runs(s.UncacheTable(text="", table=_name(parse_name(tableName)))):
            super().uncacheTable(tableName)

    def isCached(self, tableName: str) -> bool:
        if not self._is_ours(tableName):
            return bool(super().isCached(tableName))
        table = required(self._session.state, parse_name(tableName))
        level = self._session.state.plans.scan(table, current(table.table.metadata), {}, unpinned=True).frame.storageLevel
        return bool(level.useMemory or level.useDisk)

    def refreshTable(self, tableName: str) -> None:
        if not self._runs(s.RefreshTable(text="", table=_name(parse_name(tableName)))):
            super().refreshTable(tableName)

    def recoverPartitions(self, tableName: str) -> None:
        if not self._runs(s.RefusedAlter(text="", table=_name(parse_name(tableName)), form="RECOVER PARTITIONS")):
            super().recoverPartitions(tableName)

    # -- functions -----------------------------------------------------------------------------------------------
    def functionExists(self, functionName: str, dbName: str | None = None) -> bool:
        parts = parse_name(functionName) if dbName is None else ()
        if len(parts) == 3 and parts[0] in self._names.catalogs:
            return fold(parts[1]) == SYSTEM and fold(parts[2]) in FUNCTIONS
        return bool(super().functionExists(functionName, dbName))

    def getFunction(self, functionName: str) -> Function:
        parts = parse_name(functionName)
        if len(parts) == 3 and self.functionExists(functionName):
            return Function(name=parts[2], catalog=parts[0], namespace=[parts[1]], description=None, className="", isTemporary=False)
        return super().getFunction(functionName)

    def _is_ours(self, name: str) -> bool:
        return is_table(self._session, name)

    def _is_sparks_own(self, name: str, source: str | None) -> bool:
        """Whether a table of another format is to be made in the session catalog, where Spark keeps its own beside ours."""
        address = self._names.address(parse_name(name))
        return address is not None and address.catalog.name == SPARK_CATALOG and not is_iceberg(source or ICEBERG)

    def _run(self, statement: AnyStatement) -> DataFrame:
        with self._session.statement() as state:
            frame: DataFrame = run_statement(state, statement)
            return frame

    def _runs(self, statement: s.CacheTable | s.UncacheTable | s.RefreshTable | s.RefusedAlter) -> bool:
        """Run the statement about a table of ours; ``False`` for other names, of which Spark is to be asked."""
        name = quote(*statement.table.parts)
        if not self._is_ours(name) or not leads_to_ours(self._session, name):
            return False
        self._run(statement)
        return True


def _name(parts: Sequence[str]) -> s.TableName:
    """A name that stands in no text."""
    return s.TableName(parts=tuple(parts), start=0, end=0)


def _columns(schema: StructType) -> tuple[s.ColumnDefinition, ...]:
    """The columns of a table to be made, with the defaults that Spark keeps in the metadata of fields."""
    defaults = [field.metadata.get(_DEFAULT) for field in schema.fields]
    return tuple(
        s.ColumnDefinition(
            path=(field.name,),
            type=field.type,
            type_text=str(field.type),
            required=field.required,
            comment=field.doc,
            default_text=default,
            default=None if default is None else folding.fold(default),
        )
        for field, default in zip(from_spark(schema).fields, defaults, strict=True)
    )


def _transforms(metadata: TableMetadata) -> set[tuple[str | None, str]]:
    """The columns that a table is partitioned by, each with what is made of it."""
    return {(metadata.schema.names_by_id.get(field.source_id), field.transform.name) for field in metadata.spec.fields}


def _temporary(name: str) -> Table:
    return Table(name=name, catalog=None, namespace=[], description=None, tableType="TEMPORARY", isTemporary=True)


def _database(catalog: OurCatalog, namespace: Namespace) -> Database:
    properties = catalog.namespace_properties(namespace)
    return Database(
        name=describing.quoted_if_needed(*namespace), catalog=catalog.name, description=properties.get("comment"),
        locationUri=properties.get("location", ""),
    )  # fmt: skip
