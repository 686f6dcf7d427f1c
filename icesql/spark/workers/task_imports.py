"""What Python workers need not read again. Runs in tasks: only the standard library.

Before each task Spark makes Python forget what it knows of import paths (``importlib.invalidate_caches``), and Python then reads the
contents of every archive at once that it has an importer for: Spark's own, of some 7,000 files, take 0.1 s and more. An archive without
an importer is read when something is next imported from it, which in a worker that has run such a task before is never.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from zipimport import zipimporter


@contextmanager
def archives_forgotten() -> Iterator[None]:
    """Around the work of a task: when it is done, no importer of an archive is kept."""
    try:
        yield
    finally:
        for path, importer in list(sys.path_importer_cache.items()):
            if isinstance(importer, zipimporter):
                sys.path_importer_cache.pop(path, None)
