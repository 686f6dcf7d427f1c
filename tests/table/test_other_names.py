"""Keywords by PyIceberg's names mean what they mean there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from icesql.catalog.base import Catalog
from icesql.errors import InvalidArgumentError
from icesql.session.light import connect_catalog
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY
from icesql.spec.types import LongType, NestedField, StringType

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = connect_catalog("c", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    return catalog


def test_scan(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    assert table.scan(row_filter="id > 1", selected_fields=("name",)).to_arrow().to_pydict() == {"name": ["b", "c"]}
    assert table.scan("id > 2", ("id",)).to_arrow().to_pydict() == {"id": [3]}
    assert table.scan(selected_fields=("*",)).to_arrow().sort_by("id").equals(table.scan().to_arrow().sort_by("id"))


def test_writes(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS.schema)
    table.append(df=ROWS, snapshot_properties={"by": "me"})  # type: ignore[call-arg]
    assert table.current_snapshot.summary["by"] == "me"
    table.overwrite(ROWS.slice(0, 1), overwrite_filter="id = 1", snapshot_properties={"by": "you"})
    assert table.current_snapshot.summary["by"] == "you" and table.scan().to_arrow().num_rows == 3
    table.delete(delete_filter="id = 3")
    table.upsert(ROWS, ["id"], snapshot_properties={"by": "all"})
    assert table.current_snapshot.summary["by"] == "all" and table.scan().to_arrow().num_rows == 3


def test_partition_spec(catalog: Catalog) -> None:
    schema = Schema((NestedField(1, "id", LongType()), NestedField(2, "name", StringType())))
    spec = PartitionSpec(fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="name"),))
    assert [field.name for field in catalog.create_table("db.t", schema, partition_spec=spec).spec.fields] == ["name"]
    assert catalog.create_table_if_not_exists("db.u", schema, partition_spec=spec).spec.fields


def test_a_wrong_value_is_refused_by_the_name_that_was_given(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", ROWS)
    with pytest.raises(InvalidArgumentError, match="row_filter must be"):
        table.scan(row_filter=7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"row_filtr": "id = 1"}, "scan.. got an unexpected keyword argument 'row_filtr'"),
        ({"where": "id = 1", "row_filter": "id = 2"}, "scan.. got multiple values for argument 'where', one of them as 'row_filter'"),
    ],
)
def test_unknown_and_repeated_names_are_refused(catalog: Catalog, names: dict[str, str], message: str) -> None:
    table = catalog.create_table("db.t", ROWS)
    with pytest.raises(TypeError, match=message):
        table.scan(**names)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="multiple values for argument 'where'"):
        table.scan("id = 1", row_filter="id = 2")
