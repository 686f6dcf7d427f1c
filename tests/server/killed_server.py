"""``python -m tests.server.killed_server POINT COUNT ARGUMENTS...``: a server that kills itself with SIGKILL when it comes to a named point
for the COUNTth time. Arguments are those of ``icesql serve``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

POINTS = (
    "before a manifest is written",
    "after a manifest is written",
    "before the sync",
    "after the sync",
    "before the metadata file",
    "after the metadata file",
    "before COMMIT",
    "after COMMIT",
)


class Killer:
    def __init__(self, point: str, count: int) -> None:
        self._point, self._left = point, count

    def at(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str, before: str, after: str) -> None:
        """Every call of a function passes both points."""
        real: Callable[..., Any] = getattr(owner, name)

        def call(*args: Any, **options: Any) -> Any:
            self.at(before)
            done = real(*args, **options)
            self.at(after)
            return done

        setattr(owner, name, call)


def main(point: str, count: int, arguments: list[str]) -> None:
    from icesql.catalog import table_operations
    from icesql.catalog.sql_store import SqlStore
    from icesql.cli.main import app
    from icesql.io.manifests.writer import ManifestWriter
    from icesql.io.storage.synced_together import SyncedTogether

    assert point in POINTS, point
    killer = Killer(point, count)
    killer.around(ManifestWriter, "close", POINTS[0], POINTS[1])
    killer.around(SyncedTogether, "sync", POINTS[2], POINTS[3])
    killer.around(table_operations, "write_new_metadata", POINTS[4], POINTS[5])
    killer.around(SqlStore, "_commit", POINTS[6], POINTS[7])
    app(["serve", *arguments])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
