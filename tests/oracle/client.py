"""Talks to the oracle process. ``Oracle.sql`` runs a statement on stock Spark with Iceberg's runtime and returns its rows."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tests.oracle.server import serve


class OracleError(Exception):
    """The oracle refused the statement; the text is Spark's message."""


@dataclass(frozen=True)
class Answer:
    """``columns`` are (name, Spark type) pairs, ``rows`` plain tuples."""

    columns: list[tuple[str, str]]
    rows: list[tuple[Any, ...]]


class Oracle:
    """One JVM with the runtime JAR, its hadoop catalog ``local`` at ``warehouse``. Used as a context manager."""

    def __init__(self, warehouse: str, conf: dict[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self.warehouse = warehouse
        self._pipe, child = context.Pipe()
        self._process = context.Process(target=serve, args=(child, warehouse, conf), daemon=True)
        self._process.start()
        child.close()
        self._receive()

    def _receive(self) -> tuple[Any, ...]:
        try:
            answer: tuple[Any, ...] = self._pipe.recv()
        except EOFError:
            raise OracleError("the oracle process died") from None
        if answer[0] == "error":
            raise OracleError(answer[1])
        return answer

    def sql(self, text: str) -> Answer:
        """Run one statement. Raises OracleError with Spark's message."""
        self._pipe.send(("sql", text))
        _, columns, rows = self._receive()
        return Answer(columns, rows)

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        return self.sql(text).rows

    def call(self, target: str, *args: Any) -> Any:
        """Run ``module:function(spark, *args)`` inside the oracle process: the way to Iceberg's Java API over Py4J."""
        self._pipe.send(("call", target, args))
        return self._receive()[1]

    def close(self) -> None:
        if self._process.is_alive():
            self._pipe.send(("stop",))
            self._process.join(30)
        if self._process.is_alive():
            self._process.kill()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
