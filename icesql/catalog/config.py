"""Which catalogs exist and how they are configured: Spark's keys, keyword arguments, the environment, and the embedded default.

A configuration written for Iceberg's runtime is read as it is; its class names say which type of catalog is meant.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from icesql.catalog.pyiceberg_config import pyiceberg_catalogs
from icesql.errors import InvalidArgumentError

PREFIX = "spark.sql.catalog."
ENVIRONMENT_PREFIX = "ICESQL_CATALOG__"
DEFAULT_CATALOG = "local"
DEFAULT_FOLDER = "warehouse"
_SURELY_MISTYPED = 0.8

_SPARK_CLASSES = {"org.apache.iceberg.spark.SparkCatalog", "org.apache.iceberg.spark.SparkSessionCatalog", "icesql"}
_IMPLEMENTATIONS = {
    "org.apache.iceberg.jdbc.JdbcCatalog": "sql",
    "pyiceberg.catalog.sql.SqlCatalog": "sql",
    "org.apache.iceberg.hadoop.HadoopCatalog": "hadoop",
    "org.apache.iceberg.inmemory.InMemoryCatalog": "memory",
    "org.apache.iceberg.rest.RESTCatalog": "rest",
    "pyiceberg.catalog.rest.RestCatalog": "rest",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
}
_TYPES = {"sql": "sql", "jdbc": "sql", "hadoop": "hadoop", "memory": "memory", "in-memory": "memory", "inmemory": "memory", "rest": "rest"}


def catalog_configurations(
    spark_conf: Mapping[str, str] | None = None,
    keyword: Mapping[str, Mapping[str, object]] | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, dict[str, str]]:
    """Properties of every catalog of icesql, by name. Keyword arguments precede Spark's configuration, which precedes the environment,
    which precedes PyIceberg's configuration; of that nothing is taken for a catalog that is said to be of another type.

    ``local`` always exists. A name of Spark's configuration whose class is not Iceberg's is left to Spark.
    """
    configurations: dict[str, dict[str, str]] = {}
    for source in (_of_environment(environ or {}), _of_spark(spark_conf or {}), _of_keywords(keyword or {})):
        for name, properties in source.items():
            configurations.setdefault(name, {}).update(properties)
    for name, properties in pyiceberg_catalogs(environ or {}).items():
        given = configurations.get(name, {})
        if not _kind_keys(given) or catalog_type(name, given) == catalog_type(name, properties):
            configurations[name] = {**properties, **given}
    configurations.setdefault(DEFAULT_CATALOG, {})
    return configurations


def _kind_keys(properties: Mapping[str, str]) -> set[str]:
    """The settings that say which type of catalog is meant."""
    return {"type", "catalog-impl", "py-catalog-impl", "uri"} & properties.keys()


def _of_environment(environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """``ICESQL_CATALOG__PROD__S3__ACCESS_KEY_ID`` is key ``s3.access-key-id`` of catalog ``prod``."""
    configurations: dict[str, dict[str, str]] = {}
    for variable, value in environ.items():
        if not variable.startswith(ENVIRONMENT_PREFIX):
            continue
        name, _, key = variable[len(ENVIRONMENT_PREFIX) :].lower().partition("__")
        if name and key:
            configurations.setdefault(name, {})[key.replace("__", ".").replace("_", "-")] = value
    return configurations


def _of_spark(conf: Mapping[str, str]) -> dict[str, dict[str, str]]:
    classes: dict[str, str] = {}
    configurations: dict[str, dict[str, str]] = {}
    for full, value in conf.items():
        if not full.startswith(PREFIX):
            continue
        name, dot, key = full[len(PREFIX) :].partition(".")
        if dot:
            configurations.setdefault(name, {})[key] = value
        else:
            classes[name] = value
            configurations.setdefault(name, {})
    return {
        name: _with_hive_default(name, classes, properties)
        for name, properties in configurations.items()
        if _is_ours(name, classes, properties)
    }


def _is_ours(name: str, classes: Mapping[str, str], properties: Mapping[str, str]) -> bool:
    if name in classes:
        return classes[name] in _SPARK_CLASSES
    return "type" in properties or "catalog-impl" in properties


def _with_hive_default(name: str, classes: Mapping[str, str], properties: dict[str, str]) -> dict[str, str]:
    """Iceberg's Spark classes mean Hive where neither type nor implementation is given; a database URI says otherwise."""
    if classes.get(name) not in _SPARK_CLASSES - {"icesql"} or "type" in properties or "catalog-impl" in properties:
        return properties
    if properties.get("uri", "").startswith(("jdbc:", "sqlite", "postgresql")):
        return properties
    return {**properties, "type": "hive"}


def _of_keywords(keyword: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, str]]:
    return {name: {key: text(value) for key, value in properties.items()} for name, properties in keyword.items()}


def text(value: object) -> str:
    """A property's value as a configuration holds it: booleans in lower case, paths as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def catalog_type(name: str, properties: Mapping[str, str]) -> str:
    """``sql``, ``rest``, ``hadoop``, ``memory``, or the name of a type that is not supported here.

    Raises InvalidArgumentError for contradictions.
    """
    kind, implementation = properties.get("type"), properties.get("catalog-impl", properties.get("py-catalog-impl"))
    if kind and implementation:
        raise InvalidArgumentError(
            f"Cannot create catalog {name}, both type and catalog-impl are set: type={kind}, catalog-impl={implementation}"
        )
    if implementation:
        return _IMPLEMENTATIONS.get(implementation, implementation)
    if kind is None and properties.get("uri", "").lower().startswith(("http://", "https://")):
        return "rest"
    return _TYPES.get((kind or "sql").lower(), kind or "sql")


_SETTINGS = (
    "type", "catalog-impl", "io-impl", "lock-impl", "metrics-reporter-impl", "uri", "warehouse", "default-namespace", "cache-enabled",
    "token", "credential", "scope", "prefix",
)  # fmt: skip


def check_settings(name: str, properties: Mapping[str, str]) -> None:
    """Refuse a setting that is all but one of ``_SETTINGS``: it would be left out of account in silence. Others are kept, as Iceberg keeps
    what an implementation of a catalog may know. Raises InvalidArgumentError that names the setting meant."""
    for key in properties:
        close = difflib.get_close_matches(key.lower(), _SETTINGS, n=1, cutoff=_SURELY_MISTYPED)
        if close and key != close[0]:
            raise InvalidArgumentError(f"Cannot open catalog {name}: unknown setting: {key}. Did you mean '{close[0]}'?")


def completed(properties: Mapping[str, str], kind: str) -> dict[str, str]:
    """The properties with defaults: a warehouse (``./warehouse``), absolute, and for ``sql`` a SQLite file in it.

    Raises InvalidArgumentError for ``hadoop`` without a warehouse, which Iceberg's runtime refuses too.
    """
    complete = dict(properties)
    if kind == "hadoop" and not complete.get("warehouse"):
        raise InvalidArgumentError("Cannot open catalog: type=hadoop keeps its tables in a folder: set warehouse")
    if kind == "memory" and "warehouse" not in complete:
        return complete
    if kind == "sql" and "uri" in complete and "warehouse" not in complete:
        return complete  # a shared database: its tables have locations; a new one must be told where to go
    complete["warehouse"] = _absolute(complete.get("warehouse", DEFAULT_FOLDER))
    if kind == "sql" and "uri" not in complete:
        complete["uri"] = _embedded_database(complete["warehouse"])
    return complete


def _absolute(location: str) -> str:
    scheme, colon, _ = location.partition(":")
    if location.startswith("/") or (colon and "/" not in scheme):
        return location
    return str(Path(os.path.expanduser(location)).absolute())


def _embedded_database(warehouse: str) -> str:
    folder = warehouse[len("file:") :] if warehouse.startswith("file:") else warehouse
    if not folder.startswith("/"):
        raise InvalidArgumentError(f"Cannot place the catalog's database in its warehouse, which is not local: {warehouse}. Set uri")
    return f"sqlite:////{folder.lstrip('/').rstrip('/')}/catalog.db"
