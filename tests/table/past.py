"""Tables with a random past, made without Spark: branches, tags, staged snapshots, deletes of every kind, rewrites, statistics files."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from icesql.errors import IcesqlError
from icesql.expr.tree import Reference
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import write_equality_deletes, write_position_deletes
from icesql.spec.snapshots import MAIN
from icesql.spec.transforms import bucket
from icesql.spec.types import LongType
from icesql.table.maintenance.partition_statistics import compute_partition_statistics
from icesql.table.maintenance.rewrite_data_files import RewriteDataFiles
from icesql.table.maintenance.rewrite_options import data_rewrite_options
from icesql.table.maintenance.table_statistics import columns_for_statistics, compute_table_statistics
from icesql.table.table import Table
from icesql.table.write.arrow_write import write_rows
from tests.table.maintained import rows

STEPS = (
    "append", "append", "append", "append_to_branch", "overwrite", "delete_partition", "delete_rows", "delete_positions", "delete_equal",
    "compact", "rewrite_manifests", "tag", "branch", "drop_ref", "replace_branch", "fast_forward", "retain", "stage", "cherrypick",
    "rollback", "statistics", "partition_statistics", "add_column", "change_spec",
)  # fmt: skip
NEEDED = ("append", "branch", "delete_positions", "delete_equal", "compact", "tag", "overwrite", "append_to_branch", "statistics", "stage")


@dataclass
class Past:
    """Grows ``table``, whose rows are those of ``tests.table.maintained``; the same seed makes the same steps, but for those left out."""

    table: Table
    seed: int
    without: tuple[str, ...] = ()
    steps: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance, self._number = random.Random(self.seed), 0

    def grow(self, steps: int) -> Table:
        """Some of each kind of thing, then random steps; a step that the table's state refuses changes nothing."""
        for step in (*NEEDED, *self._chance.choices(STEPS, k=steps)):
            if step in self.without:
                continue
            make: Callable[[], object] = getattr(self, f"_{step}")
            try:
                make()
            except (IcesqlError, IndexError) as refused:  # the latter: nothing to choose from
                step = f"({step}: {refused})"
            self.steps.append(step)
            self.table.refresh()
        return self.table

    # -- choices -------------------------------------------------------------------------------------------------
    def _rows(self) -> Any:
        self._number += 3
        return rows(*range(self._number, self._number + 3), p=self._chance.randrange(3))

    def _snapshot(self) -> int:
        return self._chance.choice(self.table.snapshots).snapshot_id

    def _branch_name(self) -> str:
        return self._chance.choice([name for name, ref in self.table.refs.items() if ref.is_branch])

    # -- rows ----------------------------------------------------------------------------------------------------
    def _append(self) -> None:
        self.table.append(self._rows())

    def _append_to_branch(self) -> None:
        self.table.append(self._rows(), branch=self._branch_name())

    def _overwrite(self) -> None:
        self.table.overwrite(rows(self._number, p=1), "p = 1")

    def _delete_partition(self) -> None:
        self.table.delete(f"p = {self._chance.randrange(3)}", branch=self._branch_name())

    def _delete_rows(self) -> None:
        self.table.delete(f"id = {self._chance.randrange(self._number)}", branch=self._branch_name())

    def _delete_positions(self) -> None:
        table, branch = self.table, self._branch_name()
        task = self._chance.choice(list(table.scan(ref=branch).plan_files().tasks))
        place, path = f"{table.location}/data/{uuid.uuid4()}-deletes", task.data_file.file_path
        if table.metadata.format_version >= 3:
            (file,) = write_dvs(table.io, f"{place}.puffin", {path: [0]}, targets={path: task.data_file})
        else:
            file = write_position_deletes(
                table.io, f"{place}.parquet", {path: [0]}, spec_id=task.spec_id, partition=task.data_file.partition, file_format="parquet"
            )
        table.new_row_delta().to_branch(branch).add_deletes(file).commit()

    def _delete_equal(self) -> None:
        table, branch = self.table, self._branch_name()
        task = self._chance.choice(list(table.scan(ref=branch).plan_files().tasks))
        (file,) = write_equality_deletes(
            table.io, lambda: f"{table.location}/data/{uuid.uuid4()}-eq.parquet", rows(self._chance.randrange(self._number)), table.schema,
            [1], spec_id=task.spec_id, partition=task.data_file.partition,
        )  # fmt: skip
        table.new_row_delta().to_branch(branch).add_deletes(file).commit()

    # -- maintenance ---------------------------------------------------------------------------------------------
    def _compact(self) -> None:
        options = data_rewrite_options({"rewrite-all": "true"}, self.table.metadata, "BIN-PACK")
        RewriteDataFiles(table=self.table, options=options, branch=self._branch_name()).run()

    def _rewrite_manifests(self) -> None:
        self.table.rewrite_manifests().to_branch(self._branch_name()).commit()

    def _statistics(self) -> None:
        snapshot = self._chance.choice(self.table.snapshots)
        compute_table_statistics(self.table, snapshot, columns_for_statistics(self.table.schema, ["id"]))

    def _partition_statistics(self) -> None:
        compute_partition_statistics(self.table, self._chance.choice(self.table.snapshots))

    # -- refs and snapshots --------------------------------------------------------------------------------------
    def _tag(self) -> None:
        self.table.manage_snapshots().create_tag(f"tag{len(self.steps)}", self._snapshot()).commit()

    def _branch(self) -> None:
        self.table.manage_snapshots().create_branch(f"branch{len(self.steps)}", self._snapshot()).commit()

    def _drop_ref(self) -> None:
        name = self._chance.choice([name for name in self.table.refs if name != MAIN])
        manage = self.table.manage_snapshots()
        (manage.remove_branch if self.table.refs[name].is_branch else manage.remove_tag)(name).commit()

    def _replace_branch(self) -> None:
        self.table.manage_snapshots().replace_branch(self._branch_name(), self._snapshot()).commit()

    def _fast_forward(self) -> None:
        self.table.manage_snapshots().fast_forward_branch(self._branch_name(), self._branch_name()).commit()

    def _retain(self) -> None:
        """Retention that does not depend on the hour: an age of a moment, or of years."""
        manage, name = self.table.manage_snapshots(), self._branch_name()
        age_ms = self._chance.choice([1, 2**40])
        change = self._chance.randrange(3)
        if change == 0:
            manage.set_min_snapshots_to_keep(name, self._chance.randint(1, 3)).commit()
        elif change == 1:
            manage.set_max_snapshot_age_ms(name, age_ms).commit()
        else:
            manage.set_max_ref_age_ms(self._chance.choice(list(self.table.refs)), age_ms).commit()

    def _stage(self) -> None:
        update = self.table.new_append().stage_only().set("wap.id", f"w{len(self.steps)}")
        for file in write_rows(self.table.io, self.table.metadata, self._rows()):
            update.append_file(file)
        update.commit()

    def _cherrypick(self) -> None:
        staged = [s.snapshot_id for s in self.table.snapshots if "wap.id" in s.summary]
        self.table.manage_snapshots().cherrypick(self._chance.choice(staged)).commit()

    def _rollback(self) -> None:
        head = self.table.current_snapshot
        parent = None if head is None else head.parent_snapshot_id
        if parent is not None:
            self.table.manage_snapshots().rollback_to(parent).commit()

    # -- shape ---------------------------------------------------------------------------------------------------
    def _add_column(self) -> None:
        self.table.update_schema().add_column(f"c{len(self.steps)}", LongType()).commit()

    def _change_spec(self) -> None:
        update = self.table.update_spec()
        if any(field.name == "id_bucket" for field in self.table.spec.fields):
            update.remove_field("id_bucket").commit()
        else:
            update.add_field(Reference("id", bucket(4)), "id_bucket").commit()
