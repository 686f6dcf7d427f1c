"""The metadata tables of one table as Arrow data, a method for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icesql.expr.tree import Expression
from icesql.table.arguments import checked
from icesql.table.metadata_tables.registry import METADATA_TABLES, scan_metadata_table

if TYPE_CHECKING:
    from icesql.table.table import Table


@checked
class Inspect:
    """``table.inspect.files()`` and the other metadata tables, each as a pyarrow table, of the version that the table object holds."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __repr__(self) -> str:
        return f"Inspect({self._table.name}: {', '.join(METADATA_TABLES)})"

    def read(
        self,
        name: str,
        where: Expression | str | None = None,
        *,
        select: list[str] | None = None,
        snapshot_id: int | None = None,
        ref: str | None = None,
    ) -> pa.Table:
        """The metadata table of that name: rows that match, columns of ``select``. Raises NotFoundError that names the nearest."""
        table = self._table
        return scan_metadata_table(
            name,
            io=table.io,
            metadata=table.metadata,
            metadata_location=table.metadata_location,
            filter=table.expression(where),
            select=select,
            snapshot_id=snapshot_id,
            ref=ref,
        )

    def snapshots(self) -> pa.Table:
        """The snapshots, oldest first."""
        return self.read("snapshots")

    def history(self) -> pa.Table:
        """Which snapshot was current, and when."""
        return self.read("history")

    def refs(self) -> pa.Table:
        """Branches and tags."""
        return self.read("refs")

    def metadata_log_entries(self) -> pa.Table:
        """The metadata files."""
        return self.read("metadata_log_entries")

    def files(self, snapshot_id: int | None = None) -> pa.Table:
        """Data and delete files of a snapshot."""
        return self.read("files", snapshot_id=snapshot_id)

    def data_files(self, snapshot_id: int | None = None) -> pa.Table:
        """Data files of a snapshot."""
        return self.read("data_files", snapshot_id=snapshot_id)

    def delete_files(self, snapshot_id: int | None = None) -> pa.Table:
        """Delete files of a snapshot."""
        return self.read("delete_files", snapshot_id=snapshot_id)

    def entries(self, snapshot_id: int | None = None) -> pa.Table:
        """Manifest entries of a snapshot."""
        return self.read("entries", snapshot_id=snapshot_id)

    def manifests(self, snapshot_id: int | None = None) -> pa.Table:
        """Manifests of a snapshot."""
        return self.read("manifests", snapshot_id=snapshot_id)

    def partitions(self, snapshot_id: int | None = None) -> pa.Table:
        """Partitions of a snapshot, with counts and sizes."""
        return self.read("partitions", snapshot_id=snapshot_id)

    def position_deletes(self, snapshot_id: int | None = None) -> pa.Table:
        """Deleted positions of a snapshot."""
        return self.read("position_deletes", snapshot_id=snapshot_id)

    def all_files(self) -> pa.Table:
        """Data and delete files of all snapshots."""
        return self.read("all_files")

    def all_data_files(self) -> pa.Table:
        """Data files of all snapshots."""
        return self.read("all_data_files")

    def all_delete_files(self) -> pa.Table:
        """Delete files of all snapshots."""
        return self.read("all_delete_files")

    def all_entries(self) -> pa.Table:
        """Manifest entries of all snapshots."""
        return self.read("all_entries")

    def all_manifests(self) -> pa.Table:
        """Manifests of all snapshots."""
        return self.read("all_manifests")
