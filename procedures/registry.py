"""All procedures, in the order that SHOW PROCEDURES lists them. Each line is a module of this folder with a ``PROCEDURE``."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from icesql.errors import NotFoundError, nearest
from icesql.procedures.base import Procedure
from icesql.spec.case_folding import fold

NAMES = (
    "rollback_to_snapshot",
    "rollback_to_timestamp",
    "set_current_snapshot",
    "cherrypick_snapshot",
    "remove_orphan_files",
    "rewrite_data_files",
    "rewrite_manifests",
    "rewrite_position_delete_files",
    "expire_snapshots",
    "ancestors_of",
    "snapshot",
    "migrate",
    "add_files",
    "register_table",
    "publish_changes",
    "create_changelog_view",
    "fast_forward",
    "compute_table_stats",
    "compute_partition_stats",
    "rewrite_table_path",
)


@cache
def procedure(name: str) -> Procedure:
    """The procedure of that name, in any case. Raises NotFoundError that names the nearest one."""
    lowered = fold(name)
    if lowered not in NAMES:
        raise NotFoundError(f"Cannot load procedure: unknown name: {name}.{nearest(name, NAMES)}", name=name)
    loaded: Procedure = import_module(f"icesql.procedures.{lowered}").PROCEDURE
    return loaded


def procedures() -> list[Procedure]:
    return [procedure(name) for name in NAMES]
