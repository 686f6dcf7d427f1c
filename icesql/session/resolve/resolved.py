"""What a name in a statement leads to: one closed sum, made by ``resolver.resolve``; runners match it without a default."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from icesql.session.state.names import Address
    from icesql.spec.views import ViewMetadata
    from icesql.table.table import Table

CHANGES = "changes"
_SELECTOR = re.compile(r"(?P<kind>branch_|tag_|snapshot_id_(?=\d+$)|at_timestamp_(?=\d+$))(?P<value>.+)", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """The version that a name selects (``t.branch_x``); at most one field is set. ``ref_type``: ``branch`` or ``tag``, as the name says."""

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


def parse_selector(text: str) -> Selector | None:
    """``branch_x``, ``tag_x``, ``snapshot_id_1`` or ``at_timestamp_1``; ``None`` for anything else."""
    match = _SELECTOR.fullmatch(text)
    if match is None:
        return None
    value = match["value"]
    kind = match["kind"]
    if kind in ("branch_", "tag_"):
        return Selector(ref=value, ref_type=kind.removesuffix("_"))
    return Selector(snapshot_id=int(value)) if kind == "snapshot_id_" else Selector(timestamp_ms=int(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTable:
    """A table of one of our catalogs, and which part and version of it the name means."""

    address: Address
    table: Table
    selector: Selector = NO_SELECTOR

    @property
    def branch(self) -> str | None:
        return self.selector.ref if self.selector.ref_type == "branch" else None

    @property
    def dotted(self) -> str:
        """The table's own name, with its catalog."""
        return self.address.dotted


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTable(_OfTable):
    """The rows of a table."""

    @property
    def metadata_table(self) -> None:
        return None

    @property
    def parts(self) -> tuple[str, ...]:
        """The whole name: the table's and a version's."""
        return (*self.address.parts, *self.selector.parts)

    @property
    def is_plain(self) -> bool:
        """Whether no version is selected."""
        return self.selector.is_empty


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataTable(_OfTable):
    """``t.files`` and its kin; ``changes`` too. ``metadata_table``: its name in lower case."""

    metadata_table: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The whole name: the table's, the metadata table's, and a version's."""
        return (*self.address.parts, self.metadata_table, *self.selector.parts)

    @property
    def is_plain(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class StoredView:
    """A view that one of our catalogs keeps."""

    address: Address
    view: ViewMetadata

    @property
    def is_plain(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class TemporaryView:
    """A local temporary view of the Spark session: it goes before a table of ours with the same one-part name."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SparkOwned:
    """A name that Spark resolves: one of another catalog, or of the session catalog where nothing of ours has it."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """A name of one of our catalogs where nothing is."""

    address: Address


Readable: TypeAlias = "ResolvedTable | MetadataTable"
"""What has a schema and rows of its own."""
Source: TypeAlias = "ResolvedTable | MetadataTable | StoredView"
"""What a query can name of ours."""
Resolved: TypeAlias = "ResolvedTable | MetadataTable | StoredView | TemporaryView | SparkOwned | Missing"
