"""Every error icesql raises, split by what the caller may do next.

    IcesqlError
    |-- InvalidArgumentError      the call is wrong whatever the table holds
    |-- ValidationError           the call conflicts with the table's state
    |-- NotFoundError             a table, namespace, snapshot, ref, column or file is not there
    |-- AlreadyExistsError        a name is taken
    |-- CommitFailedError         another writer won; refreshing and retrying is safe
    |-- CommitStateUnknownError   the commit may or may not have happened; never clean up
    |-- UnsupportedError          valid Iceberg, but not something this engine can do
    |-- CorruptMetadataError      a file of the table is damaged, truncated or foreign
    |-- ServiceError              a server refused, failed or did not answer; nothing was changed
    `-- SqlError                  a statement is wrong; carries line, column and a pointer

Messages read ``Cannot <verb> <noun>: <why>: <value>``, followed by what to do instead where there is one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NoReturn


class IcesqlError(Exception):
    """Root of the tree. ``context`` holds the values the message names, by key."""

    def __init__(self, message: str, **context: object) -> None:
        super().__init__(message)
        self.message = message
        self.context = context

    def __str__(self) -> str:
        return self.message


class InvalidArgumentError(IcesqlError, ValueError):
    """The call is wrong whatever the table holds."""


class ValidationError(IcesqlError):
    """The call conflicts with the table's state; retrying unchanged is pointless."""


class NotFoundError(IcesqlError, LookupError):
    """A table, namespace, snapshot, ref, column or file is not there."""


class AlreadyExistsError(IcesqlError):
    """A table, namespace, view or ref of that name is there already."""


class CommitFailedError(IcesqlError):
    """Another writer changed the table first; refresh and retry."""


class CommitStateUnknownError(IcesqlError):
    """The swap may or may not have happened. Nothing may be cleaned up."""


class UnsupportedError(IcesqlError, NotImplementedError):
    """Valid Iceberg or valid SQL, but not something this engine can do."""


class CorruptMetadataError(IcesqlError):
    """A file of the table is damaged, truncated or foreign; ``context["location"]`` names it."""


class ServiceError(IcesqlError):
    """A catalog's server refused, failed or did not answer, and nothing was changed. ``status``: the HTTP status, ``None`` without one."""

    def __init__(self, message: str, *, status: int | None = None, **context: object) -> None:
        super().__init__(message, status=status, **context)
        self.status = status


class SqlError(IcesqlError):
    """A statement cannot be parsed or analysed. ``line`` and ``column`` are 1-based places in the user's text."""

    def __init__(self, message: str, *, text: str = "", line: int | None = None, column: int | None = None, length: int = 1) -> None:
        self.text, self.line, self.column, self.length = text, line, column, max(1, length)
        super().__init__(self._render(message))

    def _render(self, message: str) -> str:
        if self.line is None or self.column is None:
            return message
        place = f"{message} (line {self.line}, column {self.column})"
        lines = self.text.splitlines()
        if not 1 <= self.line <= len(lines):
            return place
        shown = lines[self.line - 1]
        width = min(self.length, max(1, len(shown) - self.column + 1))
        return f"{place}\n{shown}\n{' ' * (self.column - 1)}{'^' * width}"


def nearest(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'x'?"`` for the known name most like ``name``, or ``""`` when none is close."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    return f" Did you mean '{by_lower[close[0]]}'?" if close else ""


def unknown_case(value: NoReturn) -> AssertionError:
    """For the last case of a match over a closed union: mypy proves that no member gets there, and nothing is guessed at run time."""
    return AssertionError(f"Unknown {type(value).__name__}: {value!r}")
