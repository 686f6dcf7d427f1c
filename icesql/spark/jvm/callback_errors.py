"""Errors that Python code raises while the JVM calls it, carried through the JVM to the caller's own call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

from pyspark.errors.exceptions import captured

from icesql.io.lru import LruCache
from icesql.spark.jvm.handles import JavaObject

_TOKEN = re.compile(r"icesql-callback-error-(\d+)")
_errors: LruCache[int, BaseException] = LruCache(256)
_numbers = itertools.count(1)


class CallbackError(Exception):
    """Carries only a number through the JVM; the error it stands for waits here and is raised in the user's own call."""


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method the JVM calls: what it raises surfaces in Python as itself, not as a Java exception with a traceback in its text."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            number = next(_numbers)
            _errors.put(number, error)
            raise CallbackError(f"icesql-callback-error-{number}: {type(error).__name__}: {error}") from error

    return call


def callback_error(text: str) -> BaseException | None:
    """The error that a JVM exception's text stands for, if any."""
    token = _TOKEN.search(text)
    return None if token is None else _errors.find(int(token.group(1)))


_installed = False


def install_error_translation() -> None:
    """Let PySpark raise our own error where a JVM exception was caused by our callback; every other exception is untouched."""
    global _installed
    if _installed:
        return
    original = captured.convert_exception

    def convert(java_exception: JavaObject) -> Any:
        for text in _messages(java_exception):
            error = callback_error(text)
            if error is not None:
                return error
        return original(java_exception)

    captured.convert_exception = convert
    _installed = True


def _messages(java_exception: JavaObject) -> Iterable[str]:
    """Messages of the exception and its causes; the walk is bounded."""
    for _ in range(8):
        if java_exception is None:
            return
        text = java_exception.getMessage()
        if text is not None:
            yield str(text)
        java_exception = java_exception.getCause()
