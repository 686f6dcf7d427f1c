"""Name mappings. Spec: "Name Mapping Serialization", "Column Projection"."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given

from icesql.errors import CorruptMetadataError
from icesql.spec.name_mapping import (
    TOP,
    MappedField,
    NameMapping,
    mapping_for,
    name_mapping_from_json,
    name_mapping_to_json,
    update_mapping,
)
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, ListType, MapType, NestedField, StringType, StructType
from tests.effort import examples
from tests.spec.strategies import schemas

X = NestedField(6, 'x"', IntegerType())
SCHEMA = Schema((NestedField(1, "id", StringType(), True), NestedField(2, "m", MapType(3, StringType(), 4, ListType(5, StructType((X,)))))))


def test_json_is_laid_out_as_java_lays_it_out() -> None:
    assert name_mapping_to_json(mapping_for(SCHEMA)) == textwrap.dedent(
        """\
        [ {
          "field-id" : 1,
          "names" : [ "id" ]
        }, {
          "field-id" : 2,
          "names" : [ "m" ],
          "fields" : [ {
            "field-id" : 3,
            "names" : [ "key" ]
          }, {
            "field-id" : 4,
            "names" : [ "value" ],
            "fields" : [ {
              "field-id" : 5,
              "names" : [ "element" ],
              "fields" : [ {
                "field-id" : 6,
                "names" : [ "x\\"" ]
              } ]
            } ]
          } ]
        } ]"""
    )


def test_the_specifications_example() -> None:
    text = """[ { "field-id": 1, "names": ["id", "record_id"] },
       { "field-id": 2, "names": ["data"] },
       { "field-id": 3, "names": ["location"], "fields": [
           { "field-id": 4, "names": ["latitude", "lat"] },
           { "field-id": 5, "names": ["longitude", "long"] }
         ] } ]"""
    mapping = name_mapping_from_json(text)
    assert mapping.field_id("record_id") == mapping.field_id("id") == 1
    assert mapping.field_id("location", "long") == mapping.by_name["location.longitude"].field_id == 5
    assert mapping.field_id("latitude") is None and mapping.find("location", "x", "y") is None
    assert mapping.by_id[4].names == ("latitude", "lat")


@examples(40)
@given(schemas)
def test_mappings_of_schemas_round_trip_and_give_the_ids_back(schema: Schema) -> None:
    mapping = mapping_for(schema)
    assert name_mapping_from_json(name_mapping_to_json(mapping)) == mapping


def test_pyiceberg_reads_the_mapping() -> None:
    from pyiceberg.table.name_mapping import parse_mapping_from_json

    peer = parse_mapping_from_json(name_mapping_to_json(mapping_for(SCHEMA)))
    assert name_mapping_from_json(peer.model_dump_json()) == mapping_for(SCHEMA)


def test_renames_keep_the_old_name_as_an_alias() -> None:
    renamed = update_mapping(mapping_for(SCHEMA), {1: NestedField(1, "key", StringType()), 6: NestedField(6, "y", IntegerType())}, {})
    assert renamed.fields[0].names == ("id", "key")
    assert renamed.field_id("m", "value", "element", "y") == renamed.field_id("m", "value", "element", 'x"') == 6


def test_added_columns_take_a_name_from_whoever_had_it() -> None:
    mapping = NameMapping((MappedField(("id", "old"), 1), MappedField(("data",), 2)))
    added = update_mapping(mapping, {}, {TOP: [NestedField(3, "old", StringType()), NestedField(4, "s", StructType((X,)))]})
    assert added == NameMapping(
        (
            MappedField(("id",), 1),
            MappedField(("data",), 2),
            MappedField(("old",), 3),
            MappedField(("s",), 4, (MappedField(('x"',), 6),)),
        )
    )
    nested = update_mapping(added, {}, {4: [NestedField(7, "z", StringType())]})
    assert nested.field_id("s", "z") == 7


def test_swapped_names_follow_their_fields() -> None:
    mapping = NameMapping((MappedField(("a",), 1), MappedField(("b",), 2)))
    swapped = update_mapping(mapping, {1: NestedField(1, "b", StringType()), 2: NestedField(2, "a", StringType())}, {})
    assert swapped == NameMapping((MappedField(("b",), 1), MappedField(("a",), 2)))


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}", "expected an array"), ("[", "not JSON"), ('[{"field-id": 1}]', "missing required field: names"),
     ('[{"names": ["a"], "field-id": "x"}]', r"\[0\].field-id: expected an int"), ('[{"names": [1]}]', r"\[0\].names\[0\]"),
     ('[{"names": ["a"]}, {"names": ["a"]}]', "name used twice: a"),
     ('[{"names": ["a"], "fields": [{"names": "b"}]}]', r"\[0\].fields\[0\].names: expected an array")],
)  # fmt: skip
def test_faults_name_their_place(text: str, message: str) -> None:
    with pytest.raises(CorruptMetadataError, match=message):
        name_mapping_from_json(text)


def test_entries_without_id_round_trip() -> None:
    mapping = NameMapping((MappedField(("a", "b")), MappedField((), 2)))
    assert name_mapping_from_json(name_mapping_to_json(mapping)) == mapping
    assert json.loads(name_mapping_to_json(mapping)) == [{"names": ["a", "b"]}, {"field-id": 2, "names": []}]
