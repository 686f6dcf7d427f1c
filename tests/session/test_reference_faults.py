"""What Iceberg's runtime does wrong and icesql must do right; docs/differences.md lists each. Not run on the runtime, of course."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from icesql.errors import IcesqlError

pytestmark = pytest.mark.spark

_NULL_KEYS = [
    "CREATE TABLE {t} (id INT, s STRING, b BOOLEAN, d INT) USING iceberg PARTITIONED BY (s, b, truncate(2, d))",
    "INSERT INTO {t} VALUES (1, 'xa', true, 10), (2, NULL, NULL, NULL), (3, 'ya', false, 30), (4, 'x', NULL, 5)",
]
_FLOATS = [
    "CREATE TABLE {t} (id INT, x DOUBLE, p FLOAT) USING iceberg PARTITIONED BY (p)",
    "INSERT INTO {t} VALUES (1, double('nan'), CAST(0.0 AS FLOAT)), (2, 1.0, CAST('-0.0' AS FLOAT)), (3, 2D, NULL), (4, 0D, float('nan'))",
]
_TWO = ["CREATE TABLE {t} (id INT, s STRING, n INT) USING iceberg", "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, NULL)"]
_BOTH_MODES = ["copy-on-write", "merge-on-read"]


def _mode(mode: str) -> str:
    verbs = ", ".join(f"'write.{verb}.mode'='{mode}'" for verb in ("delete", "update", "merge"))
    return f"ALTER TABLE {{t}} SET TBLPROPERTIES ({verbs})"


CASES: dict[str, tuple[list[str], str, list[tuple[Any, ...]]]] = {
    "columns_beside_shredded_variants": (
        [
            "CREATE TABLE {t} (id INT, v VARIANT) USING iceberg "
            "TBLPROPERTIES ('format-version'='3', 'write.parquet.shred-variants'='true')",
            "INSERT INTO {t} SELECT 1, parse_json('1')",
        ],
        "SELECT id FROM {t}",
        [(1,)],
    ),
    "like_with_null_partition": (_NULL_KEYS, "SELECT id FROM {t} WHERE s LIKE 'x%'", [(1,), (4,)]),
    "in_with_null_partition": (_NULL_KEYS, "SELECT id FROM {t} WHERE s IN ('xa', NULL)", [(1,)]),
    "not_in_with_null_partition": (_NULL_KEYS, "SELECT id FROM {t} WHERE s NOT IN ('xa', 'x')", [(3,)]),
    "not_in_null_is_never_true": (_NULL_KEYS, "SELECT id FROM {t} WHERE d NOT IN (10, NULL)", []),
    "delete_like_with_null_partition": ([*_NULL_KEYS, "DELETE FROM {t} WHERE s LIKE 'x%'"], "SELECT id FROM {t}", [(2,), (3,)]),
    "or_of_null_identity": (_NULL_KEYS, "SELECT id FROM {t} WHERE NOT b OR d < 4", [(3,)]),
    "not_and_of_null_identity": (_NULL_KEYS, "SELECT id FROM {t} WHERE NOT (s = 'xa' AND b)", [(3,), (4,)]),
    "delete_not_and_of_null_identity": ([*_NULL_KEYS, "DELETE FROM {t} WHERE NOT (s = 'xa' AND b)"], "SELECT id FROM {t}", [(1,), (2,)]),
    "nan_is_the_largest": (_FLOATS, "SELECT id FROM {t} WHERE x > 1.5D", [(1,), (3,)]),
    "delete_keeps_nan": ([*_FLOATS, "DELETE FROM {t} WHERE x <= 1.5D"], "SELECT id FROM {t}", [(1,), (3,)]),
    **{
        f"delete_{name}_keeps_nulls_partitioned_by_{by[:4].strip('(')}": (
            [
                f"CREATE TABLE {{t}} (id INT, d DATE, n INT) USING iceberg PARTITIONED BY ({by})",
                "INSERT INTO {t} VALUES (1, DATE '2020-01-01', 10), (2, NULL, NULL), (3, DATE '2024-01-01', 30)",
                f"DELETE FROM {{t}} WHERE {condition}",
            ],
            "SELECT id FROM {t}",
            [(2,), (3,)],
        )
        for name, condition, partitionings in (
            ("before", "d < DATE '2022-01-01'", ("d", "years(d)", "days(d)")),
            ("until", "d <= DATE '2021-12-31'", ("d", "months(d)")),
            ("below", "n < 20", ("n", "truncate(10, n)")),
            ("at_most", "n <= 19", ("n", "truncate(10, n)")),
        )
        for by in partitionings
    },
    **{
        f"delete_unequal_keeps_nulls_{name}": (
            [
                f"CREATE TABLE {{t}} (id INT, n INT) USING iceberg{by}",
                "INSERT INTO {t} VALUES (1, NULL)",
                "INSERT INTO {t} VALUES (2, NULL), (3, 5), (4, 7)",
                f"DELETE FROM {{t}} WHERE {condition}",
            ],
            "SELECT id FROM {t}",
            [(1,), (2,), (4,)],
        )
        for name, by, condition in (
            ("without_partitions", "", "n <> 7"),
            ("in_buckets", " PARTITIONED BY (bucket(3, n))", "n <> 7"),
            ("in_either_form", " PARTITIONED BY (bucket(3, n))", "NOT n = 7"),
        )
    },
    "zero_of_a_float_partition": (_FLOATS, "SELECT id FROM {t} WHERE p = 0", [(1,), (2,)]),
    "delete_zero_of_a_float_partition": ([*_FLOATS, "DELETE FROM {t} WHERE p = 0"], "SELECT id FROM {t}", [(3,), (4,)]),
    "null_condition": (
        [*_TWO, "DELETE FROM {t} WHERE NULL", "UPDATE {t} SET n = 9 WHERE NULL"],
        "SELECT id, n FROM {t}",
        [(1, 1), (2, 2), (3, None)],
    ),
    "functions_of_one_column": (
        [*_TWO, "DELETE FROM {t} WHERE upper(s) = 'A' OR length(s) > 1 OR upper(s) = 'ZZ'"],
        "SELECT id FROM {t}",
        [(2,), (3,)],
    ),
    "bucket_over_files_partitioned_by_identity": (
        [
            "CREATE TABLE {t} (id INT, s STRING) USING iceberg PARTITIONED BY (id)",
            "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
            "ALTER TABLE {t} REPLACE PARTITION FIELD id WITH bucket(4, id)",
            "INSERT INTO {t} VALUES (1, 'c'), (3, 'd')",
        ],
        "SELECT s FROM {t} WHERE local.system.bucket(4, id) = local.system.bucket(4, 1) AND id < 2",
        [("a",), ("c",)],
    ),
    "null_struct_with_an_identity_partition": (
        [
            "CREATE TABLE {t} (id INT, o STRUCT<c: INT, e: INT>) USING iceberg PARTITIONED BY (o.c)",
            "INSERT INTO {t} VALUES (1, NULL), (2, struct(1, 2)), (3, struct(NULL, 3))",
        ],
        "SELECT id, o IS NULL, o.c FROM {t}",
        [(1, True, None), (2, False, 1), (3, False, None)],
    ),
    "orc_ntz_before_1970": (
        [
            "CREATE TABLE {t} (id INT, x TIMESTAMP_NTZ) USING iceberg TBLPROPERTIES ('write.format.default'='orc')",
            "INSERT INTO {t} VALUES (1, TIMESTAMP_NTZ '1969-12-31 23:59:59.999999')",
        ],
        "SELECT id, CAST(x AS STRING) FROM {t}",
        [(1, "1969-12-31 23:59:59.999999")],
    ),
    "orc_required_field_of_a_null_struct": (
        [
            "CREATE TABLE {t} (id INT, o STRUCT<c: INT NOT NULL>) USING iceberg TBLPROPERTIES ('write.format.default'='orc')",
            "INSERT INTO {t} VALUES (1, NULL), (2, struct(5))",
        ],
        "SELECT id FROM {t} WHERE o.c IS NULL",
        [(1,)],
    ),
    "max_pos": (_TWO, "SELECT count(*), max(_pos) >= 0 FROM {t}", [(3, True)]),
    "partition_fields_of_one_name": (
        [
            "CREATE TABLE {t} (id INT, s STRING) USING iceberg PARTITIONED BY (s)",
            "INSERT INTO {t} VALUES (1, 'a')",
            "ALTER TABLE {t} DROP PARTITION FIELD s",
            "ALTER TABLE {t} ADD PARTITION FIELD truncate(1, s) AS s",
            "INSERT INTO {t} VALUES (2, 'b')",
        ],
        "SELECT sum(record_count) FROM {t}.files",
        [(2,)],
    ),
}


@pytest.fixture(scope="module")
def session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    import icesql

    warehouse: Path = tmp_path_factory.mktemp("faults")
    session = icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE local.faults")
    return session


def _run(session: Any, name: str, statements: list[str]) -> str:
    table = f"local.faults.{name}"
    for statement in statements:
        session.sql(statement.replace("{t}", table))
    return table


@pytest.mark.parametrize("name", CASES)
def test_right_where_the_runtime_is_wrong(session: Any, name: str):
    statements, query, expected = CASES[name]
    table = _run(session, name, statements)
    assert sorted(map(repr, map(tuple, session.sql(query.replace("{t}", table)).collect()))) == sorted(map(repr, expected))


@pytest.mark.parametrize("mode", _BOTH_MODES)
def test_not_matched_by_source_with_duplicate_keys_duplicates_no_rows(session: Any, mode: str):
    table = _run(session, f"by_source_{mode[:4]}", [*_TWO, _mode(mode)])
    session.sql(
        f"MERGE INTO {table} t USING (SELECT 1 AS id UNION ALL SELECT 1) s ON t.id = s.id "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = 'lone'"
    )
    assert sorted(map(tuple, session.sql(f"SELECT id, s FROM {table}").collect())) == [(1, "a"), (2, "lone"), (3, "lone")]


@pytest.mark.parametrize("mode", _BOTH_MODES)
def test_correlated_subquery_in_an_assignment(session: Any, mode: str):
    table = _run(session, f"correlated_{mode[:4]}", [*_TWO, _mode(mode)])
    session.sql(f"UPDATE {table} t SET s = (SELECT max(u.s) FROM {table} u WHERE u.id > t.id) WHERE n IS NOT NULL")
    assert sorted(map(tuple, session.sql(f"SELECT id, s FROM {table}").collect())) == [(1, "b"), (2, None), (3, None)]


@pytest.mark.parametrize("mode", _BOTH_MODES)
@pytest.mark.parametrize("condition", ["_pos >= 0 AND id = 1", "_partition.p = 'x' AND id = 1", "_spec_id = 0 AND id = 1"])
def test_changes_with_conditions_on_metadata_columns(session: Any, mode: str, condition: str):
    name = f"hidden_{mode[:4]}_{condition[1:4]}"
    table = _run(
        session,
        name,
        [
            "CREATE TABLE {t} (id INT, p STRING) USING iceberg PARTITIONED BY (p)",
            _mode(mode),
            "INSERT INTO {t} VALUES (1, 'x'), (2, 'x'), (3, 'y')",
        ],
    )
    session.sql(f"DELETE FROM {table} WHERE {condition}")
    assert sorted(row[0] for row in session.sql(f"SELECT id FROM {table}").collect()) == [2, 3]
    session.sql(f"UPDATE {table} SET p = 'z' WHERE {condition.replace('id = 1', 'id = 2')}")
    assert sorted(map(tuple, session.sql(f"SELECT id, p FROM {table}").collect())) == [(2, "z"), (3, "y")]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {t} SET _row_id = 7",
        "SELECT * FROM {t}.files VERSION AS OF 77",
        "ALTER TABLE {t} SET TBLPROPERTIES ('commit.retry.num-retries' = 'x')",
        "CREATE TABLE {t}_zero (id INT) USING iceberg TBLPROPERTIES ('format-version' = '0')",
    ],
)
def test_what_the_runtime_takes_and_should_not(session: Any, statement: str):
    session.sql("CREATE TABLE IF NOT EXISTS local.faults.taken (id INT, s STRING) USING iceberg TBLPROPERTIES ('format-version'='3')")
    with pytest.raises(IcesqlError):
        session.sql(statement.replace("{t}", "local.faults.taken")).collect()


def test_comment_inside_an_extension_statement(session: Any):
    _run(session, "commented", _TWO)
    session.sql("ALTER TABLE local.faults.commented /* why */ ADD PARTITION FIELD /* what */ bucket(2, id)")
    assert len(session.table("local.faults.commented").metadata.spec.fields) == 1


def test_sql_functions_with_parameters_read_the_present(session: Any):
    table = _run(session, "functions", _TWO)
    try:
        session.sql(f"CREATE TEMPORARY FUNCTION most_below(x INT) RETURNS INT RETURN SELECT max(f.id) FROM {table} AS f WHERE f.id < x")
        session.sql(
            f"CREATE TEMPORARY FUNCTION rows_from(x INT) RETURNS TABLE (id INT, s STRING) RETURN SELECT id, s FROM {table} WHERE id >= x"
        )
        assert session.sql("SELECT most_below(3)").collect()[0][0] == 2
        session.sql(f"INSERT INTO {table} VALUES (4, 'd', 4)")
        assert session.sql("SELECT most_below(9)").collect()[0][0] == 4
        assert sorted(map(tuple, session.sql("SELECT * FROM rows_from(3)").collect())) == [(3, None), (4, "d")]
        session.sql(f"DELETE FROM {table} WHERE id = most_below(9)")
        assert session.sql(f"SELECT max(id) FROM {table}").collect()[0][0] == 3
        assert not session.sql("SHOW VIEWS").where("isTemporary").collect()
    finally:
        session.sql("DROP TEMPORARY FUNCTION IF EXISTS most_below")
        session.sql("DROP TEMPORARY FUNCTION IF EXISTS rows_from")


def test_a_function_in_place_of_one_over_a_table_needs_the_table_no_more(session: Any):
    table = _run(session, "replaced_function", _TWO)
    try:
        session.sql(f"CREATE TEMPORARY FUNCTION most_or(x INT) RETURNS INT RETURN SELECT max(f.id) FROM {table} AS f WHERE f.id <= x")
        session.sql("CREATE OR REPLACE TEMPORARY FUNCTION most_or(x INT) RETURNS INT RETURN x")
        session.sql(f"DROP TABLE {table}")
        assert session.sql("SELECT most_or(7)").collect()[0][0] == 7
    finally:
        session.sql("DROP TEMPORARY FUNCTION IF EXISTS most_or")


def test_an_identifier_clause_travels_in_time(session: Any):
    table = _run(session, "identified", _TWO)
    session.sql(f"INSERT INTO {table} VALUES (4, 'd', 4)")
    first = session.sql(f"SELECT min(snapshot_id) FROM {table}.snapshots WHERE parent_id IS NULL").collect()[0][0]
    assert session.sql(f"SELECT max(id) FROM IDENTIFIER('{table}') VERSION AS OF {first}").collect()[0][0] == 3
