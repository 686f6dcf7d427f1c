"""The types of computed values, as Spark finds them in ANSI mode."""

from __future__ import annotations

import re
from decimal import Decimal

from icesql.errors import InvalidArgumentError
from icesql.expr.formula import Calculation, Column, Formula, Literal, Value, text_of
from icesql.expr.tree import BoundReference
from icesql.spec.types import BooleanType, DateType, DecimalType, DoubleType, FloatType, IntegerType, LongType, StringType, Type

INTEGERS = (IntegerType, LongType)
FLOATING = (FloatType, DoubleType)
NUMBERS = (*INTEGERS, DecimalType, *FLOATING)
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_PLAIN: dict[str, Type] = {
    "tinyint": IntegerType(),
    "smallint": IntegerType(),
    "int": IntegerType(),
    "bigint": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "string": StringType(),
    "boolean": BooleanType(),
    "date": DateType(),
}
_LARGEST = 38  # digits of a decimal
_LEAST_SCALE = 6  # of a result that is cut to 38 digits


def type_of(value: Value) -> Type:
    """Raises InvalidArgumentError where the function does not take its arguments' types without a cast."""
    match value:
        case Column(reference=BoundReference() as term):
            return term.type
        case Column(reference=reference):
            raise InvalidArgumentError(f"Cannot filter rows: predicate is not bound: {reference.name}")
        case Literal(type=name):
            return literal_type(name)
        case Calculation(arguments=arguments):
            return result_type(value, tuple(type_of(argument) for argument in arguments))


def literal_type(name: str) -> Type:
    decimal = _DECIMAL.fullmatch(name)
    if decimal:
        return DecimalType(int(decimal[1]), int(decimal[2]))
    if name not in _PLAIN:
        raise InvalidArgumentError(f"Cannot use filter: a {name} cannot be computed with")
    return _PLAIN[name]


def result_type(value: Calculation, types: tuple[Type, ...]) -> Type:
    match value.function, types:
        case "length", (StringType(),):
            return IntegerType()
        case (("negative" | "abs"), (IntegerType() | LongType() | FloatType() | DoubleType() | DecimalType() as only,)):
            return only
        case (("+" | "-"), (DateType(), IntegerType())):
            return DateType()
        case "+", (IntegerType(), DateType()):
            return DateType()
        case _, (left, right) if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
            return _arithmetic(value, *(operand_type(value, at) for at in (0, 1)))
    raise _refusal(value, types)


def operand_type(value: Calculation | Formula, at: int) -> Type:
    """The type of an operand. Beside a decimal, a whole literal has the digits it is written with, and a whole column all of its type's."""
    operands = (value.left, value.right) if isinstance(value, Formula) else value.arguments
    own, other = type_of(operands[at]), type_of(operands[1 - at])
    if isinstance(own, INTEGERS) and isinstance(other, DecimalType):
        operand = operands[at]
        if isinstance(operand, Literal):
            return DecimalType(len(str(abs(int(str(operand.value))))), 0)
        return DecimalType(10 if isinstance(own, IntegerType) else 20, 0)
    return own


def _arithmetic(value: Calculation, left: Type, right: Type) -> Type:
    common = wider(left, right)
    if value.function == "div":
        if not isinstance(common, INTEGERS):
            raise _refusal(value, (left, right))
        return LongType()
    if isinstance(common, DecimalType):
        assert isinstance(left, DecimalType)
        assert isinstance(right, DecimalType)
        return _decimal(value.function, left, right)
    return DoubleType() if value.function == "/" else common


def wider(left: Type, right: Type) -> Type:
    """The type in which two numbers are added or compared. Decimals and whole numbers beside a float or double are doubles."""
    if isinstance(left, DecimalType) and isinstance(right, DecimalType):
        scale = max(left.scale, right.scale)
        return DecimalType(min(_LARGEST, max(left.precision - left.scale, right.precision - right.scale) + scale), scale)
    if isinstance(left, FLOATING) or isinstance(right, FLOATING):
        return FloatType() if isinstance(left, FloatType) and isinstance(right, FloatType) else DoubleType()
    if isinstance(left, DecimalType) or isinstance(right, DecimalType):
        return left if isinstance(left, DecimalType) else right
    return LongType() if isinstance(left, LongType) or isinstance(right, LongType) else IntegerType()


def exact_decimal(function: str, left: DecimalType, right: DecimalType) -> tuple[int, int]:
    """Precision and scale that lose nothing (of a quotient: those that Spark asks for), perhaps beyond 38 digits."""
    whole = (left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    match function:
        case "+" | "-":
            return max(whole) + scale + 1, scale
        case "*":
            return left.precision + right.precision + 1, left.scale + right.scale
        case "/":
            scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
            return whole[0] + right.scale + scale, scale
        case _:
            return min(whole) + scale, scale


def _decimal(function: str, left: DecimalType, right: DecimalType) -> DecimalType:
    precision, scale = exact_decimal(function, left, right)
    if precision <= _LARGEST:
        return DecimalType(precision, scale)
    return DecimalType(_LARGEST, max(_LARGEST - (precision - scale), min(scale, _LEAST_SCALE)))


def check_comparison(formula: Formula) -> None:
    """Raises InvalidArgumentError where the two sides cannot be compared without a cast."""
    left, right = type_of(formula.left), type_of(formula.right)
    alike = type(left) is type(right) and isinstance(left, (StringType, BooleanType, DateType))
    times = type(left) is type(right) and str(left).startswith("timestamp")
    if not (alike or times or (isinstance(left, NUMBERS) and isinstance(right, NUMBERS))):
        raise InvalidArgumentError(f"Cannot use filter: {left} and {right} cannot be compared without a cast: {formula}")


def _refusal(value: Calculation, types: tuple[Type, ...]) -> InvalidArgumentError:
    given = ", ".join(map(str, types))
    return InvalidArgumentError(f"Cannot use filter: {value.function} does not take {given} without a cast: {text_of(value)}")


def as_decimal(value: object) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))
