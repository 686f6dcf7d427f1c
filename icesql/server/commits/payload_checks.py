"""What a client may say in produce-snapshot: how much, and under which names. What does not fit the table the engine refuses itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from icesql.errors import InvalidArgumentError
from icesql.spec.metadata import TableMetadata
from icesql.table.snapshot.produce import ProduceSnapshot

_RESERVED = (
    "added-",
    "deleted-",
    "removed-",
    "total-",
    "changed-partition-count",
    "partitions.",
    "partition-summaries-included",
    "manifests-",
)
_OURS = frozenset({"operation", "entries-processed"})


@dataclass(frozen=True, slots=True)
class PayloadChecks:
    max_files: int

    def check(self, change: ProduceSnapshot, metadata: TableMetadata) -> None:
        """Raises InvalidArgumentError."""
        self._check_summary(change)
        self._check_files(change)

    def _check_summary(self, change: ProduceSnapshot) -> None:
        for key in change.summary:
            if key in _OURS or key.startswith(_RESERVED):
                raise InvalidArgumentError(f"Cannot produce snapshot: the server itself sets {key} in its summary", key=key)

    def _check_files(self, change: ProduceSnapshot) -> None:
        files = (*change.add_data_files, *change.add_delete_files, *change.remove_data_files, *change.remove_delete_files)
        if len(files) > self.max_files:
            raise InvalidArgumentError(
                f"Cannot produce snapshot: it names {len(files)} files, more than {self.max_files}; send several requests"
            )
        added = Counter(file.key for file in (*change.add_data_files, *change.add_delete_files))
        twice = next((key for key, count in added.items() if count > 1), None)
        if twice is not None:
            raise InvalidArgumentError(f"Cannot produce snapshot: a file is added twice: {twice[0]}", path=twice[0])
