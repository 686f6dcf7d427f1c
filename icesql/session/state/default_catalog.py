"""``spark.sql.defaultCatalog``: where names lead until a USE says otherwise.

Spark loads the catalog that the setting names as soon as it looks for anything, and cannot load ours. So where it names one of ours the
session keeps the name, and Spark's own setting says ``spark_catalog``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.session.state.catalogs import SPARK_CATALOG

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

DEFAULT_CATALOG = "spark.sql.defaultCatalog"
_TAKEN = "spark.icesql.defaultCatalog"  # what the setting named: other sessions of ours over the Spark session ask, too


def take_default(session: SessionState) -> str:
    """The catalog that the setting names: one of ours, or ``spark_catalog``, which stands for whatever Spark makes of it."""
    conf = session.spark.conf
    name = conf.get(DEFAULT_CATALOG, None)
    if name in (None, SPARK_CATALOG):
        name = conf.get(_TAKEN, None)
    elif name in session.catalogs:
        conf.set(DEFAULT_CATALOG, SPARK_CATALOG)
        conf.set(_TAKEN, name)
    return name if name is not None and name in session.catalogs else SPARK_CATALOG


def forget_default(session: SessionState) -> None:
    """The setting was set anew: what was taken before holds no more."""
    session.spark.conf.unset(_TAKEN)
