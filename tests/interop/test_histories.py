"""The same operations leave the same history: summaries key for key, manifests and their counts, entries and their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from icesql.spec.files import DataFile
from icesql.spec.partitioning import UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.transforms import IDENTITY
from tests.interop.both import run_on_both
from tests.interop.programs import BY_P, FILES, ID5, P1, P2, Program, Step, unpartitioned
from tests.interop.test_conflicts import disagreement
from tests.oracle.client import Oracle
from tests.table.memory import data_file

pytestmark = [pytest.mark.spark, pytest.mark.interop]


def append(*files: str, **more: Any) -> Step:
    return {"do": "append", "files": list(files), **more}


def manage(call: str, *args: Any, **more: Any) -> Step:
    return {"do": "manage", "call": call, "args": list(args), **more}


EVERY: list[Step] = [
    append("a", "b", "null"),
    append("c1", fast=True),
    {"do": "row_delta", "deletes": ["da"]},
    {"do": "row_delta", "deletes": ["e1", "db"], "rows": ["c2"]},
    {"do": "row_delta", "deletes": ["da2"], "remove_deletes": ["da"]},
    {"do": "rewrite_manifests"},
    {"do": "overwrite", "remove": ["a"], "add": ["a2"]},
    {"do": "overwrite", "filter": P2, "add": ["n2"]},
    {"do": "overwrite", "filter": P2, "add": ["n1"], "match": True},
    {"do": "overwrite", "filter": ID5},
    {"do": "delete", "filter": ID5},
    {"do": "rewrite", "remove": ["a2"], "add": ["a3"], "sequence_number": 1},
    {"do": "rewrite", "remove": ["a3"], "add": ["big"]},
    {"do": "replace_partitions", "add": ["n1"]},
    {"do": "rewrite", "remove": ["e1"]},
    {"do": "delete", "files": ["null"]},
    {"do": "delete", "files": ["c1"], "must_exist": True},
    {"do": "delete", "filter": P2},
    append(),
    {"do": "delete", "filter": True},
]
MANY: dict[str, DataFile] = {f"m{n}": data_file(f"m{n}", (n % 3,), ids=(n, n + 5)) for n in range(24)}
OTHER_SPEC = PartitionSpec(spec_id=1)
OF_OTHER_SPEC: dict[str, DataFile] = {f"u{n}": data_file(f"u{n}", (), spec_id=1) for n in range(6)}
LATER_SPEC = PartitionSpec(spec_id=1, fields=(*BY_P.fields, PartitionField(source_ids=(1,), field_id=1001, transform=IDENTITY, name="id")))
OF_LATER_SPEC: dict[str, DataFile] = {f"w{n}": data_file(f"w{n}", (1, n), spec_id=1) for n in range(2)}

PROGRAMS: dict[str, Program] = {
    "every operation, version 2": Program(steps=EVERY, files=FILES),
    "every operation, version 1": Program(steps=[s for s in EVERY if "deletes" not in s], files=FILES, format_version=1),
    "every operation, unpartitioned": Program(
        steps=[{**s, "filter": ID5} if s.get("filter") in (P1, P2) else s for s in EVERY], files=unpartitioned(), spec=UNPARTITIONED
    ),
    "partition summaries": Program(steps=EVERY, files=FILES, properties={"write.summary.partition-limit": "2"}),
    "deletion vectors, version 3": Program(
        steps=[
            append("a", "b"),
            {"do": "row_delta", "deletes": ["va"]},
            {"do": "row_delta", "deletes": ["va2"], "remove_deletes": ["va"]},
            {"do": "row_delta", "deletes": ["vb", "e1"], "rows": ["c1"]},
            {"do": "row_delta", "deletes": ["da"]},
            append("c2"),
            {"do": "rewrite_manifests"},
            {"do": "overwrite", "remove": ["a"], "add": ["a2"]},
            {"do": "rewrite", "remove": ["b"], "add": ["n2"]},
            {"do": "delete", "filter": P1},
            append("n1", fast=True),
        ],
        files=FILES,
        format_version=3,
    ),
    "merging at three manifests": Program(
        steps=[*(append(name) for name in list(MANY)[:12]), append(*list(MANY)[12:], fast=True), append("last")],
        files={**MANY, "last": FILES["a"]},
        properties={"commit.manifest.min-count-to-merge": "3"},
    ),
    "manifests too large to merge": Program(
        steps=[append(name) for name in list(MANY)[:6]],
        files=MANY,
        properties={"commit.manifest.min-count-to-merge": "2", "commit.manifest.target-size-bytes": "1"},
    ),
    "merging switched off": Program(
        steps=[append(name) for name in list(MANY)[:5]],
        files=MANY,
        properties={"commit.manifest.min-count-to-merge": "2", "commit.manifest-merge.enabled": "false"},
    ),
    "two specs": Program(
        steps=[
            *(append(name) for name in ("m0", "m1", "m2")),
            {"do": "update_spec", "remove": "p"},
            *(append(name) for name in ("u0", "u1", "u2")),
            append("m3", "u3"),
            {"do": "delete", "files": ["m1", "u1"]},
            {"do": "delete", "filter": P2},
            {"do": "replace_partitions", "add": ["u4"]},
        ],
        files={**MANY, **OF_OTHER_SPEC},
        later_specs=(OTHER_SPEC,),
        properties={"commit.manifest.min-count-to-merge": "3"},
    ),
    "a spec beside the default": Program(
        steps=[
            append("m0"),
            {"do": "update_spec", "add": "id", "non_default": True},
            append("m1", "w0"),
            {"do": "update_spec", "add": "id"},
            append("w1"),
        ],
        files={**MANY, **OF_LATER_SPEC},
        later_specs=(LATER_SPEC,),
    ),
    "statistics": Program(
        steps=[
            append("a"),
            append("b"),
            append("c1"),
            {"do": "statistics", "set": [0, 1, 2]},
            {"do": "statistics", "remove": [1]},
            {"do": "statistics", "set": [0], "remove": [1, 2]},
            {"do": "expire", "snapshots": [0], "keep_files": True},
        ],
        files=FILES,
    ),
    "staged and picked": Program(
        steps=[
            append("a"),
            append("b", stage=True, summary={"wap.id": "w1"}),
            append("c1"),
            manage("cherrypick", snapshot=1),
            manage("cherrypick", snapshot=1),
            {"do": "replace_partitions", "add": ["n1"], "stage": True},
            append("c2"),
            manage("cherrypick", snapshot=4),
            {"do": "replace_partitions", "add": ["n2"], "stage": True},
            append("null"),
            manage("cherrypick", snapshot=6),
            {"do": "delete", "files": ["a"], "stage": True},
            manage("cherrypick", snapshot=8),
            append("far", stage=True),
            manage("cherrypick", snapshot=9),
            append("a2", summary={"custom": "x"}),
        ],
        files=FILES,
    ),
    "branches": Program(
        steps=[
            append("a"),
            append("b", branch="audit"),
            append("c1", branch="audit"),
            manage("create_branch", "other"),
            manage("create_branch", "other"),
            manage("create_tag", "t1", snapshot=0),
            append("c2", branch="t1"),
            manage("fast_forward_branch", "main", "audit"),
            manage("fast_forward_branch", "other", "main"),
            append("n1"),
            manage("fast_forward_branch", "main", "audit"),
            manage("rollback_to", snapshot=1),
            manage("rollback_to", snapshot=3),
            manage("set_current_snapshot", snapshot=3),
            manage("replace_tag", "t1", snapshot=1),
            manage("replace_branch_by", "other", "t1"),
            manage("replace_branch_by", "made", "t1"),
            manage("replace_branch_by", "t1", "other"),
            manage("replace_branch_by", "other", "missing"),
            manage("replace_branch_by", "other", "audit"),
            manage("rename_branch", "other", "renamed"),
            manage("remove_tag", "missing"),
            manage("remove_tag", "t1"),
            manage("remove_branch", "main"),
            manage("set_min_snapshots_to_keep", "audit", 2),
            manage("set_max_snapshot_age_ms", "audit", 1000),
            manage("set_max_ref_age_ms", "renamed", 1000),
            {"do": "row_delta", "deletes": ["dp1"], "branch": "audit"},
            {"do": "replace_partitions", "add": ["a2"], "branch": "audit"},
        ],
        files=FILES,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_history_is_javas(name: str, oracle: Oracle, tmp_path: Path) -> None:
    (((ours, theirs),),) = run_on_both(oracle, [PROGRAMS[name]], tmp_path)
    wrong = disagreement(name, ours, theirs, all_steps=True)
    assert not wrong, "\n" + "\n".join(wrong)
