"""The partitions that a table's current files lie in, as paths."""

from __future__ import annotations

from icesql.spec.paths import partition_path
from icesql.table.table import Table


def partition_paths(table: Table) -> list[str]:
    """``day=2021-10-01/b=3``, sorted, once each; each file's partition in the spec that it was written with."""
    metadata = table.metadata
    partitions = {(task.data_file.spec_id, task.data_file.partition) for task in table.scan().plan_files().tasks}
    return sorted(partition_path(metadata.specs_by_id[spec_id], metadata.schema, partition) for spec_id, partition in partitions)
