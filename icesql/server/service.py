"""Everything one server process serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from icesql.catalog.loading import load_catalog
from icesql.errors import InvalidArgumentError
from icesql.server.access.authentication import Authentication
from icesql.server.measures import Measures
from icesql.server.scans.plans import Plans
from icesql.server.served import ServedCatalog
from icesql.server.settings import Settings

if TYPE_CHECKING:
    from icesql.server.storage.principals import PrincipalStore


class Service:
    """The catalogs by name, and the settings. ``default`` is the catalog of clients that name none."""

    def __init__(self, settings: Settings, catalogs: Iterable[ServedCatalog], default: str) -> None:
        self.settings = settings
        self.catalogs = {served.name: served for served in catalogs}
        self.default = default
        self.is_stopping = False
        self.measures = Measures()
        self.plans = Plans(settings.planning.max_plans, settings.planning.keep_minutes * 60)
        self._principals = self._stored_principals()
        self.authentication = Authentication(settings.access, self._principals)

    def _stored_principals(self) -> PrincipalStore | None:
        """Raises InvalidArgumentError for a catalog that has no database."""
        name = self.settings.access.principals_in
        if name is None:
            return None
        store = self.catalogs[name].store if name in self.catalogs else None
        if store is None:
            raise InvalidArgumentError(f"Cannot read principals from catalog {name}: it is not served, or has no database")
        from icesql.server.storage.principals import PrincipalStore

        return PrincipalStore(store)

    @staticmethod
    def of(settings: Settings, environ: Mapping[str, str] | None = None) -> Service:
        """Raises InvalidArgumentError, UnsupportedError for catalogs that cannot be served."""
        properties = settings.catalog_properties(environ)
        default = settings.default_name(properties)
        if unknown := sorted(set(settings.storage) - set(properties)):
            raise InvalidArgumentError(f"Cannot hand on access to files: storage names a catalog that is not served: {unknown[0]}")
        return Service(settings, [ServedCatalog(load_catalog(name, held), settings) for name, held in properties.items()], default)

    def find(self, warehouse: str | None) -> ServedCatalog | None:
        """The catalog that a client means by ``warehouse``: its name, or where its tables are."""
        if not warehouse:
            return self.catalogs[self.default]
        if warehouse in self.catalogs:
            return self.catalogs[warehouse]
        wanted = warehouse.rstrip("/")
        return next((one for one in self.catalogs.values() if one.catalog.properties.get("warehouse", "").rstrip("/") == wanted), None)

    def prepare(self) -> None:
        for served in self.catalogs.values():
            served.prepare()
        if self._principals is not None:
            self._principals.prepare()

    def close(self) -> None:
        self.plans.close()
        for served in self.catalogs.values():
            served.close()
