"""Mutated statements of the case files, run by a session: our errors or Spark's, and a table that is whole after each."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import IcesqlError, SqlError
from icesql.parser import parse
from icesql.session.resolve.resolver import readable
from icesql.session.session import Session
from tests.parser.test_fuzz import FRAGMENTS
from tests.sql.case_files import read_cases

SQL = Path(__file__).parents[1] / "sql"
FILES = [
    *(SQL / "cases" / f"{name}.sql" for name in ("ddl_alter", "dml_update", "ext_refs", "query_metadata")),
    *sorted(path for path in (SQL / "live").glob("*.sql") if "procedures" not in path.name),
]
PARSED = int(os.environ.get("ICESQL_FUZZ_PARSED", "5000"))
RUN = int(os.environ.get("ICESQL_FUZZ_RUN", "250"))
# Run between the mutations, which succeed seldom: what they left must still work.
GOOD = ["SELECT id, s FROM local.f.t", "UPDATE local.f.t SET s = 'c' WHERE id = 1", "INSERT INTO local.f.t.branch_b (id) VALUES (2)"]
# Statements that reach outside the test's folder, change the session for others, or would wait.
LEFT_OUT = re.compile(r"\b(call|set|reset|add\s+(jar|file)|load|directory|location|use|cache|java_method|reflect|sleep)\b|range\s*\(", re.I)


def statements() -> list[str]:
    found = {step.sql.replace("{ns}", "local.f") for path in FILES for case in read_cases(path) for step in case.steps}
    return sorted(text for text in found if "{" not in text)


def mutated(text: str, chance: random.Random, others: list[str]) -> str:
    """The text with words dropped, doubled, swapped or replaced, fragments put in, or characters cut."""
    words = re.findall(r"\s+|\w+|[^\w\s]", text)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(words)) if words else 0
        match chance.randrange(6):
            case 0:
                del words[place : place + chance.randint(1, 3)]
            case 1:
                words[place:place] = words[place : place + 2]
            case 2:
                words.insert(place, chance.choice(FRAGMENTS) + " ")
            case 3 if words:
                other = chance.randrange(len(words))
                words[place], words[other] = words[other], words[place]
            case 4 if words:
                words[place] = chance.choice(re.findall(r"\w+|[^\w\s]", chance.choice(others)) or ["x"])
            case _:
                words = words[: max(1, place)]
    return "".join(words)


def test_every_mutation_is_read_or_refused_with_its_place():
    chance, texts = random.Random(20261121), statements()
    assert len(texts) > 1000
    slowest = 0.0
    for _ in range(PARSED):
        text = mutated(chance.choice(texts), chance, texts)
        began = time.monotonic()
        try:
            parse(text)
        except SqlError as error:
            assert error.message.strip(), text
            assert error.line is None or 1 <= error.line <= text.count("\n") + 1, text
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 10, "a statement took far too long to read"


@pytest.fixture(scope="module")
def session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    return Session(spark, {"local": {"type": "hadoop", "warehouse": str(tmp_path_factory.mktemp("fuzz"))}})


def make_table(session: Session) -> str:
    """``local.f.t`` anew, with a row, a branch and a tag; where its metadata is."""
    session.sql("CREATE NAMESPACE IF NOT EXISTS local.f")
    session.sql("CREATE OR REPLACE TABLE local.f.t (id int, s string, data string, ts timestamp, p struct<x: int>) USING iceberg")
    session.sql("INSERT INTO local.f.t VALUES (1, 'a', 'b', timestamp'2020-01-01 00:00:00', named_struct('x', 1))")
    session.sql("ALTER TABLE local.f.t CREATE OR REPLACE BRANCH b")
    return metadata_location(session)


def metadata_location(session: Session) -> str:
    return str(session.table("local.f.t").metadata_location) if readable(session.state, ("local", "f", "t")) else ""


@pytest.mark.spark
def test_a_session_raises_only_its_own_errors_and_sparks_and_applies_no_half(session: Session):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    chance, texts = random.Random(3), statements()
    before, ran, refused = make_table(session), 0, 0
    while ran < RUN:
        text = chance.choice(GOOD) if ran % 10 == 0 else mutated(chance.choice(texts), chance, texts)
        if LEFT_OUT.search(text):
            continue
        ran += 1
        try:
            session.sql(text)
        except (IcesqlError, PySparkException, Py4JJavaError) as error:
            refused += 1
            assert str(error).strip(), text
            assert metadata_location(session) == before, f"half applied: {text!r}"
            if isinstance(error, Py4JJavaError):
                assert "org.apache.spark" in str(error.java_exception), f"{text!r}: {error}"
        if session.state.transaction_in_progress is not None:
            session.sql("ROLLBACK")
        after = metadata_location(session)
        if after != before:
            before = make_table(session)
    assert 0 < refused < ran
    assert session.sql("SELECT id FROM local.f.t").count() == 1
