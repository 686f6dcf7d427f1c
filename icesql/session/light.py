"""Catalogs without Spark: ``icesql.connect_catalog("local")``."""

from __future__ import annotations

import os

from icesql.catalog.base import Catalog
from icesql.catalog.config import catalog_configurations
from icesql.catalog.loading import load_catalog
from icesql.errors import NotFoundError, nearest


def connect_catalog(name: str = "local", **properties: str) -> Catalog:
    """The catalog ``name``, configured by ``properties`` (Iceberg's keys), else by the environment, else the embedded default.

    Dashes in keys may be written as underscores. Raises NotFoundError for a name that is configured nowhere.
    """
    from icesql.parser.filters import parse_filter

    keyword = {name: {key.replace("_", "-"): str(value) for key, value in properties.items()}} if properties else {}
    configured = catalog_configurations({}, keyword, os.environ)
    if name not in configured:
        raise NotFoundError(f"Cannot open catalog: not configured: {name}.{nearest(name, configured)}", name=name)
    return load_catalog(name, configured[name], parse_filter)
