"""Catalogs, schemas, tables and columns as JDBC's metadata calls have them: queries whose rows have the columns that JDBC names.

A catalog that is not named is the current one; one of Spark's own is answered by Spark. A schema is a namespace of one level.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from icesql.session.resolve.resolver import find_view, readable
from icesql.session.state.catalogs import SPARK_CATALOG
from icesql.session.state.names import Address
from icesql.spark.jvm.types import to_spark_schema

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog
    from icesql.session.session import Session

Row = dict[str, Any]
_TABLE, _VIEW = "TABLE", "VIEW"
_NULLABLE = {False: (0, "NO"), True: (1, "YES")}
_COLUMNS = {
    "getCatalogs": "TABLE_CAT string",
    "getSchemas": "TABLE_SCHEM string, TABLE_CATALOG string",
    "getTables": "TABLE_CAT string, TABLE_SCHEM string, TABLE_NAME string, TABLE_TYPE string, REMARKS string, TYPE_CAT string, "
    "TYPE_SCHEM string, TYPE_NAME string, SELF_REFERENCING_COL_NAME string, REF_GENERATION string",
    "getColumns": "TABLE_CAT string, TABLE_SCHEM string, TABLE_NAME string, COLUMN_NAME string, DATA_TYPE int, TYPE_NAME string, "
    "COLUMN_SIZE int, BUFFER_LENGTH int, DECIMAL_DIGITS int, NUM_PREC_RADIX int, NULLABLE int, REMARKS string, COLUMN_DEF string, "
    "SQL_DATA_TYPE int, SQL_DATETIME_SUB int, CHAR_OCTET_LENGTH int, ORDINAL_POSITION int, IS_NULLABLE string, SCOPE_CATALOG string, "
    "SCOPE_SCHEMA string, SCOPE_TABLE string, SOURCE_DATA_TYPE smallint, IS_AUTO_INCREMENT string",
}
_TYPES: dict[type[T.DataType], tuple[int, int | None, int | None]] = {  # java.sql.Types, size, digits behind the point
    T.BooleanType: (16, 1, None),
    T.IntegerType: (4, 4, 0),
    T.LongType: (-5, 8, 0),
    T.FloatType: (6, 4, 7),
    T.DoubleType: (8, 8, 15),
    T.StringType: (12, None, None),
    T.BinaryType: (-2, None, None),
    T.DateType: (91, 4, None),
    T.TimestampType: (93, 8, 6),
    T.TimestampNTZType: (93, 8, 6),
    T.ArrayType: (2003, None, None),
    T.MapType: (2000, None, None),
    T.StructType: (2002, None, None),
    T.NullType: (0, None, None),
}
_OTHER = (1111, None, None)


def query(session: Session, name: str, arguments: Sequence[Any]) -> str | None:
    """The query that answers a call of Hive's protocol; ``None``: Spark is to answer."""
    with session.statement():
        if name == "getCatalogs":
            rows = [{"TABLE_CAT": catalog} for catalog in sorted({*session.catalogs, SPARK_CATALOG})]
        else:
            named, *patterns = arguments
            catalog = session.state.catalogs.find(named or session.state.names.current_catalog)
            if catalog is None or catalog.name == SPARK_CATALOG:
                return None
            rows = list(_CALLS[name](session, catalog, *patterns))
    return _query(_COLUMNS[name], rows)


def _query(columns: str, rows: list[Row]) -> str:
    """One literal without quotes or backslashes, whatever the names are and however the session reads its strings."""
    text = base64.b64encode(json.dumps(rows).encode()).decode()
    return f"SELECT inline(from_json(decode(unbase64('{text}'), 'UTF-8'), 'array<struct<{columns.replace(' ', ':').replace(',:', ',')}>>'))"


def _schemas(session: Session, catalog: Catalog, schema: str | None) -> Iterator[Row]:
    for name in _namespaces(catalog, schema):
        yield {"TABLE_SCHEM": name, "TABLE_CATALOG": catalog.name}


def _tables(session: Session, catalog: Catalog, schema: str | None, table: str | None, types: Sequence[str] | None) -> Iterator[Row]:
    wanted = {_TABLE, _VIEW} if not types else {str(kind).upper() for kind in types}
    for address, kind in _addresses(catalog, schema, table):
        if kind in wanted:
            yield {**_place(address), "TABLE_TYPE": kind, "REMARKS": _comment(session, address, kind)}


def _columns(session: Session, catalog: Catalog, schema: str | None, table: str | None, column: str | None) -> Iterator[Row]:
    is_wanted = _like(column)
    for address, _ in _addresses(catalog, schema, table):
        for position, field in enumerate(_fields(session, address), 1):
            if is_wanted(field.name):
                yield {**_place(address), **_column(field), "ORDINAL_POSITION": position}


_CALLS: dict[str, Callable[..., Iterator[Row]]] = {"getSchemas": _schemas, "getTables": _tables, "getColumns": _columns}


def _column(field: T.StructField) -> Row:
    code, size, digits = _TYPES.get(type(field.dataType), _OTHER)
    if isinstance(field.dataType, T.DecimalType):
        code, size, digits = 3, field.dataType.precision, field.dataType.scale
    nullable, is_nullable = _NULLABLE[field.nullable]
    return {
        "COLUMN_NAME": field.name,
        "DATA_TYPE": code,
        "TYPE_NAME": re.sub(r"\w+\b(?!:)", lambda word: word[0].upper(), field.dataType.simpleString()),
        "COLUMN_SIZE": size,
        "DECIMAL_DIGITS": digits,
        "NUM_PREC_RADIX": 10 if isinstance(field.dataType, T.NumericType) else None,
        "NULLABLE": nullable,
        "REMARKS": field.metadata.get("comment", ""),
        "IS_NULLABLE": is_nullable,
        "IS_AUTO_INCREMENT": "NO",
    }


def _place(address: Address) -> Row:
    return {"TABLE_CAT": address.catalog.name, "TABLE_SCHEM": address.namespace[0], "TABLE_NAME": address.identifier[-1]}


def _namespaces(catalog: Catalog, pattern: str | None) -> list[str]:
    is_wanted = _like(pattern)
    return sorted(namespace[0] for namespace in catalog.list_namespaces() if is_wanted(namespace[0]))


def _addresses(catalog: Catalog, schema: str | None, name: str | None) -> Iterator[tuple[Address, str]]:
    is_wanted = _like(name)
    for namespace in _namespaces(catalog, schema):
        named = [(identifier, _TABLE) for identifier in catalog.list_tables((namespace,))]
        if catalog.supports_views:
            named += [(identifier, _VIEW) for identifier in catalog.list_views((namespace,))]
        for identifier, kind in sorted(named):
            if is_wanted(identifier[-1]):
                yield Address(catalog=catalog, identifier=identifier), kind


def _fields(session: Session, address: Address) -> Sequence[T.StructField]:
    """None where it is gone meanwhile."""
    table = readable(session.state, address.parts)
    if table is not None:
        return list(to_spark_schema(table.table.metadata.schema).fields)
    view = find_view(address)
    return [] if view is None else list(to_spark_schema(view.schema).fields)


def _comment(session: Session, address: Address, kind: str) -> str:
    described = find_view(address) if kind == _VIEW else readable(session.state, address.parts)
    if described is None:
        return ""
    properties = described.table.metadata.properties if hasattr(described, "table") else described.properties
    return str(properties.get("comment", ""))


def _like(pattern: str | None) -> Callable[[str], bool]:
    """JDBC's patterns: ``%`` and ``_``, a backslash before either; none, and Hive's ``*``, for all."""
    if not pattern or pattern in ("%", "*"):
        return lambda name: True
    parts = re.findall(r"\\.|.", pattern, re.S)
    form = "".join({"%": ".*", "_": "."}.get(part, re.escape(part.removeprefix("\\"))) for part in parts)
    return lambda name, matches=re.compile(form, re.S | re.I).fullmatch: matches(name) is not None  # type: ignore[misc]
