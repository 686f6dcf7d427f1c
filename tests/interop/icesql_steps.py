"""Runs programs on icesql, through the builders that a table hands out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from icesql.catalog.base import Catalog
from icesql.errors import IcesqlError
from icesql.expr.expr_json import expression_from_json
from icesql.expr.tree import Expression
from icesql.session.light import connect_catalog
from icesql.spec.files import DataFile, ManifestContent
from icesql.spec.snapshots import PartitionStatisticsFile, StatisticsFile
from icesql.spec.types import LongType
from icesql.table.changes.update_statistics import UpdateStatistics
from icesql.table.table import Table
from tests.interop.java_steps import Outcome, Try
from tests.interop.layout import newest_version, put_aside
from tests.interop.programs import SCHEMA, Program, Step


def run_program(program: Program, files: dict[str, DataFile], folder: Path) -> tuple[list[Outcome], list[Try], str]:
    """What became of the steps and of the alternatives, and where the table is. ``files`` are those of the program at their paths."""
    catalog = connect_catalog("ours", type="hadoop", warehouse=str(folder))
    properties = {**program.properties, "format-version": str(program.format_version)}
    location = catalog.create_table("db.t", SCHEMA, spec=program.spec, properties=properties).location
    run = _Run(catalog, files)
    made = [run.outcome(step) for step in program.steps]
    version = newest_version(location)
    tried = []
    for number, step in enumerate(program.alternatives):
        outcome = run.outcome(step)
        tried.append((outcome, put_aside(location, version, f"alternative-{number}")))
    return made, tried, location


class _Run:
    def __init__(self, catalog: Catalog, files: dict[str, DataFile]) -> None:
        self._catalog, self._files = catalog, files
        self._held: dict[str, Table] = {}
        self._heads: dict[str, int | None] = {}

    def outcome(self, step: Step) -> Outcome:
        try:
            getattr(self, f"_{step['do']}")(step)
        except IcesqlError as error:
            return type(error).__name__, str(error)
        return None

    # -- tables and values ---------------------------------------------------------------------------------------
    def _table(self, step: Step) -> Table:
        return self._held[step["on"]] if "on" in step else self._catalog.load_table("db.t")

    def _some(self, names: Any) -> list[DataFile]:
        return [self._files[name] for name in names]

    def _expression(self, node: dict[str, Any]) -> Expression:
        return expression_from_json(node, SCHEMA)

    def _hold(self, step: Step) -> None:
        table = self._held[step["as"]] = self._catalog.load_table("db.t")
        self._heads[step["as"]] = table.metadata.current_snapshot_id

    def _finish(self, update: Any, step: Step) -> None:
        update.set_all(step.get("summary", {}))
        if step.get("stage"):
            update.stage_only()
        if "branch" in step:
            update.to_branch(step["branch"])
        update.commit()

    def _since(self, update: Any, step: Step) -> None:
        held = self._heads.get(step.get("since", ""))
        if held is not None:
            update.validate_from_snapshot(held)

    def _flags(self, update: Any, step: Step, names: dict[str, str]) -> None:
        for key, method in names.items():
            if step.get(key):
                getattr(update, method)()

    # -- writers -------------------------------------------------------------------------------------------------
    def _append(self, step: Step) -> None:
        table = self._table(step)
        update = table.new_fast_append() if step.get("fast") else table.new_append()
        self._finish(update.append_files(self._some(step["files"])), step)

    def _delete(self, step: Step) -> None:
        update = self._table(step).new_delete()
        for file in self._some(step.get("files", ())):
            update.delete_file(file)
        for file in self._some(step.get("paths", ())):
            update.delete_file(file.file_path)
        if "filter" in step:
            update.delete_from_row_filter(self._expression(step["filter"]))
        self._flags(update, step, {"must_exist": "validate_files_exist"})
        self._finish(update, step)

    def _overwrite(self, step: Step) -> None:
        update = self._table(step).new_overwrite()
        if "filter" in step:
            update.overwrite_by_row_filter(self._expression(step["filter"]))
        for file in self._some(step.get("add", ())):
            update.add_file(file)
        for file in self._some(step.get("remove", ())):
            update.delete_file(file)
        if "conflict" in step:
            update.conflict_detection_filter(self._expression(step["conflict"]))
        self._since(update, step)
        flags = {"match": "validate_added_files_match_overwrite_filter", "no_data": "validate_no_conflicting_data"}
        self._flags(update, step, {**flags, "no_deletes": "validate_no_conflicting_deletes"})
        self._finish(update, step)

    def _replace_partitions(self, step: Step) -> None:
        update = self._table(step).new_replace_partitions()
        for file in self._some(step["add"]):
            update.add_file(file)
        self._since(update, step)
        flags = {"append_only": "validate_append_only", "no_data": "validate_no_conflicting_data"}
        self._flags(update, step, {**flags, "no_deletes": "validate_no_conflicting_deletes"})
        self._finish(update, step)

    def _row_delta(self, step: Step) -> None:
        update = self._table(step).new_row_delta()
        methods = {"rows": update.add_rows, "deletes": update.add_deletes, "remove_rows": update.remove_rows}
        for key, method in {**methods, "remove_deletes": update.remove_deletes}.items():
            for file in self._some(step.get(key, ())):
                method(file)
        if "conflict" in step:
            update.conflict_detection_filter(self._expression(step["conflict"]))
        if "exist" in step:
            update.validate_data_files_exist(file.file_path for file in self._some(step["exist"]))
        self._since(update, step)
        flags = {"no_deleted": "validate_deleted_files", "no_data": "validate_no_conflicting_data_files"}
        self._flags(update, step, {**flags, "no_deletes": "validate_no_conflicting_delete_files"})
        self._finish(update, step)

    def _rewrite(self, step: Step) -> None:
        update = self._table(step).new_rewrite_files()
        for file in self._some(step.get("remove", ())):
            update.delete_file(file)
        for file in self._some(step.get("add", ())):
            update.add_file(file)
        if "sequence_number" in step:
            update.data_sequence_number(step["sequence_number"])
        self._since(update, step)
        self._finish(update, step)

    def _rewrite_manifests(self, step: Step) -> None:
        """Java's operation leaves manifests of deletes alone; ours and Java's procedure do not."""
        self._table(step).rewrite_manifests().rewrite_if(lambda manifest: manifest.content is ManifestContent.DATA).commit()

    # -- other changes -------------------------------------------------------------------------------------------
    def _update_schema(self, step: Step) -> None:
        update = self._table(step).update_schema()
        if "add" in step:
            update.add_column(step["add"], LongType())
        if "drop" in step:
            update.delete_column(step["drop"])
        update.commit()

    def _update_spec(self, step: Step) -> None:
        update = self._table(step).update_spec()
        if "add" in step:
            update.add_field(step["add"])
        if "remove" in step:
            update.remove_field(step["remove"])
        if step.get("non_default"):
            update.add_non_default_spec()
        update.commit()

    def _set_properties(self, step: Step) -> None:
        update = self._table(step).update_properties()
        for key, value in step["set"].items():
            update.set(key, value)
        update.commit()

    def _manage(self, step: Step) -> None:
        table = self._table(step)
        snapshot = [table.snapshots[step["snapshot"]].snapshot_id] if "snapshot" in step else []
        manage = table.manage_snapshots()
        getattr(manage, step["call"])(*step.get("args", ()), *snapshot)
        manage.commit()

    def _statistics(self, step: Step) -> None:
        table = self._table(step)
        update = UpdateStatistics(table.operations)
        for snapshot_id in (table.snapshots[position].snapshot_id for position in step.get("set", ())):
            whole = StatisticsFile(snapshot_id=snapshot_id, statistics_path="/whole", file_size_in_bytes=1, file_footer_size_in_bytes=1)
            update.set_statistics(whole)
            update.set_partition_statistics(
                PartitionStatisticsFile(snapshot_id=snapshot_id, statistics_path="/parts", file_size_in_bytes=1)
            )
        for snapshot_id in (table.snapshots[position].snapshot_id for position in step.get("remove", ())):
            update.remove_statistics(snapshot_id).remove_partition_statistics(snapshot_id)
        update.commit()

    def _expire(self, step: Step) -> None:
        table = self._table(step)
        update = table.expire_snapshots()
        if "older_than_ms" in step:
            update.expire_older_than(step["older_than_ms"])
        if "retain_last" in step:
            update.retain_last(step["retain_last"])
        for position in step.get("snapshots", ()):
            update.expire_snapshot_id(table.snapshots[position].snapshot_id)
        if step.get("keep_files"):
            update.clean_expired_files(False)
        update.commit()
