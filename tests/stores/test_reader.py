"""The reader of tables where the JVM has no file system: the same rows as Spark's own, of no more columns than are needed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import icesql
from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.deletes.files import write_equality_deletes
from icesql.spark.read.fallback_reader import without_history
from icesql.table.metadata.partition_types import union_partition_type
from icesql.table.scan import never_null
from tests.stores.s3_server import S3Server

pytestmark = pytest.mark.spark
READER = "spark.icesql.read.reader"


@pytest.fixture(scope="module")
def session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = icesql.connect(spark, catalogs={"w": {"type": "hadoop", "warehouse": str(tmp_path_factory.mktemp("reader"))}})
    made.sql("CREATE NAMESPACE w.db").collect()
    made.sql(
        """CREATE TABLE w.db.t PARTITIONED BY (bucket(3, id)) TBLPROPERTIES
           ('write.parquet.row-group-size-bytes'='60000', 'format-version'='3', 'write.delete.mode'='merge-on-read') AS
           SELECT id, IF(id % 7 = 0, NULL, 'n' || id) AS name, IF(id % 11 = 0, double('NaN'), id / 3) AS score,
                  IF(id % 13 = 0, NULL, named_struct('a', id, 'b', 'x' || id, 'deep', named_struct('p', id * 2, 'q', -id))) AS st,
                  array(id, NULL) AS tags, map('k', id) AS m, timestamp_micros(id * 1000001) AS at,
                  date_add(date'2020-01-01', int(id % 400)) AS day
           FROM range(20000)"""
    ).collect()
    made.sql("DELETE FROM w.db.t WHERE id BETWEEN 500 AND 700").collect()
    made.sql("ALTER TABLE w.db.t RENAME COLUMN score TO points").collect()
    made.sql("ALTER TABLE w.db.t RENAME COLUMN st.b TO letter").collect()
    spark.conf.set("spark.icesql.column-defaults", "true")
    made.sql("ALTER TABLE w.db.t ADD COLUMN later int DEFAULT 5").collect()
    made.sql("INSERT INTO w.db.t SELECT id + 100000, 'new', 1.5, NULL, array(1), map(), now(), current_date(), 9 FROM range(50)").collect()
    spark.conf.unset("spark.icesql.column-defaults")
    return made


QUERIES = [
    "SELECT * FROM w.db.t WHERE id IN (3, 501, 4711, 19999) ORDER BY id",
    "SELECT count(*), sum(id), count(name), sum(points) FROM w.db.t WHERE NOT isnan(points)",
    "SELECT st.deep.q FROM w.db.t WHERE st.a BETWEEN 30 AND 50 ORDER BY 1",
    "SELECT st FROM w.db.t WHERE st.letter = 'x77'",
    "SELECT max(st.deep.p), min(st.letter), count(st), count(*) FROM w.db.t",
    "SELECT count(*) FROM w.db.t WHERE st IS NULL",
    "SELECT tags[0], m['k'] FROM w.db.t WHERE id < 20 ORDER BY 1",
    "SELECT id, _pos, _file IS NOT NULL, _spec_id, _partition, _row_id, _last_updated_sequence_number FROM w.db.t "
    "WHERE id % 997 = 1 ORDER BY id",
    "SELECT count(*) FROM w.db.t WHERE points > 6000",  # NaN is the largest
    "SELECT count(*) FROM w.db.t WHERE name LIKE 'n1%' AND day > date'2020-06-01'",
    "SELECT day, count(*) FROM w.db.t WHERE at < timestamp'1970-01-01 01:00:00' GROUP BY day ORDER BY day LIMIT 5",
    "SELECT a.id, b.name FROM w.db.t a JOIN w.db.t b ON a.id = b.id + 1 WHERE b.st.a = 42",
    "SELECT later, count(*) FROM w.db.t GROUP BY later ORDER BY later",
    "SELECT (SELECT max(id) FROM w.db.t WHERE points < 10), count(*) FROM w.db.t WHERE id > 100",
    "SELECT count(*) FROM (SELECT 1 FROM w.db.t WHERE id > 15000 UNION ALL SELECT later FROM w.db.t)",
    "WITH x AS (SELECT id, name FROM w.db.t WHERE id < 1000) SELECT count(*), count(name) FROM x WHERE id > 400",
    "SELECT 1 FROM w.db.t WHERE false",
    "SELECT count(DISTINCT m['k']) FROM w.db.t TABLESAMPLE (100 PERCENT)",
]


@pytest.fixture
def arrow(spark: Any) -> Any:
    spark.conf.set(READER, "arrow")
    yield
    spark.conf.unset(READER)


@pytest.mark.parametrize("query", QUERIES)
def test_the_same_rows(session: Any, spark: Any, query: str) -> None:
    expected = session.sql(query).collect()
    spark.conf.set(READER, "arrow")
    try:
        frame = session.sql(query)
        assert repr(sorted(map(repr, frame.collect()))) == repr(sorted(map(repr, expected)))
        assert frame.collect() is not None
    finally:
        spark.conf.unset(READER)


def read_columns(frame: Any) -> list[list[str]]:
    """The columns that each use of the Arrow reader gives, in the plan that runs."""
    nodes = json.loads(frame._jdf.queryExecution().optimizedPlan().toJSON())
    found = []
    for node in nodes:
        if node["class"].endswith(".MapInArrow"):
            found.append([attribute[0]["name"] for attribute in node["output"]])
    return found


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT name FROM w.db.t WHERE id < 5", ["id", "name"]),
        ("SELECT sum(id) FROM w.db.t", ["id"]),
        ("SELECT count(*) FROM w.db.t WHERE st.a > 3", ["st"]),
        ("SELECT count(*) FROM w.db.t WHERE rand() < 2", ["__row"]),
        ("SELECT * FROM w.db.t", ["id", "name", "points", "st", "tags", "m", "at", "day", "later"]),
    ],
)
def test_only_the_columns_that_are_needed(session: Any, arrow: Any, query: str, columns: list[str]) -> None:
    assert read_columns(session.sql(query)) == [columns]


@pytest.fixture
def counted(session: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A table of columns that the manifests count no null in, and of decimals that are sent as numbers."""
    monkeypatch.setattr(never_null, "FEWEST_ROWS", 1)
    session.sql(
        """CREATE TABLE w.db.counted AS
           SELECT id, 'n' || id AS name, double(id) AS score, id % 2 = 0 AS even, date_add(date'2020-01-01', int(id)) AS day,
                  binary('b') AS raw, IF(id % 7 = 0, NULL, cast(id / 100 AS decimal(9, 2))) AS small,
                  cast(-1 * id / 10000 AS decimal(18, 4)) AS most, IF(id % 3 = 0, NULL, cast(id AS decimal(38, 6))) AS wide,
                  named_struct('d', cast(id AS decimal(10, 1))) AS inner
           FROM range(1000)"""
    ).collect()
    yield
    session.sql("DROP TABLE w.db.counted PURGE").collect()


COUNTED = [
    "SELECT count(name), count(score), count(even), count(day), count(raw), count(small), max(id) FROM w.db.counted",
    "SELECT count(*) FROM w.db.counted WHERE name IS NULL OR most IS NULL",
    "SELECT count(name) FROM w.db.counted WHERE id > 990",
    "SELECT * FROM w.db.counted WHERE small BETWEEN 1.5 AND 1.55 ORDER BY id",
    "SELECT * FROM w.db.counted WHERE most = -0.0042",
    "SELECT sum(small), sum(most), avg(wide), sum(inner.d), min(most), max(small) FROM w.db.counted",
    "SELECT count(*) FROM w.db.counted WHERE small IS NULL AND wide > 500",
    "SELECT a.id FROM w.db.counted a LEFT JOIN w.db.counted b ON a.small = b.most + 1 WHERE b.name IS NULL ORDER BY 1 LIMIT 5",
]


@pytest.mark.parametrize("query", COUNTED)
def test_columns_that_are_never_null_and_decimals(session: Any, spark: Any, counted: None, query: str) -> None:
    expected = session.sql(query)
    spark.conf.set(READER, "arrow")
    try:
        found = session.sql(query)
        assert found.schema == expected.schema
        assert found.collect() == expected.collect()
    finally:
        spark.conf.unset(READER)


@pytest.mark.parametrize("file_format", ["orc", "avro"])
def test_decimals_of_every_format(session: Any, counted: None, file_format: str) -> None:
    properties = f"TBLPROPERTIES ('write.format.default'='{file_format}')"
    session.sql(f"CREATE TABLE w.db.counted_{file_format} {properties} AS SELECT * FROM w.db.counted").collect()
    for query in COUNTED:
        expected, found = session.sql(query), session.sql(query.replace("w.db.counted", f"w.db.counted_{file_format}"))
        assert found.schema == expected.schema
        assert found.collect() == expected.collect()


def test_tasks_carry_no_history(session: Any) -> None:
    whole = session.table("w.db.t").metadata
    metadata = without_history(whole)
    assert len(pickle.dumps(metadata)) < len(pickle.dumps(whole)) * 0.75
    assert metadata.specs_by_id == whole.specs_by_id
    assert metadata.schemas == whole.schemas
    assert union_partition_type(metadata) == union_partition_type(whole)


def test_an_unknown_reader(session: Any, spark: Any) -> None:
    spark.conf.set(READER, "magic")
    try:
        with pytest.raises(InvalidArgumentError, match=r"spark\.icesql\.read\.reader must be auto, spark or arrow: magic"):
            session.sql("SELECT * FROM w.db.t").collect()
    finally:
        spark.conf.unset(READER)


def test_explain_pruning_says_which_reader(session: Any, spark: Any, arrow: Any) -> None:
    def steps() -> list[str]:
        return [row["step"] for row in session.sql("EXPLAIN PRUNING SELECT name FROM w.db.t").collect()]

    assert "read with Arrow: spark.icesql.read.reader is arrow" in steps()
    spark.conf.set(READER, "auto")
    assert "read" in steps()


# -- on S3 ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lake(spark: Any, s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Any:
    s3.new_bucket("reader")
    uri = f"sqlite:///{tmp_path_factory.mktemp('lake')}/catalog.db"
    made = icesql.connect(spark, catalogs={"lake": {"type": "sql", "uri": uri, "warehouse": "s3://reader/wh", **s3.properties()}})
    made.sql("CREATE NAMESPACE lake.db").collect()
    return made


def test_every_statement(lake: Any, s3: S3Server) -> None:
    def rows(text: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in lake.sql(text).collect()]

    rows("CREATE TABLE lake.db.t (id bigint, s string, v double) PARTITIONED BY (truncate(2, s))")
    rows("INSERT INTO lake.db.t VALUES (1, 'one', 1.5), (2, 'two', 2.5), (3, NULL, NULL), (4, 'a b%2F=#', 4.5)")
    assert rows("SELECT * FROM lake.db.t ORDER BY id") == [(1, "one", 1.5), (2, "two", 2.5), (3, None, None), (4, "a b%2F=#", 4.5)]
    rows("UPDATE lake.db.t SET v = 0 WHERE id = 2")
    rows("DELETE FROM lake.db.t WHERE id = 1")
    rows("ALTER TABLE lake.db.t SET TBLPROPERTIES ('write.delete.mode'='merge-on-read', 'write.merge.mode'='merge-on-read')")
    rows(
        "MERGE INTO lake.db.t USING (SELECT explode(array(3, 5)) AS id) n ON t.id = n.id "
        "WHEN MATCHED THEN UPDATE SET s = 'm' WHEN NOT MATCHED THEN INSERT (id, s) VALUES (n.id, 'n')"
    )
    rows("DELETE FROM lake.db.t WHERE id = 2")
    expected = [(3, "m", None), (4, "a b%2F=#", 4.5), (5, "n", None)]
    assert rows("SELECT * FROM lake.db.t ORDER BY id") == expected
    rows("CREATE TABLE lake.db.copy AS SELECT * FROM lake.db.t")
    rows("INSERT OVERWRITE lake.db.copy SELECT * FROM lake.db.t WHERE id > 3")
    assert rows("SELECT count(*) FROM lake.db.copy") == [(2,)]
    for call in (
        "rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))",
        "rewrite_position_delete_files(table => 'db.t', options => map('rewrite-all', 'true'))",
        "rewrite_manifests(table => 'db.t')",
        "compute_table_stats(table => 'db.t')",
        "expire_snapshots(table => 'db.t', older_than => timestamp'2100-01-01', retain_last => 1)",
    ):
        rows(f"CALL lake.system.{call}")
    assert rows("SELECT * FROM lake.db.t ORDER BY id") == expected
    (s3.folder / "data/reader/wh/db/t/data/stray.parquet").write_bytes(b"x")
    orphans = rows("CALL lake.system.remove_orphan_files(table => 'db.t', older_than => timestamp'2000-01-01')")
    assert orphans == []
    assert rows("SELECT count(*) FROM lake.db.t.files") != [(0,)]
    rows("DROP TABLE lake.db.copy PURGE")
    assert not [name for name in s3.files("reader") if "/copy/" in name]
    assert s3.unfinished_uploads("reader") == []


def test_explain_pruning_says_why(lake: Any) -> None:
    lake.sql("CREATE TABLE lake.db.why (id bigint)").collect()
    lake.sql("INSERT INTO lake.db.why VALUES (1)").collect()
    steps = [row["step"] for row in lake.sql("EXPLAIN PRUNING SELECT * FROM lake.db.why").collect()]
    assert "read with Arrow: the JVM has no file system for s3" in steps


def test_spark_s_reader_cannot_be_forced(lake: Any, spark: Any) -> None:
    lake.sql("CREATE TABLE lake.db.forced (id bigint)").collect()
    lake.sql("INSERT INTO lake.db.forced VALUES (1)").collect()
    spark.conf.set(READER, "spark")
    try:
        with pytest.raises(UnsupportedError, match="no file system for s3://"):
            lake.sql("SELECT * FROM lake.db.forced").collect()
    finally:
        spark.conf.unset(READER)


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_equality_deletes(lake: Any, file_format: str) -> None:
    name = f"lake.db.eq_{file_format}"
    lake.sql(f"CREATE TABLE {name} (id bigint, s string) TBLPROPERTIES ('write.format.default'='{file_format}')").collect()
    lake.sql(f"INSERT INTO {name} SELECT id, IF(id % 3 = 0, NULL, 's' || id % 5) FROM range(100)").collect()
    table = lake.table(name)
    schema = table.metadata.schema
    rows = pa.table({"id": pa.array([3, 4, 5, 6], pa.int64()), "s": ["x", "s4", "s0", None]})
    location = f"{table.metadata.location}/data/eq.{file_format}"
    deletes = write_equality_deletes(table.io, lambda: location, rows, schema, (1, 2))
    delta = table.new_row_delta()
    for file in deletes:
        delta.add_deletes(file)
    delta.commit()
    found = {row[0] for row in lake.sql(f"SELECT id FROM {name}").collect()}
    assert set(range(100)) - found == {4, 5, 6}  # 3 has another s


def test_a_scheme_that_nothing_serves(lake: Any) -> None:
    with pytest.raises(UnsupportedError, match="no file system for scheme: warp"):
        lake.sql("CREATE TABLE lake.db.elsewhere (id bigint) LOCATION 'warp://lake/t'").collect()
