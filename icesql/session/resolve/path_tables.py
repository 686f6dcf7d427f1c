"""Tables by their folders, without a catalog: ``spark.read.format("iceberg").load("/folder/t")``, as Java's ``HadoopTables`` does.

Behind a ``#`` may stand what stands behind a table's name: ``/folder/t#files``, ``/folder/t#branch_x``. The path of a metadata file is the
table as that file tells, to be read only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import NotFoundError, UnsupportedError
from icesql.io.metadata_files import read_metadata
from icesql.io.storage.files import FileIO
from icesql.parser.text.identifiers import parse_name
from icesql.session.resolve.resolved import Readable, ResolvedTable
from icesql.session.resolve.resolver import required, table_at
from icesql.session.sql_errors import table_not_found
from icesql.session.state.names import Address
from icesql.table.operations import TableVersion
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState
    from icesql.spec.metadata import TableMetadata

_CATALOG = "paths"


def is_path(name: object) -> bool:
    """True for a text with a slash that is not in a quoted name."""
    return isinstance(name, str) and "/" in name and "`" not in name


def require_named(session: SessionState, name: str) -> Readable:
    """The table of ours that a DataFrame reader or writer names, or whose folder it names. Raises NotFoundError."""
    return _require_at(session, name) if is_path(name) else required(session, parse_name(name))


def _require_at(session: SessionState, path: str) -> Readable:
    """The folder must hold a table of the hadoop layout (``metadata/v1.metadata.json`` ...)."""
    location, _, behind = path.partition("#")
    folder, _, last = location.rstrip("/").rpartition("/")
    catalog = load_catalog(_CATALOG, {"type": "hadoop", "warehouse": folder or "/"})
    if last.endswith(".metadata.json"):
        return _of_metadata_file(catalog, location)
    table = table_at(session, Address(catalog=catalog, identifier=(last, behind) if behind else (last,)))
    if table is None:
        raise table_not_found((path,))
    return table


@dataclass(frozen=True, slots=True)
class _OneVersion:
    """The operations of a table that is one metadata file."""

    io: FileIO
    name: str

    def load(self) -> TableVersion:
        return TableVersion(read_metadata(self.io, self.name), self.name)

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        raise UnsupportedError(f"Cannot modify a static table: {self.name}")


def _of_metadata_file(catalog: Catalog, location: str) -> Readable:
    operations = _OneVersion(catalog.io, location)
    address = Address(catalog=catalog, identifier=(location,))
    try:
        return ResolvedTable(address=address, table=Table(operations, operations.load(), address.identifier, catalog))
    except NotFoundError:
        raise table_not_found((location,)) from None
