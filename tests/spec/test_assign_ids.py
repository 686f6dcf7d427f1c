"""Field ids of new and replaced tables."""

from __future__ import annotations

from hypothesis import given

from icesql.spec.assign_ids import Counter, assign_fresh_ids, assign_fresh_type, assign_view_ids, reassign_ids
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType
from tests.effort import examples
from tests.spec.strategies import schemas

POINT = StructType((NestedField(0, "x", IntegerType()), NestedField(0, "y", IntegerType())))


def test_ids_follow_java_all_fields_of_a_struct_before_what_is_nested() -> None:
    """As Spark created ``id int, p struct<x, y>, a array<struct<x, y>>, m map<struct<x, y>, string>, z int`` with Iceberg 1.11."""
    unnumbered = Schema(
        (
            NestedField(0, "id", IntegerType()),
            NestedField(0, "p", POINT),
            NestedField(0, "a", ListType(0, POINT)),
            NestedField(0, "m", MapType(0, POINT, 0, StringType())),
            NestedField(0, "z", IntegerType()),
        )
    )
    schema, last = assign_fresh_ids(unnumbered)
    assert {name: field.id for name, field, _ in schema.walk()} == {
        "id": 1, "p": 2, "a": 3, "m": 4, "z": 5, "p.x": 6, "p.y": 7, "a.element": 8, "a.element.x": 9, "a.element.y": 10,
        "m.key": 11, "m.value": 12, "m.key.x": 13, "m.key.y": 14,
    }  # fmt: skip
    assert last == 14


def test_ids_of_views_follow_java_children_before_their_parents() -> None:
    """As Spark created a view of ``map('a', named_struct('q', 1, 'r', array(1))), 1, array(array(struct(1 as i)))`` with Iceberg 1.11."""
    inner = StructType((NestedField(0, "q", IntegerType()), NestedField(0, "r", ListType(0, IntegerType()))))
    deep = ListType(0, ListType(0, StructType((NestedField(0, "i", IntegerType()),))))
    view = Schema((NestedField(0, "m", MapType(0, StringType(), 0, inner)), NestedField(0, "o", IntegerType()), NestedField(0, "aa", deep)))
    assert {name: field.id for name, field, _ in assign_view_ids(view).walk()} == {
        "m": 0, "o": 1, "aa": 2, "m.value.r.element": 3, "m.value.q": 4, "m.value.r": 5, "m.key": 6, "m.value": 7,
        "aa.element.element.i": 8, "aa.element.element": 9, "aa.element": 10,
    }  # fmt: skip


@examples(40)
@given(schemas)
def test_fresh_ids_are_unique_dense_and_change_nothing_else(schema: Schema) -> None:
    fresh, last = assign_fresh_ids(schema, 100)
    assert sorted(fresh.fields_by_id) == list(range(100, last + 1))
    assert [name for name, _, _ in fresh.walk()] == [name for name, _, _ in schema.walk()]
    assert assign_fresh_ids(fresh, 1)[0] == assign_fresh_ids(schema, 1)[0]


@examples(40)
@given(schemas, schemas)
def test_replacing_keeps_ids_of_equal_names_and_reuses_no_other(schema: Schema, base: Schema) -> None:
    replaced, last = reassign_ids(schema, base, base.highest_field_id + 5)
    for name, field, _ in replaced.walk():
        if name in base.ids_by_name:
            assert field.id == base.ids_by_name[name]
        else:
            assert field.id > base.highest_field_id + 5
    assert last == max(base.highest_field_id + 5, replaced.highest_field_id)


def test_identifier_fields_are_carried_over() -> None:
    schema = Schema((NestedField(7, "a", LongType(), True), NestedField(9, "b", LongType(), True)), 2, (9,))
    fresh, _ = assign_fresh_ids(schema)
    assert (fresh.identifier_field_ids, fresh.schema_id) == ((2,), 2)


def test_a_column_being_added_gets_ids_for_its_parts() -> None:
    assert assign_fresh_type(ListType(0, POINT), Counter(5)) == ListType(
        5, StructType((NestedField(6, "x", IntegerType()), NestedField(7, "y", IntegerType())))
    )
