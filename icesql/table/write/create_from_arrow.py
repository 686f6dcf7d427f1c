"""A new table from an Arrow schema, or from rows that it holds from its first version on."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from icesql.io.arrow.infer_schema import inferred_schema
from icesql.io.arrow.stream import ArrowStream, arrow_table
from icesql.spec.metadata import DEFAULT_FORMAT_VERSION
from icesql.spec.schema import Schema
from icesql.table.changes.append import AppendFiles
from icesql.table.operations import TableVersion
from icesql.table.transaction import Transaction
from icesql.table.write.arrow_write import write_rows


def schema_of(given: pa.Schema | ArrowStream, properties: Mapping[str, str]) -> tuple[Schema, pa.Table | None]:
    """The columns of a table with these properties, and the rows if some were given."""
    rows = None if isinstance(given, pa.Schema) else arrow_table(given)
    version = properties.get("format-version", str(DEFAULT_FORMAT_VERSION))
    is_third = version.isdigit() and int(version) >= 3
    return inferred_schema(given if rows is None else rows.schema, format_version=3 if is_third else 2), rows


def create_from_arrow(staged: Transaction, rows: pa.Table) -> TableVersion:
    """Commit the staged table together with the rows. If it fails, neither the table nor files are left."""
    files = write_rows(staged.io, staged.metadata, rows)
    if files:
        staged.add(AppendFiles().append_files(files).owning_files().change())
    return staged.commit()
