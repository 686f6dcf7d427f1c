"""The catalogs of one session: configured in the Spark conf, by keyword or in the environment; opened when first named."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from icesql.catalog.base import Catalog
from icesql.catalog.config import catalog_configurations
from icesql.catalog.loading import load_catalog
from icesql.expr.tree import Expression

SPARK_CATALOG = "spark_catalog"
_PREFIX = "spark.sql.catalog."


class Catalogs:
    """Names are case-sensitive, as Spark's are. A catalog first configured after ``connect`` is found too."""

    def __init__(
        self,
        spark_conf: Callable[[], Mapping[str, str]],
        keyword: Mapping[str, Mapping[str, Any]],
        parse_filter: Callable[[str], Expression],
    ) -> None:
        self._spark_conf, self._keyword, self._parse_filter = spark_conf, keyword, parse_filter
        self._open: dict[str, Catalog] = {}
        self._configured: dict[str, dict[str, str]] = {}
        self.reload()

    def reload(self) -> None:
        """Read the configuration anew; catalogs whose properties changed are opened again when next named."""
        configured = {
            name: dict(properties) for name, properties in catalog_configurations(self._spark_conf(), self._keyword, os.environ).items()
        }
        for name in list(self._open):
            if configured.get(name) != self._configured.get(name):
                del self._open[name]
        self._configured = configured

    @property
    def names(self) -> list[str]:
        return sorted(self._configured)

    def __contains__(self, name: str) -> bool:
        return name in self._configured

    def find(self, name: str) -> Catalog | None:
        """The catalog of that name, ``None`` if it is none of ours. Raises InvalidArgumentError where its configuration is wrong."""
        if name in self._open:
            return self._open[name]
        if name not in self._configured:
            return None
        catalog = load_catalog(name, self._configured[name], self._parse_filter)
        self._open[name] = catalog
        return catalog

    def add(self, catalog: Catalog) -> None:
        """Use an open catalog (one made by the caller) under its own name."""
        self._open[catalog.name] = catalog
        self._configured[catalog.name] = dict(catalog.properties)
