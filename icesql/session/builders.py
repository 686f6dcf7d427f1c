"""``spark.read`` and ``df.write`` of an enabled Spark session: tables of ours go to icesql, all else to Spark as before."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter

from icesql.errors import InvalidArgumentError, SqlError
from icesql.parser.identifiers import parse_name
from icesql.parser.parameters import quoted_string
from icesql.session.rewriting import quote

if TYPE_CHECKING:
    from icesql.session.session import Session

_FORMAT = "iceberg"
_CREATING = ("error", "errorifexists", "default", "ignore")
_MODES = (*_CREATING, "append", "overwrite")
_numbers = itertools.count(1)


def is_ours(session: Session, name: object) -> bool:
    """Whether a table's name leads to a catalog of ours."""
    try:
        return isinstance(name, str) and session.names.address(parse_name(name)) is not None
    except SqlError:
        return False


def read_table(session: Session, name: str) -> DataFrame:
    """What SQL reads by that name: a table, a version of it, a metadata table, a view. Raises NotFoundError."""
    return session.sql(f"SELECT * FROM {'.'.join(quote(part) for part in parse_name(name))}")


class EnabledReader(DataFrameReader):  # type: ignore[misc]  # PySpark's classes are untyped to us
    def __init__(self, session: Session) -> None:
        super().__init__(session.spark)
        self._session, self._asked, self._source = session, dict[str, Any](), ""

    def format(self, source: str) -> DataFrameReader:
        self._source = source
        return super().format(source)

    def option(self, key: str, value: Any) -> DataFrameReader:
        self._asked[key] = value
        return super().option(key, value)

    def options(self, **options: Any) -> DataFrameReader:
        self._asked.update(options)
        return super().options(**options)

    def table(self, tableName: str) -> DataFrame:
        if not is_ours(self._session, tableName):
            return super().table(tableName)
        if not self._asked:
            return read_table(self._session, tableName)
        frame: DataFrame = self._session.read.options(**self._asked).table(tableName)
        return frame

    def load(self, path: Any = None, format: str | None = None, schema: Any = None, **options: Any) -> DataFrame:
        if (format or self._source).lower() != _FORMAT or not is_ours(self._session, path):
            return super().load(path, format, schema, **options)
        self._asked.update(options)
        return self.table(path)


class EnabledWriter(DataFrameWriter):  # type: ignore[misc]
    def __init__(self, session: Session, frame: DataFrame) -> None:
        super().__init__(frame)
        self._session, self._frame = session, frame
        self._asked, self._source, self._mode, self._columns = dict[str, Any](), "", "default", list[str]()

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

    def partitionBy(self, *cols: Any) -> DataFrameWriter:
        self._columns = [*cols[0]] if len(cols) == 1 and isinstance(cols[0], list | tuple) else [*cols]
        return super().partitionBy(*cols)

    def insertInto(self, tableName: str, overwrite: bool | None = None) -> None:
        """By position, as ``INSERT INTO`` and ``INSERT OVERWRITE`` do."""
        if not is_ours(self._session, tableName):
            super().insertInto(tableName, overwrite)
            return
        replaces = self._mode == "overwrite" if overwrite is None else overwrite
        view = f"_ice_frame{next(_numbers)}"
        self._frame.createOrReplaceTempView(view)
        try:
            name = ".".join(quote(part) for part in parse_name(tableName))
            verb = "INSERT OVERWRITE" if replaces else "INSERT INTO"
            self._session.sql(f"{verb} {name}{self._options_clause()} SELECT * FROM {view}")
        finally:
            self._session.drop_views([view])

    def _options_clause(self) -> str:
        pairs = ", ".join(f"{quoted_string(key)} = {quoted_string(str(value))}" for key, value in self._asked.items())
        return f" WITH ({pairs})" if pairs else ""

    def saveAsTable(self, name: str, format: str | None = None, mode: str | None = None, partitionBy: Any = None, **options: Any) -> None:
        """Creates the table; appends by name in mode ``append``; replaces the table, its history kept, in mode ``overwrite``."""
        if not is_ours(self._session, name):
            super().saveAsTable(name, format, mode, partitionBy, **options)
            return
        self._take(format, mode, partitionBy, options)
        if self._mode == "overwrite":
            self._writer(name).createOrReplace()
        else:
            self._save(name)

    def save(
        self, path: str | None = None, format: str | None = None, mode: str | None = None, partitionBy: Any = None, **options: Any
    ) -> None:
        """As ``saveAsTable``, but mode ``overwrite`` keeps the table and replaces its rows."""
        if (format or self._source).lower() != _FORMAT or not is_ours(self._session, path):
            super().save(path, format, mode, partitionBy, **options)
            return
        assert path is not None
        self._take(format, mode, partitionBy, options)
        if self._mode == "overwrite":
            writer = self._writer(path)
            writer.overwritePartitions() if str(self._asked.get("overwrite-mode")).lower() == "dynamic" else writer.overwrite("true")
        else:
            self._save(path)

    def _take(self, format: str | None, mode: str | None, partitionBy: Any, options: dict[str, Any]) -> None:
        self.mode(mode)
        self._asked.update(options)
        self._source = format or self._source
        if partitionBy:
            self.partitionBy(partitionBy)
        if self._mode not in _MODES:
            raise InvalidArgumentError(f"Cannot save: unknown save mode: {self._mode}")

    def _save(self, name: str) -> None:
        exists = self._session.find(parse_name(name)) is not None
        if exists and self._mode == "append":
            self._writer(name).append()
        elif not (exists and self._mode == "ignore"):
            self._writer(name).create()

    def _writer(self, name: str) -> Any:
        writer = self._session.write_to(self._frame, name).options(**self._asked).partitionedBy(*(quote(c) for c in self._columns))
        return writer.using(self._source) if self._source else writer
