"""The properties that CREATE TABLE stores: those given, and those that its other clauses turn into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from icesql.errors import InvalidArgumentError, SqlError
from icesql.parser.statements.ddl import CreateTable
from icesql.spark.jvm.queries import only_constant
from icesql.spark_errors import spark_message
from icesql.spec.properties import DEFAULT_FILE_FORMAT

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

_RESERVED = {
    "location": "please use the LOCATION clause to specify it",
    "provider": "please use the USING clause to specify it",
    "owner": "it will be set to the current user",
    "collation": "please use the DEFAULT COLLATION clause to specify it",
    "external": "please use CREATE EXTERNAL TABLE",
    "is_managed_location": "please remove it from the TBLPROPERTIES list.",
}
_FORMATS = ("parquet", "orc", "avro")
_ICEBERG = ("iceberg", "org.apache.iceberg.spark.source.icebergsource")
COLLATION = "collation"


def table_properties(session: SessionState, statement: CreateTable) -> dict[str, str]:
    """Raises InvalidArgumentError for a provider that is none of Iceberg's, SqlError for options that are no constants."""
    refuse_reserved(key for key, _ in statement.properties)
    properties = dict(statement.properties)
    for key, given in statement.options:
        value = given if isinstance(given, str) else _constant_text(session, key, given.of(statement.text))
        properties[f"option.{key}"] = value
        properties[key] = value
    if statement.comment is not None:
        properties["comment"] = statement.comment
    stored_as = file_format(statement.provider)
    if stored_as is not None:
        if DEFAULT_FILE_FORMAT in properties:
            raise InvalidArgumentError(
                f"Cannot specify both USING {stored_as} and {DEFAULT_FILE_FORMAT}: {properties[DEFAULT_FILE_FORMAT]}"
            )
        properties[DEFAULT_FILE_FORMAT] = stored_as
    properties.update(statement.storage)
    if statement.external:
        properties["external"] = "true"
    if statement.collation is not None:
        properties[COLLATION] = collation_name(session, statement.collation)
    properties.setdefault("owner", owner(session))
    return properties


def is_iceberg(source: str) -> bool:
    """Whether a data source's name is Iceberg's: the short one in any case, or its class."""
    return source.lower() in _ICEBERG


def file_format(provider: str | None) -> str | None:
    """The format of data files that a provider names, ``None`` for Iceberg's default. Raises InvalidArgumentError for others."""
    name = (provider or "iceberg").lower()
    if name != "iceberg" and name not in _FORMATS:
        raise InvalidArgumentError(f"Unsupported format in USING: {provider}")
    return name if name in _FORMATS else None


def _constant_text(session: SessionState, key: str, expression: str) -> str:
    """A constant expression's value as Spark shows it. Raises SqlError for what is no constant of a plain type."""
    from pyspark.errors import PySparkException

    refused = SqlError(
        spark_message(
            "INVALID_SQL_SYNTAX.OPTION_IS_INVALID",
            f"Invalid SQL syntax: option or property key {key} is invalid; only constant expressions are supported: {expression}.",
        )
    )
    try:
        value = only_constant(session.spark_sql(f"SELECT {expression}"))
    except PySparkException as error:
        raise error if error.getCondition() == "UNRESOLVED_ROUTINE" else refused from None
    if value is None or value.dataType().typeName() in ("array", "map", "struct", "void"):
        raise refused
    return str(value.toString())


def collation_name(session: SessionState, name: str) -> str:
    """As Spark calls the collation: ``utf8_lcase`` -> ``UTF8_LCASE``. Raises Spark's error for one it does not know."""
    full: str = session.spark_sql(f"SELECT collation('' COLLATE {name})").collect()[0][0]
    return full.rpartition(".")[2]


def refuse_reserved(keys: Iterable[str]) -> None:
    """Raises InvalidArgumentError for properties that have a clause of their own, in Spark's words."""
    for key in keys:
        if key in _RESERVED:
            raise InvalidArgumentError(
                spark_message(
                    "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",
                    f"The feature is not supported: {key} is a reserved table property, {_RESERVED[key]}.",
                )
            )


def owner(session: SessionState) -> str:
    """Who runs the session, as Spark records it."""
    return str(session.spark.sparkContext.sparkUser())
