"""A disk that forgets: what of a folder would be left after a power cut at any moment.

Bytes are kept only by ``fsync`` of their file, names only by ``fsync`` of their folder. The worst disk keeps nothing else; others
keep any part of what was not synced, which random choices stand for.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Tree = dict[str, bytes | None]
"""Path below the root to bytes; ``None`` is a folder."""


@dataclass
class ForgetfulDisk:
    """A hook for ``watch``. ``cuts`` holds (moment, tree) for each different tree; a moment is a count of calls."""

    root: Path
    chosen: random.Random
    moment: int = 0
    synced_bytes: dict[int, bytes] = field(default_factory=dict)
    synced_names: dict[str, dict[str, int]] = field(default_factory=dict)
    cuts: list[tuple[int, Tree]] = field(default_factory=list)
    descriptors: dict[int, str] = field(default_factory=dict)

    def __call__(self, name: str, arguments: tuple[Any, ...], carry_out: Callable[[], Any]) -> Any:
        result = carry_out()
        if name == "open" and str(arguments[0]).startswith(str(self.root)):
            self.descriptors[result] = str(arguments[0])
        if name == "close":
            self.descriptors.pop(arguments[0], None)
        if name == "fsync" and arguments[0] in self.descriptors:
            self._sync(self.descriptors[arguments[0]])
        if name in {"fsync", "link", "rename", "replace", "unlink", "mkdir"}:
            self.cut()
        return result

    def _sync(self, path: str) -> None:
        if os.path.isdir(path):
            self.synced_names[path] = self._names(path)
        else:
            self.synced_bytes[os.stat(path).st_ino] = Path(path).read_bytes()

    @staticmethod
    def _names(path: str) -> dict[str, int]:
        return {entry.name: entry.inode() for entry in os.scandir(path)}

    def cut(self) -> None:
        """Note what a power cut now would leave: at worst, and on some better disk."""
        self.moment += 1
        self.cuts += [(self.moment, dict(self._left(str(self.root), lucky=lucky))) for lucky in (False, True)]

    def _left(self, folder: str, *, lucky: bool) -> Iterator[tuple[str, bytes | None]]:
        synced, now = self.synced_names.get(folder, {}), self._names(folder)
        for name in sorted(synced.keys() | now.keys()):
            inode = synced.get(name)
            if lucky and inode != now.get(name) and self.chosen.random() < 0.5:
                inode = now.get(name)
            if inode is None:
                continue
            path, shown = os.path.join(folder, name), os.path.relpath(os.path.join(folder, name), self.root)
            if os.path.isdir(path):
                yield shown, None
                yield from self._left(path, lucky=lucky)
            else:
                yield shown, self._bytes(path, inode, lucky=lucky)

    def _bytes(self, path: str, inode: int, *, lucky: bool) -> bytes:
        if inode in self.synced_bytes:
            return self.synced_bytes[inode]  # files here are never written again once synced
        whole = Path(path).read_bytes() if lucky and os.path.exists(path) else b""
        return whole[: self.chosen.randrange(len(whole) + 1)]

    def different_cuts(self) -> Iterator[tuple[int, Tree]]:
        """The first moment of each different tree, and again after it whenever it came back."""
        last: dict[bool, Tree] = {}
        for number, (moment, tree) in enumerate(self.cuts):
            if last.get(number % 2 == 0) != tree:
                last[number % 2 == 0] = tree
                yield moment, tree


def lay_out(root: Path, tree: Tree) -> None:
    """Make the folder hold just what is left."""
    shutil.rmtree(root)
    root.mkdir()
    for name, data in tree.items():
        if data is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(data)
