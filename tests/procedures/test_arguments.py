"""Arguments bind as Spark binds them, and are refused in Spark's words."""

from __future__ import annotations

import datetime

import pytest

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.procedures.arguments import Argument, accepts, bind
from icesql.procedures.registry import NAMES, procedure, procedures


def argument(value: object, type_: str, name: str | None = None) -> Argument:
    return Argument(name=name, type=type_, text=repr(value), value=value)


def never(text: str) -> object:
    raise AssertionError(f"nothing to evaluate: {text}")


def test_positional_then_named_fill_the_signature() -> None:
    bound = bind(procedure("expire_snapshots"), [argument("db.t", "string"), argument(3, "int", "RETAIN_LAST")], never)
    assert bound["table"] == "db.t"
    assert bound["retain_last"] == 3
    assert bound["older_than"] is None
    assert bound["dry_run"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "REQUIRED_PARAMETER_NOT_FOUND"),
        ([argument("a", "string", "tabl")], "UNRECOGNIZED_PARAMETER_NAME"),
        ([argument("a", "string", "tabl")], "Did you mean 'table'"),
        ([argument("a", "string"), argument("b", "string", "table")], "BOTH_POSITIONAL_AND_NAMED"),
        ([argument("a", "string", "table"), argument("b", "string", "table")], "DOUBLE_NAMED_ARGUMENT_REFERENCE"),
        ([argument("a", "string", "table"), argument(1, "int")], "UNEXPECTED_POSITIONAL_ARGUMENT"),
        ([argument("a", "string"), argument(True, "boolean")], 'The second parameter requires the "BIGINT" type'),
        ([argument("a", "string"), argument("2.2", "string")], "CAST_INVALID_INPUT"),
        ([argument("a", "string"), argument(None, "void")], "Parameter 'snapshot_id' is not set"),
        ([argument("a", "string"), argument(1 << 63, "decimal(20,0)")], "CAST_OVERFLOW"),
        ([argument(1, "int")] * 9, "WRONG_NUM_ARGS"),
        ([argument("a", "string"), *[argument(1, "int", "snapshot_id")] * 9], "DOUBLE_NAMED_ARGUMENT_REFERENCE"),
    ],
)
def test_misuse_is_refused_before_anything_is_done(arguments: list[Argument], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message.replace("(", r"\(")):
        bind(procedure("rollback_to_snapshot"), arguments, never)


def test_a_timestamp_with_a_zone_needs_no_engine() -> None:
    moment = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    bound = bind(procedure("rollback_to_timestamp"), [argument("t", "string"), argument(moment, "timestamp")], never)
    assert bound["timestamp"] == int(moment.timestamp()) * 1_000_000


def test_an_expression_is_evaluated_with_a_cast_to_the_parameter() -> None:
    asked = []

    def evaluate(text: str) -> int:
        asked.append(text)
        return 1

    bind(procedure("rollback_to_timestamp"), [argument("t", "string"), Argument(type="timestamp", text="now()")], evaluate)
    assert asked == ["unix_micros(CAST((now()) AS TIMESTAMP_LTZ))"]


@pytest.mark.parametrize(
    ("given", "wanted", "fits"),
    [
        ("int", "bigint", True),
        ("decimal(2,1)", "bigint", True),
        ("string", "boolean", True),
        ("date", "timestamp", True),
        ("int", "timestamp", False),
        ("boolean", "bigint", False),
        ("array<int>", "array<bigint>", True),
        ("array<string>", "array<bigint>", False),
        ("array<void>", "array<bigint>", True),
        ("map<string,int>", "map<string,string>", True),
        ("array<int>", "int", False),
        ("void", "map<string,string>", True),
    ],
)
def test_implicit_casts(given: str, wanted: str, fits: bool) -> None:
    assert accepts(given, wanted) is fits


@pytest.mark.parametrize(
    ("given", "wanted", "fits"),
    [
        ("string", "boolean", False),
        ("array<string>", "array<bigint>", True),
        ("int", "timestamp", False),
        ("map<string,int>", "bigint", False),
    ],
)
def test_implicit_casts_without_ansi(given: str, wanted: str, fits: bool) -> None:
    assert accepts(given, wanted, ansi=False) is fits


def test_without_ansi_spark_makes_the_casts() -> None:
    bound = bind(
        procedure("expire_snapshots"), [argument("t", "string"), argument("x", "string", "retain_last")], lambda text: text, ansi=False
    )
    assert bound["table"] == "t"
    assert bound["retain_last"] == "CAST(('x') AS int)"


def test_names_are_found_in_any_case_and_the_nearest_is_named() -> None:
    assert procedure("Rewrite_Manifests").name == "rewrite_manifests"
    with pytest.raises(NotFoundError, match="Did you mean 'rewrite_manifests'"):
        procedure("rewrite_manifest")


def test_every_procedure_takes_the_table_first_and_tells_what_it_does() -> None:
    for found in procedures():
        assert found.name in NAMES
        assert found.parameters[0].name in ("table", "source_table")
        assert found.summary.endswith(".")
        names = [parameter.name for parameter in found.signature]
        assert names.count("dry_run") == (1 if found.mutating else 0)
