"""Clients that are killed within a commit, replies that are lost, and servers that are killed: what the table holds after each.

Every batch has a number of its own. What was acknowledged must be there once and whole, what was called failed must not be there, and what
nobody knows of is there once or not at all, and stays so.
"""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from icesql.catalog.loading import load_catalog
from icesql.catalog.rest.catalog import RestCatalog
from icesql.errors import CommitStateUnknownError, IcesqlError
from tests.catalog.faults import striking_catalog
from tests.catalog.workload import RETRIES, ROWS, SCHEMA, TABLE, batch, held_rows, processes
from tests.rest.proxy import Call, Fault, FaultProxy
from tests.rest.reference_server import ReferenceServer
from tests.rest.test_commit_outcomes import CARRIED_OUT, NOT_CARRIED_OUT, is_commit

FILE_POINTS = tuple(f"{when}-{step}" for step in ("data", "manifest", "list") for when in ("before", "after"))
WIRE_POINTS = ("before the commit arrives", "commit carried out, reply lost", "while the reply is on its way")
QUICK = {"commit.status-check.min-wait-ms": "50", "commit.status-check.max-wait-ms": "200", "commit.status-check.num-retries": "3"}


@dataclass
class Tally:
    """What came of the batches so far, by number, and how often each thing happened."""

    acknowledged: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)
    present: set[int] = field(default_factory=set)
    happened: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        kept = len(self.unknown & self.present)
        return (
            f"{sum(self.happened.values())} strikes: {len(self.acknowledged)} commits acknowledged and there, {len(self.failed)} called "
            f"failed and not there, {len(self.unknown)} of unknown outcome ({kept} there, whole and once), nothing lost, nothing doubled"
        )


class Strikes:
    """One table of one server, reached through a proxy that a strike belongs to."""

    def __init__(self, server: ReferenceServer, folder: Path, seed: int = 0) -> None:
        self.server, self.folder, self.dice, self.tally = server, folder, random.Random(seed), Tally()
        self.proxy = FaultProxy(server.uri, chosen=is_commit)
        self._numbers = iter(range(1, 10**9))
        self._direct = self._catalog(server.uri, **{"rest.client.socket-timeout-ms": "120000"})
        self._direct.create_table(TABLE, SCHEMA, properties={**RETRIES, **QUICK})

    def stop(self) -> None:
        self._direct.close()
        self.proxy.stop()

    def _catalog(self, uri: str, **more: str) -> RestCatalog:
        catalog = load_catalog("test", {**self.properties(uri), **more})
        assert isinstance(catalog, RestCatalog)
        return catalog

    @staticmethod
    def properties(uri: str) -> dict[str, str]:
        return {"type": "rest", "uri": uri, "rest.client.socket-timeout-ms": "3000", "rest-metrics-reporting-enabled": "false"}

    # -- strikes -------------------------------------------------------------------------------------------------------
    def kill_client(self, point: str) -> None:
        """A process of its own appends, and is killed at the point."""
        number, journal = next(self._numbers), self.folder / f"journal-{sum(self.tally.happened.values())}"
        at_file = point if point in FILE_POINTS else ""
        process = processes().Process(target=append, args=(self.properties(self.proxy.uri), str(journal), number, at_file))
        process.start()
        if point in WIRE_POINTS:
            self.proxy.faults = [_killing(process.pid, point)]
        process.join(120)
        assert process.exitcode == -signal.SIGKILL, f"{point}: the process ended by itself: {process.exitcode}"
        self.proxy.faults = []
        (self.tally.acknowledged if journal.exists() else self.tally.unknown).add(number)
        self._look(f"client killed: {point}")

    def lose_reply(self, name: str) -> None:
        fault = {**CARRIED_OUT, **NOT_CARRIED_OUT}[name]
        self._append(fault, f"reply: {name}")

    def kill_server(self, when: str) -> None:
        """The server is killed with the commit in its hands, and started again."""

        def fault(call: Call) -> None:
            if when == "after":
                call.forward()
            self.server.restart()

        self._append(fault, f"server killed {when} the commit")

    def _append(self, fault: Fault, happening: str) -> None:
        number, catalog = next(self._numbers), self._catalog(self.proxy.uri)
        table = catalog.load_table(TABLE)
        self.proxy.faults = [fault]
        try:
            table.append(batch(number))
            self.tally.acknowledged.add(number)
        except CommitStateUnknownError:
            self.tally.unknown.add(number)
        except IcesqlError:
            self.tally.failed.add(number)
        assert self.proxy.faults == [], f"{happening}: it did not happen"
        catalog.close()
        self._look(happening)

    # -- what is there ---------------------------------------------------------------------------------------------------
    def _look(self, happening: str) -> None:
        self.tally.happened[happening] += 1
        table = self._direct.load_table(TABLE)
        counts = Counter(held_rows(table)["batch"].to_pylist())
        assert set(counts.values()) <= {ROWS}, f"{happening}: a batch is there twice or in part: {counts}"
        present = set(counts)
        assert self.tally.acknowledged <= present, f"{happening}: lost: {self.tally.acknowledged - present}"
        assert not self.tally.failed & present, f"{happening}: called failed and there: {self.tally.failed & present}"
        assert self.tally.present <= present, f"{happening}: gone again: {self.tally.present - present}"
        assert len(table.snapshots) == len(present), f"{happening}: {len(table.snapshots)} snapshots for {len(present)} batches"
        self.tally.present = present


def _killing(pid: int | None, point: str) -> Fault:
    def fault(call: Call) -> tuple[int, dict[str, str], bytes] | None:
        answer = None
        if point != WIRE_POINTS[0]:
            answer = call.forward()
        os.kill(pid or 0, signal.SIGKILL)
        return answer if point == WIRE_POINTS[2] else None

    return fault


def append(properties: Mapping[str, str], journal: str, number: int, point: str) -> None:
    """The body of a process that dies at a point of its commit, which the proxy or ``point`` names."""

    def strike(here: str) -> None:
        if here == point:
            os.kill(os.getpid(), signal.SIGKILL)

    striking_catalog(properties, strike).load_table(TABLE).append(batch(number))
    Path(journal).write_text(str(number))


def run(server: ReferenceServer, folder: Path, *, kills: int, losses: int, restarts: int, seed: int = 0) -> Iterator[Tally]:
    """All in a random order; the tally after each."""
    strikes = Strikes(server, folder, seed)
    points, replies = (*FILE_POINTS, *WIRE_POINTS), [name for name in (*CARRIED_OUT, *NOT_CARRIED_OUT) if name != "late"]
    todo: list[tuple[Callable[[str], None], str]] = [(strikes.kill_client, points[n % len(points)]) for n in range(kills)]
    todo += [(strikes.lose_reply, replies[n % len(replies)]) for n in range(losses)]
    todo += [(strikes.kill_server, ("before", "after")[n % 2]) for n in range(restarts)]
    strikes.dice.shuffle(todo)
    try:
        for strike, how in todo:
            strike(how)
            yield strikes.tally
    finally:
        strikes.stop()
