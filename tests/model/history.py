"""One history: steps chosen by their seeds, each maybe with a fault, another writer in between, or held back. The same steps do the same."""

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
from tests.model.faults import Faults, FaultyFileIO, LateStore, drawn_fault, installed
from tests.model.world import Broken, World

KINDS = ("sql", "hadoop", "memory")
LENGTH = 16
_HELD = 4
_NAMES = [name for name, (_, weight) in ACTIONS.items() for _ in range(weight)]


@dataclass(frozen=True, slots=True)
class Move:
    """A step of a history: an action, and the seed of all its choices. ``release``: a held operation is committed instead.

    ``calm``: at once, without faults or other writers.
    """

    action: str
    seed: int
    calm: bool = False


def moves_of(seed: int, length: int = LENGTH) -> tuple[str, list[Move]]:
    """The kind of catalog and the steps of a random history."""
    chance = random.Random(seed)
    kind = KINDS[chance.randrange(len(KINDS))]
    first = [Move(action, chance.randrange(2**32), calm=True) for action in ("create", "append", "create", "append")]
    rest = [Move("release" if chance.random() < 0.25 else chance.choice(_NAMES), chance.randrange(2**32)) for _ in range(length)]
    return kind, first + rest


class Stage:
    """The catalogs of one process, on a file system in memory where there is one."""

    def __init__(self, folder: str, faults: Faults) -> None:
        self.folder, self.faults = folder, faults
        self._catalogs: dict[str, Catalog] = {}

    def catalog(self, kind: str) -> Catalog:
        if kind not in self._catalogs:
            warehouse = f"{self.folder}/{kind}"
            properties = {"type": kind, "warehouse": warehouse}
            if kind == "sql":
                properties["uri"] = f"sqlite:///{self.folder}/catalog.db"
            made = load_catalog("model", properties)
            made.io = FaultyFileIO(made.io.properties)  # type: ignore[attr-defined]
            if kind == "memory":
                assert isinstance(made, MetastoreCatalog)
                made.store = LateStore()
            self._catalogs[kind] = made
        return self._catalogs[kind]

    def world(self, kind: str) -> World:
        catalog, namespace = self.catalog(kind), f"n{uuid.uuid4().hex[:10]}"
        catalog.create_namespace((namespace,))
        return World(catalog, kind, namespace, f"{self.folder}/{kind}/{namespace}", self.faults)

    def close(self) -> None:
        for catalog in self._catalogs.values():
            catalog.close()


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
        elif move.action != "release" and len(self.world.held) < _HELD and chance.random() < 0.3:
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
        return self.world.held.pop(chance.randrange(len(self.world.held))) if self.world.held else None

    def _make(self, step: Step, chance: random.Random) -> None:
        faults = self.world.faults
        faults.struck = []
        faults.armed = drawn_fault(chance.randrange, self.world.kind) if self._with_faults and chance.random() < 0.4 else None
        if chance.random() < 0.2:
            seed = chance.randrange(2**32)
            faults.meanwhile = lambda: self._meanwhile(seed)
        try:
            self.world.perform(*step)
        finally:
            faults.armed = faults.meanwhile = None

    def _meanwhile(self, seed: int) -> None:
        """Another writer's step inside this one's commit, without faults of its own."""
        chance, faults = random.Random(seed), self.world.faults
        armed, faults.armed = faults.armed, None
        step = self._released(chance) if chance.random() < 0.3 else None
        if step is None:
            name = chance.choice(_NAMES)
            step = None if name == "remove_orphans" else self._prepared(name, chance)
        if step is not None:
            self.world.log.append(f"  meanwhile {step[0].kind}")
            self.world.perform(*step)
        faults.armed = armed

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
