"""PyIceberg's RestCatalog beside ours on Iceberg's own server: each reads and changes what the other wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from icesql.catalog.rest.catalog import RestCatalog
from icesql.errors import NotFoundError
from icesql.expr.tree import Op, Predicate, Reference
from icesql.spec.types import LongType
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.rest.reference_server import ReferenceServer

pytestmark = [pytest.mark.slow, pytest.mark.interop]


@pytest.fixture
def theirs(rest_server: ReferenceServer, warehouse: Path) -> Any:
    from pyiceberg.catalog.rest import RestCatalog as PyIcebergCatalog

    return PyIcebergCatalog("theirs", uri=rest_server.uri, warehouse=str(warehouse))


def ids(table: Any) -> list[int]:
    found: pa.Table = table.to_arrow() if hasattr(table, "to_arrow") else table.scan().to_arrow()
    return sorted(found["id"].to_pylist())


def test_each_sees_the_others_names(catalog: RestCatalog, theirs: Any) -> None:
    catalog.create_namespace("a", {"owner": "me"})
    theirs.create_namespace(("a", "b"), {"owner": "you"})
    assert theirs.load_namespace_properties(("a",))["owner"] == "me"
    assert catalog.namespace_properties(("a", "b"))["owner"] == "you"
    assert catalog.list_namespaces("a") == [("a", "b")] == theirs.list_namespaces(("a",))
    catalog.create_table(("a", "b", "t"), SCHEMA)
    assert theirs.list_tables(("a", "b")) == [("a", "b", "t")] == catalog.list_tables(("a", "b"))
    theirs.rename_table(("a", "b", "t"), ("a", "u"))
    assert catalog.table_exists("a.u") and not catalog.table_exists(("a", "b", "t"))
    catalog.rename_table("a.u", "a.v")
    assert theirs.table_exists(("a", "v"))
    theirs.drop_table(("a", "v"))
    with pytest.raises(NotFoundError, match="Table does not exist"):
        catalog.load_table("a.v")


def test_turns_on_one_table(catalog: RestCatalog, theirs: Any) -> None:
    """Appends, evolution, a branch, a delete and an overwrite, by turns; both hold handles that grow old meanwhile."""
    catalog.create_namespace("db")
    ours = catalog.create_table("db.t", SCHEMA, spec=BY_ID, properties={"k": "v"})
    other = theirs.load_table(("db", "t"))
    assert other.properties["k"] == "v"
    ours.append(rows(1, 2))
    other.refresh()
    other.append(rows(3).cast(other.schema().as_arrow()))
    ours.append(rows(4))
    assert ids(ours.refresh()) == [1, 2, 3, 4] == ids(other.refresh())

    ours.update_schema().add_column("extra", LongType()).commit()
    with other.refresh().update_schema() as update:
        update.add_column("theirs", __import__("pyiceberg.types", fromlist=["x"]).StringType())
    assert list(ours.refresh().schema.ids_by_name) == [field.name for field in other.refresh().schema().fields]

    ours.manage_snapshots().create_branch("audit", ours.current_snapshot.snapshot_id).commit()
    assert "audit" in other.refresh().metadata.refs
    ours.delete(Predicate(Op.EQ, Reference("id"), (2,)))
    assert ids(other.refresh()) == [1, 3, 4]
    other.delete("id = 3")
    assert ids(ours.refresh()) == [1, 4]
    assert ours.metadata.metadata_log and len(ours.snapshots) == len(other.refresh().snapshots())


def test_a_table_that_one_makes_the_other_fills(catalog: RestCatalog, theirs: Any) -> None:
    theirs.create_namespace(("db",))
    made = theirs.create_table(("db", "t"), schema=rows().schema, properties={"format-version": "2"})
    catalog.load_table("db.t").append(rows(1, 2))
    assert ids(made.refresh()) == [1, 2]
    transaction = catalog.stage_create("db.u", SCHEMA)
    transaction.commit()
    theirs.load_table(("db", "u")).append(rows(5).cast(theirs.load_table(("db", "u")).schema().as_arrow()))
    assert ids(catalog.load_table("db.u")) == [5]
