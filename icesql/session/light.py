"""Catalogs and tables without Spark: pyspark is never imported."""

from __future__ import annotations

import os

from icesql.catalog.base import Catalog
from icesql.catalog.config import DEFAULT_CATALOG, catalog_configurations, text
from icesql.catalog.loading import load_catalog
from icesql.parser.filters import parse_filter
from icesql.table.arguments import checked_call


@checked_call
def connect_catalog(name: str = DEFAULT_CATALOG, **properties: object) -> Catalog:
    """The catalog ``name``, configured by keyword arguments (``type="sql"``, ``uri=...``, ``warehouse=...``) over the environment
    (``ICESQL_CATALOG__NAME__KEY``); without either, the embedded one: SQLite under ``./warehouse``.

    Underscores in keywords stand for hyphens: ``catalog_impl`` is ``catalog-impl``. Keys with dots are passed with ``**{...}``.
    Raises InvalidArgumentError, UnsupportedError.
    """
    given = {name: {key.replace("_", "-") if "." not in key else key: text(value) for key, value in properties.items()}}
    return load_catalog(name, catalog_configurations(keyword=given, environ=os.environ)[name], parse_filter)
