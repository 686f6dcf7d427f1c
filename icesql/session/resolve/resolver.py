"""Names to what they lead to, by Spark's rules: the one place that looks names up.

Temporary views shadow one-part names. Behind a table's name may stand a metadata table (``t.files``), a selector (``t.branch_x``,
``t.tag_x``, ``t.snapshot_id_1``, ``t.at_timestamp_1``), or both (``t.files.branch_x``): a table of that very name goes before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from icesql.errors import NotFoundError, UnsupportedError
from icesql.session.resolve.resolved import (
    CHANGES,
    MetadataTable,
    Missing,
    Readable,
    Resolved,
    ResolvedTable,
    SparkOwned,
    StoredView,
    TemporaryView,
    parse_selector,
)
from icesql.session.sql_errors import MissingTableError, table_not_found
from icesql.session.state.catalogs import SPARK_CATALOG
from icesql.session.state.names import Address
from icesql.spec.case_folding import fold
from icesql.table.metadata_tables.registry import METADATA_TABLES

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState
    from icesql.spec.views import ViewMetadata
    from icesql.table.table import Table


def resolve(session: SessionState, parts: Sequence[str]) -> Resolved:
    """What a name leads to, in the session's current catalog and namespace, and in its transaction."""
    address = place(session, parts)
    if address is None:
        is_view = session.names.address(parts) is not None
        return TemporaryView(tuple(parts)) if is_view else SparkOwned(tuple(parts))
    table = table_at(session, address)
    if table is not None:
        return table
    view = find_view(address)
    if view is not None:
        return StoredView(address, view)
    return SparkOwned(tuple(parts)) if address.catalog.name == SPARK_CATALOG else Missing(address)


def place(session: SessionState, parts: Sequence[str]) -> Address | None:
    """Where in our catalogs the name leads, whether anything is there or not; ``None`` for Spark's names and temporary views."""
    address = session.names.address(parts)
    return None if address is None or session.is_temporary_view(*parts) else address


def readable(session: SessionState, parts: Sequence[str]) -> Readable | None:
    """The table, a version or metadata table of it, that a qualified name leads to; ``None`` if none is there. Knows no views."""
    address = session.names.address(parts)
    return None if address is None else table_at(session, address)


def required(session: SessionState, parts: Sequence[str], *, text: str = "", offset: int | None = None) -> Readable:
    """As ``readable``. Raises MissingTableError, with the place in ``text``."""
    table = readable(session, parts)
    if table is None:
        raise not_found(session, parts, text=text, offset=offset)
    return table


def table_at(session: SessionState, address: Address) -> Readable | None:
    """The table at an address, as the transaction in progress has it."""
    table = _table_at(session, address)
    transaction = session.transaction_in_progress
    return table if table is None or transaction is None else replace(table, table=transaction.staged(table.address, table.table))


def _table_at(session: SessionState, address: Address) -> Readable | None:
    table = _load(session, address)
    if table is not None:
        return ResolvedTable(address=address, table=table)
    return _behind(session, address) if len(address.identifier) > 1 else None


def _behind(session: SessionState, address: Address) -> Readable | None:
    """``t.files`` and ``t.branch_x``: the last part is not the table's own name."""
    last = address.identifier[-1]
    outer = replace(address, identifier=address.identifier[:-1])
    if fold(last) in METADATA_TABLES or fold(last) == CHANGES:
        table = _load(session, outer)
        return None if table is None else MetadataTable(address=outer, table=table, metadata_table=fold(last))
    selector = parse_selector(last)
    if selector is None:
        return None
    below = _table_at(session, outer)
    return None if below is None or not below.selector.is_empty else replace(below, selector=selector)


def _load(session: SessionState, address: Address) -> Table | None:
    """Without the search for near names that ``Catalog.load_table`` does for its error."""
    transaction = session.transaction_in_progress
    made = None if transaction is None else transaction.made(address)
    if made is not None:
        return made
    try:
        return address.catalog.table_of(address.identifier, address.catalog.operations(address.identifier).load())
    except NotFoundError:
        return None


def is_table(session: SessionState, address: Address) -> bool:
    """Whether a table has that very name."""
    transaction = session.transaction_in_progress
    return (transaction is not None and transaction.made(address) is not None) or address.catalog.table_exists(address.identifier)


def find_view(address: Address) -> ViewMetadata | None:
    """The view that a catalog of ours keeps under that name."""
    if not address.catalog.supports_views or len(address.identifier) < 2:
        return None
    try:
        return address.catalog.load_view(address.identifier)
    except NotFoundError:
        return None


def not_found(session: SessionState, parts: Sequence[str], *, text: str = "", offset: int | None = None) -> MissingTableError:
    """The error for a name that leads nowhere: with the nearest name, and the place in ``text`` if it has one."""
    address = session.names.address(parts)
    known: list[str] = []
    if address is not None:
        try:
            known = [identifier[-1] for identifier in address.catalog.list_tables(address.namespace)]
        except (NotFoundError, UnsupportedError):
            known = []
    return table_not_found(parts, known, text=text, offset=offset)
