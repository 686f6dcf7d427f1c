"""Reads of a table by its name or folder with options, as DataFrame readers and views ``USING iceberg`` ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from icesql.session.resolve.path_tables import require_named
from icesql.session.resolve.time_travel import optioned_point, read_point
from icesql.session.resolve.write_audit_publish import wap_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_TIME_TRAVEL = ("versionasof", "timestampasof", "branch")


def read_named(session: SessionState, name: str, options: Mapping[str, str]) -> DataFrame:
    """The DataFrame. ``options``: ``versionAsOf``, ``timestampAsOf``, ``branch`` and those of scans, keys in any case.

    Raises NotFoundError, InvalidArgumentError for options that contradict each other.
    """
    table = require_named(session, name)
    asked = {key.lower(): value for key, value in options.items()}
    point = read_point(table, None, "", session.microseconds, wap_of(session, table.table.metadata)[1])
    point = optioned_point(table, point, asked, session.microseconds, travels=not table.selector.is_empty)
    rest = {key: value for key, value in options.items() if key.lower() not in _TIME_TRAVEL}
    return session.plans.scan(table, point, rest, unpinned=True).under_name(table.parts)
