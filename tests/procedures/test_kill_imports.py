"""Procedures that take files over, killed at every step: the source reads, and the same call again finishes, or says that it is done.

Spark's session catalog lives in this process, so nothing is killed but its power to change anything: from the step on, every write, rename,
delete and swap fails with what no handler catches, as if nobody were there to do it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import icesql
from icesql.errors import IcesqlError
from icesql.spark.maintenance import import_files
from tests.catalog.faults import StrikingFileIO, strike_in_store

pytestmark = pytest.mark.spark
ROWS = list(range(6))
CATALOGS = ("local", "spark_catalog")
KILLS = 5  # spread over all steps; as many as there are steps have been tried


class Killed(BaseException):
    """What no one handles."""


@dataclass
class Life:
    """Ends at the ``event``-th step passed (0: never); every later step finds it ended."""

    event: int
    passed: int = 0

    def __call__(self, here: str) -> None:
        self.passed += 1
        if 0 < self.event <= self.passed:
            raise Killed(here)


@dataclass(frozen=True)
class Work:
    """A call, on what ``setup`` made. Where the kill came after its end, the call again is refused with ``done``."""

    setup: tuple[str, ...]
    call: str
    done: str
    result: str = "local.db.{n}"


WORKS = {
    "snapshot": Work(
        ("CREATE TABLE spark_catalog.default.{n} (id BIGINT, p INT) USING parquet LOCATION '{source}'",),
        "local.system.snapshot('default.{n}', 'local.db.{n}')",
        "Table already exists",
    ),
    "migrate": Work(
        ("CREATE TABLE spark_catalog.default.{n} (id BIGINT, p INT) USING parquet LOCATION '{source}'",),
        "spark_catalog.system.migrate('default.{n}')",
        "it is an Iceberg table already",
        "spark_catalog.default.{n}",
    ),
    "add_files": Work(
        ("CREATE TABLE local.db.{n} (id BIGINT, p INT)",),
        "local.system.add_files('db.{n}', '`parquet`.`{source}`')",
        "already exist within the target table",
    ),
    "register_table": Work(
        (
            "CREATE TABLE spark_catalog.default.{n}_source (id BIGINT, p INT) USING iceberg",
            "INSERT INTO spark_catalog.default.{n}_source SELECT id, 0 FROM range(0, 6, 1, 1)",
        ),
        "local.system.register_table('db.{n}', '{metadata}')",
        "Table already exists",
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_a_kill_anywhere_loses_nothing(spark: Any, tmp_path: Path, name: str) -> None:
    steps = attempt(spark, tmp_path, name, event=0)
    assert steps > 2
    for event in sorted({1 + (steps - 1) * i // (KILLS - 1) for i in range(KILLS)}):
        attempt(spark, tmp_path, name, event)


def attempt(spark: Any, folder: Path, name: str, event: int) -> int:
    """The work on a source of its own, killed at that step, and then done again. How many steps there were."""
    work, values = WORKS[name], prepare(spark, folder, name, event)
    life = Life(event)
    with pytest.MonkeyPatch.context() as patch:
        session = mortal_session(spark, folder, life, patch)
        try:
            session.sql(f"CALL {work.call.format(**values)}")
        except Killed:
            assert event
        else:
            assert not event
        for catalog in CATALOGS:
            session.catalog(catalog).close()  # the database learns that its client is gone
    again = session_in(spark, folder)
    assert source_rows(values) == ROWS
    result = work.result.format(**values)
    if name == "migrate":
        assert ids(again, result) == ROWS
    if event:
        finish(again, work, values)
    assert ids(again, result) == ROWS
    if name == "migrate":
        assert ids(again, f"{result}_BACKUP_") == ROWS
    if not event:
        again.sql(f"INSERT INTO {result} VALUES (6, 0)")
        assert ids(again, result) == [*ROWS, 6]
    assert source_rows(values) == ROWS
    return life.passed


def ids(session: Any, table: str) -> list[int]:
    return sorted(row[0] for row in session.sql(f"SELECT id FROM {table}").collect())


def finish(session: Any, work: Work, values: Mapping[str, str]) -> None:
    try:
        session.sql(f"CALL {work.call.format(**values)}")
    except IcesqlError as refused:
        assert work.done in str(refused)


def session_in(spark: Any, folder: Path) -> Any:
    """As of a new process: nothing is remembered of an earlier one."""
    catalogs = {name: {"type": "sql", "uri": f"sqlite:///{folder}/{name}.db", "warehouse": str(folder / name)} for name in CATALOGS}
    return icesql.connect(spark, catalogs=catalogs)


def prepare(spark: Any, folder: Path, name: str, event: int) -> dict[str, str]:
    """Names for one attempt, and what it starts from."""
    source = folder / f"source{event}"
    source.mkdir()
    for number in range(2):
        ids = ROWS[number::2]
        rows = pa.table({"id": pa.array(ids, pa.int64()), "p": pa.array([0] * len(ids), pa.int32())})
        pq.write_table(rows, source / f"{number}.parquet")
    values = {"n": f"killed_{name}_{event}", "source": str(source)}
    session = session_in(spark, folder)
    session.sql("CREATE NAMESPACE IF NOT EXISTS local.db")
    session.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.default")
    for statement in WORKS[name].setup:
        session.sql(statement.format(**values))
    if name == "register_table":
        values["metadata"] = str(session.table("spark_catalog.default.{n}_source".format(**values)).metadata_location)
    return values


def source_rows(values: Mapping[str, str]) -> list[int]:
    files = Path(values["source"]).glob("*.parquet")
    return sorted(row_id for file in files for row_id in pq.read_table(file, partitioning=None)["id"].to_pylist())


def mortal_session(spark: Any, folder: Path, life: Life, patch: pytest.MonkeyPatch) -> Any:
    """One that can change nothing once ``life`` has ended: neither files, nor catalogs, nor Spark's session catalog."""
    session = session_in(spark, folder)
    for name in CATALOGS:
        catalog = session.catalog(name)
        catalog.io = StrikingFileIO(life, catalog.properties)
        strike_in_store(catalog, life)
    for name in ("make_external", "put_spark_table_aside"):
        patch.setattr(import_files, name, struck(getattr(import_files, name), life))
    return session


def struck(work: Callable[..., None], life: Life) -> Callable[..., None]:
    def run(*arguments: Any) -> None:
        life("before")
        work(*arguments)
        life("after")

    return run
