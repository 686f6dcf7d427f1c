"""What planning read and skipped, and why: shown by EXPLAIN, logged, and kept as ``Session.last_report``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skipped:
    """What one predicate (SQL text) skipped. ``bytes`` is 0 for manifests: the sizes of an unread manifest's files are not known."""

    predicate: str
    count: int
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """Counts of one planning. Totals are the snapshot's; each skipped item is counted once, for the first predicate that excludes it.

    ``files_in_skipped_manifests`` and ``files_total`` are ``None`` where a v1 writer left the counts out.
    """

    table_name: str = ""
    snapshot_id: int | None = None
    schema_id: int | None = None
    filter: str = "true"
    reader: str = ""  # who reads the files where it is not Spark's own reader, and why
    planner: str = ""  # who planned where it was not this process
    planning_ms: float = 0.0
    manifests_total: int = 0
    manifests_scanned: int = 0
    manifests_skipped: tuple[Skipped, ...] = ()
    manifests_not_needed: int = 0  # a limit was reached before
    delete_manifests_total: int = 0
    delete_manifests_scanned: int = 0
    files_total: int | None = 0
    files_in_skipped_manifests: int | None = 0
    files_scanned: int = 0  # live entries of the scanned manifests
    files_skipped_by_partition: tuple[Skipped, ...] = ()
    files_skipped_by_metrics: tuple[Skipped, ...] = ()
    files_planned: int = 0
    bytes_planned: int = 0
    rows_planned: int = 0
    delete_files_planned: int = 0
    position_delete_files: int = 0
    equality_delete_files: int = 0
    deletion_vectors: int = 0

    @property
    def manifests_skipped_count(self) -> int:
        return sum(skip.count for skip in self.manifests_skipped)

    @property
    def files_skipped_count(self) -> int:
        return sum(skip.count for skip in (*self.files_skipped_by_partition, *self.files_skipped_by_metrics))

    @property
    def bytes_skipped(self) -> int:
        """Bytes of skipped files in manifests that were read; files of skipped manifests are not counted."""
        return sum(skip.bytes for skip in (*self.files_skipped_by_partition, *self.files_skipped_by_metrics))

    def lines(self) -> list[str]:
        """The report as text, one fact a line."""
        total = "unknown" if self.files_total is None else f"{self.files_total:,}"
        shown = [
            f"table: {self.table_name}, snapshot: {self.snapshot_id}, schema: {self.schema_id}",
            f"filter: {self.filter}",
            *self._read(total),
        ]
        by = f", by {self.planner}" if self.planner else ""
        return [*shown, f"planned in {self.planning_ms:.1f} ms{by}"]

    def _read(self, total: str) -> list[str]:
        """What was read and skipped, as far as it is known: whoever plans elsewhere tells of the outcome only."""
        if self.planner:
            shown = [f"files: {self.files_planned:,} of {total} planned ({_size(self.bytes_planned)})"]
            return [*shown, f"deletes: {self._delete_files()}"] if self.delete_files_planned else shown
        shown = [
            f"manifests: {self.manifests_scanned:,} of {self.manifests_total:,} read, {self.manifests_skipped_count:,} skipped",
            *(f"  skipped by {skip.predicate}: {skip.count:,} manifests" for skip in self.manifests_skipped),
            f"files: {self.files_planned:,} of {total} planned ({_size(self.bytes_planned)}), {self.files_skipped_count:,} skipped "
            f"({_size(self.bytes_skipped)}) in the manifests read",
            *(f"  skipped by partition, {skip.predicate}: {skip.count:,} files" for skip in self.files_skipped_by_partition),
            *(f"  skipped by column metrics, {skip.predicate}: {skip.count:,} files" for skip in self.files_skipped_by_metrics),
        ]
        if self.delete_manifests_total:
            read = f"{self.delete_manifests_scanned:,} of {self.delete_manifests_total:,} manifests read"
            shown.append(f"deletes: {read}, {self._delete_files()}")
        return shown

    def _delete_files(self) -> str:
        return (
            f"{self.position_delete_files:,} position delete files, {self.equality_delete_files:,} equality delete files, "
            f"{self.deletion_vectors:,} deletion vectors"
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} TiB"
