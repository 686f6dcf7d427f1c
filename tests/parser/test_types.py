from __future__ import annotations

import pytest

from icesql.errors import SqlError
from icesql.parser.dialect.columns import Columns
from icesql.parser.frozen.columns import ColumnValues
from icesql.spec.types import ListType, MapType, StructType, Type, children


def parse_type(text: str) -> Type:
    reader = Columns.of(text)
    found = reader.data_type()
    reader.expect_end()
    return ColumnValues(text).type(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("boolean", "boolean"), ("tinyint", "int"), ("byte", "int"), ("smallint", "int"), ("short", "int"), ("int", "int"),
        ("integer", "int"),
        ("bigint", "long"), ("long", "long"), ("float", "float"), ("real", "float"), ("double", "double"), ("date", "date"),
        ("timestamp", "timestamptz"), ("timestamp_ltz", "timestamptz"), ("timestamp_ntz", "timestamp"), ("timestamp_ns", "timestamp_ns"),
        ("timestamptz_ns", "timestamptz_ns"), ("string", "string"), ("char(3)", "string"), ("varchar(9)", "string"),
        ("string collate utf8_lcase", "string"), ("binary", "binary"), ("decimal", "decimal(10, 0)"), ("dec(5)", "decimal(5, 0)"),
        ("numeric(38,10)", "decimal(38, 10)"), ("void", "unknown"), ("variant", "variant"), ("uuid", "uuid"), ("fixed(4)", "fixed[4]"),
        ("fixed[4]", "fixed[4]"), ("time", "time"), ("time(6)", "time"), ("geometry", "geometry"), ("geometry(4326)", "geometry"),
        ("geometry(3857)", "geometry(EPSG:3857)"), ("geography('EPSG:1', karney)", "geography(EPSG:1, karney)"),
        ("array<map<string,int>>", "list<map<string, int>>"), ("STRUCT<>", "struct<>"),
    ],
)  # fmt: skip
def test_names(text, expected):
    assert str(parse_type(text)) == expected


def test_struct_fields_keep_nullability_and_comments():
    found = parse_type("struct<a: int not null comment 'x', `b c` array<struct<d: date>>>")
    assert isinstance(found, StructType)
    assert [(field.name, field.required, field.doc) for field in found.fields] == [("a", True, "x"), ("b c", False, None)]


def test_nested_ids_are_unique():
    def ids(type_):
        for field in children(type_):
            yield field.id
            yield from ids(field.type)

    found = list(ids(parse_type("struct<a: map<struct<k: int>, array<struct<v: int>>>, b: array<array<int>>>")))
    assert len(found) == len(set(found)) == 9
    assert isinstance(parse_type("array<int>"), ListType)
    assert isinstance(parse_type("map<int, int>"), MapType)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interval day to second", "Not a supported type: interval day to second"),
        ("foo", 'Unsupported data type "FOO"'),
        ("decimal(39)", "between 1 and 38"),
        ("decimal(5, 6)", "greater than precision"),
        ("char", "requires a length"),
        ("varchar(-1)", "expecting"),
        ("time(9)", "at most 6"),
        ("geometry(1)", "not supported: 1"),
        ("array", "expecting '<'"),
        ("struct<a int, >", "no viable alternative"),
        ("int int", "extraneous input"),
        ("array<" * 200 + "int" + ">" * 200, "nested deeper"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(SqlError, match="(?s)" + message.replace("(", r"\(")):
        parse_type(text)
