"""Configuration: Spark's keys, keywords and the environment, each as users write them."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from icesql.catalog import sql_engine
from icesql.catalog.config import catalog_configurations, catalog_type, completed
from icesql.catalog.hadoop import HadoopCatalog
from icesql.catalog.loading import load_catalog
from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.sql_engine import database_url, open_engine
from icesql.errors import IcesqlError, InvalidArgumentError, UnsupportedError
from tests.catalog.tables import SCHEMA

JAR = "org.apache.iceberg.spark.SparkCatalog"


def test_a_configuration_written_for_the_jar_is_read_as_it_is() -> None:
    conf = {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.prod": JAR,
        "spark.sql.catalog.prod.type": "hadoop",
        "spark.sql.catalog.prod.warehouse": "/data/warehouse",
        "spark.sql.catalog.prod.cache-enabled": "true",
        "spark.sql.catalog.prod.table-default.write.format.default": "orc",
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "spark.sql.catalog.spark_catalog.uri": "jdbc:sqlite:/data/c.db",
        "spark.sql.catalog.delta": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.delta.type": "sql",
        "spark.sql.catalog.unset.warehouse": "/x",
    }
    found = catalog_configurations(conf)
    assert set(found) == {"prod", "spark_catalog", "local"}
    assert found["prod"]["table-default.write.format.default"] == "orc"
    assert catalog_type("prod", found["prod"]) == "hadoop"
    assert catalog_type("spark_catalog", found["spark_catalog"]) == "sql"


def test_the_jars_default_type_is_hive_and_says_so() -> None:
    found = catalog_configurations({"spark.sql.catalog.h": JAR, "spark.sql.catalog.h.warehouse": "/w"})
    with pytest.raises(UnsupportedError, match="unsupported type: hive"):
        load_catalog("h", found["h"])


def test_keywords_win_over_spark_and_spark_over_the_environment() -> None:
    environ = {"ICESQL_CATALOG__PROD__URI": "sqlite:////e.db", "ICESQL_CATALOG__PROD__S3__ACCESS_KEY_ID": "k", "OTHER": "x"}
    conf = {"spark.sql.catalog.prod.type": "sql", "spark.sql.catalog.prod.uri": "sqlite:////s.db"}
    assert catalog_configurations(conf, None, environ)["prod"] == {"uri": "sqlite:////s.db", "s3.access-key-id": "k", "type": "sql"}
    keyword = {"prod": {"uri": "sqlite:////k.db", "cache-enabled": False, "warehouse": Path("/w")}}
    assert catalog_configurations(conf, keyword, environ)["prod"] == {
        "uri": "sqlite:////k.db",
        "s3.access-key-id": "k",
        "type": "sql",
        "cache-enabled": "false",
        "warehouse": "/w",
    }


def test_the_embedded_default_is_sqlite_under_the_warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    properties = completed(catalog_configurations()["local"], "sql")
    assert properties == {"warehouse": f"{tmp_path}/warehouse", "uri": f"sqlite:///{tmp_path}/warehouse/catalog.db"}
    catalog = load_catalog("local")
    assert isinstance(catalog, MetastoreCatalog)
    assert list(tmp_path.iterdir()) == []  # nothing is made before first use
    table = catalog.create_table("db.t", SCHEMA)
    assert table.location == f"{tmp_path}/warehouse/db/t"
    assert (tmp_path / "warehouse" / "catalog.db").is_file()


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("jdbc:sqlite:/a b/c.db", "sqlite:////a b/c.db"),
        ("jdbc:sqlite:c.db?journal_mode=WAL", "sqlite:///c.db"),
        ("sqlite:////x.db", "sqlite:////x.db"),
        ("jdbc:postgresql://h:5433/d?user=u&password=p%40", "postgresql+psycopg://u:p%40@h:5433/d"),
        ("jdbc:postgresql://h/d", "postgresql+psycopg://me:secret@h/d"),
        ("postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d"),
        ("jdbc:postgresql://h/d?sslmode=require&ApplicationName=x", "postgresql+psycopg://me:secret@h/d?sslmode=require"),
    ],
)
def test_database_uris(uri: str, expected: str) -> None:
    properties = {"jdbc.user": "me", "jdbc.password": "secret"}
    assert database_url(uri, properties).render_as_string(hide_password=False) == expected


def test_other_databases_are_refused_without_showing_a_password() -> None:
    with pytest.raises(UnsupportedError) as caught:
        database_url("mysql://u:secret@h/d", {})
    assert "secret" not in str(caught.value)
    with pytest.raises(UnsupportedError, match="neither SQLite nor PostgreSQL"):
        database_url("jdbc:mysql://h/d", {})
    with pytest.raises(InvalidArgumentError, match="not a database URI"):
        database_url("nothing", {})


@pytest.mark.parametrize(
    "uri",
    [
        "jdbc:mysql://h/d?user=u&password=hunter2",
        "jdbc:oracle:thin:scott/hunter2@h:1521/d",
        "jdbc:sqlserver://h;user=u;password=hunter2",
        "jdbc:postgresql://a,b/d?user=u&password=hunter2",
        "jdbc:postgresql://u:hunter2@h:port/d",
        "jdbc:postgresql://u:12/hunter2@h/d",
        "jdbc:postgresql://[u:hunter2@h/d",
        "jdbc:postgresql://h:99999/d?user=u&password=hunter2",
        "postgresql://u:pass@hunter2@h/d",
        "postgresql://u:hunter2@h:99999/d",
        "postgresql://u:hunter2@h:port/d",
        "postgresql://h:hunter2/d",
        "u:hunter2@h/d",
        "mysql+x://u:p@h/d?password=hunter2",
    ],
)
def test_no_error_of_a_uri_shows_a_password(uri: str) -> None:
    with pytest.raises(IcesqlError) as caught:
        open_engine(uri, {})
    assert "hunter2" not in "".join(traceback.format_exception(caught.value)[-1:])
    assert caught.value.__cause__ is None


FORK = """
import os, sys
from icesql.catalog.sql_engine import open_engine
engine = open_engine(sys.argv[1], {})
engine.connect().close()
held = engine.pool.checkedin()
child = os.fork()
if child == 0:
    os._exit(engine.pool.checkedin())
assert (held, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), engine.pool.checkedin()) == (1, 0, 1)
"""


def test_a_forked_child_has_no_connection_of_its_parent(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORK, f"sqlite:///{tmp_path}/c.db"], check=True, timeout=60)


def test_a_wrong_busy_timeout_is_named() -> None:
    with pytest.raises(InvalidArgumentError, match=r"sqlite\.busy-timeout-ms is not a number: soon"):
        open_engine("sqlite://", {"sqlite.busy-timeout-ms": "soon"})


def test_closed_catalogs_are_forgotten(tmp_path: Path) -> None:
    """A hook that runs in forked children must not hold the engines of catalogs that are gone."""
    gc.collect()
    before = len(sql_engine._engines)
    for number in range(20):
        catalog = load_catalog("c", {"uri": f"sqlite:///{tmp_path}/{number}.db", "warehouse": str(tmp_path)})
        catalog.list_namespaces()
        catalog.close()
        del catalog
    gc.collect()
    assert len(sql_engine._engines) == before


def test_contradictions_and_gaps_are_named() -> None:
    with pytest.raises(InvalidArgumentError, match="both type and catalog-impl are set"):
        load_catalog("c", {"type": "sql", "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog"})
    with pytest.raises(UnsupportedError, match="unsupported type: glue"):
        load_catalog("c", {"type": "glue"})
    catalog = load_catalog("c", {"uri": "sqlite://"})
    with pytest.raises(InvalidArgumentError, match=r"spark\.sql\.catalog\.c\.warehouse"):
        catalog.create_table("db.t", SCHEMA)
    with pytest.raises(InvalidArgumentError, match="not a name"):
        load_catalog("a.b", {})


def test_a_hadoop_catalog_on_a_store_without_rename_warns_and_refuses_to_write() -> None:
    with pytest.warns(UserWarning, match="can only be read"):
        catalog = load_catalog("c", {"type": "hadoop", "warehouse": "memory://bucket/w"})
    assert isinstance(catalog, HadoopCatalog)
    with pytest.raises(UnsupportedError, match="needs a store with atomic rename"):
        catalog.create_table("db.t", SCHEMA)


def test_a_memory_database_is_one_database_for_all_threads(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    catalog = load_catalog("c", {"uri": "sqlite://", "warehouse": str(tmp_path)})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: catalog.create_table(f"db.t{n}", SCHEMA), range(16)))
    assert len(catalog.list_tables(("db",))) == 16


LIGHT = """
import sys
before = set(sys.modules)
import icesql
new = {name.partition(".")[0] for name in set(sys.modules) - before}
assert new <= {"icesql", *sys.stdlib_module_names}, f"import icesql imports too much: {sorted(new)}"
assert not {"asyncio", "multiprocessing", "importlib.metadata"} & set(sys.modules), "import icesql imports slow modules"
catalog = icesql.connect_catalog("local", warehouse=sys.argv[1])
assert catalog.list_namespaces() == []
assert "pyspark" not in sys.modules
"""


def test_connect_catalog_never_imports_pyspark(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"typ": "hadoop"}, "unknown setting: typ. Did you mean 'type'?"),
        ({"warehous": "/data"}, "unknown setting: warehous. Did you mean 'warehouse'?"),
        ({"type": "sql", "Uri": "sqlite:///x.db"}, "unknown setting: Uri. Did you mean 'uri'?"),
        ({"catalog_impl": "org.apache.iceberg.jdbc.JdbcCatalog"}, "Did you mean 'catalog-impl'?"),
        ({"type": "hadoop"}, "type=hadoop keeps its tables in a folder: set warehouse"),
        ({"type": "hadoop", "warehouse": ""}, "set warehouse"),
    ],
)
def test_mistyped_settings_are_refused(settings: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(told)):
        load_catalog("prod", settings)


def test_settings_of_others_are_kept(tmp_path: Path) -> None:
    settings = {"type": "hadoop", "warehouse": str(tmp_path), "clients": "4", "cache.expiration-interval-ms": "1"}
    assert load_catalog("prod", settings).properties["clients"] == "4"
