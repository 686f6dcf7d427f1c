"""Checks the arguments of the Python API against their annotations before a call does anything.

``@checked`` does so for every public method of a class, ``@checked_call`` for one function. Annotations are taken at their word: ``int``
does not accept a bool, ``Sequence[str]`` does not accept a string, an iterable is checked item by item and passed on as a list.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from numbers import Integral, Real
from operator import index
from typing import Any, TypeVar

from icesql.errors import InvalidArgumentError
from icesql.expr.tree import Expression
from icesql.spec.schema import Schema
from icesql.spec.types import PrimitiveType, StructType, Type

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., Any])

_ARROW_ROWS = "a Table of pyarrow, a data frame of polars or pandas, or another Arrow stream (__arrow_c_stream__)"
_SHOWN = 80  # characters of a refused value
_FILTERS = frozenset(typing.get_args(Expression))
_TYPES = frozenset(typing.get_args(Type))
# Names that modules import for their annotations alone.
_LATE = {
    "pa": ("pyarrow", None),
    "Column": ("pyspark.sql", "Column"),
    "DataFrame": ("pyspark.sql", "DataFrame"),
    "ArrowStream": ("icesql.io.arrow.stream", "ArrowStream"),
    "ProduceSnapshot": ("icesql.table.snapshot.produce", "ProduceSnapshot"),
    "ViewMetadata": ("icesql.spec.views", "ViewMetadata"),
}


class _UnfitError(Exception):
    """A value does not fit its rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a parameter accepts: a description in words, and a function that returns the fitting value or raises."""

    words: str
    fit: Callable[[Any], Any]


def checked(cls: _C) -> _C:
    """Check the calls of all public methods that the class itself defines. Raises InvalidArgumentError in them."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, types.FunctionType):
            setattr(cls, name, checked_call(member))
        elif isinstance(member, staticmethod):
            setattr(cls, name, staticmethod(checked_call(member.__func__)))
    return cls


def checked_call(function: _F) -> _F:
    """Check the calls of one function or method. Annotations are read with the first call, when all modules are there."""
    if hasattr(function, "_is_checked"):
        return function

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        door = doors[0] if doors else _opened(doors, function)
        return function(*door.positional(given), **door.named(named))

    doors: list[_Door] = []
    call._is_checked = True  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _opened(doors: list[_Door], function: Callable[..., Any]) -> _Door:
    doors.append(_Door.of(function))
    return doors[0]


@dataclass(frozen=True, slots=True)
class _Door:
    """The rules of one function: by position, by name, and for ``*args`` and ``**kwargs``."""

    name: str
    in_order: tuple[tuple[str, Rule | None], ...]
    by_name: Mapping[str, Rule | None]
    more: tuple[str, Rule | None] | None
    also_named: Mapping[str, str]

    @staticmethod
    def of(function: Callable[..., Any]) -> _Door:
        in_order: list[tuple[str, Rule | None]] = []
        by_name: dict[str, Rule | None] = {}
        more = None
        also_named: Mapping[str, str] = getattr(function, "also_named", {})
        for parameter in inspect.signature(function).parameters.values():
            if also_named and parameter.kind is parameter.VAR_KEYWORD:
                continue
            rule = _rule_of(function, parameter)
            if parameter.kind is parameter.VAR_POSITIONAL:
                more = (parameter.name, rule)
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                in_order.append((parameter.name, rule))
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                by_name[parameter.name] = rule
        return _Door(function.__name__, tuple(in_order), by_name, more, also_named)

    def positional(self, given: tuple[Any, ...]) -> list[Any]:
        known = len(self.in_order)
        passed = [self._passed(name, rule, value) for (name, rule), value in zip(self.in_order, given, strict=False)]
        if self.more is None:
            return [*passed, *given[known:]]  # too many are Python's to refuse
        name, rule = self.more
        return [*passed, *(self._passed(name, rule, value) for value in given[known:])]

    def named(self, given: dict[str, Any]) -> dict[str, Any]:
        """By the parameters' own names. Raises TypeError, as Python does, for a name that nothing has or that is given twice."""
        passed: dict[str, Any] = {}
        for name, value in given.items():
            own = self.also_named.get(name, name)
            if own in passed:
                raise TypeError(f"{self.name}() got multiple values for argument '{own}', one of them as '{name}'")
            if self.also_named and own not in self.by_name:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
            passed[own] = self._passed(name, self.by_name.get(own), value)
        return passed

    def _passed(self, name: str, rule: Rule | None, value: Any) -> Any:
        if rule is None:
            return value
        try:
            return rule.fit(value)
        except _UnfitError:
            raise unfit(f"call {self.name}", name.rstrip("_"), rule.words, value) from None


def unfit(doing: str, what: str, words: str, value: object) -> InvalidArgumentError:
    """``Cannot <doing>: <what> must be <words>, not <kind>: <value>``, and what to write instead of another library's filter."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    hint = ""
    if "Expression" in words and type(value).__module__.partition(".")[0] in ("pyarrow", "pyspark", "polars", "pandas"):
        hint = '. Write the filter as SQL text instead, such as "id > 1"'
    return InvalidArgumentError(f"Cannot {doing}: {what} must be {words}, not {type(value).__name__}: {shown}{hint}", value=value)


# -- from annotations to rules -----------------------------------------------------------------------------------------
def _rule_of(function: Callable[..., Any], parameter: inspect.Parameter) -> Rule | None:
    """The rule of a parameter; ``None`` accepts anything (``self``, and parameters annotated ``object`` or ``Any``)."""
    if parameter.annotation is parameter.empty:
        return None
    annotation = parameter.annotation
    if isinstance(annotation, str):
        annotation = eval(annotation, {}, _Names(vars(sys.modules[function.__module__])))
    return None if annotation in (Any, object) or isinstance(annotation, TypeVar) else rule_of(annotation)


class _Names(dict[str, Any]):
    """The names of a module, with those that it imports only for annotations."""

    def __missing__(self, name: str) -> Any:
        if name not in _LATE:
            raise KeyError(name)
        module, member = _LATE[name]
        return import_module(module) if member is None else getattr(import_module(module), member)


@functools.cache
def rule_of(annotation: Any) -> Rule:
    """The rule of an annotation. Raises TypeError for an annotation that cannot be checked."""
    origin: Any = typing.get_origin(annotation)
    parts = typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _any_of(parts)
    if origin is typing.Literal:
        return Rule(" or ".join(map(repr, parts)), _one_of(parts))
    if origin is tuple and parts[1:] == (Ellipsis,):
        return _items(parts[0], "a tuple of", (tuple, list), tuple)
    if origin is tuple:
        return Rule(f"a tuple of {len(parts)}", _fixed_tuple(tuple(map(rule_of, parts))))
    if origin is list:
        return _items(parts[0], "a list of", (list, tuple), list)
    if origin is Sequence:
        return _items(parts[0], "a sequence of", (Sequence,), list)
    if origin is Iterable:
        return _items(parts[0], "an iterable of", (Iterable,), list)
    if origin in (frozenset, AbstractSet):
        return _items(parts[0], "a set of", (AbstractSet,), frozenset)
    if origin in (Mapping, dict):
        return _mapping(rule_of(parts[0]), rule_of(parts[1]))
    if origin is Callable or annotation is Callable:
        return Rule("a function", _test(callable))
    if annotation in (Any, object):
        return Rule("anything", lambda value: value)
    if isinstance(annotation, type):
        return _of_class(annotation)
    raise TypeError(f"no rule for {annotation!r}")


def _of_class(cls: type) -> Rule:
    if cls is types.NoneType:
        return Rule("None", _test(lambda value: value is None))
    if cls is bool:
        return Rule("True or False", _test(lambda value: isinstance(value, bool)))
    if cls is int:
        return Rule("an int", _integer)
    if cls is float:
        return Rule("a number", _test(lambda value: isinstance(value, Real) and not isinstance(value, bool)))
    if cls is Schema:
        return Rule("a Schema", _schema)
    if getattr(cls, "_is_protocol", False):
        if "__arrow_c_stream__" in vars(cls):
            return Rule(_ARROW_ROWS, _test(lambda value: hasattr(value, "__arrow_c_stream__")))
        wanted = [name for name in vars(cls) if not name.startswith("_")]
        return Rule(f"a {cls.__name__}", _test(lambda value: all(hasattr(value, name) for name in wanted)))
    if issubclass(cls, Enum):
        return Rule(" or ".join(map(str, cls)), _test(lambda value: isinstance(value, cls)))
    return Rule("text" if cls is str else f"{_article(cls.__name__)} {cls.__name__}", _test(lambda value: isinstance(value, cls)))


def _article(noun: str) -> str:
    return "an" if noun[0] in "AEIOUaeiou" else "a"


def _test(is_fit: Callable[[Any], bool]) -> Callable[[Any], Any]:
    def fit(value: Any) -> Any:
        if not is_fit(value):
            raise _UnfitError
        return value

    return fit


def _one_of(values: tuple[Any, ...]) -> Callable[[Any], Any]:
    return _test(lambda value: any(type(value) is type(one) and value == one for one in values))


def _integer(value: Any) -> int:
    """numpy's integers become Python's, so that metadata can hold them."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _UnfitError
    return index(value)


def _schema(value: Any) -> Schema:
    """A schema whose types are ``Type`` values: a type given as text would look the same in messages and fail elsewhere."""
    if not isinstance(value, Schema) or not isinstance(value.fields, tuple):
        raise _UnfitError
    if not all(isinstance(field.type, tuple(_TYPES)) for _, field, _ in value.walk()):
        raise _UnfitError
    return value


def _any_of(parts: tuple[Any, ...]) -> Rule:
    """A rule that accepts what any of several accepts. Filter classes and type classes share one word each."""
    rules = [rule_of(part) for part in parts]
    kinds = [(part, rule.words) for part, rule in zip(parts, rules, strict=True)]
    words = list(dict.fromkeys(_family(part, parts) or word for part, word in kinds))
    fits = [rule.fit for rule in rules]

    def fit(value: Any) -> Any:
        for one in fits:
            try:
                return one(value)
            except _UnfitError:
                continue
        raise _UnfitError

    return Rule(" or ".join(words), fit)


def _family(part: Any, parts: tuple[Any, ...]) -> str | None:
    if part in _FILTERS and set(parts) >= _FILTERS:
        return "an Expression of icesql.expr.tree"
    if part in _TYPES and {PrimitiveType, StructType} <= set(parts):
        return "a Type"
    return None


def _items(item: Any, words: str, kinds: Any, made: Callable[[Iterable[Any]], Any]) -> Rule:
    rule = rule_of(item)

    def fit(value: Any) -> Any:
        if not isinstance(value, kinds) or isinstance(value, str | bytes | bytearray):
            raise _UnfitError
        return made([rule.fit(one) for one in value])

    return Rule(f"{words} {rule.words.removeprefix('a ').removeprefix('an ')}", fit)


def _fixed_tuple(rules: tuple[Rule, ...]) -> Callable[[Any], Any]:
    def fit(value: Any) -> Any:
        if not isinstance(value, tuple) or len(value) != len(rules):
            raise _UnfitError
        return tuple(rule.fit(one) for rule, one in zip(rules, value, strict=True))

    return fit


def _mapping(key: Rule, item: Rule) -> Rule:
    def fit(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _UnfitError
        return {key.fit(name): item.fit(one) for name, one in value.items()}

    return Rule(f"a mapping of {key.words} to {item.words}", fit)
