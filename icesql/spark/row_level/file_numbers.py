"""Data files by number: rows that a row-level statement joins, shuffles and collects carry a number instead of a long path."""

from __future__ import annotations

import threading
from functools import cached_property

from pyspark.sql.types import IntegerType, StructField

from icesql.spark.read.columns import FileConstant
from icesql.table.scan.tasks import ScannedFile

FILE_NUMBER = "__file_number"


class FileNumbers:
    """Numbers from 0 on, in the order in which files are first planned. Thread safe."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def number(self, file: ScannedFile) -> int:
        path = file.file_path
        with self._lock:
            number = self._numbers.get(path)
            if number is None:
                number = self._numbers[path] = len(self.paths)
                self.paths.append(path)
            return number

    @cached_property
    def constant(self) -> FileConstant:
        """The column of a read that shows the number of each row's file."""
        return FileConstant(StructField(FILE_NUMBER, IntegerType(), False), self.number)
