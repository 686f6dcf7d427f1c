"""The FileIO of a catalog: local files, object stores (``icesql.io.stores``), HDFS and what fsspec has (``store_files``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icesql.io.storage.files import FileIO
from icesql.io.storage.local_files import LocalFileIO
from icesql.io.storage.locations import delete_each, local_path, scheme_of
from icesql.io.storage.routed_files import RoutedFileIO
from icesql.io.stores.object_files import OBJECT_SCHEMES, ObjectFileIO
from icesql.io.stores.signing import RequestSigner

if TYPE_CHECKING:
    from icesql.io.storage.store_files import StoreFileIO

__all__ = ["ArrowFileIO", "LocalFileIO", "load_file_io", "local_path", "require_file_system", "scheme_of"]


class ArrowFileIO(RoutedFileIO):
    """The FileIO of a catalog: each location goes to the files of its scheme."""

    def __init__(self, properties: Mapping[str, str] | None = None, signer: RequestSigner | None = None) -> None:
        self.properties, self.signer = dict(properties or {}), signer
        self._local = LocalFileIO()
        self.objects = ObjectFileIO(self.properties, signer)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ArrowFileIO, (self.properties, self.signer))

    @property
    def only_here(self) -> str:
        """Why nobody else can open the files, the JVM for one; empty where others can."""
        return "" if self.signer is None else "the catalog signs the requests"

    @cached_property
    def _store(self) -> StoreFileIO:
        from icesql.io.storage.store_files import StoreFileIO  # with it comes pyarrow, which local and object files are read without

        return StoreFileIO(self.properties)

    def _for(self, location: str) -> LocalFileIO | StoreFileIO | ObjectFileIO:
        scheme = scheme_of(location)
        return self._local if scheme == "file" else self.objects if scheme in OBJECT_SCHEMES else self._store

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        objects: list[str] = []
        others: list[str] = []
        for location in locations:
            (objects if _is_object(location) else others).append(location)
        return [*self.objects.delete_many(objects), *delete_each(self, others)] if objects else delete_each(self, others)


def load_file_io(properties: Mapping[str, str] | None = None, location: str | None = None, signer: RequestSigner | None = None) -> FileIO:
    """The FileIO for a catalog's or table's properties. ``location`` is checked to be one it can open; a Java ``io-impl`` is ignored.

    ``signer`` signs requests to S3 in place of keys.
    """
    if location is not None:
        scheme_of(location)
    return ArrowFileIO(properties, signer)


def require_file_system(io: FileIO, location: str) -> None:
    """Raises UnsupportedError for a scheme that nothing here can read and write, InvalidArgumentError for no location."""
    if scheme_of(location) != "file" and not _is_object(location) and isinstance(io, ArrowFileIO):
        from icesql.io.storage.store_files import HADOOP_SCHEMES, open_store

        scheme = scheme_of(location)
        if scheme not in HADOOP_SCHEMES:
            open_store(scheme, location.partition("://")[2].partition("/")[0], io.properties)


def _is_object(location: str) -> bool:
    return scheme_of(location) in OBJECT_SCHEMES
