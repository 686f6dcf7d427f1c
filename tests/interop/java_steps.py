"""Runs programs on Iceberg's Java API over Py4J. Lives in the oracle process; takes and gives plain values only."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.interop.layout import newest_version, put_aside

Outcome = tuple[str, str] | None
Try = tuple[Outcome, str | None]
_JAVA_NAMES = {"replaceBranchBy": "replaceBranch"}  # Java tells a ref's name from a snapshot's id by its type


def run_programs(spark: Any, programs: list[dict[str, Any]]) -> list[tuple[list[Outcome], list[Try]]]:
    """What became of each program's steps (the kind of refusal and its words), and of its alternatives: the refusal, and the metadata
    file each left. ``location`` is where the program's table is."""
    java = _Java(spark)
    return [_Run(java, program).outcomes() for program in programs]


class _Java:
    """The classes and functional objects that programs need."""

    def __init__(self, spark: Any) -> None:
        self.gateway, self.jvm = spark.sparkContext._gateway, spark._jvm
        self.iceberg = self.jvm.org.apache.iceberg
        self.tables = self.iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())
        self.class_of = self.jvm.java.lang.Class.forName

    def constant_function(self, value: str) -> Any:
        """A java.util.function.Function: Python lambdas would need a server of their own."""
        handles, any_class = self.jvm.java.lang.invoke.MethodHandles, self.class_of("java.lang.Object")
        parameters = self.gateway.new_array(self.jvm.java.lang.Class, 1)
        parameters[0] = any_class
        handle = handles.dropArguments(handles.constant(any_class, value), 0, parameters)
        proxies = self.jvm.java.lang.invoke.MethodHandleProxies
        return proxies.asInterfaceInstance(self.class_of("java.util.function.Function"), handle)

    def expression(self, node: dict[str, Any]) -> Any:
        return self.iceberg.expressions.ExpressionParser.fromJson(json.dumps(node))


class _Run:
    def __init__(self, java: _Java, program: dict[str, Any]) -> None:
        self._java, self._program = java, program
        iceberg, jvm = java.iceberg, java.jvm
        schema = iceberg.SchemaParser.fromJson(json.dumps(program["schema"]))
        spec = iceberg.PartitionSpecParser.fromJson(schema, json.dumps(program["spec"]))
        properties = jvm.java.util.HashMap()
        for key, value in program["properties"].items():
            properties.put(key, value)
        order = iceberg.SortOrder.unsorted()
        self._location: str = program["location"]
        java.tables.create(schema, spec, order, properties, self._location)
        self._held: dict[str, Any] = {}
        self._heads: dict[str, int | None] = {}

    def outcomes(self) -> tuple[list[Outcome], list[Try]]:
        made = [self._outcome(step) for step in self._program["steps"]]
        version = newest_version(self._location)
        tried = []
        for number, step in enumerate(self._program["alternatives"]):
            outcome = self._outcome(step)
            tried.append((outcome, put_aside(self._location, version, f"alternative-{number}")))
        return made, tried

    def _outcome(self, step: dict[str, Any]) -> Outcome:
        try:
            getattr(self, f"_{step['do']}")(step)
        except Exception as error:
            thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)  # as Py4J or as PySpark shows it
            if thrown is None:
                raise
            return str(thrown.getClass().getSimpleName()), str(thrown.getMessage())
        return None

    # -- tables and values ---------------------------------------------------------------------------------------
    def _table(self, step: dict[str, Any]) -> Any:
        return self._held[step["on"]] if "on" in step else self._java.tables.load(self._location)

    def _file(self, name: str, table: Any) -> Any:
        node = self._java.iceberg.util.JsonUtil.mapper().readTree(json.dumps(self._program["files"][name]))
        return self._java.iceberg.ContentFileParser.fromJson(node, table.specs())

    def _hold(self, step: dict[str, Any]) -> None:
        table = self._held[step["as"]] = self._java.tables.load(self._location)
        snapshot = table.currentSnapshot()
        self._heads[step["as"]] = None if snapshot is None else snapshot.snapshotId()

    def _snapshot_id(self, table: Any, position: int) -> int:
        return int(list(table.snapshots())[position].snapshotId())

    def _finish(self, update: Any, step: dict[str, Any]) -> None:
        for key, value in step.get("summary", {}).items():
            update.set(key, value)
        if step.get("stage"):
            update.stageOnly()
        if "branch" in step:
            update.toBranch(step["branch"])
        update.commit()

    def _since(self, update: Any, step: dict[str, Any]) -> None:
        held = self._heads.get(step.get("since", ""))
        if held is not None:
            update.validateFromSnapshot(held)

    def _flags(self, update: Any, step: dict[str, Any], names: dict[str, str]) -> None:
        for key, method in names.items():
            if step.get(key):
                getattr(update, method)()

    # -- writers -------------------------------------------------------------------------------------------------
    def _append(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.newFastAppend() if step.get("fast") else table.newAppend()
        for name in step["files"]:
            update.appendFile(self._file(name, table))
        self._finish(update, step)

    def _delete(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.newDelete()
        for name in step.get("files", ()):
            update.deleteFile(self._file(name, table))
        for name in step.get("paths", ()):
            path = self._program["files"][name]["file-path"]
            update.deleteFile(self._java.jvm.java.lang.StringBuilder(path))  # a String would find a method of that name meant for others
        if "filter" in step:
            update.deleteFromRowFilter(self._java.expression(step["filter"]))
        self._flags(update, step, {"must_exist": "validateFilesExist"})
        self._finish(update, step)

    def _overwrite(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.newOverwrite()
        if "filter" in step:
            update.overwriteByRowFilter(self._java.expression(step["filter"]))
        for name in step.get("add", ()):
            update.addFile(self._file(name, table))
        for name in step.get("remove", ()):
            update.deleteFile(self._file(name, table))
        if "conflict" in step:
            update.conflictDetectionFilter(self._java.expression(step["conflict"]))
        self._since(update, step)
        flags = {"match": "validateAddedFilesMatchOverwriteFilter", "no_data": "validateNoConflictingData"}
        self._flags(update, step, {**flags, "no_deletes": "validateNoConflictingDeletes"})
        self._finish(update, step)

    def _replace_partitions(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.newReplacePartitions()
        for name in step["add"]:
            update.addFile(self._file(name, table))
        self._since(update, step)
        flags = {"append_only": "validateAppendOnly", "no_data": "validateNoConflictingData", "no_deletes": "validateNoConflictingDeletes"}
        self._flags(update, step, flags)
        self._finish(update, step)

    def _row_delta(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.newRowDelta()
        methods = {"rows": "addRows", "deletes": "addDeletes", "remove_rows": "removeRows", "remove_deletes": "removeDeletes"}
        for key, method in methods.items():
            for name in step.get(key, ()):
                getattr(update, method)(self._file(name, table))
        if "conflict" in step:
            update.conflictDetectionFilter(self._java.expression(step["conflict"]))
        if "exist" in step:
            paths = self._java.jvm.java.util.ArrayList()
            for name in step["exist"]:
                paths.add(self._program["files"][name]["file-path"])
            update.validateDataFilesExist(paths)
        self._since(update, step)
        flags = {"no_deleted": "validateDeletedFiles", "no_data": "validateNoConflictingDataFiles"}
        self._flags(update, step, {**flags, "no_deletes": "validateNoConflictingDeleteFiles"})
        self._finish(update, step)

    def _rewrite(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.newRewrite()
        for name in step.get("remove", ()):
            update.deleteFile(self._file(name, table))
        for name in step.get("add", ()):
            update.addFile(self._file(name, table))
        if "sequence_number" in step:
            update.dataSequenceNumber(step["sequence_number"])
        self._since(update, step)
        self._finish(update, step)

    def _rewrite_manifests(self, step: dict[str, Any]) -> None:
        update = self._table(step).rewriteManifests().clusterBy(self._java.constant_function("all"))
        self._finish(update, step)

    # -- other changes -------------------------------------------------------------------------------------------
    def _update_schema(self, step: dict[str, Any]) -> None:
        update = self._table(step).updateSchema()
        if "add" in step:
            update.addColumn(step["add"], self._java.iceberg.types.Types.fromPrimitiveString("long"))
        if "drop" in step:
            update.deleteColumn(step["drop"])
        update.commit()

    def _update_spec(self, step: dict[str, Any]) -> None:
        update = self._table(step).updateSpec()
        if "add" in step:
            update.addField(step["add"])
        if "remove" in step:
            update.removeField(step["remove"])
        if step.get("non_default"):
            update.addNonDefaultSpec()
        update.commit()

    def _set_properties(self, step: dict[str, Any]) -> None:
        update = self._table(step).updateProperties()
        for key, value in step["set"].items():
            update.set(key, value)
        update.commit()

    def _manage(self, step: dict[str, Any]) -> None:
        """``call`` is the method's name, ``args`` its arguments; a ``snapshot`` position is its last."""
        table = self._table(step)
        snapshot = [self._snapshot_id(table, step["snapshot"])] if "snapshot" in step else []
        manage = table.manageSnapshots()
        name = re.sub(r"_(\w)", lambda m: m.group(1).upper(), step["call"])
        getattr(manage, _JAVA_NAMES.get(name, name))(*step.get("args", ()), *snapshot)
        manage.commit()

    def _statistics(self, step: dict[str, Any]) -> None:
        """``set`` and ``remove`` are positions of snapshots; both kinds of files come and go together."""
        table, iceberg = self._table(step), self._java.iceberg
        whole, parts = table.updateStatistics(), table.updatePartitionStatistics()
        for snapshot_id in (self._snapshot_id(table, position) for position in step.get("set", ())):
            whole.setStatistics(iceberg.GenericStatisticsFile(snapshot_id, "/whole", 1, 1, self._java.jvm.java.util.ArrayList()))
            builder = iceberg.ImmutableGenericPartitionStatisticsFile.builder()
            parts.setPartitionStatistics(builder.snapshotId(snapshot_id).path("/parts").fileSizeInBytes(1).build())
        for snapshot_id in (self._snapshot_id(table, position) for position in step.get("remove", ())):
            whole.removeStatistics(snapshot_id)
            parts.removePartitionStatistics(snapshot_id)
        whole.commit()
        parts.commit()

    def _expire(self, step: dict[str, Any]) -> None:
        table = self._table(step)
        update = table.expireSnapshots()
        if "older_than_ms" in step:
            update.expireOlderThan(step["older_than_ms"])
        if "retain_last" in step:
            update.retainLast(step["retain_last"])
        for position in step.get("snapshots", ()):
            update.expireSnapshotId(self._snapshot_id(table, position))
        if step.get("keep_files"):
            update.cleanExpiredFiles(False)
        update.commit()
