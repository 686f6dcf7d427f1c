"""Where names lead: the current catalog and namespace, and the address that a name has in one of our catalogs.

A first part that names a catalog chooses it; else the current catalog is meant, and a name of several parts is not relative to the
current namespace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from icesql.catalog.base import Catalog, Identifier, Namespace
from icesql.errors import NotFoundError
from icesql.session.state.catalogs import SPARK_CATALOG, Catalogs
from icesql.spark_errors import spark_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A name that lies in one of our catalogs, whether anything is there or not."""

    catalog: Catalog
    identifier: Identifier

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.catalog.name, *self.identifier)

    @property
    def dotted(self) -> str:
        return ".".join(self.parts)

    @property
    def namespace(self) -> Namespace:
        return self.identifier[:-1]


class Names:
    """The names of one session: its catalogs, its current catalog and namespace."""

    def __init__(self, catalogs: Catalogs) -> None:
        self.catalogs = catalogs
        self._chosen: tuple[str, Namespace] | None = None
        self.default_catalog = SPARK_CATALOG

    # -- names ---------------------------------------------------------------------------------------------------
    @property
    def is_ours(self) -> bool:
        """Whether the current catalog is one of ours."""
        return self.current_catalog in self.catalogs

    @property
    def current_catalog(self) -> str:
        return self.default_catalog if self._chosen is None else self._chosen[0]

    @property
    def current_namespace(self) -> Namespace:
        return self.default_namespace(self.default_catalog) if self._chosen is None else self._chosen[1]

    def enter(self, catalog: str, namespace: Sequence[str] | None = None) -> None:
        """Set the current catalog and namespace. ``None``: the namespace that the catalog's ``default-namespace`` names, else none."""
        self._chosen = catalog, self.default_namespace(catalog) if namespace is None else tuple(namespace)

    def default_namespace(self, catalog: str) -> Namespace:
        """The namespace that ``USE catalog`` selects. Raises InvalidArgumentError where its configuration is wrong."""
        ours = None if catalog == SPARK_CATALOG else self.catalogs.find(catalog)
        namespace = None if ours is None else ours.properties.get("default-namespace")
        return tuple(namespace.split(".")) if namespace else ()

    @contextmanager
    def at(self, catalog: str, namespace: Sequence[str]) -> Iterator[None]:
        """Names mean, for as long as the block runs, what they would mean there."""
        before = self._chosen
        self.enter(catalog, namespace)
        try:
            yield
        finally:
            self._chosen = before

    def catalog(self, name: str | None = None) -> Catalog:
        """The catalog of ours with that name (default: the current one). Raises NotFoundError."""
        catalog = self.catalogs.find(self.current_catalog if name is None else name)
        if catalog is None:
            raise NotFoundError(spark_message("CATALOG_NOT_FOUND", f"The catalog `{name or self.current_catalog}` not found."))
        return catalog

    def address(self, parts: Sequence[str]) -> Address | None:
        """Where a table or view of that name is or would be; ``None`` if Spark resolves such names."""
        if len(parts) > 1:
            if parts[0] in self.catalogs:
                return Address(catalog=self.catalog(parts[0]), identifier=tuple(parts[1:]))
            if not self.is_ours or parts[0] in (SPARK_CATALOG, "global_temp"):
                return None
            return Address(catalog=self.catalog(), identifier=tuple(parts))
        if not self.is_ours:
            return None
        return Address(catalog=self.catalog(), identifier=(*self.current_namespace, parts[0]))

    def namespace(self, parts: Sequence[str] | None) -> tuple[Catalog, Namespace] | None:
        """The catalog and namespace meant by a namespace's name (``None``: the current one); ``None`` if it is Spark's."""
        if not parts:
            return (self.catalog(), self.current_namespace) if self.is_ours else None
        if parts[0] in self.catalogs:
            return self.catalog(parts[0]), tuple(parts[1:])
        if not self.is_ours or parts[0] == SPARK_CATALOG:
            return None
        return self.catalog(), tuple(parts)
