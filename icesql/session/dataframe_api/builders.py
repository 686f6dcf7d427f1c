"""``spark.read`` and ``df.write`` of an enabled Spark session: tables of ours go to icesql, all else to Spark as before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter

from icesql.errors import InvalidArgumentError, SqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.text.edits import quote
from icesql.parser.text.identifiers import parse_name
from icesql.session.dispatch import run_statement
from icesql.session.resolve.path_tables import is_path, require_named
from icesql.session.resolve.resolved import MetadataTable, Missing, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import not_found, place, readable, resolve
from icesql.session.run.ddl.table_properties import is_iceberg
from icesql.session.run.show import describing
from icesql.spark.read.relation_plan import RelationPlan
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from icesql.session.session import Session

_CREATING = ("error", "errorifexists", "default", "ignore")
_MODES = (*_CREATING, "append", "overwrite")


def is_ours(session: Session, name: object) -> bool:
    """Whether a table's name leads to a catalog of ours."""
    try:
        return isinstance(name, str) and session.state.names.address(parse_name(name)) is not None
    except SqlError:
        return False


def is_table(session: Session, name: object) -> bool:
    """As ``is_ours``, but for names that a temporary view has taken."""
    if not isinstance(name, str) or not is_ours(session, name):
        return False
    return place(session.state, parse_name(name)) is not None


def leads_to_ours(session: Session, name: str) -> bool:
    """Whether a name of one of our catalogs is not Spark's after all: a table beside ours in its session catalog, a temporary view."""
    parts = parse_name(name)
    match resolve(session.state, parts):
        case SparkOwned():
            return False
        case TemporaryView():
            return session.state.temporary_views.find(parts) is not None
        case ResolvedTable() | MetadataTable() | StoredView() | Missing():
            return True


def shows_ours(session: Session, name: object) -> bool:
    """Whether icesql answers reads of that name: a table of ours, or a temporary view over one, which is made again when it changes."""
    try:
        parts = parse_name(name) if isinstance(name, str) else ()
    except SqlError:
        return False
    if session.state.temporary_views.find(parts) is not None:
        return True
    return is_table(session, name)


def read_table(session: Session, name: str) -> DataFrame:
    """What SQL reads by that name: a table, a version of it, a metadata table, a view. Raises NotFoundError."""
    parts = parse_name(name)
    frame = session.sql(f"SELECT * FROM {quote(*parts)}")
    address = place(session.state, parts)
    return frame if address is None else RelationPlan.of(frame).under_name(address.parts)


class EnabledReader(DataFrameReader):  # type: ignore[misc]  # PySpark's classes are untyped to us
    def __init__(self, session: Session) -> None:
        super().__init__(session.spark)
        self._session, self._asked, self._source, self._has_schema = session, dict[str, Any](), "", False

    def format(self, source: str) -> DataFrameReader:
        self._source = source
        return super().format(source)

    def option(self, key: str, value: Any) -> DataFrameReader:
        self._asked[key] = value
        return super().option(key, value)

    def options(self, **options: Any) -> DataFrameReader:
        self._asked.update(options)
        return super().options(**options)

    def schema(self, schema: Any) -> DataFrameReader:
        self._has_schema = True
        return super().schema(schema)

    def table(self, tableName: str) -> DataFrame:
        if not shows_ours(self._session, tableName):
            return super().table(tableName)
        if self._has_schema:
            raise SqlError("User specified schema not supported with `table`.")
        if not self._asked:
            return read_table(self._session, tableName)
        frame: DataFrame = self._session.read.options(**self._asked).table(tableName)
        return frame

    def load(self, path: Any = None, format: str | None = None, schema: Any = None, **options: Any) -> DataFrame:
        name: Any = self._asked.get("path") if path is None else path[0] if isinstance(path, list) and len(path) == 1 else path
        if not is_iceberg(format or self._source) or not (is_path(name) or is_ours(self._session, name)):
            return super().load(path, format, schema, **options)
        if schema is not None or self._has_schema:
            raise SqlError("iceberg does not support user specified schema. Please don't specify the schema.")
        self._asked.update(options)
        self._asked.pop("path", None)
        if is_path(name):
            frame: DataFrame = self._session.read.options(**self._asked).table(name)
            return frame
        return self.table(name)


class EnabledWriter(DataFrameWriter):  # type: ignore[misc]
    def __init__(self, session: Session, frame: DataFrame) -> None:
        super().__init__(frame)
        self._session, self._frame = session, frame
        self._asked, self._source, self._mode, self._columns = dict[str, Any](), "", "default", list[str]()
        self._buckets, self._clusters, self._is_sorted = "", "", False

    def mode(self, saveMode: str | None) -> DataFrameWriter:
        if saveMode is not None:
            self._mode = saveMode.lower()
        return super().mode(saveMode)

    def format(self, source: str) -> DataFrameWriter:
        self._source = source
        return super().format(source)

    def option(self, key: str, value: Any) -> DataFrameWriter:
        self._asked[key] = value
        return super().option(key, value)

    def options(self, **options: Any) -> DataFrameWriter:
        self._asked.update(options)
        return super().options(**options)

    def bucketBy(self, numBuckets: int, col: Any, *cols: Any) -> DataFrameWriter:
        names = [*col, *cols] if isinstance(col, list | tuple) else [col, *cols]
        self._buckets = f"bucket({int(numBuckets)}, {', '.join(map(quote, names))})"
        return super().bucketBy(numBuckets, col, *cols)

    def sortBy(self, col: Any, *cols: Any) -> DataFrameWriter:
        self._is_sorted = True
        return super().sortBy(col, *cols)

    def clusterBy(self, *cols: Any) -> DataFrameWriter:
        self._clusters = ", ".join(map(str, cols))
        return super().clusterBy(*cols)

    def partitionBy(self, *cols: Any) -> DataFrameWriter:
        self._columns = [*cols[0]] if len(cols) == 1 and isinstance(cols[0], list | tuple) else [*cols]
        return super().partitionBy(*cols)

    def insertInto(self, tableName: str, overwrite: bool | None = None) -> None:
        """By position, as ``INSERT INTO`` and ``INSERT OVERWRITE`` do."""
        if not is_ours(self._session, tableName) or not leads_to_ours(self._session, tableName):
            super().insertInto(tableName, overwrite)
            return
        if self._columns:
            raise SqlError(
                "insertInto() can't be used together with partitionBy(). Partition columns have already been defined for the table. "
                "It is not necessary to use partitionBy()."
            )
        replaces = self._mode == "overwrite" if overwrite is None else overwrite
        with self._session.statement() as state, state.view_of(self._frame) as view:
            parts = tuple(parse_name(tableName))
            if isinstance(resolve(state, parts), Missing):
                raise not_found(state, parts)
            query = f"SELECT * FROM {view}"
            insert = s.Insert(
                text=query,
                target=s.TableName(parts=parts, start=0, end=0),
                mode=s.InsertMode.OVERWRITE if replaces else s.InsertMode.APPEND,
                options=tuple((key, str(value)) for key, value in self._asked.items()),
                query=(s.Span(0, len(query)),),
            )
            run_statement(state, insert)

    def saveAsTable(self, name: str, format: str | None = None, mode: str | None = None, partitionBy: Any = None, **options: Any) -> None:
        """Creates the table; appends by name in mode ``append``; replaces the table, its history kept, in mode ``overwrite``."""
        if not is_ours(self._session, name):
            super().saveAsTable(name, format, mode, partitionBy, **options)
            return
        self._take(format, mode, partitionBy, options)
        self._source = self._source or str(self._session.state.conf("spark.sql.sources.default", "parquet"))
        if self._mode == "overwrite":
            self._writer(name).createOrReplace()
        else:
            self._save(name)

    def save(
        self, path: str | None = None, format: str | None = None, mode: str | None = None, partitionBy: Any = None, **options: Any
    ) -> None:
        """As ``saveAsTable``, but mode ``overwrite`` keeps the table and replaces its rows."""
        name: Any = self._asked.get("path") if path is None else path
        if not is_iceberg(format or self._source) or not (is_path(name) or is_ours(self._session, name)):
            super().save(path, format, mode, partitionBy, **options)
            return
        self._asked.pop("path", None)
        self._take(format, mode, partitionBy, options)
        if self._mode == "overwrite":
            self._writer(name).overwrite("true")
        else:
            if self._mode == "append":
                require_named(self._session.state, name)
            self._save(name)

    def _take(self, format: str | None, mode: str | None, partitionBy: Any, options: dict[str, Any]) -> None:
        self.mode(mode)
        self._asked.update(options)
        self._source = format or self._source
        if partitionBy:
            self.partitionBy(partitionBy)
        if self._mode not in _MODES:
            raise InvalidArgumentError(f"Cannot save: unknown save mode: {self._mode}")
        if self._clusters:
            raise UnsupportedError(f"Transform is not supported: cluster_by({self._clusters})")
        if self._is_sorted and not self._buckets:
            raise SqlError(spark_message("SORT_BY_WITHOUT_BUCKETING", "sortBy must be used together with bucketBy."))
        if self._is_sorted:
            raise SqlError(f"Cannot convert transform with more than one column reference: sorted_{self._buckets}")

    def _save(self, name: str) -> None:
        exists = is_path(name) or readable(self._session.state, parse_name(name)) is not None
        if exists and self._mode == "append":
            self._check_partitioning(name)
            self._writer(name).append()
        elif not (exists and self._mode == "ignore"):
            self._writer(name).create()

    def _check_partitioning(self, name: str) -> None:
        """Raises InvalidArgumentError for ``partitionBy`` or ``bucketBy`` that are not the table's own partitioning."""
        metadata = require_named(self._session.state, name).table.metadata
        given = [*self._columns, *([self._buckets.replace("`", "")] if self._buckets else [])]
        known = describing.partitioning(metadata.spec, metadata.schema)
        if given and [term.lower() for term in given] != [term.lower() for term in known]:
            raise InvalidArgumentError(
                "requirement failed: The provided partitioning or clustering columns do not match the existing table's.\n"
                f" - provided: {', '.join(given)}\n - table: {', '.join(known)}"
            )

    def _writer(self, name: str) -> Any:
        terms = [*map(quote, self._columns), *([self._buckets] if self._buckets else [])]
        options = {key: value for key, value in self._asked.items() if key.lower() != "path"}
        writer = self._session.write_to(self._frame, name).options(**options).partitionedBy(*terms)
        if "path" in self._asked:
            writer.tableProperty("location", str(self._asked["path"]))
        return writer.using(self._source) if self._source else writer
