"""One random history: statements made from a seed, each with what it does to the model's rows."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.sql.histories.kinds import INT, KINDS, STRING, WIDER, Kind
from tests.sql.histories.predicates import Condition, Row, random_condition

MODES = ("copy-on-write", "merge-on-read")


@dataclass
class Model:
    """A table as plain rows. ``partitions``: text of the current spec's fields by the column they are about."""

    columns: list[tuple[str, Kind]]
    version: int
    partitions: dict[str, str] = field(default_factory=dict)
    once_partitioned: set[str] = field(default_factory=set)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def tuples(self, names: list[str] | None = None) -> list[tuple[Any, ...]]:
        return [tuple(row[name] for name in names or self.names) for row in self.rows]


class History:
    """Yields statements; after each the model holds what the table must."""

    def __init__(self, seed: int, table: str) -> None:
        self.chance = random.Random(seed)
        self.table = table
        self._new_names = (f"c{number}" for number in range(100))
        kinds = [INT, *(self.chance.choice(KINDS) for _ in range(self.chance.randint(1, 3)))]
        self.model = Model([("id", kinds[0]), *((next(self._new_names), kind) for kind in kinds[1:])], self.chance.choice((1, 2, 2, 3, 3)))
        for name, kind in self.model.columns:
            if kind.transforms and self.chance.random() < 0.35:
                self.model.partitions[name] = self.chance.choice(kind.transforms).format(name)
        self.model.once_partitioned.update(self.model.partitions)

    # -- statements ----------------------------------------------------------------------------------------------
    def create(self) -> str:
        columns = ", ".join(f"{name} {kind.name}" for name, kind in self.model.columns)
        by = f" PARTITIONED BY ({', '.join(self.model.partitions.values())})" if self.model.partitions else ""
        properties = {"format-version": str(self.model.version), **self._modes()}
        if self.chance.random() < 0.12:
            properties["write.format.default"] = self.chance.choice(("avro", "orc"))
        if self.chance.random() < 0.2:
            properties["write.delete.granularity"] = "partition"
        return f"CREATE TABLE {self.table} ({columns}) USING iceberg{by} TBLPROPERTIES ({_property_list(properties)})"

    def _modes(self) -> dict[str, str]:
        if self.model.version < 2:
            return {}
        return {f"write.{verb}.mode": self.chance.choice(MODES) for verb in ("delete", "update", "merge")}

    def step(self) -> str:
        """The next statement. The model is changed as the table must be."""
        steps: list[tuple[int, Callable[[], str]]] = [
            (5, self._insert), (4, self._delete), (4, self._update), (4, self._merge), (1, self._insert_from_itself),
            (1, self._overwrite), (1, self._overwrite_where), (2, self._evolve), (1, self._repartition),
        ]  # fmt: skip
        if self.model.version < 3:
            steps.append((1, self._upgrade))
        return self.chance.choices([make for _, make in steps], [weight for weight, _ in steps])[0]()

    def condition(self, prefix: str = "") -> Condition:
        return random_condition(self.chance, self.model.columns)

    def _insert(self) -> str:
        rows = [self._row() for _ in range(self.chance.randint(1, 4))]
        self.model.rows += rows
        return f"INSERT INTO {self.table} {self._values(rows)}"

    def _insert_from_itself(self) -> str:
        condition = self.condition()
        self.model.rows += [dict(row) for row in self.model.rows if condition.holds(row)]
        return f"INSERT INTO {self.table} SELECT * FROM {self.table} WHERE {condition.sql}"

    def _delete(self) -> str:
        condition = self.condition()
        self.model.rows = [row for row in self.model.rows if not condition.holds(row)]
        return f"DELETE FROM {self.table} WHERE {condition.sql}"

    def _update(self) -> str:
        condition, (sql, change) = self.condition(), self._assignment()
        self.model.rows = [change(row) if condition.holds(row) else row for row in self.model.rows]
        return f"UPDATE {self.table} SET {sql} WHERE {condition.sql}"

    def _assignment(self, qualifier: str = "") -> tuple[str, Callable[[Row], dict[str, Any]]]:
        name, kind = self.chance.choice(self.model.columns)
        if kind.name == STRING.name and self.chance.random() < 0.4:
            return f"{name} = concat({qualifier}{name}, 'x')", lambda row: {**row, name: None if row[name] is None else row[name] + "x"}
        value = self._value(kind)
        return f"{name} = {kind.literal(value)}", lambda row: {**row, name: value}

    def _merge(self) -> str:
        """By id; source ids are distinct, so no row of the table matches twice."""
        ids = self.chance.sample(INT.values, self.chance.randint(1, 3))
        source = [{**self._row(), "id": key} for key in ids]
        by_id = {row["id"]: row for row in source}
        clauses, matched, by_source, inserts = [], None, None, False
        if self.chance.random() < 0.8:
            text, matched = self._merge_action("t.", self.chance.random() < 0.3)
            clauses.append(f"WHEN MATCHED THEN {text}")
        if not clauses or self.chance.random() < 0.6:
            inserts = True
            clauses.append("WHEN NOT MATCHED THEN INSERT *")
        if self.chance.random() < 0.3:
            condition = self.condition()
            text, action = self._merge_action("t.", self.chance.random() < 0.5)
            by_source = (condition, action)
            clauses.append(f"WHEN NOT MATCHED BY SOURCE AND {self._qualified(condition)} THEN {text}")
        rows: list[dict[str, Any]] = []
        for row in self.model.rows:
            if row["id"] in by_id and row["id"] is not None:
                rows += [row] if matched is None else matched(row)
            else:
                rows += by_source[1](row) if by_source and by_source[0].holds(row) else [row]
        present = {row["id"] for row in self.model.rows}
        if inserts:
            rows += [row for row in source if row["id"] not in present]
        self.model.rows = rows
        return f"MERGE INTO {self.table} t USING (SELECT * FROM {self._values(source, named=True)}) s ON t.id = s.id {' '.join(clauses)}"

    def _qualified(self, condition: Condition) -> str:
        return re.sub(r"(?<![\w'.])(id|c\d+)\b(?!')", r"t.\1", condition.sql)

    def _merge_action(self, qualifier: str, deletes: bool) -> tuple[str, Callable[[Row], list[dict[str, Any]]]]:
        if deletes:
            return "DELETE", lambda row: []
        sql, change = self._assignment(qualifier)
        return f"UPDATE SET {sql}", lambda row: [change(row)]

    def _overwrite(self) -> str:
        """All rows, or those of one value of an identity-partition column."""
        identity = [(name, kind) for name, kind in self.model.columns if self.model.partitions.get(name) == name]
        row = self._row()
        if not identity or self.chance.random() < 0.3:
            self.model.rows = [row]
            return f"INSERT OVERWRITE {self.table} {self._values([row])}"
        name, kind = self.chance.choice(identity)
        row[name] = self.chance.choice(kind.values)
        self.model.rows = [other for other in self.model.rows if other[name] != row[name]] + [row]
        others = ", ".join(k.literal(row[n]) for n, k in self.model.columns if n != name)
        return f"INSERT OVERWRITE {self.table} PARTITION ({name} = {kind.constant(row[name])}) SELECT {others}"

    def _overwrite_where(self) -> str:
        """Dynamic overwrite is the caller's setting; this replaces everything by a filter that no file can straddle."""
        row = self._row()
        self.model.rows = [row]
        return f"INSERT INTO {self.table} REPLACE WHERE true {self._values([row])}"

    def _evolve(self) -> str:
        droppable = [n for n in self.model.names if n != "id" and n not in self.model.once_partitioned]
        choice = self.chance.random()
        if choice < 0.25 and droppable and len(self.model.columns) > 2:
            name = self.chance.choice(droppable)
            self.model.columns = [(n, k) for n, k in self.model.columns if n != name]
            for row in self.model.rows:
                del row[name]
            return f"ALTER TABLE {self.table} DROP COLUMN {name}"
        if choice < 0.5 and len(self.model.columns) > 1:
            return self._rename(self.chance.choice(self.model.names[1:]))
        widenable = [(n, k) for n, k in self.model.columns if k.wider and n != "id" and n not in self.model.once_partitioned]
        if choice < 0.65 and widenable:
            name, kind = self.chance.choice(widenable)
            assert kind.wider is not None
            self.model.columns = [(n, WIDER[kind.wider] if n == name else k) for n, k in self.model.columns]
            return f"ALTER TABLE {self.table} ALTER COLUMN {name} TYPE {kind.wider}"
        name, kind = next(self._new_names), self.chance.choice(KINDS)
        self.model.columns.append((name, kind))
        for row in self.model.rows:
            row[name] = None
        return f"ALTER TABLE {self.table} ADD COLUMN {name} {kind.name}"

    def _rename(self, old: str) -> str:
        new = next(self._new_names)
        self.model.columns = [(new if n == old else n, k) for n, k in self.model.columns]
        for row in self.model.rows:
            row[new] = row.pop(old)
        if old in self.model.partitions:
            self.model.partitions[new] = self.model.partitions.pop(old).replace(old, new)
        if old in self.model.once_partitioned:
            self.model.once_partitioned.add(new)
        return f"ALTER TABLE {self.table} RENAME COLUMN {old} TO {new}"

    def _repartition(self) -> str:
        if self.model.partitions and self.chance.random() < 0.4:
            name = self.chance.choice(sorted(self.model.partitions))
            return f"ALTER TABLE {self.table} DROP PARTITION FIELD {self.model.partitions.pop(name)}"
        free = [(n, k) for n, k in self.model.columns if k.transforms and n not in self.model.once_partitioned]
        if not free:
            return self._insert()
        name, kind = self.chance.choice(free)
        self.model.partitions[name] = self.chance.choice(kind.transforms).format(name)
        self.model.once_partitioned.add(name)
        return f"ALTER TABLE {self.table} ADD PARTITION FIELD {self.model.partitions[name]}"

    def _upgrade(self) -> str:
        self.model.version += 1
        properties = {"format-version": str(self.model.version), **self._modes()}
        return f"ALTER TABLE {self.table} SET TBLPROPERTIES ({_property_list(properties)})"

    # -- rows ----------------------------------------------------------------------------------------------------
    def _value(self, kind: Kind) -> Any:
        return None if self.chance.random() < 0.2 else self.chance.choice(kind.values)

    def _row(self) -> dict[str, Any]:
        return {name: self._value(kind) for name, kind in self.model.columns}

    def _values(self, rows: list[dict[str, Any]], *, named: bool = False) -> str:
        texts = [f"({', '.join(kind.literal(row[name]) for name, kind in self.model.columns)})" for row in rows]
        return f"VALUES {', '.join(texts)}" + (f" AS v({', '.join(self.model.names)})" if named else "")


def _property_list(properties: dict[str, str]) -> str:
    return ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
