"""From a configuration to a catalog."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping

from icesql.catalog.base import Catalog, FilterParser
from icesql.catalog.config import catalog_type, check_settings, completed
from icesql.catalog.hadoop import HadoopCatalog
from icesql.catalog.memory import MemoryStore
from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.surroundings import allowed_locations
from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.storage.file_systems import load_file_io
from icesql.table.after_commit import tell
from icesql.table.arguments import checked_call


@checked_call
def load_catalog(name: str, properties: Mapping[str, str] | None = None, parse_filter: FilterParser | None = None) -> Catalog:
    """The catalog that ``properties`` (without the ``spark.sql.catalog.<name>.`` prefix) describe; without any, the embedded default.

    Nothing is connected to or created before first use. Raises InvalidArgumentError, UnsupportedError for a type icesql has not.
    """
    if not name or "." in name:
        raise InvalidArgumentError(f"Cannot open catalog: not a name: {name!r}")
    given = dict(properties or {})
    check_settings(name, given)
    kind = catalog_type(name, given)
    if kind == "rest":
        return _rest_catalog(name, given, parse_filter)
    complete = completed(given, kind)
    allowed_locations(complete)  # a mistake in it must not come to light in the clean-up after a commit
    match kind:
        case "sql":
            from icesql.catalog.sql import sql_catalog  # SQLAlchemy is slow to import, and no other type needs it

            return sql_catalog(name, complete, load_file_io(complete, complete.get("warehouse")), parse_filter)
        case "hadoop":
            return HadoopCatalog(name, complete, load_file_io(complete, complete["warehouse"]), parse_filter)
        case "memory":
            if "warehouse" not in complete:
                complete["warehouse"] = _temporary_warehouse()
            return MetastoreCatalog(name, complete, load_file_io(complete, complete["warehouse"]), MemoryStore(), parse_filter)
        case _:
            raise UnsupportedError(f"Cannot open catalog {name}: unsupported type: {kind}. Supported: sql (jdbc), rest, hadoop, memory")


def _rest_catalog(name: str, properties: Mapping[str, str], parse_filter: FilterParser | None) -> Catalog:
    from icesql.catalog.rest.catalog import RestCatalog  # only this type needs an HTTP client
    from icesql.catalog.rest.keys import unknown_keys

    catalog = RestCatalog(name, properties, parse_filter)
    catalog.surroundings(()).allowed()  # a mistake in it must not come to light in the clean-up after a commit
    for sentence in unknown_keys(properties):
        tell(f"Catalog {name}: {sentence}")
    return catalog


def _temporary_warehouse() -> str:
    folder = tempfile.mkdtemp(prefix="icesql-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
