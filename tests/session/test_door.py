"""What a session is handed is checked before anything is done, and what it shows holds no secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as F

from icesql.errors import InvalidArgumentError
from icesql.session.session import Session

pytestmark = pytest.mark.spark
REDACTED = "*********(redacted)"


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    warehouse = tmp_path_factory.mktemp("door")
    session = Session(spark, {"d": {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE d.db")
    session.sql(
        "CREATE TABLE d.db.t (id bigint) TBLPROPERTIES ('my.password'='hunter2', 'api.token'='hunter2', 'url'='u://hunter2', "
        "'plain'='seen', 'note'='the secret is hunter2')"
    )
    session.sql("INSERT INTO d.db.t VALUES (1), (2)")
    session.sql("CREATE VIEW d.db.v TBLPROPERTIES ('my.password'='hunter2', 'plain'='seen') AS SELECT id FROM d.db.t")
    yield session


def shown(ice: Session, text: str) -> str:
    return "\n".join(str(value) for row in ice.sql(text).collect() for value in row)


@pytest.mark.parametrize(
    "text",
    [
        "DESCRIBE EXTENDED d.db.t",
        "SHOW TBLPROPERTIES d.db.t",
        "SHOW CREATE TABLE d.db.t",
        "DESCRIBE EXTENDED d.db.v",
        "SHOW TBLPROPERTIES d.db.v",
        "SHOW CREATE TABLE d.db.v",
    ],
)
def test_secrets_are_not_shown(ice: Session, text: str) -> None:
    told = shown(ice, text)
    assert "hunter2" not in told
    assert REDACTED in told
    assert "seen" in told


def test_a_secret_asked_for_by_its_key_is_not_shown(ice: Session) -> None:
    assert [tuple(row) for row in ice.sql("SHOW TBLPROPERTIES d.db.t ('my.password')").collect()] == [("my.password", REDACTED)]
    assert ice.table("d.db.t").properties["my.password"] == "hunter2"


def test_what_is_secret_is_sparks_setting(ice: Session) -> None:
    ice.sql("SET spark.sql.redaction.options.regex=(?i)plain")
    try:
        told = dict(tuple(row) for row in ice.sql("SHOW TBLPROPERTIES d.db.t").collect())
    finally:
        ice.sql("RESET spark.sql.redaction.options.regex")
    assert (told["plain"], told["url"], told["my.password"]) == (REDACTED, "u://hunter2", REDACTED)


WRONG: list[Any] = [None, object(), 3.5, b"x", True, [1], pc.field("id") > 1]


@pytest.mark.parametrize("value", WRONG, ids=[type(value).__name__ for value in WRONG])
def test_names_and_filters_of_a_session_are_checked(ice: Session, value: Any) -> None:
    frame, before = ice.spark.range(1), ice.table("d.db.t").metadata_location
    given: Any = object() if value is None else value  # no filter is every row, no branch is main
    calls = [
        lambda: ice.sql(value),
        lambda: ice.table(value),
        lambda: ice.call(value),
        lambda: ice.read.table(value),
        lambda: ice.read.option(value, "x"),
        lambda: ice.write_to(frame, value),
        lambda: ice.write_to(value, "d.db.t"),
        lambda: ice.write_to(frame, "d.db.t").overwrite(value),
        lambda: ice.write_to(frame, "d.db.t").tableProperty("k", value),
        lambda: ice.merge_into(frame, "d.db.t", value),
        lambda: ice.table("d.db.t").append(frame, branch=given),
        lambda: ice.table("d.db.t").append(value),
        lambda: ice.table("d.db.t").overwrite(frame, given),
    ]
    for call in calls:
        with pytest.raises(InvalidArgumentError, match=" must be "):
            call()
    assert ice.table("d.db.t").metadata_location == before


def test_a_misspelt_setting_of_a_write_is_refused(ice: Session) -> None:
    with pytest.raises(TypeError, match="branc"):
        ice.table("d.db.t").append(ice.spark.range(1), branc="audit")  # type: ignore[call-arg]


def test_columns_and_text_are_taken(ice: Session) -> None:
    ice.sql("CREATE TABLE d.db.w (id bigint)")
    ice.write_to(ice.spark.range(3), "d.db.w").append()
    ice.write_to(ice.spark.range(7, 8), "d.db.w").overwrite(F.col("id") >= 0)
    ice.write_to(ice.spark.range(8, 9), "d.db.w").overwrite("id >= 0")
    assert sorted(row.id for row in ice.sql("SELECT id FROM d.db.w").collect()) == [8]
