"""The catalogs of one session: configured in the Spark conf, by keyword or in the environment; opened when first named."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icesql.catalog.config import catalog_configurations

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog

SPARK_CATALOG = "spark_catalog"


class Catalogs:
    """Names are case-sensitive, as Spark's are. A catalog first configured after ``connect`` is found too."""

    def __init__(self, spark_conf: Callable[[], Mapping[str, str]], keyword: Mapping[str, Mapping[str, Any]]) -> None:
        self._spark_conf, self._keyword = spark_conf, keyword
        self._open: dict[str, Catalog] = {}

    @cached_property
    def _configured(self) -> dict[str, dict[str, str]]:
        """Read when first needed: Spark makes what it needs for it, as for the first query."""
        configurations = catalog_configurations(self._spark_conf(), self._keyword, os.environ)
        return {name: dict(properties) for name, properties in configurations.items()}

    def reload(self) -> None:
        """Read the configuration anew; catalogs whose properties changed are opened again when next named."""
        before = self.__dict__.pop("_configured", {})
        configured = self._configured
        for name in list(self._open):
            if configured.get(name) != before.get(name):
                del self._open[name]

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
        from icesql.catalog.loading import load_catalog
        from icesql.parser.filters import parse_filter

        catalog = load_catalog(name, self._configured[name], parse_filter)
        self._open[name] = catalog
        return catalog

    def add(self, catalog: Catalog) -> None:
        """Use an open catalog (one made by the caller) under its own name."""
        self._open[catalog.name] = catalog
        self._configured[catalog.name] = dict(catalog.properties)
