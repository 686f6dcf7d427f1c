"""Damaged, cut off and foreign files of every kind, met through the public API: one error that names the file, and nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import icesql
from icesql.errors import CorruptMetadataError, IcesqlError, NotFoundError, UnsupportedError
from icesql.io import metadata_files
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import write_equality_deletes, write_position_deletes
from icesql.io.manifests import column_reader
from icesql.io.manifests import lists as manifest_lists
from icesql.spec.files import FileContent
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType
from icesql.table.table import Table
from tests.effort import scaled

SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", StringType())))
ROWS = pa.table({"id": pa.array(range(50), pa.int64()), "s": [f"row {n}" for n in range(50)]})


class Home:
    """A hadoop catalog on a folder, read each time as if by a new process."""

    def __init__(self, folder: Path) -> None:
        self.catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(folder))

    def table(self, version: int, file_format: str, deletes: str) -> Table:
        """Fifty rows and delete files of a kind."""
        properties = {"format-version": str(version), "write.format.default": file_format}
        table: Table = self.catalog.create_table(("db", "t"), SCHEMA, properties=properties)
        table.append(ROWS)
        (task,) = table.scan().plan_files().tasks
        path, delta = task.data_file.file_path, table.new_row_delta()
        if deletes == "vectors":
            for file in write_dvs(table.io, f"{table.location}/data/dv.puffin", {path: [1, 4]}, targets={path: task.data_file}):
                delta.add_deletes(file)
        elif deletes == "positions":
            delta.add_deletes(
                write_position_deletes(table.io, f"{table.location}/data/pos.{file_format}", {path: [1, 4]}, file_format=file_format)
            )
        else:
            rows = pa.table({"id": pa.array([1, 4], pa.int64())})
            for file in write_equality_deletes(
                table.io, lambda: f"{table.location}/data/eq.{file_format}", rows, SCHEMA, [1], file_format=file_format
            ):
                delta.add_deletes(file)
        delta.commit()
        assert self.count() == 48
        return table

    def count(self) -> int:
        column_reader.clear_caches()
        manifest_lists._cache.clear()
        metadata_files._cache.clear()
        return int(self.catalog.load_table("db.t").scan().to_arrow().num_rows)

    def refusal(self, *others: type[IcesqlError]) -> IcesqlError | None:
        """Why the table cannot be read, ``None`` if it can. Any other exception is a failure of the test."""
        try:
            self.count()
        except (CorruptMetadataError, UnsupportedError, *others) as error:  # type: ignore[misc]
            return error
        return None


def files_of(table: Table) -> dict[str, Path]:
    """One file of each kind that a read of the table opens."""
    plan = table.scan().plan_files()
    (task,) = plan.tasks
    assert table.metadata_location is not None
    snapshot = table.current_snapshot
    assert snapshot is not None
    assert snapshot.manifest_list is not None
    manifests = manifest_lists.read_manifest_list(table.io, snapshot.manifest_list)
    found = {"metadata": table.metadata_location, "list": snapshot.manifest_list, "data": task.data_file.file_path}
    found |= {f"manifest of {manifest.content.name.lower()}": manifest.manifest_path for manifest in manifests}
    found["deletes"] = task.delete_files[0].file_path
    assert task.delete_files[0].content is not FileContent.DATA
    return {kind: Path(place.removeprefix("file:")) for kind, place in found.items()}


CASES = [(2, "parquet", "positions"), (2, "avro", "equality"), (2, "orc", "positions"), (2, "orc", "equality"), (3, "parquet", "vectors")]


@pytest.mark.parametrize(("version", "file_format", "deletes"), CASES, ids=lambda value: str(value))
def test_a_damaged_file_is_named(tmp_path: Path, version: int, file_format: str, deletes: str) -> None:
    home, chance = Home(tmp_path), random.Random(3)
    for kind, path in files_of(home.table(version, file_format, deletes)).items():
        whole = path.read_bytes()
        cut = [whole[:12], whole[:3], b""]
        if path.suffix != ".puffin":  # a vector is read at its place, whatever became of the rest
            cut += [whole[: len(whole) // 3], whole[: len(whole) - 5]]
        for number, data in enumerate([*cut, b"\x89PNG\r\n\x1a\n" + bytes(200), b"hello, world\n" * 40]):
            path.write_bytes(data)
            error = home.refusal()
            if kind == "metadata" and not data:  # an empty version is none: what a writer left that died where there are no hard links
                assert error is None
                continue
            assert error is not None, (kind, number)
            assert path.name in str(error), (kind, number, str(error))
        for _ in range(scaled(25)):  # a flipped bit may go unnoticed, or lead to a file that is not there
            flipped = bytearray(whole)
            flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
            path.write_bytes(flipped)
            home.refusal(NotFoundError)
        path.write_bytes(whole)
        assert home.count() == 48


def edited(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = files_of(home.table(3, "parquet", "vectors"))["metadata"]
    edited(path, **{"format-version": 4})
    error = home.refusal()
    assert isinstance(error, UnsupportedError)
    assert path.name in str(error)
    assert "4" in str(error)


def test_deletes_newer_than_the_table_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    table = home.table(2, "parquet", "positions")
    path = files_of(table)["metadata"]
    document = json.loads(path.read_text())
    snapshots = [snapshot | {"sequence-number": 1} for snapshot in document["snapshots"]]
    edited(path, **{"last-sequence-number": 1, "snapshots": snapshots})
    error = home.refusal()
    assert isinstance(error, CorruptMetadataError)
    assert "sequence number" in str(error)


@pytest.mark.parametrize("hint", ["../../elsewhere/v1", "-1", "99999999999999999999", "x" * 100, "\x00\x01"])
def test_a_version_hint_leads_nowhere_else(tmp_path: Path, hint: str) -> None:
    home = Home(tmp_path)
    path = files_of(home.table(2, "parquet", "positions"))["metadata"]
    (path.parent / "version-hint.text").write_text(hint)
    assert home.count() == 48
