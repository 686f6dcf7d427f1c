"""Binding of a call's arguments to a procedure's parameters: positions, names, defaults and casts, refused in Spark's words."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from icesql.errors import InvalidArgumentError, nearest
from icesql.procedures.base import Parameter, Procedure
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import fold


class Unknown:
    """Marks a value that only Spark can compute."""


UNKNOWN = Unknown()
_INTEGRAL = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_FRACTIONAL = ("float", "double", "decimal")
_TRUE, _FALSE = frozenset({"t", "true", "y", "yes", "1"}), frozenset({"f", "false", "n", "no", "0"})
_ORDINALS = ("first", "second", "third")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument as given. ``type`` is its Spark type; ``text`` its SQL; ``value`` is known only for constants that need no engine."""

    type: str
    text: str
    name: str | None = None
    value: Any = UNKNOWN


Evaluate = Callable[[str], Any]
"""Evaluates a SQL expression without columns; a timestamp must be asked for as its microseconds."""


def bind(procedure: Procedure, arguments: Sequence[Argument], evaluate: Evaluate, *, ansi: bool = True) -> dict[str, Any]:
    """A value for each parameter of the signature. Without ``ansi`` Spark's lenient casts hold, and ``evaluate`` makes them.

    Raises InvalidArgumentError for every misuse, before anything is done.
    """
    placed = place(procedure, arguments)
    for position, parameter in enumerate(procedure.signature):
        if parameter.name in placed:
            _check_type(placed[parameter.name], parameter, position, ansi=ansi)
    bound: dict[str, Any] = {}
    for parameter in procedure.signature:
        argument = placed.get(parameter.name)
        bound[parameter.name] = None if argument is None else cast_argument(argument, parameter.type, evaluate, ansi=ansi)
        if parameter.required and bound[parameter.name] is None:
            raise InvalidArgumentError(f"Parameter '{parameter.name}' is not set", procedure=procedure.name)
    return bound


def place(procedure: Procedure, arguments: Sequence[Argument]) -> dict[str, Argument]:
    """Arguments by parameter name; Spark's rules for positional, then named."""
    signature, routine = procedure.signature, f"`{procedure.name}`"
    by_lower = {fold(parameter.name): parameter.name for parameter in signature}
    named: str | None = None
    placed: dict[str, Argument] = {}
    if sum(argument.name is None for argument in arguments) > len(signature):
        counts = ", ".join(str(n) for n in range(sum(p.required for p in signature), len(signature) + 1))
        raise InvalidArgumentError(
            spark_message(
                "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
                f"The {routine} requires [{counts}] parameters but the actual number is {len(arguments)}.",
            )
        )
    for position, argument in enumerate(arguments):
        if argument.name is None:
            if named is not None:
                raise InvalidArgumentError(
                    spark_message(
                        "UNEXPECTED_POSITIONAL_ARGUMENT",
                        f"Cannot invoke routine {routine} because it contains positional argument(s) "
                        f"following the named "
                        f"argument assigned to `{named}`; please rearrange them so the positional arguments come first and then retry "
                        f"the query again.",
                    )
                )
            placed[signature[position].name] = argument
            continue
        named = argument.name
        target = by_lower.get(fold(argument.name))
        if target is None:
            raise _unrecognized(procedure, argument.name)
        if target in placed:
            raise _duplicate(procedure, target, positional=placed[target].name is None)
        placed[target] = argument
    for position, parameter in enumerate(signature):
        if parameter.required and parameter.name not in placed:
            raise InvalidArgumentError(
                spark_message(
                    "REQUIRED_PARAMETER_NOT_FOUND",
                    f"Cannot invoke routine {routine} because the parameter named `{parameter.name}` "
                    f"is required, but the routine "
                    f"call did not supply a value. Please update the routine call to supply an argument value (either positionally at "
                    f"index {position} or by name) "
                    "and retry the query again.",
                )
            )
    return placed


def _unrecognized(procedure: Procedure, name: str) -> InvalidArgumentError:
    known = [parameter.name for parameter in procedure.signature]
    close = nearest(name, known)
    listed = " ".join(f"`{k}`" for k in known)
    return InvalidArgumentError(
        spark_message(
            "UNRECOGNIZED_PARAMETER_NAME",
            f"Cannot invoke routine `{procedure.name}` because the routine call included a named "
            f"argument reference for the argument "
            f"named `{name}`, but this routine does not include any signature containing an argument with this name.{close} It takes: "
            f"[{listed}].",
        )
    )


def _duplicate(procedure: Procedure, name: str, *, positional: bool) -> InvalidArgumentError:
    kind, why = (
        ("BOTH_POSITIONAL_AND_NAMED", "A positional argument and named argument both referred to the same parameter. Please "
            "remove the named argument referring to this parameter.")
        if positional
        else ("DOUBLE_NAMED_ARGUMENT_REFERENCE", "More than one named argument referred to the same parameter. Please assign a "
            "value only once.")
    )  # fmt: skip
    return InvalidArgumentError(
        spark_message(
            f"DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.{kind}",
            f"Call to routine `{procedure.name}` is invalid because it includes multiple argument assignments "
            f"to the same parameter name `{name}`. {why}",
        )
    )


def _check_type(argument: Argument, parameter: Parameter, position: int, *, ansi: bool) -> None:
    if accepts(argument.type, parameter.type, ansi=ansi):
        return
    ordinal = _ORDINALS[position] if position < len(_ORDINALS) else f"{position + 1}th"
    raise InvalidArgumentError(
        spark_message(
            "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
            f"Cannot resolve CALL due to data type mismatch: The {ordinal} parameter "
            f'requires the "{parameter.type.upper()}" '
            f'type, however "{argument.text}" has the type "{argument.type.upper()}".',
        )
    )


def accepts(given: str, wanted: str, *, nested: bool = False, ansi: bool = True) -> bool:
    """Whether Spark would cast implicitly. Strings become anything at the top level, nothing but strings inside arrays and maps.

    Without ``ansi`` they become numbers and times anywhere, and no booleans.
    """
    if given in (wanted, "void"):
        return True
    if given.startswith("array<") and wanted.startswith("array<"):
        return accepts(given[6:-1], wanted[6:-1], nested=True, ansi=ansi)
    if given.startswith("map<") and wanted.startswith("map<"):
        pairs = zip(_key_and_value(given), _key_and_value(wanted), strict=True)
        return all(accepts(one, other, nested=True, ansi=ansi) for one, other in pairs)
    if "<" in given or "<" in wanted:
        return False
    if wanted == "string":
        return True
    if given == "string":
        return not nested if ansi else wanted != "boolean"
    if wanted == "timestamp":
        return given in ("date", "timestamp_ntz")
    return _is_numeric(given) and _is_numeric(wanted)


def _key_and_value(map_type: str) -> tuple[str, str]:
    inner, depth = map_type[4:-1], 0
    for at, character in enumerate(inner):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            return inner[:at].strip(), inner[at + 1 :].strip()
    return inner, "void"


def _is_numeric(name: str) -> bool:
    return name in _INTEGRAL or name.startswith(_FRACTIONAL)


def cast_argument(argument: Argument, wanted: str, evaluate: Evaluate, *, ansi: bool = True) -> Any:
    """The value in the form ``Parameter`` documents. Raises InvalidArgumentError when it does not fit."""
    value = argument.value
    if isinstance(value, Unknown) or not (ansi or argument.type == wanted or value is None):
        return _python_value(evaluate(_as_sql(argument.text, wanted)))
    return _cast_known(value, argument, wanted, evaluate)


def _cast_known(value: Any, argument: Argument, wanted: str, evaluate: Evaluate) -> Any:
    if value is None:
        return None
    if wanted in _INTEGRAL:
        return _integer(value, argument, wanted)
    if wanted == "boolean":
        return _boolean(value, argument)
    if wanted == "string" and isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    if wanted == "timestamp" and isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, list | tuple) and wanted.startswith("array<"):
        return [_cast_known(item, argument, wanted[6:-1], evaluate) for item in value]
    if isinstance(value, dict) and wanted.startswith("map<"):
        return {_text(key): _text(item) for key, item in value.items()}
    return _python_value(evaluate(_as_sql(argument.text, wanted)))


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _as_sql(text: str, wanted: str) -> str:
    return f"unix_micros(CAST(({text}) AS TIMESTAMP_LTZ))" if wanted == "timestamp" else f"CAST(({text}) AS {wanted})"


def _python_value(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


def _integer(value: Any, argument: Argument, wanted: str) -> int:
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[+-]?\d+\s*", value):
            raise _malformed(value, wanted)
        number = int(value)
    elif isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool):
        number = int(value)
    else:
        raise _malformed(str(value), wanted)
    if not -(1 << _INTEGRAL[wanted]) <= number < 1 << _INTEGRAL[wanted]:
        raise InvalidArgumentError(
            spark_message(
                "CAST_OVERFLOW",
                f'The value {number} of the type "{argument.type.upper()}" cannot be cast to "{wanted.upper()}" due to an overflow.',
            )
        )
    return number


def _boolean(value: Any, argument: Argument) -> bool:
    if isinstance(value, bool):
        return value
    lowered = str(value).strip().lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise _malformed(str(value), "boolean")


def _malformed(value: str, wanted: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        spark_message(
            "CAST_INVALID_INPUT",
            f'The value \'{value}\' of the type "STRING" cannot be cast to "{wanted.upper()}" because it is malformed. '
            "Correct the value as per the syntax, or change its target type.",
        )
    )
