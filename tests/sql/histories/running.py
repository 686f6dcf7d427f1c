"""Runs histories on icesql and compares: after every change without Spark, at the end with it, old snapshots too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.sql.histories.history import History
from tests.sql.histories.kinds import multiset


@dataclass(frozen=True)
class Kept:
    """A snapshot and the rows it must show, in its own columns."""

    snapshot_id: int
    names: list[str]
    rows: list[str]


def run_history(session: Any, seed: int, namespace: str, steps: int) -> None:
    """Raises AssertionError with the statements so far and what differs."""
    history = History(seed, f"{namespace}.h{seed}")
    script = [history.create()]
    kept: list[Kept] = []
    try:
        session.sql(script[0])
        for _ in range(steps):
            script.append(history.step())
            session.sql(script[-1])
            kept.append(_check_without_spark(session, history))
        _check_with_spark(session, history, script)
        _check_old_snapshot(session, history, kept, script)
    except Exception as error:
        raise AssertionError(
            "\n".join([f"seed {seed}: {type(error).__name__}: {str(error)[:1500]}", *(f"{line};" for line in script)])
        ) from error


def _check_without_spark(session: Any, history: History) -> Kept:
    table = session.table(history.table)
    columns = table.scan().to_arrow()
    model = history.model
    found = list(zip(*(columns.column(name).to_pylist() for name in model.names), strict=True)) if columns.num_rows else []
    expected = multiset(model.tuples())
    assert columns.column_names == model.names, f"columns {columns.column_names} are not {model.names}"
    assert multiset(found) == expected, f"without Spark: {_difference(multiset(found), expected)}"
    snapshot = table.metadata.current_snapshot
    return Kept(-1 if snapshot is None else snapshot.snapshot_id, model.names, expected)


def _check_with_spark(session: Any, history: History, script: list[str]) -> None:
    condition = history.condition()
    model = history.model
    script.append(f"SELECT *, {condition.sql} FROM {history.table}")
    found = [tuple(row) for row in session.sql(script[-1]).collect()]
    expected = [(*values, condition.of(row)) for values, row in zip(model.tuples(), model.rows, strict=True)]
    assert multiset(found) == multiset(expected), f"all rows: {_difference(multiset(found), multiset(expected))}"
    script.append(f"SELECT * FROM {history.table} WHERE {condition.sql}")
    found = [tuple(row) for row in session.sql(script[-1]).collect()]
    expected = [values for values, row in zip(model.tuples(), model.rows, strict=True) if condition.holds(row)]
    assert multiset(found) == multiset(expected), f"filtered: {_difference(multiset(found), multiset(expected))}"


def _check_old_snapshot(session: Any, history: History, kept: list[Kept], script: list[str]) -> None:
    """A schema change after the snapshot keeps the id, so of several states with one id the last is not always the snapshot's own."""
    first = {state.snapshot_id: state for state in reversed(kept) if state.snapshot_id != -1}
    if not first:
        return
    chosen = history.chance.choice(sorted(first))
    script.append(f"SELECT * FROM {history.table} VERSION AS OF {chosen}")
    frame = session.sql(script[-1])
    found = multiset([tuple(row) for row in frame.collect()])
    assert frame.columns == first[chosen].names, f"columns {frame.columns} are not {first[chosen].names}"
    assert found == first[chosen].rows, f"old snapshot: {_difference(found, first[chosen].rows)}"


def _difference(found: list[str], expected: list[str]) -> str:
    missing, unexpected = list(expected), []
    for row in found:
        if row in missing:
            missing.remove(row)
        else:
            unexpected.append(row)
    return f"missing {missing[:3]}, unexpected {unexpected[:3]}"
