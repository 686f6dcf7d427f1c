"""PyIceberg's RestCatalog beside ours on Nessie: each reads and changes what the other wrote."""

from __future__ import annotations

from typing import Any

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.rest.catalog import RestCatalog
from icesql.expr.tree import Op, Predicate, Reference
from icesql.spec.types import LongType
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.nessie.nessie_server import NessieServer
from tests.stores.s3_server import S3Server

pytestmark = [pytest.mark.slow, pytest.mark.interop]


@pytest.fixture
def theirs(nessie: NessieServer, s3: S3Server, any_catalog: Catalog) -> Any:
    from pyiceberg.catalog.rest import RestCatalog as PyIcebergCatalog

    given = {"uri": nessie.uri, "warehouse": "lake", "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO", **s3.properties()}
    return PyIcebergCatalog("theirs", **given)


def ids(table: Any) -> list[int]:
    found = table.to_arrow() if hasattr(table, "to_arrow") else table.scan().to_arrow()
    return sorted(found["id"].to_pylist())


def test_turns_on_one_table(any_catalog: RestCatalog, theirs: Any) -> None:
    any_catalog.create_namespace("db")
    ours = any_catalog.create_table("db.t", SCHEMA, spec=BY_ID, properties={"k": "v"})
    other = theirs.load_table(("db", "t"))
    assert other.properties["k"] == "v"
    ours.append(rows(1, 2))
    other.refresh()
    other.append(rows(3).cast(other.schema().as_arrow()))
    ours.append(rows(4))
    assert ids(ours.refresh()) == [1, 2, 3, 4] == ids(other.refresh())
    ours.delete(Predicate(Op.EQ, Reference("id"), (2,)))
    assert ids(other.refresh()) == [1, 3, 4]
    other.delete("id = 3")
    assert ids(ours.refresh()) == [1, 4]
    ours.update_schema().add_column("more", LongType()).commit()
    assert "more" in other.refresh().schema().column_names
    theirs.rename_table(("db", "t"), ("db", "u"))
    assert any_catalog.list_tables("db") == [("db", "u")] == theirs.list_tables(("db",))
    any_catalog.drop_table("db.u")
    assert not theirs.table_exists(("db", "u"))


def test_a_table_of_theirs(any_catalog: RestCatalog, theirs: Any) -> None:
    theirs.create_namespace(("their",))
    other = theirs.create_table(("their", "t"), schema=rows(1).schema)
    other.append(rows(1, 2))
    ours = any_catalog.load_table("their.t")
    assert ids(ours) == [1, 2]
    ours.overwrite(rows(7), Predicate(Op.EQ, Reference("id"), (1,)))
    assert ids(other.refresh()) == [2, 7]
    with pytest.raises(Exception, match="not empty"):
        any_catalog.drop_namespace("their")
