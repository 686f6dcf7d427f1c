"""What a session holds after many statements: ``python -m tests.session.growth 2000`` counts it before, every 200, and at the end.

All that a statement makes must go with it: threads and descriptors of both processes, objects that each side holds for the other, temporary
views, cached relations, blocks (broadcasts among them). Spark's own pools make a thread for each task until they have as many as they may
have, and end those that idle for a minute: at the very end all threads of the JVM are counted.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject

from icesql.session.session import Session
from icesql.spark.bridge import tidy

_TRIES = 20


def make_tables(session: Session, catalog: str) -> None:
    session.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.growth")
    for mode in ("merge-on-read", "copy-on-write"):
        modes = ", ".join(f"'write.{verb}.mode'='{mode}'" for verb in ("update", "merge", "delete"))
        session.sql(f"CREATE TABLE {catalog}.growth.{mode[0]} (id bigint, v string) TBLPROPERTIES ({modes})")
        session.sql(f"INSERT INTO {catalog}.growth.{mode[0]} SELECT id, 'a' FROM range(100)")


def run(session: Session, catalog: str, number: int) -> None:
    """The statement with that number; 10 are all there are."""
    table, row = f"{catalog}.growth.{'mc'[number % 2]}", number % 100
    match number // 2 % 5:
        case 0:
            session.sql(f"UPDATE {table} SET v = 'u{number}' WHERE id = {row}")
        case 1:
            source = f"(SELECT {row} AS id, 'm{number}' AS v)"
            matched = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
            session.sql(f"MERGE INTO {table} t USING {source} s ON t.id = s.id {matched}")
        case 2:
            session.sql(f"INSERT INTO {table} VALUES ({1000 + number}, 'x')")
        case 3:
            session.sql(f"DELETE FROM {table} WHERE id >= 1000")
        case 4:
            session.sql(f"SELECT count(*), max(v) FROM {table} t JOIN (SELECT id AS j FROM {table}) ON id = j").collect()
            if row > 90:
                expired = (
                    f"CALL {catalog}.system.expire_snapshots(table => 'growth.{'mc'[number % 2]}', older_than => TIMESTAMP '2999-01-01')"
                )
                session.sql(f"CALL {catalog}.system.rewrite_data_files('growth.{'mc'[number % 2]}')")
                session.sql(expired)


def counts(session: Session) -> dict[str, int]:
    spark = session.spark
    gateway, jvm, java = spark.sparkContext._gateway, spark._jvm, spark.sparkContext._jsc.sc()
    return {
        "Python threads": threading.active_count(),
        "Python descriptors": _descriptors(os.getpid()),
        "JVM descriptors": _descriptors(jvm.java.lang.ProcessHandle.current().pid()),
        "Python objects held for the JVM": len(gateway.gateway_property.pool),
        "JVM objects held for Python": JavaObject("GATEWAY_SERVER", gateway._gateway_client).getGateway().getBindings().size(),
        "callback connections": len(gateway._callback_server.connections),
        "temporary views": spark._jsparkSession.sessionState().catalog().listLocalTempViews("*").size(),
        "temporary functions": spark._jsparkSession.sessionState().catalog().listTemporaryFunctions().size(),
        "cached relations": 0 if spark._jsparkSession.sharedState().cacheManager().isEmpty() else 1,
        "persistent RDDs": java.getPersistentRDDs().size(),
        "blocks": java.env().blockManager().blockInfoManager().size(),
    }


def _jvm_threads(session: Session) -> int:
    return int(session.spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean().getThreadCount())


def _descriptors(process: int) -> int:
    folder = Path(f"/proc/{process}/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def settled(session: Session, is_enough: Callable[[dict[str, int]], bool] | None = None) -> dict[str, int]:
    """The counts once both collectors have run; they work behind, so they are asked until it is enough or no less."""
    session.frames.clear()
    system, last = session.spark._jvm.java.lang.System, counts(session)
    for _ in range(_TRIES):
        gc.collect()
        system.gc()
        system.runFinalization()
        tidy(session.spark)
        found = counts(session)
        if is_enough(found) if is_enough is not None else found == last:
            return found
        last = found
    return last


def growth(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}


def main(statements: int) -> None:
    import icesql

    warehouse = tempfile.mkdtemp()
    conf: dict[str, Any] = {"spark.log.level": "OFF", "spark.sql.shuffle.partitions": "4"}
    session = icesql.connect(catalogs={"c": {"type": "sql", "warehouse": warehouse}}, master="local[2]", conf=conf)
    make_tables(session, "c")
    started = time.monotonic()
    for number in range(statements):
        if number % 200 == 100:
            print(number, counts(session), "JVM threads", _jvm_threads(session), flush=True)
        if number == 100:
            before = settled(session)
            print("settled", before, "JVM threads", _jvm_threads(session), flush=True)
        run(session, "c", number)
    print(f"{statements} statements, {(time.monotonic() - started):.0f} s", counts(session), flush=True)
    time.sleep(70)  # the pools end their threads
    after = settled(session, lambda found: not growth(before, found))
    print("idle", after, "JVM threads", _jvm_threads(session), "grown:", growth(before, after), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
