"""Names in SQL text -> tables of ours, or ``None`` for names that are Spark's to resolve.

Spark's rules: a first part that names a catalog chooses it; else the current catalog is meant, and a name of several parts is not
relative to
the current namespace. Temporary views shadow one-part names. Behind a table's name may stand a metadata table (``t.files``), a selector
(``t.branch_x``, ``t.tag_x``, ``t.snapshot_id_1``, ``t.at_timestamp_1``), or both (``t.files.branch_x``): a table of that very name is found
first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog, Identifier, Namespace
from icesql.errors import NotFoundError, UnsupportedError
from icesql.session.sql_errors import table_not_found
from icesql.session.state.catalogs import SPARK_CATALOG, Catalogs

if TYPE_CHECKING:
    from icesql.table.table import Table

METADATA_TABLES = frozenset(
    [
        "history",
        "snapshots",
        "refs",
        "metadata_log_entries",
        "manifests",
        "all_manifests",
        "files",
        "data_files",
        "delete_files",
        "all_files",
        "all_data_files",
        "all_delete_files",
        "entries",
        "all_entries",
        "partitions",
        "position_deletes",
    ]
)
CHANGES = "changes"
_SELECTOR = re.compile(r"(?P<kind>branch_|tag_|snapshot_id_(?=\d+$)|at_timestamp_(?=\d+$))(?P<value>.+)", re.S)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """At most one is set. ``ref_type``: what ``ref`` was called in the name, ``branch`` or ``tag``."""

    ref: str | None = None
    ref_type: str | None = None
    snapshot_id: int | None = None
    timestamp_ms: int | None = None

    @property
    def is_empty(self) -> bool:
        return self.ref is None and self.snapshot_id is None and self.timestamp_ms is None

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands behind the table's name, ``()`` or one part."""
        if self.ref is not None:
            return (f"{self.ref_type}_{self.ref}",)
        if self.snapshot_id is not None:
            return (f"snapshot_id_{self.snapshot_id}",)
        return () if self.timestamp_ms is None else (f"at_timestamp_{self.timestamp_ms}",)


NO_SELECTOR = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A table of ours that a name led to. ``metadata_table`` in lower case (also ``changes``)."""

    address: Address
    table: Table
    selector: Selector = NO_SELECTOR
    metadata_table: str | None = None

    @property
    def branch(self) -> str | None:
        return self.selector.ref if self.selector.ref_type == "branch" else None

    @property
    def dotted(self) -> str:
        return self.address.dotted

    @property
    def parts(self) -> tuple[str, ...]:
        """The whole name: the table's, a metadata table's, a version's."""
        return (*self.address.parts, *(() if self.metadata_table is None else (self.metadata_table,)), *self.selector.parts)

    @property
    def is_plain(self) -> bool:
        return self.metadata_table is None and self.selector.is_empty


class Names:
    """Resolution for one session: its catalogs, and where it currently is."""

    def __init__(self, catalogs: Catalogs, made: Callable[[Address], Table | None] = lambda address: None) -> None:
        """``made`` tells of a table that is not yet there: the transaction in progress makes it."""
        self.catalogs, self._made = catalogs, made
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
        return self.home_of(self.default_catalog) if self._chosen is None else self._chosen[1]

    def enter(self, catalog: str, namespace: Sequence[str] | None = None) -> None:
        """Be there from now on. ``None``: the namespace that the catalog's ``default-namespace`` names, else none."""
        self._chosen = catalog, self.home_of(catalog) if namespace is None else tuple(namespace)

    def home_of(self, catalog: str) -> Namespace:
        """The namespace in which one is who enters a catalog. Raises InvalidArgumentError where its configuration is wrong."""
        found = None if catalog == SPARK_CATALOG else self.catalogs.find(catalog)
        home = None if found is None else found.properties.get("default-namespace")
        return tuple(home.split(".")) if home else ()

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
        found = self.catalogs.find(self.current_catalog if name is None else name)
        if found is None:
            raise NotFoundError(f"[CATALOG_NOT_FOUND] The catalog `{name or self.current_catalog}` not found. SQLSTATE: 42P08")
        return found

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

    def target(self, parts: Sequence[str]) -> Address | None:
        """As ``address``, for what a statement creates."""
        return self.address(parts)

    def namespace(self, parts: Sequence[str] | None) -> tuple[Catalog, Namespace] | None:
        """The catalog and namespace meant by a namespace's name (``None``: the current one); ``None`` if it is Spark's."""
        if not parts:
            return (self.catalog(), self.current_namespace) if self.is_ours else None
        if parts[0] in self.catalogs:
            return self.catalog(parts[0]), tuple(parts[1:])
        if not self.is_ours or parts[0] == SPARK_CATALOG:
            return None
        return self.catalog(), tuple(parts)

    # -- tables --------------------------------------------------------------------------------------------------
    def find(self, parts: Sequence[str]) -> Found | None:
        """The table a name leads to, with what stands behind it; ``None`` if the name is Spark's or nothing is there."""
        address = self.address(parts)
        return None if address is None else self.find_at(address)

    def find_at(self, address: Address) -> Found | None:
        table = self._load(address)
        if table is not None:
            return Found(address=address, table=table)
        if len(address.identifier) < 2:
            return None
        return self._find_behind(address)

    def _find_behind(self, address: Address) -> Found | None:
        """``t.files`` and ``t.branch_x``: the last part is not the table's own name."""
        last = address.identifier[-1]
        outer = replace(address, identifier=address.identifier[:-1])
        if last.lower() in METADATA_TABLES or last.lower() == CHANGES:
            table = self._load(outer)
            return None if table is None else Found(address=outer, table=table, metadata_table=last.lower())
        selector = parse_selector(last)
        if selector is None:
            return None
        found = self.find_at(outer)
        return None if found is None or not found.selector.is_empty else replace(found, selector=selector)

    def is_table(self, address: Address) -> bool:
        """Whether a table has that very name."""
        return self._made(address) is not None or address.catalog.table_exists(address.identifier)

    def not_found(self, parts: Sequence[str], *, text: str = "", offset: int | None = None) -> NotFoundError:
        """The error for a name that leads nowhere: with the nearest name, and the place in ``text`` if it has one."""
        address = self.address(parts)
        known: list[str] = []
        if address is not None:
            try:
                known = [identifier[-1] for identifier in address.catalog.list_tables(address.namespace)]
            except (NotFoundError, UnsupportedError):
                known = []
        return table_not_found(parts, known, text=text, offset=offset)

    def _load(self, address: Address) -> Table | None:
        """Without the search for near names that ``Catalog.load_table`` does for its error."""
        made = self._made(address)
        if made is not None:
            return made
        try:
            return address.catalog.table_of(address.identifier, address.catalog.operations(address.identifier).load())
        except NotFoundError:
            return None


def parse_selector(text: str) -> Selector | None:
    """``branch_x``, ``tag_x``, ``snapshot_id_1`` or ``at_timestamp_1``; ``None`` for anything else."""
    match = _SELECTOR.fullmatch(text)
    if match is None:
        return None
    value = match["value"]
    kind = match["kind"]
    if kind == "branch_":
        return Selector(ref=value, ref_type="branch")
    if kind == "tag_":
        return Selector(ref=value, ref_type="tag")
    return Selector(snapshot_id=int(value)) if kind == "snapshot_id_" else Selector(timestamp_ms=int(value))
