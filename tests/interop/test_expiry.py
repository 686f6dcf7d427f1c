"""Expiry beside Iceberg's: over the same random pasts the same snapshots, refs and files go, and the same counts are told."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import icesql
from icesql.errors import IcesqlError
from icesql.io.metadata_files import read_metadata
from icesql.io.storage.file_systems import load_file_io
from icesql.table.table import Table
from tests.interop.layout import newest_metadata_file
from tests.oracle.client import Oracle, OracleError
from tests.table.maintained import BY_P, SCHEMA, read_everything
from tests.table.past import Past

pytestmark = pytest.mark.interop
FAR_MS = 4_102_444_800_000  # 2100
PASTS = (2, 3, 5, 10)  # a refused call, and each kind of file among what goes


@dataclass(frozen=True, kw_only=True)
class Expiry:
    """The arguments of one call, as the procedure has them."""

    older_than_ms: int
    retain_last: int | None = None
    snapshot_ids: tuple[int, ...] = ()
    clean_expired_metadata: bool = False

    @classmethod
    def of(cls, table: Table, chance: random.Random) -> Expiry:
        chosen = chance.choice(table.snapshots)
        return cls(
            older_than_ms=chance.choice([FAR_MS, FAR_MS, chosen.timestamp_ms, chosen.timestamp_ms + 1]),
            retain_last=chance.choice([None, 1, 2, 3]),
            snapshot_ids=(chance.choice(table.snapshots).snapshot_id,) if chance.random() < 0.3 else (),
            clean_expired_metadata=chance.random() < 0.5,
        )

    def call(self, table: str) -> str:
        at = datetime.fromtimestamp(self.older_than_ms / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
        arguments = [f"table => '{table}'", f"older_than => TIMESTAMP '{at}'"]
        if self.retain_last is not None:
            arguments.append(f"retain_last => {self.retain_last}")
        if self.snapshot_ids:
            arguments.append(f"snapshot_ids => array({', '.join(f'{i}L' for i in self.snapshot_ids)})")
        arguments.append(f"clean_expired_metadata => {str(self.clean_expired_metadata).lower()}")
        return f"CALL local.system.expire_snapshots({', '.join(arguments)})"

    def here(self, table: Table) -> tuple[int, ...]:
        expire = table.expire_snapshots().expire_older_than(self.older_than_ms).clean_expired_metadata(self.clean_expired_metadata)
        if self.retain_last is not None:
            expire.retain_last(self.retain_last)
        for snapshot_id in self.snapshot_ids:
            expire.expire_snapshot_id(snapshot_id)
        return expire.commit().files.counts()


@dataclass(frozen=True)
class Left:
    """What an expiry told and left behind. ``refused``: it raised; ``files`` leave out metadata files, for each engine writes its own."""

    refused: bool
    counts: tuple[int, ...] | None
    metadata: dict[str, Any]
    files: frozenset[str]


def left_by(folder: Path, expire: Callable[[], tuple[int, ...] | None]) -> Left:
    refused, counts = False, None
    try:
        counts = expire()
    except (IcesqlError, OracleError):
        refused = True
    metadata = read_metadata(load_file_io({}), newest_metadata_file(str(folder)), use_cache=False)
    shown = {
        "snapshots": [snapshot.snapshot_id for snapshot in metadata.snapshots],
        "refs": dict(metadata.refs),
        "log": [entry.snapshot_id for entry in metadata.snapshot_log],
        "schemas": sorted(schema.schema_id for schema in metadata.schemas),
        "specs": sorted(spec.spec_id for spec in metadata.partition_specs),
        "statistics": sorted(file.statistics_path for file in (*metadata.statistics, *metadata.partition_statistics)),
    }
    found = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".crc")
    return Left(refused, counts, shown, frozenset(f for f in found if not f.endswith(("metadata.json", "version-hint.text"))))


def test_the_same_goes_as_in_java(oracle: Oracle, tmp_path: Path) -> None:
    told, refused = Counter[int](), 0
    for seed in PASTS:
        left = expired_three_times(oracle, seed, tmp_path / str(seed))
        told.update(dict(enumerate(left.counts or ())))
        refused += left.refused
    assert all(told[column] for column in range(6)), "every kind of file went somewhere"
    assert 0 < refused < len(PASTS)


def expired_three_times(oracle: Oracle, seed: int, before: Path) -> Left:
    """One past, expired by the runtime's procedure, by its API, and here, each time from the same files. Fails unless all three agree."""
    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=oracle.warehouse)
    if not catalog.namespace_exists(("past",)):
        catalog.create_namespace(("past",))
    name, folder = f"past.t{seed}", Path(oracle.warehouse, "past", f"t{seed}")
    past = Past(catalog.create_table(name, SCHEMA, spec=BY_P, properties={"format-version": str(2 + seed % 2)}), seed)
    expiry = Expiry.of(past.grow(16), random.Random(seed))
    shutil.copytree(folder, before)

    def again(expire: Callable[[], tuple[int, ...] | None]) -> Left:
        shutil.rmtree(folder)
        shutil.copytree(before, folder)
        return left_by(folder, expire)

    procedure = again(lambda: oracle.rows(expiry.call(name))[0])
    api = again(lambda: oracle.call("tests.interop.java_tables:expire", str(folder), *astuple(expiry)))
    here = again(lambda: expiry.here(catalog.load_table(name)))
    assert here == procedure, (expiry, past.steps)
    assert here == replace(api, counts=here.counts), (expiry, past.steps)
    read_everything(catalog.load_table(name))
    return here
