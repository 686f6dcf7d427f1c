"""Random predicates: SQL text, and the same as a function of a row with three-valued logic, Spark's order of NaN and its equal zeros."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.sql.histories.kinds import BOOLEAN, STRING, Kind

Row: TypeAlias = Mapping[str, Any]
Truth: TypeAlias = bool | None


@dataclass(frozen=True, slots=True)
class Condition:
    sql: str
    of: Callable[[Row], Truth]

    def holds(self, row: Row) -> bool:
        return self.of(row) is True


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1: NaN is the largest number, zeros are equal."""
    if isinstance(left, float) or isinstance(right, float):
        a, b = (math.isnan(left), left), (math.isnan(right), right)
        if a[0] or b[0]:
            return int(a[0]) - int(b[0])
    return int(left > right) - int(left < right)


_TESTS: dict[str, Callable[[int], bool]] = {
    "=": lambda c: c == 0, "<>": lambda c: c != 0, "<": lambda c: c < 0, "<=": lambda c: c <= 0, ">": lambda c: c > 0,
    ">=": lambda c: c >= 0,
}  # fmt: skip


def random_condition(chance: random.Random, columns: Sequence[tuple[str, Kind]], depth: int = 2) -> Condition:
    shape = chance.random()
    if depth and shape < 0.2:
        return negated(random_condition(chance, columns, depth - 1))
    if depth and shape < 0.5:
        left, right = (random_condition(chance, columns, depth - 1) for _ in range(2))
        return both(left, right) if chance.random() < 0.5 else either(left, right)
    name, kind = chance.choice(columns)
    return random_leaf(chance, name, kind)


def random_leaf(chance: random.Random, name: str, kind: Kind) -> Condition:
    choice = chance.random()
    value = chance.choice(kind.values)
    if choice < 0.1:
        return Condition(f"{name} IS NULL", lambda row: row[name] is None)
    if choice < 0.2:
        return Condition(f"{name} IS NOT NULL", lambda row: row[name] is not None)
    if choice < 0.3:
        return Condition(f"{name} <=> {kind.literal(value)}", lambda row: row[name] is not None and compare(row[name], value) == 0)
    if choice < 0.5:
        return among(chance, name, kind)
    if choice < 0.6 and kind.name == STRING.name:
        prefix = chance.choice(("", "a", "ab"))
        return Condition(f"{name} LIKE '{prefix}%'", lambda row: None if row[name] is None else row[name].startswith(prefix))
    if choice < 0.7 and kind.name == BOOLEAN.name:
        return Condition(name, lambda row: row[name])
    sign = chance.choice(list(_TESTS))
    test = _TESTS[sign]
    return Condition(f"{name} {sign} {kind.literal(value)}", lambda row: None if row[name] is None else test(compare(row[name], value)))


def among(chance: random.Random, name: str, kind: Kind) -> Condition:
    values = chance.sample(kind.values, min(len(kind.values), chance.randint(1, 3)))
    with_null, negative = chance.random() < 0.2, chance.random() < 0.4
    texts = [*map(kind.literal, values), *(["NULL"] if with_null else [])]

    def of(row: Row) -> Truth:
        if row[name] is None:
            return None
        found = any(compare(row[name], value) == 0 for value in values)
        return None if not found and with_null else found

    inside = Condition(f"{name} IN ({', '.join(texts)})", of)
    return Condition(f"{name} NOT IN ({', '.join(texts)})", lambda row: _not(of(row))) if negative else inside


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def negated(condition: Condition) -> Condition:
    return Condition(f"NOT ({condition.sql})", lambda row: _not(condition.of(row)))


def both(left: Condition, right: Condition) -> Condition:
    def of(row: Row) -> Truth:
        truths = (left.of(row), right.of(row))
        return False if False in truths else None if None in truths else True

    return Condition(f"({left.sql} AND {right.sql})", of)


def either(left: Condition, right: Condition) -> Condition:
    def of(row: Row) -> Truth:
        truths = (left.of(row), right.of(row))
        return True if True in truths else None if None in truths else False

    return Condition(f"({left.sql} OR {right.sql})", of)
