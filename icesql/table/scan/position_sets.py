"""Deleted positions of data files, from position delete files and deletion vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from icesql.io.deletes.deletion_vectors import read_dv
from icesql.io.deletes.files import read_position_deletes
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent

if TYPE_CHECKING:
    from pyroaring import BitMap64


def deleted_positions(io: FileIO, file: DataFile, data_path: str | None = None) -> dict[str, BitMap64]:
    """Positions by data file path of one position delete file or deletion vector; of ``data_path`` only if given."""
    if not file.is_deletion_vector:
        return read_position_deletes(io, file, data_path)
    path = file.referenced_data_file or ""
    return {path: read_dv(io, file)} if data_path in (None, path) else {}


def positions_of(io: FileIO, data_path: str, deletes: Iterable[DataFile]) -> BitMap64 | None:
    """All positions of one data file that its position deletes remove, ``None`` for none."""
    merged: BitMap64 | None = None
    for delete in deletes:
        if delete.content is FileContent.POSITION_DELETES:
            positions = deleted_positions(io, delete, data_path).get(data_path)
            if positions is not None:
                merged = positions if merged is None else merged | positions
    return merged if merged else None
