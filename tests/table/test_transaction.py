"""Changes staged together: seen inside, committed as one version, and refused where ids could clash."""

from __future__ import annotations

from pathlib import Path

import pytest

from icesql.errors import InvalidArgumentError, UnsupportedError, ValidationError
from icesql.expr.tree import Reference
from icesql.spec.transforms import bucket
from icesql.spec.types import LongType
from icesql.table.table import Table
from icesql.table.transaction import StagedOperations, Transaction
from tests.table.maintained import catalog_in, ids, new_table, paths, rows


def inside(transaction: Transaction, table: Table) -> Table:
    """The table as the transaction has it."""
    operations = StagedOperations(transaction)
    return Table(operations, operations.load(), table.identifier, table.catalog)


def test_builders_wait_for_the_commit(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.append(rows(1))
    transaction, before = table.transaction(), table.metadata_location
    staged = inside(transaction, table)
    staged.update_schema().add_column("extra", LongType()).commit()
    staged.update_spec().add_field(Reference("id", bucket(4)), "id_bucket").commit()
    staged.update_properties().set("k", "v").commit()
    staged.manage_snapshots().create_tag("then", staged.snapshots[0].snapshot_id).commit()
    own = staged.transaction()
    own.add(staged.update_properties().set("nested", "too"))
    own.commit()
    staged.append(rows(2).append_column("extra", [[7]]))
    assert ids(staged) == [1, 2]
    assert table.refresh().metadata_location == before
    transaction.commit()
    table.refresh()
    assert len(table.metadata.metadata_log) == 2, "one version for all of it"
    assert sorted(table.to_arrow()["extra"].to_pylist(), key=str) == [7, None]
    assert [field.name for field in table.spec.fields] == ["p", "id_bucket"]
    assert {table.properties[key] for key in ("k", "nested")} == {"v", "too"}
    assert set(table.refs) == {"main", "then"}


def test_a_change_that_is_refused_leaves_the_others_staged(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    transaction = table.transaction()
    staged = inside(transaction, table)
    staged.update_properties().set("k", "v").commit()
    with pytest.raises(InvalidArgumentError, match="name already exists"):
        staged.update_schema().add_column("id", LongType()).commit()
    with pytest.raises(UnsupportedError, match="Cannot expire snapshots in a transaction"):
        staged.expire_snapshots().expire_older_than(2**53).commit()
    transaction.commit()
    assert table.refresh().properties["k"] == "v"


def test_ids_given_inside_are_never_given_anew(tmp_path: Path) -> None:
    """A file written with a new column's id must not be read with another column of that id."""
    table = new_table(tmp_path)
    transaction = table.transaction()
    staged = inside(transaction, table)
    staged.update_schema().add_column("ours", LongType()).commit()
    staged.append(rows(1).append_column("ours", [[7]]))
    written = paths(staged)
    catalog_in(tmp_path).load_table("db.t").update_schema().add_column("theirs", LongType()).commit()
    with pytest.raises(ValidationError, match="another writer has changed them meanwhile"):
        transaction.commit()
    assert [field.name for field in table.refresh().schema.fields] == ["id", "s", "p", "theirs"]
    assert table.current_snapshot is None
    assert written


def test_rows_alone_survive_another_writers_columns(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    transaction = table.transaction()
    inside(transaction, table).append(rows(1))
    other = catalog_in(tmp_path).load_table("db.t")
    other.update_schema().add_column("theirs", LongType()).commit()
    other.append(rows(2))
    transaction.commit()
    assert ids(table.refresh()) == [1, 2]
    assert "theirs" in table.schema.ids_by_name
