"""Schema evolution: what each change does, what is refused and how, and that no change ever moves a value to another column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import IcesqlError, InvalidArgumentError, ValidationError
from icesql.spec.name_mapping import mapping_for, name_mapping_from_json, name_mapping_to_json
from icesql.spec.properties import DEFAULT_NAME_MAPPING
from icesql.spec.schema import Schema
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    Type,
)
from icesql.table.changes.schema_editor import SchemaEditor
from icesql.table.changes.update_properties import UpdateProperties
from icesql.table.changes.update_schema import UpdateSchema
from tests.effort import examples
from tests.table.memory import BY_P, MemoryOperations, new_table

POINT = StructType((NestedField(10, "x", IntegerType(), True), NestedField(11, "y", IntegerType())))
WIDE = Schema(
    (
        NestedField(1, "id", IntegerType(), True),
        NestedField(2, "data", StringType()),
        NestedField(3, "ratio", FloatType()),
        NestedField(4, "price", DecimalType(9, 2)),
        NestedField(5, "point", POINT),
        NestedField(6, "points", ListType(12, StructType((NestedField(13, "z", IntegerType()),)))),
        NestedField(7, "places", MapType(14, StringType(), 15, StructType((NestedField(16, "w", IntegerType()),)))),
        NestedField(8, "keyed", MapType(17, StructType((NestedField(18, "k", IntegerType()),)), 19, IntegerType())),
    )
)


def table(tmp_path: Path, version: int = 2) -> MemoryOperations:
    return new_table(tmp_path, schema=WIDE, version=version)


def names(operations: MemoryOperations, parent: str | None = None) -> list[str]:
    schema = operations.metadata.schema
    type_: Type = schema.as_struct() if parent is None else schema.field(parent).type
    assert isinstance(type_, StructType)
    return [f.name for f in type_.fields]


def test_columns_are_added_with_new_ids_at_any_depth(tmp_path: Path) -> None:
    t = table(tmp_path)
    last = t.metadata.last_column_id
    update = UpdateSchema(t).add_column("n", StructType((NestedField(0, "a", LongType()),)), doc="why")
    update.add_column("z", IntegerType(), parent="point").add_column(("points", "q"), StringType()).add_column(
        ("places", "value", "v"), LongType()
    )
    update.commit()
    schema = t.metadata.schema
    assert [schema.field_id(name) for name in ("n", "n.a", "point.z", "points.element.q", "places.value.v")] == [
        last + i for i in (1, 2, 3, 4, 5)
    ]
    assert (t.metadata.last_column_id, schema.field("n").doc, schema.schema_id) == (last + 5, "why", 1)


def test_moves_order_the_columns(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdateSchema(t).add_column("new", LongType()).move_first("new").move_before("price", "data").move_after("id", "data").commit()
    assert names(t) == ["new", "price", "data", "id", "ratio", "point", "points", "places", "keyed"]
    UpdateSchema(t).move_first("point.y").commit()
    assert names(t, "point") == ["y", "x"]
    for change, words in [
        (lambda u: u.move_first("nope"), "Cannot move missing column: nope"),
        (lambda u: u.move_after("id", "nope"), "Cannot move id after missing column: nope"),
        (lambda u: u.move_after("id", "id"), "Cannot move id after itself"),
        (lambda u: u.move_after("id", "point.x"), "Cannot move field id to a different struct"),
        (lambda u: u.move_first("points.element"), "Cannot move fields in non-struct type"),
    ]:
        with pytest.raises(InvalidArgumentError, match=words):
            change(UpdateSchema(t))


def test_types_widen_and_nothing_else(tmp_path: Path) -> None:
    t = table(tmp_path)
    update = UpdateSchema(t).update_column_type("id", LongType()).update_column_type("ratio", DoubleType())
    update.update_column_type("price", DecimalType(12, 2)).commit()
    assert [str(t.metadata.schema.field(n).type) for n in ("id", "ratio", "price")] == ["long", "double", "decimal(12, 2)"]
    for name, type_ in [("id", IntegerType()), ("data", LongType()), ("price", DecimalType(12, 3)), ("point", LongType())]:
        with pytest.raises(InvalidArgumentError, match=f"Cannot change column type: {name}: "):
            UpdateSchema(t).update_column_type(name, type_)


def test_dates_become_timestamps_in_version_3_unless_a_partition_would_change(tmp_path: Path) -> None:
    from icesql.expr.tree import Reference
    from icesql.spec.transforms import DAY, bucket
    from icesql.table.changes.update_spec import UpdatePartitionSpec

    dated = Schema((NestedField(1, "d", DateType()), NestedField(2, "e", DateType())))
    old, new = new_table(tmp_path / "2", schema=dated), new_table(tmp_path / "3", schema=dated, version=3)
    with pytest.raises(InvalidArgumentError, match="Cannot change column type: d: date -> timestamp"):
        UpdateSchema(old).update_column_type("d", TimestampType())
    UpdatePartitionSpec(new).add_field(Reference("e", bucket(4))).add_field(Reference("d", DAY)).commit()
    UpdateSchema(new).update_column_type("d", TimestampType()).commit()
    with pytest.raises(InvalidArgumentError, match="it would change partition field e_bucket_4"):
        UpdateSchema(new).update_column_type("e", TimestampType()).commit()


def test_required_columns_need_a_default(tmp_path: Path) -> None:
    t = table(tmp_path, 3)
    with pytest.raises(InvalidArgumentError, match="Incompatible change: cannot add required column: r"):
        UpdateSchema(t).add_required_column("r", IntegerType())
    with pytest.raises(InvalidArgumentError, match="Cannot change column nullability: data: optional -> required"):
        UpdateSchema(t).require_column("data")
    UpdateSchema(t).add_required_column("r", IntegerType(), default=5).make_column_optional("id").commit()
    added = t.metadata.schema.field("r")
    assert (added.required, added.initial_default, added.write_default) == (True, 5, 5)
    UpdateSchema(t).update_column_default("r", 6).commit()
    added = t.metadata.schema.field("r")
    assert (added.initial_default, added.write_default) == (5, 6)
    UpdateSchema(t).allow_incompatible_changes().require_column("data").commit()
    assert t.metadata.schema.field("data").required
    with pytest.raises(InvalidArgumentError, match="Invalid initial default for r"):
        UpdateSchema(table(tmp_path / "old")).add_column("r", IntegerType(), default=5).commit()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda u: u.add_column("a.b", LongType()), "Cannot add column with ambiguous name: a.b"),
        (lambda u: u.add_column("data", LongType()), "Cannot add column, name already exists: data"),
        (lambda u: u.add_column("x", LongType(), parent="point"), "Cannot add column, name already exists: point.x"),
        (lambda u: u.add_column("x", LongType(), parent="nope"), "Cannot find parent struct: nope"),
        (lambda u: u.add_column("x", LongType(), parent="data"), "Cannot add to non-struct column: data: string"),
        (
            lambda u: u.delete_column("point").add_column("q", LongType(), parent="point"),
            "Cannot add to a column that will be deleted: point",
        ),
        (lambda u: u.delete_column("nope"), "Cannot delete missing column: nope"),
        (lambda u: u.rename_column("data", "d").delete_column("data"), "Cannot delete a column that has updates: data"),
        (
            lambda u: u.add_column("q", LongType(), parent="point").delete_column("point"),
            "Cannot delete a column that has additions: point",
        ),
        (lambda u: u.rename_column("nope", "n"), "Cannot rename missing column: nope"),
        (lambda u: u.delete_column("data").rename_column("data", "n"), "Cannot rename a column that will be deleted: data"),
        (lambda u: u.update_column_doc("nope", "x"), "Cannot update missing column: nope"),
        (lambda u: u.delete_column("data").update_column_doc("data", "x"), "Cannot update a column that will be deleted: data"),
        (lambda u: u.delete_column("points.element").schema(), "Cannot delete element type from list: list<struct"),
        (lambda u: u.delete_column("keyed.key").schema(), "Cannot delete map keys: map<struct"),
        (lambda u: u.delete_column("keyed.value").schema(), "Cannot delete value type from map: map<struct"),
        (lambda u: u.delete_column("keyed.key.k").schema(), "Cannot alter map keys: map<struct"),
        (lambda u: u.add_column("n", LongType(), parent="keyed.key").schema(), "Cannot add fields to map keys: map<struct"),
    ],
)
def test_refusals(tmp_path: Path, change: Callable[..., Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        change(UpdateSchema(table(tmp_path)))


def test_a_name_is_used_once(tmp_path: Path) -> None:
    t = table(tmp_path)
    with pytest.raises(ValidationError, match="multiple fields for name data: 1 and 2"):
        UpdateSchema(t).rename_column("id", "data").commit()
    UpdateSchema(t).delete_column("data").rename_column("id", "data").commit()
    assert names(t)[0] == "data"


def test_identifier_fields(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdateSchema(t).set_identifier_fields("id").commit()
    assert t.metadata.schema.identifier_names() == ("id",)
    UpdateSchema(t).rename_column("id", "key").commit()
    assert t.metadata.schema.identifier_names() == ("key",)
    for name, why in [
        ("nope", "not found in current schema or added columns"),
        ("data", "not a required field"),
        ("point", "not a primitive type field"),
        ("point.x", "must not be nested in an optional field 5: point"),
    ]:
        with pytest.raises(InvalidArgumentError, match=f"as an identifier field: {why}"):
            UpdateSchema(t).set_identifier_fields(name).commit()
    with pytest.raises(InvalidArgumentError, match=r"Cannot delete identifier field 1: key: required int. To force deletion"):
        UpdateSchema(t).delete_column("key").commit()
    with pytest.raises(InvalidArgumentError, match="operation: field nope not found"):
        UpdateSchema(t).drop_identifier_fields("nope")
    with pytest.raises(InvalidArgumentError, match="operation: data is not an identifier field"):
        UpdateSchema(t).drop_identifier_fields("data")
    UpdateSchema(t).drop_identifier_fields("key").delete_column("key").commit()
    assert t.metadata.schema.identifier_field_ids == ()


def test_names_match_in_any_case_if_asked(tmp_path: Path) -> None:
    t = table(tmp_path)
    UpdateSchema(t, case_sensitive=False).rename_column("DATA", "text").update_column_doc("POINT.X", "x").commit()
    assert names(t)[1] == "text"
    with pytest.raises(InvalidArgumentError, match="name already exists"):
        UpdateSchema(t, case_sensitive=False).add_column("TEXT", LongType())


def test_a_dropped_name_can_be_added_again_with_a_new_id(tmp_path: Path) -> None:
    t = table(tmp_path)
    old = t.metadata.schema.field_id("data")
    UpdateSchema(t).delete_column("data").add_column("data", LongType()).move_after("data", "id").commit()
    assert names(t)[:2] == ["id", "data"]
    assert t.metadata.schema.field_id("data") not in (None, old)


def test_properties_follow_the_columns(tmp_path: Path) -> None:
    t = table(tmp_path)
    prefix, mapping = "write.metadata.metrics.column.", name_mapping_to_json(mapping_for(t.metadata.schema))
    properties = {
        f"{prefix}data": "full",
        f"{prefix}ratio": "none",
        f"{prefix}point.x": "counts",
        DEFAULT_NAME_MAPPING: mapping,
        "data": "kept",
    }
    UpdateProperties(t).set_all(properties).commit()
    UpdateSchema(t).rename_column("data", "text").delete_column("ratio").rename_column("point", "p").add_column("n", LongType()).commit()
    after = t.metadata.properties
    assert {key: value for key, value in after.items() if key.startswith(prefix)} == {
        f"{prefix}text": "full",
        f"{prefix}point.x": "counts",  # the runtime renames only the property of the renamed column itself
    }
    assert after["data"] == "kept"
    mapped = name_mapping_from_json(after[DEFAULT_NAME_MAPPING])
    assert mapped.field_id("data") == mapped.field_id("text") == t.metadata.schema.field_id("text")
    assert mapped.field_id("n") == t.metadata.schema.field_id("n")


def test_union_by_name_adds_and_widens(tmp_path: Path) -> None:
    t = table(tmp_path)
    other = Schema(
        (
            NestedField(1, "id", LongType()),
            NestedField(2, "ratio", FloatType(), doc="share"),
            NestedField(3, "point", StructType((NestedField(4, "x", IntegerType(), True), NestedField(5, "deep", StringType())))),
            NestedField(6, "points", ListType(7, StructType((NestedField(8, "z", LongType()), NestedField(9, "more", LongType()))))),
            NestedField(10, "extra", LongType(), True),
        )
    )
    UpdateSchema(t).union_by_name_with(other).commit()
    schema = t.metadata.schema
    assert (schema.field("id").type, schema.field("id").required) == (LongType(), False)
    assert schema.field("ratio").doc == "share"
    assert schema.field("points.element.z").type == LongType()
    assert all(schema.find(name) is not None for name in ("point.deep", "points.element.more", "extra", "data"))
    assert not schema.field("extra").required
    again = t.metadata.current_schema_id
    UpdateSchema(t).union_by_name_with(other).commit()
    assert t.metadata.current_schema_id == again
    with pytest.raises(InvalidArgumentError, match="Cannot change column type: data: string -> long"):
        UpdateSchema(t).union_by_name_with(Schema((NestedField(1, "data", LongType()),)))


def test_a_partition_column_cannot_go(tmp_path: Path) -> None:
    t = new_table(tmp_path, spec=BY_P)
    with pytest.raises(ValidationError, match="Cannot find source column for partition field"):
        UpdateSchema(t).delete_column("p").commit()


def test_a_concurrent_change_is_built_upon(tmp_path: Path) -> None:
    t = table(tmp_path)
    late = UpdateSchema(t, t.load()).add_column("late", LongType())
    UpdateSchema(t).add_column("first", LongType()).commit()
    late.commit()
    assert names(t)[-2:] == ["first", "late"]
    assert len({f.id for f in t.metadata.schema.fields}) == len(t.metadata.schema.fields)
    clash = UpdateSchema(t, t.load()).add_column("same", LongType())
    UpdateSchema(t).add_column("same", StringType()).commit()
    with pytest.raises(InvalidArgumentError, match="Cannot add column, name already exists: same"):
        clash.commit()


COLUMNS = st.sampled_from(["id", "data", "ratio", "price", "point", "point.x", "point.y", "points.element.z", "places.value.w", "n0", "n1"])
STEPS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from([None, "point", "points", "places"]), st.sampled_from(["n0", "n1", "x", "data"])),
    st.tuples(st.just("delete"), COLUMNS),
    st.tuples(st.just("rename"), COLUMNS, st.sampled_from(["r0", "r1", "data", "x"])),
    st.tuples(st.just("first"), COLUMNS),
    st.tuples(st.just("after"), COLUMNS, COLUMNS),
    st.tuples(st.just("optional"), COLUMNS),
)


@examples(100)
@given(st.lists(st.lists(STEPS, max_size=4), max_size=5))
def test_evolution_never_moves_a_value_to_another_column(batches: list[list[tuple[Any, ...]]]) -> None:
    """A field id keeps its type family and its place in the tree for ever, and an id once dropped never comes back."""
    schema, last_id = WIDE, WIDE.highest_field_id
    owner = {i: schema.parents.get(i) for i in schema.fields_by_id}
    dropped: set[int] = set()
    for batch in batches:
        editor = SchemaEditor(schema, last_id, 3)
        for step in batch:
            try:
                _run(editor, step)
            except IcesqlError:
                continue
        try:
            changed = editor.result()
        except IcesqlError:
            continue
        ids = [f.id for _, f, _ in changed.walk()]
        assert len(ids) == len(set(ids))
        assert len({name for name, _, _ in changed.walk()}) == len(ids)
        assert not dropped & set(ids)
        assert max(ids, default=0) <= editor.last_column_id
        for field_id in ids:
            parent = changed.parents.get(field_id)
            assert owner.setdefault(field_id, parent) == parent
            if field_id in schema.fields_by_id:
                assert type(changed.fields_by_id[field_id].type) is type(schema.fields_by_id[field_id].type)
            else:
                assert field_id > last_id
        dropped |= set(schema.fields_by_id) - set(ids)
        schema, last_id = changed, editor.last_column_id


def _run(editor: SchemaEditor, step: tuple) -> None:
    match step:
        case ("add", parent, name):
            editor.add(parent, name, LongType())
        case ("delete", name):
            editor.delete(name)
        case ("rename", name, new):
            editor.rename(name, new)
        case ("first", name):
            editor.move(name, "first")
        case ("after", name, other):
            editor.move(name, "after", other)
        case ("optional", name):
            editor.set_required(name, required=False)
