"""``session.read``: options for one read, then a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.session.names import Found
from icesql.session.path_tables import require_named
from icesql.session.table_properties import is_iceberg
from icesql.session.time_travel import ReadPoint, optioned_point, read_point
from icesql.session.write_target import wap_of
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
        found = require_named(self._session, name)
        point, rest = self._point(found)
        return self._session.frames.scan(found, point, rest, follow=True).under_name(found.parts)

    def _point(self, found: Found) -> tuple[ReadPoint, dict[str, str]]:
        rest = {key: value for key, value in self._options.items() if key.lower() not in ("versionasof", "timestampasof", "branch")}
        asked = {key.lower(): value for key, value in self._options.items()}
        point = read_point(found, None, "", self._session.microseconds, wap_of(self._session, found.table.metadata)[1])
        travels = not found.selector.is_empty
        return optioned_point(found, point, asked, self._session.microseconds, travels=travels), rest
