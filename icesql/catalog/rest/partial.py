"""Metadata of which only the snapshots of branches and tags are here; whoever asks for others fetches all. Spec: ``snapshots=refs``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot


class LazyTableMetadata(TableMetadata):
    """Equal in everything to the whole metadata. ``snapshots``, and a look-up that misses, fetch the whole; refs and heads do not."""

    def __new__(cls, **values: Any) -> Any:
        """A changed copy (``dataclasses.replace``) has all snapshots, so it is plain metadata."""
        return TableMetadata(**values)

    def __getattribute__(self, name: str) -> Any:
        if name == "snapshots":
            return object.__getattribute__(self, "__dict__")["_source"].all()
        if name == "snapshots_by_id":
            return object.__getattribute__(self, "__dict__")["_source"]
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableMetadata) and all(getattr(self, f.name) == getattr(other, f.name) for f in fields(TableMetadata))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_whole, ({f.name: getattr(self, f.name) for f in fields(TableMetadata)},))


def _whole(values: dict[str, Any]) -> TableMetadata:
    return TableMetadata(**values)


class _Source(Mapping[int, Snapshot]):
    """Snapshots by id."""

    def __init__(self, known: tuple[Snapshot, ...], newest: int, fetch: Callable[[], TableMetadata]) -> None:
        self._known, self._fetch, self._newest = {snapshot.snapshot_id: snapshot for snapshot in known}, fetch, newest
        self._all: tuple[Snapshot, ...] | None = None
        self._by_id: dict[int, Snapshot] = {}
        self._lock = threading.Lock()

    def all(self) -> tuple[Snapshot, ...]:
        """Those of this version: later ones, which other writers have added meanwhile, are left out."""
        with self._lock:
            if self._all is None:
                fetched = {
                    s.snapshot_id: s for s in self._fetch().snapshots if s.sequence_number <= self._newest or s.snapshot_id in self._known
                }
                self._by_id = fetched
                self._all = tuple(self._by_id.values())
            return self._all

    def __getitem__(self, snapshot_id: int) -> Snapshot:
        known = self._known.get(snapshot_id)
        if known is not None:
            return known
        self.all()
        return self._by_id[snapshot_id]

    def __iter__(self) -> Iterator[int]:
        self.all()
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self.all())


def with_lazy_snapshots(metadata: TableMetadata, fetch: Callable[[], TableMetadata]) -> TableMetadata:
    """``metadata`` with the snapshots of refs alone, completed by what ``fetch`` gives when others are asked for.

    Version 1 numbers no snapshots, so later ones could not be told: there all are fetched now.
    """
    if metadata.format_version == 1:
        return fetch()
    source = _Source(metadata.snapshots, metadata.last_sequence_number, fetch)
    lazy: LazyTableMetadata = object.__new__(LazyTableMetadata)
    for field in fields(TableMetadata):
        if field.name != "snapshots":
            object.__setattr__(lazy, field.name, getattr(metadata, field.name))
    lazy.__dict__["_source"] = source
    return lazy
