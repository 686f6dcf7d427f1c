"""A new file that Arrow's writers fill, durable once it is closed. Apart, since what only reads catalogs does not import pyarrow."""

from __future__ import annotations

import os

import pyarrow as pa

from icesql.io.storage import durable


class DurableOutput(pa.OSFile):  # type: ignore[misc]
    """A new file to write into; its bytes and its name are on the disk once it is closed."""

    def __init__(self, path: str, mode: str) -> None:
        self._path: str | None = path

    def close(self) -> None:
        """A second call does nothing. The format's writer may have closed the descriptor before, so the file is opened again to sync."""
        super().close()
        path, self._path = self._path, None
        if path is not None:
            durable.sync_file(path)
            durable.sync_names(os.path.dirname(path))
