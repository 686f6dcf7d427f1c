"""Every public parameter refuses what is of the wrong type, by name, before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import IcesqlError, InvalidArgumentError, ValidationError
from icesql.spec.files import DataFile
from icesql.spec.schema import Schema
from icesql.spec.type_texts import type_from_text
from icesql.spec.types import DecimalType, ListType, LongType, MapType, NestedField, StringType, StructType
from icesql.table.arguments import rule_of
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.update_location import UpdateLocation
from icesql.table.metadata.create import new_metadata
from icesql.table.table import Table

SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "name", StringType())))
ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})

WRONG: dict[str, Any] = {
    "None": None,
    "object()": object(),
    "3.5": 3.5,
    "bytes": b"x",
    "True": True,
    "[1]": [1],
    "a pyarrow expression": pc.field("id") > 1,
}
# Words of an annotation that make a value of WRONG right.
RIGHT_WHERE = {"None": "None", "3.5": "float", "True": "bool"}

# Parameters that take any value, and why.
ANYTHING = {
    (
        "add_column",
        "default",
    ): "a default is a value of the column's own type; metadata with one that does not fit is not committed (tested below)",
    ("add_required_column", "default"): "as above",
    ("update_column_default", "default"): "as above",
}
# Methods that are no part of a call by users, and why.
INNER = {
    "apply": "of the contract between changes and the commit loop, which calls it with the table's own metadata",
    "committed": "as above",
    "abandoned": "as above",
}


def opened(kind: str, folder: Path) -> Catalog:
    catalog = load_catalog("local", {"type": kind, "warehouse": str(folder / "warehouse")})
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA).append(ROWS)
    return catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    made = opened("memory", tmp_path)
    yield made
    made.close()


@pytest.fixture
def table(catalog: Catalog) -> Table:
    return catalog.load_table("db.t")


# -- the public surface ------------------------------------------------------------------------------------------------
def builders(table: Table) -> dict[str, Callable[[], Any]]:
    """Every method of a table that needs no argument and gives something to commit."""
    found: dict[str, Callable[[], Any]] = {}
    for name, method in public_methods(table):
        needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        if not needed and hasattr(method(), "commit") and method() is not table:
            found[name] = method
    return found


def public_methods(thing: object) -> list[tuple[str, Callable[..., Any]]]:
    names = [name for name, _ in inspect.getmembers(type(thing), inspect.isfunction) if not name.startswith("_") and name not in INNER]
    return [(name, getattr(thing, name)) for name in names]


def calls(methods: list[tuple[str, Callable[..., Any]]]) -> Iterator[tuple[str, Callable[..., Any], str, str, Any]]:
    """Each wrong value of each parameter: method, its name, the parameter, the value's name, the value."""
    for name, method in methods:
        parameters = inspect.signature(method).parameters
        for parameter in parameters.values():
            annotation = str(parameter.annotation)
            if parameter.kind is parameter.VAR_KEYWORD or (name, parameter.name) in ANYTHING:
                continue
            for shown, value in WRONG.items():
                if RIGHT_WHERE.get(shown, "no such word") in annotation:
                    continue
                yield name, method, parameter.name, shown, value


def invoked(method: Callable[..., Any], parameter: str, value: Any) -> Any:
    """The call with that one argument. Where others are missing, a value that is taken ends in Python's own TypeError: a fault as well."""
    if inspect.signature(method).parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
        return method(value)
    return method(**{parameter: value})


def faults(catalog: Catalog, thing: object) -> list[str]:
    """What was not refused, or not by the name of its parameter, or changed something."""
    before = state(catalog)
    found = []
    for name, method, parameter, shown, value in calls(public_methods(thing)):
        where = f"{type(thing).__name__}.{name}({parameter}={shown})"
        try:
            invoked(method, parameter, value)
        except InvalidArgumentError as error:
            if f" {parameter.rstrip('_')} must be" not in error.message:
                found.append(f"{where}: {error}")
        except Exception as error:
            found.append(f"{where}: {type(error).__name__}: {error}")
        else:
            found.append(f"{where}: was taken")
    if state(catalog) != before:
        found.append("something was changed")
    return found


def state(catalog: Catalog) -> tuple[Any, ...]:
    held = catalog.load_table("db.t")
    return catalog.list_namespaces(), catalog.list_tables("db"), held.metadata_location, held.to_arrow().to_pylist()


@pytest.mark.parametrize("kind", ["memory", "hadoop"])
def test_every_parameter_of_a_catalog_is_checked(kind: str, tmp_path: Path) -> None:
    catalog = opened(kind, tmp_path)
    assert faults(catalog, catalog) == []
    catalog.close()


def test_every_parameter_of_a_table_is_checked(catalog: Catalog, table: Table) -> None:
    assert faults(catalog, table) == []


def test_every_parameter_of_every_builder_is_checked(catalog: Catalog, table: Table) -> None:
    made = builders(table)
    assert {"update_schema", "update_properties", "manage_snapshots", "new_append", "expire_snapshots", "transaction"} <= set(made)
    assert [fault for make in made.values() for fault in faults(catalog, make())] == []


def test_every_parameter_of_a_transaction_of_tables_is_checked(catalog: Catalog) -> None:
    assert faults(catalog, catalog.transaction()) == []


def test_what_takes_anything_is_there(table: Table) -> None:
    known = {
        (name, parameter)
        for make in builders(table).values()
        for name, m in public_methods(make())
        for parameter in inspect.signature(m).parameters
    }
    assert set(ANYTHING) <= known


# -- by example --------------------------------------------------------------------------------------------------------
def test_a_filter_of_another_library_is_refused_with_what_to_write(table: Table) -> None:
    for call in (table.scan, table.delete, lambda where: table.overwrite(ROWS, where)):
        with pytest.raises(
            InvalidArgumentError, match=r'where must be .* not Expression: .*Write the filter as SQL text instead, such as "id > 1"'
        ):
            call(pc.field("id") > 1)
    assert table.refresh().to_arrow().num_rows == 3


def test_a_type_that_is_none_is_refused_with_the_nearest(table: Table) -> None:
    with pytest.raises(InvalidArgumentError, match="Cannot read type: no such type: 'nonsense'"):
        table.update_schema().add_column("c", "nonsense")
    with pytest.raises(InvalidArgumentError, match=r"no such type: 'strin' in 'list<strin>'. Did you mean 'string'\?"):
        table.update_schema().add_column("c", "list<strin>")


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("long", LongType()),
        ("BIGINT", LongType()),
        ("decimal(9, 2)", DecimalType(9, 2)),
        ("list<string>", ListType(1, StringType())),
        ("array < string >", ListType(1, StringType())),
        ("map<string, decimal(9,2)>", MapType(1, StringType(), 2, DecimalType(9, 2))),
        ("struct<a: long, `b,:` : list<struct<c: string>>>", None),
    ],
)
def test_a_type_may_be_text(table: Table, text: str, type_: object) -> None:
    read = type_from_text(text)
    if type_ is None:
        assert isinstance(read, StructType)
        assert [field.name for field in read.fields] == ["a", "b,:"]
    else:
        assert read == type_
    table.update_schema().add_column("c", text).commit()
    again = table.refresh().schema.find("c")
    assert again is not None
    assert type(again.type) is type(read)


@pytest.mark.parametrize(
    "text", ["", "list<>", "map<string>", "struct<a>", "struct<>x", "decimal(99, 2)", "fixed[-1]", "list<" * 600 + "int" + ">" * 600]
)
def test_a_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="Cannot read type"):
        type_from_text(text)


def test_text_is_a_name_everywhere(catalog: Catalog) -> None:
    assert catalog.list_namespaces() == [("db",)]
    assert catalog.list_tables("db") == [("db", "t")]
    assert catalog.table_exists("db.t")
    assert catalog.table_exists("`db`.t")
    catalog.rename_table("db.t", "db.`u`")
    assert catalog.list_tables(("db",)) == [("db", "u")]
    catalog.create_namespace("db.sub")
    assert catalog.list_namespaces("db") == [("db", "sub")]
    catalog.drop_namespace("db.sub")
    catalog.drop_table("db.u", purge=True)
    assert catalog.list_tables("db") == []


def test_numbers_of_numpy_are_numbers(table: Table) -> None:
    snapshot = table.current_snapshot
    assert snapshot is not None
    assert table.scan(snapshot_id=numpy_number(snapshot.snapshot_id)).count() == 3
    table.manage_snapshots().create_branch("b").set_min_snapshots_to_keep("b", numpy_number(2)).commit()
    assert table.refresh().refs["b"].min_snapshots_to_keep == 2


def numpy_number(value: int) -> Any:
    return np.int64(value)


def test_an_iterable_is_read_once(table: Table) -> None:
    files = [replace_path(file.data_file, str(n)) for n, file in enumerate(table.scan().plan_files().tasks)]
    assert AppendFiles().append_files(file for file in files).change().add_data_files == tuple(files)


def replace_path(file: DataFile, suffix: str) -> DataFile:
    return replace(file, file_path=file.file_path + suffix)


def test_a_location_must_be_text(table: Table) -> None:
    with pytest.raises(InvalidArgumentError, match="location must be text, not bytes"):
        UpdateLocation(b"/tmp/x", table.operations)  # type: ignore[arg-type]


def test_an_annotation_without_a_rule_is_a_fault_of_ours() -> None:
    with pytest.raises(TypeError, match="no rule"):
        rule_of(type[int])


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (kind, shown)
        for kind in ("long", "string", "date", "decimal(9, 2)", "binary", "double", "uuid", "fixed[3]", "timestamp")
        for shown in ("object()", "bytes", "[1]", "a pyarrow expression")
        if (kind, shown) != ("binary", "bytes")
    ],
)
def test_a_default_of_the_wrong_type_is_never_committed(catalog: Catalog, kind: str, shown: str) -> None:
    table = catalog.create_table("db.v3", SCHEMA, properties={"format-version": "3"})
    with pytest.raises((InvalidArgumentError, ValidationError)):
        table.update_schema().add_column("c", kind, default=WRONG[shown]).commit()
    assert catalog.load_table("db.v3").metadata_location == table.metadata_location


# -- metadata that could not be read again -----------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["memory", "hadoop", "sql"])
def test_metadata_that_cannot_be_read_is_never_committed(kind: str, tmp_path: Path) -> None:
    properties = {"type": kind, "warehouse": str(tmp_path / "warehouse"), "uri": f"sqlite:///{tmp_path / 'catalog.db'}"}
    catalog = load_catalog("local", properties if kind == "sql" else {k: v for k, v in properties.items() if k != "uri"})
    table = catalog.create_table("db.t", SCHEMA)
    version = table.version
    column: Any = NestedField(3, "c", "nonsense")  # type: ignore[arg-type]
    schema = replace(table.schema, schema_id=1, fields=(*table.schema.fields, column))
    wrong: Any = {"number": 3.5, "object": object(), "text": "now", "int": 3}
    bad = [
        replace(version.metadata, schemas=(table.schema, schema), current_schema_id=1, last_column_id=3),
        replace(version.metadata, current_schema_id=7),
        replace(version.metadata, properties={"a": wrong["number"]}),
        replace(version.metadata, properties={"a": wrong["object"]}),
        replace(version.metadata, last_updated_ms=wrong["text"]),
    ]
    files = sorted(tmp_path.rglob("*.json"))
    for metadata in bad:
        with pytest.raises(ValidationError, match=r"Cannot commit table local\.db\.t: its metadata could not be read again"):
            catalog.operations("db.t").commit(version, metadata)
    assert sorted(tmp_path.rglob("*.json")) == files
    assert catalog.load_table("db.t").metadata_location == version.metadata_location
    with pytest.raises(IcesqlError):
        catalog.operations("db.other").commit(
            None, replace(new_metadata(SCHEMA, location=catalog.default_location("db.other")), table_uuid=wrong["int"])
        )
    assert not catalog.table_exists("db.other")
    catalog.close()
