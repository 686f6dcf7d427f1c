"""A dry run: the procedure's own code over a table whose commits and files stay in memory.

What would have been done is read off afterwards: the metadata before and after, and the files that were to be written and deleted.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from icesql.errors import AlreadyExistsError
from icesql.io.storage.files import FileInfo, FileIO
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.removal import Surroundings, surroundings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAction:
    """One thing that a real call would do. ``action``: ``delete file``, ``write file``, ``remove snapshot``, ``set ref`` ... .
    ``size_in_bytes`` where known."""

    action: str
    what: str
    size_in_bytes: int | None = None
    reason: str = ""


class DryRunIO:
    """Reads go through; writes stay in memory; deletions are noted."""

    def __init__(self, real: FileIO) -> None:
        self._real = real
        self.written: dict[str, bytes] = {}
        self.deleted: dict[str, None] = {}
        self._lock = threading.Lock()

    def read(self, location: str) -> bytes:
        return self.written[location] if location in self.written else self._real.read(location)

    def open_input(self, location: str) -> BinaryIO:
        if location in self.written:
            return io.BytesIO(self.written[location])
        return self._real.open_input(location)

    def open_output(self, location: str) -> BinaryIO:
        return _KeptOutput(self, location)

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        if not overwrite and self.exists(location):
            raise AlreadyExistsError(f"Cannot write file: it exists: {location}", location=location)
        with self._lock:
            self.written[location] = bytes(data)

    def size(self, location: str) -> int:
        return len(self.written[location]) if location in self.written else self._real.size(location)

    def exists(self, location: str) -> bool:
        return location in self.written or self._real.exists(location)

    def delete(self, location: str) -> None:
        with self._lock:
            if self.written.pop(location, None) is None:
                self.deleted[location] = None

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        if not self.exists(location) or not is_the_one(self.read(location)):
            return False
        self.delete(location)
        return True

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        for location in locations:
            self.delete(location)
        return []

    def delete_folder(self, location: str) -> None:
        for info in self._real.list_files(location):
            self.delete(info.location)

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        return self._real.list_files(prefix, recursive=recursive)

    def list_folders(self, location: str) -> list[str]:
        return self._real.list_folders(location)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        self.write(target, self.read(source), overwrite=False)
        self.delete(source)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _KeptOutput(io.BytesIO):
    def __init__(self, owner: DryRunIO, location: str) -> None:
        super().__init__()
        self._owner, self._location = owner, location

    def close(self) -> None:
        if not self.closed:
            self._owner.write(self._location, self.getvalue())
        super().close()


@dataclass(slots=True)
class DryRunOperations:
    """Commits move the version in memory only."""

    real: TableOperations
    dry_run_io: DryRunIO
    version: TableVersion
    commits: int = 0

    @property
    def io(self) -> FileIO:
        return self.dry_run_io

    @property
    def name(self) -> str:
        return self.real.name

    @property
    def surroundings(self) -> Surroundings | None:
        return surroundings_of(self.real)

    def load(self) -> TableVersion:
        return self.version

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        self.commits += 1
        self.version = TableVersion(metadata, self.version.metadata_location)
        return self.version


def metadata_actions(before: TableMetadata, after: TableMetadata) -> Iterator[PlannedAction]:
    """What a commit would change in the metadata: snapshots, refs, statistics, schemas, specs, properties."""
    reason = {s.snapshot_id: (s.operation or "unknown operation") for s in (*before.snapshots, *after.snapshots)}
    for snapshot_id in before.snapshots_by_id.keys() - after.snapshots_by_id.keys():
        yield PlannedAction(action="remove snapshot", what=str(snapshot_id), reason=reason[snapshot_id])
    for snapshot_id in after.snapshots_by_id.keys() - before.snapshots_by_id.keys():
        yield PlannedAction(action="add snapshot", what=str(snapshot_id), reason=reason[snapshot_id])
    for name in sorted(before.refs.keys() - after.refs.keys()):
        yield PlannedAction(action="remove ref", what=name, reason=f"at snapshot {before.refs[name].snapshot_id}")
    for name, ref in sorted(after.refs.items()):
        if before.refs.get(name) != ref:
            old = before.refs.get(name)
            yield PlannedAction(action="set ref", what=name, reason=f"from {old.snapshot_id if old else 'nothing'} to {ref.snapshot_id}")
    for kind, old_ids, new_ids in (
        ("schema", before.schemas_by_id.keys(), after.schemas_by_id.keys()),
        ("partition spec", before.specs_by_id.keys(), after.specs_by_id.keys()),
    ):
        for number in sorted(old_ids - new_ids):
            yield PlannedAction(action=f"remove {kind}", what=str(number), reason="no longer used")
    for key in sorted({k for k in {**before.properties, **after.properties} if before.properties.get(k) != after.properties.get(k)}):
        yield PlannedAction(action="set property", what=key, reason=f"to {after.properties.get(key)!r}")
