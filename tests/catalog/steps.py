"""Actors that take turns at every call they make to the file system, in an order that the test chooses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.storage.files import FileInfo


class Turns:
    """Runs actors so that only one moves at a time. ``order`` yields whom to let move next; once it ends, each runs to its end in turn."""

    def __init__(self, actors: Mapping[str, Callable[[], None]], order: Iterable[str]) -> None:
        self._order = order
        self._go = {name: threading.Semaphore(0) for name in actors}
        self._back = threading.Semaphore(0)
        self._names: dict[int, str] = {}
        self._done: set[str] = set()
        self.steps = dict.fromkeys(actors, 0)
        self.errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._play, args=(name, act), daemon=True) for name, act in actors.items()]

    def _play(self, name: str, act: Callable[[], None]) -> None:
        self._names[threading.get_ident()] = name
        self._go[name].acquire()
        try:
            act()
        except BaseException as error:
            self.errors.append(error)
        finally:
            self._done.add(name)
            self._back.release()

    def step(self) -> None:
        """Called by an actor before each of its calls. Others (the test itself) pass at once."""
        name = self._names.get(threading.get_ident())
        if name is not None:
            self.steps[name] += 1
            self._back.release()
            self._go[name].acquire()

    def run(self) -> None:
        for thread in self._threads:
            thread.start()
        for name in self._order:
            self._move(name)
        for name in self._go:
            while name not in self._done:
                self._move(name)
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _move(self, name: str) -> None:
        if name not in self._done:
            self._go[name].release()
            self._back.acquire()


class SteppedIO(ArrowFileIO):
    """Every call that others can see, or that sees others, is one step; the look before a conditional removal is one more."""

    turns: Turns | None = None

    def _step(self) -> None:
        if self.turns is not None:
            self.turns.step()

    def read(self, location: str) -> bytes:
        self._step()
        return super().read(location)

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        self._step()
        super().write(location, data, overwrite=overwrite)

    def size(self, location: str) -> int:
        self._step()
        return super().size(location)

    def exists(self, location: str) -> bool:
        self._step()
        return super().exists(location)

    def delete(self, location: str) -> None:
        self._step()
        super().delete(location)

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        self._step()

        def judged(data: bytes) -> bool:
            answer = is_the_one(data)
            self._step()
            return answer

        return super().delete_if(location, judged)

    def delete_folder(self, location: str) -> None:
        self._step()
        super().delete_folder(location)

    def move_folder(self, source: str, target: str) -> None:
        self._step()
        super().move_folder(source, target)

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        self._step()
        return iter(list(super().list_files(prefix, recursive=recursive)))

    def rename_without_overwrite(self, source: str, target: str) -> None:
        self._step()
        super().rename_without_overwrite(source, target)


def switching(names: tuple[str, ...], *counts: int) -> Iterator[str]:
    """The actors in turn, over and over; the n-th stretch is ``counts[n]`` steps long."""
    for number, count in enumerate(counts):
        for _ in range(count):
            yield names[number % len(names)]
