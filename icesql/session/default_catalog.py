"""``spark.sql.defaultCatalog``: where names lead until a USE says otherwise.

Spark loads the catalog that the setting names as soon as it looks for anything, and cannot load ours. So where it names one of ours the
session keeps the name, and Spark's own setting says ``spark_catalog``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from icesql.session.catalogs import SPARK_CATALOG

if TYPE_CHECKING:
    from icesql.session.session import Session

DEFAULT_CATALOG = "spark.sql.defaultCatalog"
_taken: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # by Spark session, which may have several sessions of ours


def take_default(session: Session) -> str:
    """The catalog that the setting names: one of ours, or ``spark_catalog``, which stands for whatever Spark makes of it."""
    spark = session.spark
    name = spark.conf.get(DEFAULT_CATALOG, None)
    if name is not None and name in session.catalogs and name != SPARK_CATALOG:
        spark.conf.set(DEFAULT_CATALOG, SPARK_CATALOG)
        _taken[spark] = name
    elif name not in (None, SPARK_CATALOG):
        _taken.pop(spark, None)
    return _taken.get(spark, SPARK_CATALOG)


def forget_default(session: Session) -> None:
    """The setting was set anew: what was taken before holds no more."""
    _taken.pop(session.spark, None)
