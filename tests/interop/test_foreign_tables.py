"""Tables as peers leave them: deletes of all forms, schemas and specs that changed, defaults, row lineage, files without ids."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row

from icesql.errors import IcesqlError, UnsupportedError
from icesql.io.manifests.lists import read_manifest_list
from icesql.spec.json.types import schema_to_json
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY
from icesql.spec.types import DoubleType, GeographyType, GeometryType, IntegerType, LongType, NestedField, StringType, StructType
from tests.interop.conftest import Shared, texts
from tests.interop.layout import newest_metadata_file, newest_version
from tests.interop.wide import arrow_rows, micros_only, normal, rows_of, rows_of_spark

pytestmark = [pytest.mark.spark, pytest.mark.interop]

FORMATS = ("parquet", "avro", "orc")
ID, KEY, X, P = (
    NestedField(1, "id", IntegerType()), NestedField(2, "key", StringType()), NestedField(3, "x", DoubleType()),
    NestedField(4, "p", IntegerType()),
)  # fmt: skip
ROWS = [(n, None if n % 4 == 1 else "abc"[n % 3], math.nan if n % 5 == 4 else n / 2, n % 2) for n in range(12)]


def make(shared: Shared, name: str, schema: Schema, rows: list[tuple[Any, ...]]) -> str:
    shared.catalog.create_table(("interop", name), schema, properties={"write.format.default": "avro"}).append(arrow_rows(schema, rows))
    return shared.folder(name)


def survivors() -> list[tuple[Any, ...]]:
    """What ``delete_forms`` leaves, as (x, number, key, p)."""
    even, odd = [r for r in ROWS if r[3] == 0], [r for r in ROWS if r[3] == 1]
    early = [*even[1:], *(r for r in odd[2:] if r[1] not in (None, "a"))]
    kept = [r for r in (*early, *ROWS) if not (r[3] == 0 and r[0] in (4, 6))]
    return [(r[2], r[0], r[1], r[3]) for r in kept if r[2] not in (5.0, 2.5) and r[2] == r[2]]


@pytest.mark.parametrize("file_format", FORMATS)
def test_deletes_of_every_form(shared: Shared, file_format: str) -> None:
    schema, source, name = Schema((ID, KEY, X, P)), f"deletes_source_{file_format}", f"deletes_{file_format}"
    place = make(shared, source, schema, ROWS)
    make(shared, f"{source}_k", Schema((KEY,)), [(None,), ("a",)])
    make(shared, f"{source}_i", Schema((NestedField(1, "number", LongType()),)), [(4,), (6,)])
    make(shared, f"{source}_x", Schema((X,)), [(5.0,), (2.5,), (math.nan,)])
    shared.call("delete_forms", place, shared.folder(name), json.dumps(schema_to_json(schema)), file_format)
    table = shared.load(name)
    assert [field.name for field in table.schema.fields] == ["x", "number", "key", "p"]
    assert len(table.metadata.partition_specs) == 2
    assert normal(rows_of(table.schema, table.scan().to_arrow())) == normal(survivors())
    assert normal(shared.call("read", shared.folder(name))) == normal(survivors())
    assert normal(rows_of_spark(table.schema, shared.frame(f"SELECT * FROM local.interop.{name}"))) == normal(survivors())
    filtered = shared.frame(f"SELECT * FROM local.interop.{name} WHERE number > 3 AND p = 0")
    assert normal(rows_of_spark(table.schema, filtered)) == normal([r for r in survivors() if r[1] > 3 and r[3] == 0])
    assert sorted(table.scan("x < 3", select=["number"]).to_arrow().column("number").to_pylist()) == sorted(
        r[1] for r in survivors() if r[0] < 3
    )


def plain(value: Any) -> Any:
    """A value of ``Row.asDict`` or of the oracle's pipe without Spark's classes."""
    match value:
        case Row() | tuple():
            return tuple(plain(v) for v in value)
        case dict():
            return sorted((repr(plain(k)), plain(v)) for k, v in value.items())
        case list():
            return [plain(v) for v in value]
        case bytearray():
            return bytes(value)
    return value


def same_rows(shared: Shared, query: str) -> list[tuple[Any, ...]]:
    """Both engines' rows of a query, which must be equal."""
    ours = [plain(tuple(row)) for row in shared.frame(query).collect()]
    theirs = [plain(row) for row in shared.oracle.rows(query)]
    assert sorted(map(repr, ours)) == sorted(map(repr, theirs)), query
    return ours


EVOLUTION = [
    "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'x', 'f', CAST(0.5 AS FLOAT)), array(named_struct('k', 1, 'v', 'p')), "
    "map('m', named_struct('n', 1, 'd', 1.25)), 'red'), (2, NULL, NULL, NULL, NULL)",
    "ALTER TABLE {t} RENAME COLUMN st.a TO aa",
    "ALTER TABLE {t} ALTER COLUMN st.aa TYPE bigint",
    "ALTER TABLE {t} ALTER COLUMN st.f TYPE double",
    "ALTER TABLE {t} ALTER COLUMN st.f FIRST",
    "ALTER TABLE {t} ADD COLUMN ls.element.w date FIRST",
    "ALTER TABLE {t} RENAME COLUMN m.value.n TO number",
    "ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)",
    "INSERT INTO {t} VALUES (3, named_struct('f', 1.5D, 'aa', 5000000000, 'b', 'y'), "
    "array(named_struct('w', DATE '2020-01-01', 'k', 2, 'v', 'q'), NULL), map('m', named_struct('number', 2, 'd', 2.5)), 'blue')",
    "ALTER TABLE {t} DROP COLUMN st.b",
    "ALTER TABLE {t} ADD COLUMN st.b string AFTER f",
    "ALTER TABLE {t} DROP COLUMN ls.element.v",
    "ALTER TABLE {t} ADD COLUMN ls.element.v int",
    "ALTER TABLE {t} ALTER COLUMN m.value.d TYPE decimal(20, 2)",
    "ALTER TABLE {t} ALTER COLUMN colour FIRST",
    "ALTER TABLE {t} RENAME COLUMN colour TO color",
    "ALTER TABLE {t} ADD COLUMN colour string",
    "ALTER TABLE {t} ADD PARTITION FIELD color",
    "ALTER TABLE {t} DROP PARTITION FIELD bucket(4, id)",
    "INSERT INTO {t} VALUES ('green', 4, named_struct('f', 2.5D, 'b', 'new', 'aa', 4), array(named_struct('w', NULL, 'k', 3, 'v', 9)), "
    "map('z', NULL, 'y', named_struct('number', 7, 'd', 3.75)), 'again'), ('blue', 5, NULL, array(), map(), NULL)",
    "DELETE FROM {t} WHERE id = 3",
]  # fmt: skip
QUERIES = [
    "SELECT * FROM {t}", "SELECT st.b, st.aa, id FROM {t}", "SELECT id FROM {t} WHERE st.aa > 1", "SELECT id FROM {t} WHERE id = 4",
    "SELECT id, color, colour FROM {t} WHERE color = 'blue' OR colour = 'again'",
    "SELECT id, get(ls, 0).v, try_element_at(m, 'y').number FROM {t}",
]  # fmt: skip


@pytest.mark.parametrize(("file_format", "side"), [("parquet", "theirs"), ("parquet", "ours"), ("avro", "theirs"), ("orc", "ours")])
def test_nested_columns_evolve(shared: Shared, file_format: str, side: str) -> None:
    """One history of changes, run by either engine, reads alike by both."""
    table = f"local.interop.evolved_{file_format}_{side}"
    run = shared.oracle.rows if side == "theirs" else shared.frame
    run(
        f"CREATE TABLE {table} (id bigint, st struct<a: int, b: string, f: float>, ls array<struct<k: int, v: string>>, "
        "m map<string, struct<n: int, d: decimal(9, 2)>>, colour string) USING iceberg "
        f"TBLPROPERTIES ('write.format.default'='{file_format}', 'write.delete.mode'='merge-on-read')"
    )
    for statement in EVOLUTION:
        run(statement.format(t=table))
    for query in QUERIES:
        same_rows(shared, query.format(t=table))
    assert sorted(row[0] for row in shared.frame(f"SELECT id FROM {table} WHERE st.b IS NULL").collect()) == [1, 2, 5]
    light = shared.load(f"evolved_{file_format}_{side}")
    assert sorted(light.scan("st.aa > 1", select=["id"]).to_arrow().column("id").to_pylist()) == [4]
    found = {row["id"]: row for row in light.scan().to_arrow().to_pylist()}
    assert sorted(found) == [1, 2, 4, 5]
    assert found[1]["st"] == {"f": 0.5, "b": None, "aa": 1}
    assert found[1]["ls"] == [{"w": None, "k": 1, "v": None}]
    assert (found[1]["color"], found[1]["colour"], found[2]["st"]) == ("red", None, None)


@pytest.mark.parametrize("file_format", FORMATS)
def test_deletion_vectors_lineage_and_defaults(shared: Shared, file_format: str) -> None:
    name = f"vectors_{file_format}"
    table = f"local.interop.{name}"
    default = None if file_format == "orc" else 34  # Java reads no defaults of ORC files
    shared.oracle.rows(
        f"CREATE TABLE {table} (id bigint, s string) USING iceberg TBLPROPERTIES ('format-version'='3', "
        f"'write.format.default'='{file_format}', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read')"
    )
    shared.oracle.rows(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, string(id) FROM range(20)")
    shared.oracle.rows(f"DELETE FROM {table} WHERE id % 3 = 0")
    if default is None:
        shared.oracle.rows(f"ALTER TABLE {table} ADD COLUMN later int")
    else:
        shared.call("add_columns", shared.folder(name), [("later", "int", default)])
    shared.oracle.rows(f"UPDATE {table} SET s = 'changed' WHERE id = 4")
    shared.oracle.rows(f"INSERT INTO {table} VALUES (100, 'new', NULL), (101, 'new', 5)")
    shared.frame(f"DELETE FROM {table} WHERE id = 7")
    shared.frame(f"UPDATE {table} SET later = 1 WHERE id = 8")
    rows = same_rows(shared, f"SELECT *, _row_id, _last_updated_sequence_number FROM {table}")
    expected = {**dict.fromkeys((1, 2, 4, 5, 10, 11, 13, 14, 16, 17, 19), default), 8: 1, 100: None, 101: 5}
    assert {row[0]: row[2] for row in rows} == expected
    assert {row[0]: row[3] for row in rows if row[0] < 100} == {n: n for n in expected if n < 100}
    light = shared.load(name).scan(select=["id", "s", "later", "_row_id", "_last_updated_sequence_number"]).to_arrow().to_pylist()
    assert sorted(map(repr, (tuple(row.values()) for row in light))) == sorted(map(repr, rows))
    found = shared.frame(f"SELECT id FROM {table} WHERE later = 34 AND id > 4").collect()  # Java drops row groups without the column
    assert sorted(row[0] for row in found) == sorted(n for n, later in expected.items() if later == 34 and n > 4)


DEFAULTS = [
    ("flag", "boolean", True), ("i", "int", -34), ("l", "long", 2147483648), ("f", "float", 0.5), ("x", "double", -1e300),
    ("n", "decimal(9, 2)", "-14.20"), ("d", "date", "1969-12-31"), ("ts", "timestamp", "1969-12-31T23:59:59.999999"),
    ("tz", "timestamptz", "2017-11-16T14:31:08.000001-08:00"), ("s", "string", "it's \\ %20 \u00e9"),
]  # fmt: skip
FOREIGN_DEFAULTS = [  # of types and in places that Spark's own reader does not read
    ("u", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"), ("t", "time", "22:31:08.000001"),
    ("tsn", "timestamp_ns", "2017-11-16T22:31:08.000001001"), ("st.b", "string", "inner"),
]  # fmt: skip


@pytest.mark.parametrize(("file_format", "more"), [("parquet", []), ("parquet", FOREIGN_DEFAULTS), ("avro", FOREIGN_DEFAULTS)])
def test_defaults_of_every_type(shared: Shared, file_format: str, more: list[tuple[str, str, Any]]) -> None:
    """Rows from before a column take its initial default, filters see it, and later rows hold what was written."""
    name = f"defaults_{file_format}_{len(more)}"
    schema = Schema((NestedField(1, "id", IntegerType()), NestedField(2, "st", StructType((NestedField(3, "a", IntegerType()),)))))
    properties = {"format-version": "3", "write.format.default": file_format}
    table = shared.catalog.create_table(("interop", name), schema, properties=properties)
    table.append(arrow_rows(schema, [(1, (7,)), (2, None)]))
    shared.call("add_columns", shared.folder(name), [*DEFAULTS, *more])
    table = shared.load(name)
    whole = tuple(field.initial_default for field in table.schema.fields[2:])
    assert None not in whole
    inner = () if not more else ("inner",)
    later = (3, (8, *(("own",) if more else ())), *(None for _ in whole))
    table.append(arrow_rows(table.schema, [later]))
    expected = [(1, (7, *inner), *whole), (2, None, *whole), later]
    assert normal(rows_of(table.schema, shared.light(name))) == normal(expected)
    assert normal(shared.call("read", shared.folder(name))) == normal(expected)
    frame = shared.frame(f"SELECT * FROM local.interop.{name}")
    assert normal(rows_of_spark(table.schema, frame)) == normal(micros_only(table.schema, expected))
    where = " AND ".join(f"{column} IS NOT NULL" for column, _, _ in DEFAULTS) + " AND l = 2147483648 AND n < 0 AND d < DATE '1970-01-01'"
    found = shared.frame(f"SELECT id FROM local.interop.{name} WHERE {where}").collect()
    assert sorted(row[0] for row in found) == [1, 2]
    assert shared.load(name).scan("l = 2147483648 and st is not null", select=["id"]).to_arrow().column("id").to_pylist() == [1]


def test_snapshots_that_name_their_manifests(shared: Shared) -> None:
    """Version 1 tables from before manifest lists."""
    schema, name = Schema((ID, KEY, X, P)), "no_lists"
    source = make(shared, "no_lists_source", schema, ROWS)
    by_p = PartitionSpec(fields=(PartitionField(source_ids=(4,), field_id=1000, transform=IDENTITY, name="p"),))
    folder = shared.folder(name)
    shared.call("copy", source, folder, *texts(schema, by_p), {"format-version": "1", "write.format.default": "parquet"})
    name_manifests(shared, name)
    for condition, expected in (("true", ROWS), ("p = 1 AND id > 4", [row for row in ROWS if row[3] == 1 and row[0] > 4])):
        frame = shared.frame(f"SELECT * FROM local.interop.{name} WHERE {condition}")
        assert normal(rows_of_spark(schema, frame)) == normal(expected)
        assert normal(rows_of(schema, shared.load(name).scan(condition).to_arrow())) == normal(expected)
    assert normal(shared.call("read", folder)) == normal(ROWS)
    shared.frame(f"INSERT INTO local.interop.{name} VALUES (100, 'new', 1.0D, 1)")
    shared.frame(f"ALTER TABLE local.interop.{name} SET TBLPROPERTIES ('format-version'='2')")
    shared.frame(f"DELETE FROM local.interop.{name} WHERE p = 0")
    assert sorted(row[1] for row in same_rows(shared, f"SELECT p, id FROM local.interop.{name}")) == [1, 3, 5, 7, 9, 11, 100]


def name_manifests(shared: Shared, name: str) -> None:
    """Writes a newer metadata file whose snapshots have ``manifests`` instead of ``manifest-list``."""
    newest = Path(newest_metadata_file(shared.folder(name)))
    node = json.loads(newest.read_text())
    for snapshot in node["snapshots"]:
        manifests = read_manifest_list(shared.load(name).io, snapshot.pop("manifest-list"))
        snapshot["manifests"] = [manifest.manifest_path for manifest in manifests]
    version = newest_version(shared.folder(name)) + 1
    (newest.parent / f"v{version}.metadata.json").write_text(json.dumps(node))
    (newest.parent / "version-hint.text").write_text(str(version))


@pytest.mark.parametrize("file_format", ["parquet", "orc"])  # Spark ships no Avro writer
def test_files_without_ids(shared: Shared, file_format: str) -> None:
    """Imported files: columns go by the name mapping, also after they were renamed."""
    folder, table = f"{shared.oracle.warehouse}/plain_{file_format}", f"local.interop.mapped_{file_format}"
    rows = "SELECT id, named_struct('a', id * 2, 'b', string(id)) AS st, array(id, NULL) AS ls, map('k', id) AS m FROM range(10)"
    shared.call("tests.interop.java_tables:write_plain", rows, folder, file_format)
    shared.oracle.rows(
        f"CREATE TABLE {table} (id bigint, st struct<a: bigint, b: string>, ls array<bigint>, m map<string, bigint>) USING iceberg "
        f"TBLPROPERTIES ('write.format.default'='{file_format}')"
    )
    shared.oracle.rows(
        f"CALL local.system.add_files(table => 'interop.mapped_{file_format}', source_table => '`{file_format}`.`{folder}`')"
    )
    shared.oracle.rows(f"ALTER TABLE {table} RENAME COLUMN st.a TO renamed")
    shared.oracle.rows(f"ALTER TABLE {table} RENAME COLUMN id TO number")
    shared.oracle.rows(f"ALTER TABLE {table} ADD COLUMN later string")
    shared.oracle.rows(f"INSERT INTO {table} VALUES (11, named_struct('renamed', 5, 'b', 'own'), array(), map(), 'eleven')")
    rows_found = same_rows(shared, f"SELECT * FROM {table}")
    assert sorted(row[0] for row in rows_found) == [*range(10), 11]
    same_rows(shared, f"SELECT number FROM {table} WHERE st.renamed > 6")
    light = shared.load(f"mapped_{file_format}").scan("number < 3").to_arrow().to_pylist()
    assert sorted((row["number"], row["st"]["renamed"], row["later"]) for row in light) == [(0, 0, None), (1, 2, None), (2, 4, None)]


@pytest.mark.parametrize(
    "settings", ["'write.format.default'='parquet'", "'write.parquet.shred-variants'='true'", "'write.format.default'='avro'"]
)
def test_variants(shared: Shared, settings: str) -> None:
    """Made and written by icesql, then written by Java, read by both."""
    table = f"local.interop.variants_{abs(hash(settings))}"
    shared.frame(
        f"CREATE TABLE {table} (id int, v variant, st struct<v: variant>) USING iceberg TBLPROPERTIES ('format-version'='3', {settings})"
    )
    values = '{"a": 1, "b": [true, null, "x"]}', "-12.5", '"text"', "null", '{"a": {"c": 3}}'
    for number, run in enumerate((shared.frame, shared.oracle.rows)):
        rows = [f"({number * 10 + i}, parse_json('{v}'), named_struct('v', parse_json('{v}')))" for i, v in enumerate(values)]
        run(f"INSERT INTO {table} VALUES {', '.join(rows)}, ({number * 10 + 9}, NULL, NULL)")
    shared.frame(f"DELETE FROM {table} WHERE id = 1")
    found = same_rows(shared, f"SELECT id, to_json(v), to_json(st.v), variant_get(v, '$.a.c', 'int') FROM {table}")
    assert sorted(row[0] for row in found) == [0, 2, 3, 4, 9, 10, 11, 12, 13, 14, 19]
    assert {row[0] % 10: row[1:] for row in found}[4] == ('{"a":{"c":3}}', '{"a":{"c":3}}', 3)
    same_rows(shared, f"SELECT id FROM {table} WHERE try_variant_get(v, '$.a', 'int') = 1 OR v IS NULL OR is_variant_null(v)")
    with pytest.raises(IcesqlError):
        shared.frame(f"ALTER TABLE {table} ADD PARTITION FIELD v")


def test_geometry_is_kept_but_not_for_spark(shared: Shared) -> None:
    fields = (
        NestedField(1, "id", IntegerType()),
        NestedField(2, "g", GeometryType()),
        NestedField(3, "e", GeographyType("OGC:CRS84", "karney")),
    )
    shared.catalog.create_table(("interop", "shapes"), Schema(fields), properties={"format-version": "3"})
    assert shared.load("shapes").schema.fields == fields
    shared.frame("ALTER TABLE local.interop.shapes ADD COLUMN later int")
    assert shared.load("shapes").schema.fields[:3] == fields
    for statement in ("SELECT * FROM {}", "INSERT INTO {} VALUES (1, NULL, NULL, 2)", "DELETE FROM {} WHERE id = 1"):
        with pytest.raises(UnsupportedError, match="geometry"):
            shared.frame(statement.format("local.interop.shapes")).collect()


def test_filters_prune_files_of_the_second_path(shared: Shared) -> None:
    """What Spark would not push to tasks that read Avro reaches planning all the same, in joins and subqueries too."""
    table = "local.interop.pruned_avro"
    shared.frame(
        f"CREATE TABLE {table} (id int, p int, s string) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('write.format.default'='avro')"
    )
    shared.frame(f"INSERT INTO {table} SELECT id, id % 4, string(id) FROM range(40)")
    first = shared.frame(f"SELECT s FROM {table} WHERE id = 7")
    for query, count, files in (
        (f"SELECT * FROM {table} WHERE p = 1", 10, 1),
        (f"SELECT a.s FROM {table} a JOIN {table} b ON a.id = b.id + 1 WHERE a.p = 1 AND b.p = 0", 10, 2),
        (f"SELECT count(*) FROM {table} WHERE p IN (SELECT max(p) - 1 FROM {table} WHERE p < 3)", 1, 4),
        (f"SELECT s FROM {table} WHERE p = 3 UNION ALL SELECT s FROM {table} WHERE p = 2", 20, 2),
        (f"SELECT count(*) FROM {table} WHERE p = 9", 1, 0),
        (f"SELECT * FROM {table}", 40, 4),
    ):
        assert len(shared.frame(query).collect()) == count, query
        assert max(report.files_planned for report in shared.session.last_report) == files, query
    assert [row[0] for row in first.collect()] == ["7"]
    narrowed = shared.frame(f"SELECT * FROM {table} WHERE p < 2").where("p > 0")
    assert narrowed.count() == 10
