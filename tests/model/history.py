"""One history: steps chosen by their seeds, each maybe with a fault, another writer in between, or held back."""

from __future__ import annotations

import random
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.catalog.metastore import MetastoreCatalog
from icesql.errors import IcesqlError
from tests.model.actions import ACTIONS, SCHEMA, Step
from tests.model.faults import DECISIVE, Faults, FaultyFileIO, LateStore, drawn_fault, installed
from tests.model.world import Broken, World
from tests.rest.reference_server import ReferenceServer, start_server
from tests.server.process import ServerProcess

KINDS = ("sql", "hadoop", "memory")
SERVED = ("rest", "reference")  # our own server, and Iceberg's: processes of their own, so not for every run
LENGTH = 16
_HELD = 4
_LONG = ("compact", "compact", "compact", "compact_deletes", "drop_dangling", "delete_positions", "overwrite", "append", "expire")
_SHORT = ("append", "append", "append", "delete_equal", "delete_equal", "delete_equal", "delete_positions", "overwrite", "move_ref")
_AFTER = ("rename", "drop", "append", "append", "overwrite", "delete_equal", "create", "expire", "move_ref")
_ALONE = frozenset({"remove_orphans"})  # files of any age go: no other writer may have some that are not committed yet


@dataclass(frozen=True, slots=True)
class Move:
    """A step of a history: an action, and the seed of all its choices. ``release``: a held operation is committed instead.

    ``calm``: at once, without faults or other writers. ``hold``: begun, and committed by a later release.
    """

    action: str
    seed: int
    calm: bool = False
    hold: bool = False


def moves_of(seed: int, length: int = LENGTH, *, only: Sequence[str] = (), kinds: Sequence[str] = KINDS) -> tuple[str, list[Move]]:
    """The kind of catalog and the steps of a random history. ``only``: of these actions."""
    chance = random.Random(seed)
    kind = kinds[chance.randrange(len(kinds))]
    first = [Move(action, chance.randrange(2**32), calm=True) for action in ("create", "append", "create", "append")]
    names = list(only) or some_actions(chance)
    long, short = ([name for name in group if not only or name in only] or names for group in (_LONG, _SHORT))
    rest: list[Move] = []
    while len(rest) < length:
        if chance.random() < 0.5:  # a long operation overlaps with some short ones
            between = [chance.choice(short if chance.random() < 0.7 else names) for _ in range(chance.choice((1, 2, 3, 3)))]
            rest.append(Move(chance.choice(long), chance.randrange(2**32), hold=True))
            rest += [Move(name, chance.randrange(2**32)) for name in (*between, "release")]
        else:
            rest.append(Move("release" if chance.random() < 0.2 else chance.choice(names), chance.randrange(2**32)))
    return kind, first[: chance.choice((2, 2, 4))] + rest


def some_actions(chance: random.Random) -> list[str]:
    """Each history has its own mixture, and lacks some actions: what all do a little, none does enough to meet (swarm testing)."""
    return [name for name, (_, weight) in ACTIONS.items() for _ in range(weight * chance.choice((0, 1, 1, 3)))] or ["append"]


class Stage:
    """The catalogs of one process, on a file system in memory where there is one."""

    def __init__(self, folder: str, faults: Faults) -> None:
        self.folder, self.faults = folder, faults
        self._catalogs: dict[str, Catalog] = {}
        self._servers: list[ServerProcess | ReferenceServer] = []

    def catalog(self, kind: str) -> Catalog:
        if kind not in self._catalogs and kind in SERVED:
            self._catalogs[kind] = self._served(kind)
        if kind not in self._catalogs:
            warehouse = f"{self.folder}/{kind}"
            properties = {"type": kind, "warehouse": warehouse}
            if kind == "sql":
                properties["uri"] = f"sqlite:///{self.folder}/catalog.db"
            made = load_catalog("model", properties)
            made.io = FaultyFileIO(made.io.properties)
            if kind == "memory":
                assert isinstance(made, MetastoreCatalog)
                made.store = LateStore()
            self._catalogs[kind] = made
        return self._catalogs[kind]

    def _served(self, kind: str) -> Catalog:
        """A client of our own server, or of Iceberg's, each a process of its own."""
        folder = Path(self.folder) / kind
        server: ServerProcess | ReferenceServer
        if kind == "rest":
            folder.mkdir()
            server = ServerProcess(folder).start()
        else:
            server = start_server(folder)
        self._servers.append(server)
        settings = {"type": "rest", "uri": server.uri, "warehouse": f"{folder}/warehouse", "rest-metrics-reporting-enabled": "false"}
        made = load_catalog("model", {**settings, "rest.client.max-retries": "2"} if kind == "reference" else settings | {"warehouse": ""})
        made.io = FaultyFileIO({})
        return made

    def world(self, kind: str) -> World:
        catalog, namespace = self.catalog(kind), f"n{uuid.uuid4().hex[:10]}"
        catalog.create_namespace((namespace,))
        folder = f"{self.folder}/{kind}/warehouse" if kind in SERVED else f"{self.folder}/{kind}"
        return World(catalog, kind, namespace, f"{folder}/{namespace}", self.faults)

    def close(self) -> None:
        for catalog in self._catalogs.values():
            catalog.close()
        for server in self._servers:
            server.stop()


@contextmanager
def staged() -> Iterator[Stage]:
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="icesql-model-", dir=memory if memory.is_dir() else None)
    try:
        with installed(folder) as faults:
            stage = Stage(folder, faults)
            yield stage
            stage.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Player:
    """Plays moves on one world."""

    def __init__(self, stage: Stage, kind: str, *, faults: bool = True) -> None:
        self.world, self._with_faults = stage.world(kind), faults

    def play(self, move: Move) -> None:
        chance = random.Random(move.seed)
        step = self._released(chance) if move.action == "release" else self._prepared(move.action, chance)
        if step is None:
            return
        if move.calm:
            self.world.perform(*step)
        elif move.action not in ("release", *_ALONE) and len(self.world.held) < _HELD and (move.hold or chance.random() < 0.15):
            self.world.held.append(step)
            self.world.log.append(f"{step[0].number} {step[0].kind}: held back")
        else:
            self._make(step, chance)

    def _prepared(self, action: str, chance: random.Random) -> Step | None:
        """``None`` where there is nothing to do, or the table refuses, or a writer that is too old misses files."""
        try:
            return ACTIONS[action][0](self.world, chance.randrange)
        except (IcesqlError, OSError):
            return None

    def _released(self, chance: random.Random) -> Step | None:
        """Mostly what was begun last."""
        held = self.world.held
        return held.pop(chance.randrange(len(held)) if chance.random() < 0.3 else -1) if held else None

    def _make(self, step: Step, chance: random.Random) -> None:
        faults = self.world.faults
        faults.struck = []
        faults.armed = drawn_fault(chance.randrange, self.world.kind) if self._with_faults and chance.random() < 0.4 else None
        if faults.armed is not None and faults.armed.after and faults.armed.point in DECISIVE and chance.random() < 0.5:
            later, count = chance.randrange(2**32), chance.choice((1, 1, 2, 3))
            faults.armed.then = lambda: self._meanwhile(later, _AFTER, count)
        if chance.random() < 0.2 and not step[0].alone:
            seed = chance.randrange(2**32)
            faults.meanwhile = lambda: self._meanwhile(seed)
        try:
            self.world.perform(*step)
        finally:
            faults.armed = faults.meanwhile = None

    def _meanwhile(self, seed: int, names: Sequence[str] = (), count: int = 1) -> None:
        """Other writers' steps inside this one's commit, without faults of their own."""
        chance, faults = random.Random(seed), self.world.faults
        held_back = faults.armed, faults.meanwhile, faults.struck
        faults.armed, faults.meanwhile, faults.struck = None, None, []
        for _ in range(count):
            step = self._released(chance) if chance.random() < 0.2 else None
            if step is None:
                name = chance.choice(names or some_actions(chance))
                step = None if name in _ALONE else self._prepared(name, chance)
            if step is not None:
                self.world.log.append(f"  meanwhile {step[0].kind}")
                self.world.perform(*step)
        faults.armed, faults.meanwhile, faults.struck = held_back

    def finish(self) -> None:
        """A late COMMIT still arrives; what was held back is forgotten."""
        ACTIONS["land"][0](self.world, random.Random(0).randrange)

    def close(self) -> None:
        self.world.faults.clock_offset_ns = 0
        shutil.rmtree(self.world.folder, ignore_errors=True)


def play(stage: Stage, kind: str, moves: Sequence[Move]) -> Broken | None:
    """What breaks in a history, ``None`` if nothing does. The error carries the log."""
    player = Player(stage, kind)
    try:
        for move in moves:
            player.play(move)
        player.finish()
    except Broken as broken:
        broken.add_note("\n".join(player.world.log))
        return broken
    finally:
        player.close()
    return None


def shortest(stage: Stage, kind: str, moves: Sequence[Move], tries: int = 300) -> list[Move]:
    """The history with steps left out, as long as it still breaks."""
    kept, size = list(moves), max(1, len(moves) // 2)
    while size and tries:
        start = 0
        while start < len(kept) and tries:
            fewer = kept[:start] + kept[start + size :]
            tries -= 1
            if play(stage, kind, fewer) is not None:
                kept = fewer
            else:
                start += size
        size //= 2
    return kept


__all__ = ["KINDS", "SCHEMA", "Broken", "Move", "Player", "Stage", "moves_of", "play", "shortest", "staged"]
