"""Checks that a data file has at most one deletion vector. Spec: "Deletion Vectors"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.table.manifests.filter import may_contain_any
from icesql.table.snapshot.produce import ProduceSnapshot


class VectorCheck:
    """The check of one change's vectors. Manifests without vectors for its data files are not read again."""

    def __init__(self, io: FileIO, change: ProduceSnapshot) -> None:
        self._io = io
        self._vectors = {file.key: file for file in change.add_delete_files if file.is_deletion_vector}.values()
        self._referenced = frozenset(file.referenced_data_file for file in self._vectors)
        self._free: set[str] = set()

    def check(self, metadata: TableMetadata, kept: Iterable[ManifestFile]) -> None:
        """``kept``: the delete manifests that stay, without the files the change removes.

        Raises InvalidArgumentError if the change itself adds two vectors for one file, ValidationError if an older one would stay.
        """
        if not self._vectors:
            return
        path, count = Counter(file.referenced_data_file for file in self._vectors).most_common(1)[0]
        if count > 1:
            raise InvalidArgumentError(f"Cannot add deletion vectors: there are {count} for one data file: {path}", file_path=path)
        for manifest in kept:
            if manifest.manifest_path not in self._free and self._may_hold(metadata, manifest):
                self._check_manifest(metadata, manifest)
            self._free.add(manifest.manifest_path)

    def _may_hold(self, metadata: TableMetadata, manifest: ManifestFile) -> bool:
        partitions = [file.partition for file in self._vectors if file.spec_id == manifest.partition_spec_id]
        return manifest.content is ManifestContent.DELETES and manifest.has_live_files and (
            bool(partitions) and may_contain_any(metadata, manifest, partitions)
        )  # fmt: skip

    def _check_manifest(self, metadata: TableMetadata, manifest: ManifestFile) -> None:
        columns = read_manifest_columns(self._io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
        rows = np.flatnonzero(columns.live)
        rows = rows[columns.content_offset[rows] >= 0]
        if not len(rows):
            return
        for row, path in zip(rows.tolist(), columns.referenced_data_file.texts(rows), strict=True):
            if path in self._referenced:
                held = columns.data_file(row).file_path
                raise ValidationError(
                    f"Cannot add deletion vector: its data file has one already, which the commit does not remove: {path}: {held}",
                    file_path=path,
                )
