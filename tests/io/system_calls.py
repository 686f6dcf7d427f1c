"""The system calls of local files, so that a test can fail any of them, before or after it was carried out, or write them down."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from icesql.io.storage import durable, local_files, new_names

WATCHED = ("open", "write", "fsync", "close", "link", "rename", "replace", "unlink", "mkdir", "stat", "listdir")
Hook = Callable[[str, tuple[Any, ...], Callable[[], Any]], Any]


class WatchedCalls:
    """Stands for the module ``os``; every watched call goes through ``hook(name, arguments, carry_out)``."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in WATCHED:
            return real
        return lambda *arguments, **options: self._hook(name, arguments, lambda: real(*arguments, **options))


def watch(monkeypatch: pytest.MonkeyPatch, hook: Hook) -> None:
    for module in (durable, new_names, local_files):
        monkeypatch.setattr(module, "os", WatchedCalls(hook))


class Fault:
    """Fails the ``number``-th watched call with an error: before it is carried out, or after, as if only the answer were lost."""

    def __init__(self, number: int, error: int, *, carried_out: bool) -> None:
        self.left, self.error, self.carried_out = number, error, carried_out
        self.struck = ""

    def __call__(self, name: str, arguments: tuple[Any, ...], carry_out: Callable[[], Any]) -> Any:
        self.left -= 1
        if self.left:
            return carry_out()
        self.struck = name
        if self.carried_out or name == "close":
            result = carry_out()
            if name == "open":
                os.close(result)
        raise OSError(self.error, os.strerror(self.error))
