"""The conflict table: every writer on a base before every other's commit, as Iceberg's Java API judges it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.interop.both import Side, run_on_both
from tests.interop.java_steps import Outcome
from tests.interop.programs import FILES, P1, Program, Step
from tests.oracle.client import Oracle

pytestmark = [pytest.mark.spark, pytest.mark.interop]

KINDS = {  # Java's refusals and ours
    "ValidationException": "ValidationError",
    "CherrypickAncestorCommitException": "ValidationError",
    "DuplicateWAPCommitException": "ValidationError",
    "CommitFailedException": "CommitFailedError",
    "IllegalArgumentException": "InvalidArgumentError",
    "IllegalStateException": "InvalidArgumentError",
}

SERIALIZABLE = {"no_data": True, "no_deletes": True}
SNAPSHOT = {"no_deletes": True}

# The one that commits first.
FIRST: dict[str, Step] = {
    "append to the partition": {"do": "append", "files": ["c1"]},
    "append elsewhere": {"do": "append", "files": ["c2"]},
    "append outside the bounds": {"do": "append", "files": ["far"]},
    "delete of the file": {"do": "delete", "files": ["a"]},
    "delete of another file": {"do": "delete", "files": ["b"]},
    "delete by filter": {"do": "delete", "filter": P1},
    "copy-on-write of the file": {"do": "overwrite", "remove": ["a"], "add": ["a3"]},
    "overwrite by filter": {"do": "overwrite", "filter": P1, "add": ["c1"]},
    "overwrite by filter to nothing": {"do": "overwrite", "filter": P1},
    "dynamic overwrite": {"do": "replace_partitions", "add": ["c1"]},
    "dynamic overwrite elsewhere": {"do": "replace_partitions", "add": ["c2"]},
    "row delta of positions": {"do": "row_delta", "deletes": ["da2"]},
    "row delta of a partition's positions": {"do": "row_delta", "deletes": ["dp1"]},
    "row delta elsewhere": {"do": "row_delta", "deletes": ["db"]},
    "row delta by equality": {"do": "row_delta", "deletes": ["e1"]},
    "row delta with rows": {"do": "row_delta", "deletes": ["e1"], "rows": ["c1"]},
    "rewrite of the file": {"do": "rewrite", "remove": ["a"], "add": ["a3"]},
    "rewrite of another file": {"do": "rewrite", "remove": ["b"], "add": ["n2"]},
    "manifest rewrite": {"do": "rewrite_manifests"},
    "schema change": {"do": "update_schema", "add": "more"},
    "spec change": {"do": "update_spec", "remove": "p"},
    "property change": {"do": "set_properties", "set": {"k": "v"}},
    "expire": {"do": "expire", "older_than_ms": 2**61, "retain_last": 1},
    "rollback": {"do": "manage", "call": "rollback_to", "snapshot": 0},
}

# The one that read the table before.
LATE: dict[str, Step] = {
    "append": {"do": "append", "files": ["n1"]},
    "fast append": {"do": "append", "files": ["n1"], "fast": True},
    "delete of the file": {"do": "delete", "files": ["a"]},
    "delete of a file that must exist": {"do": "delete", "files": ["a"], "must_exist": True},
    "delete by path": {"do": "delete", "paths": ["a"], "must_exist": True},
    "delete by filter": {"do": "delete", "filter": P1},
    "copy-on-write, serializable": {"do": "overwrite", "remove": ["a"], "add": ["a2"], "conflict": P1, **SERIALIZABLE},
    "copy-on-write, snapshot": {"do": "overwrite", "remove": ["a"], "add": ["a2"], "conflict": P1, **SNAPSHOT},
    "copy-on-write, unchecked": {"do": "overwrite", "remove": ["a"], "add": ["a2"]},
    "copy-on-write without a filter": {"do": "overwrite", "remove": ["a"], "add": ["a2"], **SERIALIZABLE},
    "overwrite by filter, serializable": {"do": "overwrite", "filter": P1, "add": ["a2"], **SERIALIZABLE},
    "overwrite by filter, snapshot": {"do": "overwrite", "filter": P1, "add": ["a2"], **SNAPSHOT},
    "overwrite by filter, unchecked": {"do": "overwrite", "filter": P1, "add": ["a2"]},
    "dynamic overwrite, serializable": {"do": "replace_partitions", "add": ["a2"], **SERIALIZABLE},
    "dynamic overwrite, snapshot": {"do": "replace_partitions", "add": ["a2"], **SNAPSHOT},
    "dynamic overwrite, unchecked": {"do": "replace_partitions", "add": ["a2"]},
    "dynamic overwrite, append only": {"do": "replace_partitions", "add": ["a2"], "append_only": True},
    "merge-on-read delete, serializable": {"do": "row_delta", "deletes": ["da"], "exist": ["a"], "conflict": P1, "no_data": True},
    "merge-on-read delete, snapshot": {"do": "row_delta", "deletes": ["da"], "exist": ["a"], "conflict": P1},
    "merge-on-read update, serializable": {
        "do": "row_delta", "deletes": ["da"], "rows": ["n1"], "exist": ["a"], "no_deleted": True, "conflict": P1, **SERIALIZABLE,
    },
    "merge-on-read update, snapshot": {
        "do": "row_delta", "deletes": ["da"], "rows": ["n1"], "exist": ["a"], "no_deleted": True, "conflict": P1, **SNAPSHOT,
    },
    "row delta of rows to remove": {"do": "row_delta", "remove_rows": ["a"], "rows": ["n1"], "conflict": P1, **SERIALIZABLE},
    "equality deletes": {"do": "row_delta", "deletes": ["e1"], "rows": ["n1"]},
    "rewrite": {"do": "rewrite", "remove": ["a"], "add": ["a2"]},
    "rewrite with its number": {"do": "rewrite", "remove": ["a"], "add": ["a2"], "sequence_number": 2},
    "manifest rewrite": {"do": "rewrite_manifests"},
    "schema change": {"do": "update_schema", "add": "late"},
    "spec change": {"do": "update_spec", "add": "data"},
    "property change": {"do": "set_properties", "set": {"late": "v"}},
}  # fmt: skip

DONE_AGAIN = ("schema change", "spec change")  # docs/differences.md: Java gives up where the base is old, icesql does the change again
ALONE = {"manifest rewrite": 2, "spec change": 1, "rollback": 0}  # after these, no spec has two manifests; the current snapshot's position
QUICK = {"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "2"}


@pytest.mark.parametrize("first", FIRST)
def test_late_writers_fare_as_in_java(first: str, oracle: Oracle, tmp_path: Path) -> None:
    readers = {name: f"reader{number}" for number, name in enumerate(LATE)}
    before = [{"do": "append", "files": ["b"]}, {"do": "append", "files": ["a"]}]
    holds = [{"do": "hold", "as": reader} for reader in readers.values()]
    late = [{**step, "on": readers[name], "since": readers[name]} for name, step in LATE.items()]
    fresh = [LATE[name] for name in DONE_AGAIN]
    program = Program(steps=[*before, *holds, FIRST[first]], alternatives=[*late, *fresh], files=FILES, properties=QUICK)
    (found,) = run_on_both(oracle, [program], tmp_path)
    pairs = dict(zip([*LATE, *(f"{name}, fresh" for name in DONE_AGAIN)], found, strict=True))
    for name in DONE_AGAIN:
        ours, theirs = pairs[name]
        if theirs.outcomes[-1] is not None and theirs.outcomes[-1][0] == "CommitFailedException":
            pairs[name] = ours, pairs[f"{name}, fresh"][1]
    if first in ALONE:
        ours, _ = pairs.pop("manifest rewrite")  # docs/differences.md: ours rewrites one spec's manifests, and not a single one
        assert ours.outcomes[-1] is None
        assert ours.history["current"] == ALONE[first]
    for name, (ours, theirs) in [*pairs.items()]:  # docs/differences.md: row deltas from a snapshot that was rolled back
        if theirs.outcomes[-1] is not None and "is not an ancestor of" in theirs.outcomes[-1][1]:
            del pairs[name]
            refused = ours.outcomes[-1] is not None and ours.outcomes[-1][1].startswith("Cannot determine history")
            assert refused == ("conflict" in LATE[name]), name
    wrong = [line for name, pair in pairs.items() for line in disagreement(name, *pair)]
    assert not wrong, f"after {first}:\n" + "\n".join(wrong)


def disagreement(name: str, ours: Side, theirs: Side, *, all_steps: bool = False) -> list[str]:
    """What differs, as text. Unless ``all_steps`` may be refused, only the last may."""
    assert all_steps or set(theirs.outcomes[:-1]) == {None}, theirs.outcomes
    expected = [in_our_words(outcome) for outcome in theirs.outcomes]
    wrong = []
    for step, (held, wanted) in enumerate(zip(ours.outcomes, expected, strict=True)):
        if comparable(held) != comparable(wanted):
            wrong += [f"{name}, step {step}:", f"  ours   {held}", f"  theirs {wanted}"]
    found = differing(ours.history, theirs.history)
    return [*wrong, f"{name}: another history", *found] if found else wrong


def in_our_words(outcome: Outcome) -> Outcome:
    """Java's refusal with filters as SQL, and files as their paths."""
    if outcome is None:
        return None
    text = re.sub(r'ref\(name="(\w+)"\) == ', r"\1 = ", outcome[1])
    text = re.sub(r"GenericDataFile\{.*?file_path=([^,]+),.*\}", r"\1", text)
    return KINDS[outcome[0]], re.sub(r"DV\{location=([^,]+),.*\}", r"\1", text)


def comparable(outcome: Outcome) -> Outcome:
    """Without what differs from run to run, and with our finer kinds of wrong argument as Java's one."""
    if outcome is None:
        return None
    kind = "InvalidArgumentError" if outcome[0] in ("AlreadyExistsError", "NotFoundError") else outcome[0]
    return any_file((kind, re.sub(r"\b\d{12,20}\b", "<snapshot id>", outcome[1])))


def any_file(refusal: tuple[str, str]) -> tuple[str, str]:
    """Which of several files a filter half matches is named first is chance: Java reads manifests in threads."""
    kind, text = refusal
    return (kind, text.rpartition(": ")[0]) if text.startswith("Cannot delete file where some") else refusal


def differing(ours: object, theirs: object, path: str = "") -> list[str]:
    """Where two nested values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = [*ours, *(key for key in theirs if key not in ours)]
        return [line for key in keys for line in differing(ours.get(key), theirs.get(key), f"{path}/{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [line for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) for line in differing(a, b, f"{path}/{i}")]
    return [] if ours == theirs else [f"  {path}:\n    ours   {ours}\n    theirs {theirs}"]
