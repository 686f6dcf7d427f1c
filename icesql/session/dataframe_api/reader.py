"""``session.read``: options for one read, then a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.session.run.ddl.table_properties import is_iceberg
from icesql.session.views.named_reads import read_named
from icesql.table.arguments import checked

if TYPE_CHECKING:
    from icesql.session.session import Session


@checked
class Reader:
    """Options: ``versionAsOf``, ``timestampAsOf``, ``branch``, and those of scans (``start-snapshot-id``, ``split-size`` ...)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._options: dict[str, str] = {}

    def option(self, key: str, value: Any) -> Reader:
        self._options[key] = str(value)
        return self

    def options(self, **options: Any) -> Reader:
        for key, value in options.items():
            self.option(key, value)
        return self

    def format(self, name: str) -> Reader:
        """Only ``iceberg``. Raises InvalidArgumentError."""
        if not is_iceberg(name):
            raise InvalidArgumentError(f"Cannot read format: only iceberg is read here, use spark.read: {name}")
        return self

    def load(self, name: str) -> Any:
        return self.table(name)

    def table(self, name: str) -> Any:
        """The DataFrame of a table by its name or its folder.

        Raises NotFoundError, InvalidArgumentError for options that contradict each other.
        """
        with self._session.statement() as state:
            return read_named(state, name, self._options)
