"""sqlglot, always as Python source: the one place that imports it.

The compiled classes of ``sqlglotc`` (``pip install sqlglot[c]``) cannot have subclasses written in Python, which is what a dialect is.
Where they are installed, the sources they were made from lie beside them; those are loaded once more, under the name ``_icesql_sqlglot``,
and the user's own sqlglot stays as it is, whichever was imported first.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_PRIVATE = "_icesql_sqlglot"


def _private_name(name: str) -> str:
    return _PRIVATE + name.removeprefix("sqlglot") if name.partition(".")[0] == "sqlglot" else name


def _import(
    name: str, globals: Mapping[str, object] | None = None, locals: Mapping[str, object] | None = None, fromlist: Any = (), level: int = 0
) -> ModuleType:
    """``import`` as the copy sees it: ``sqlglot`` is the copy."""
    if name == "importlib" and level == 0:
        return _Importlib("importlib")
    return builtins.__import__(name if level else _private_name(name), globals, locals, fromlist, level)


class _Importlib(ModuleType):
    """``importlib`` as the copy sees it."""

    @staticmethod
    def import_module(name: str, package: str | None = None) -> ModuleType:
        return importlib.import_module(_private_name(name), package)

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib, name)


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


class _Finder:
    """Finds ``_icesql_sqlglot`` and what is in it: the Python files of sqlglot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        top, *inner = name.split(".")
        if top != _PRIVATE:
            return None
        place = self.folder.joinpath(*inner)
        package = place / "__init__.py"
        if package.exists():
            return spec_from_file_location(name, package, loader=_Loader(name, str(package)), submodule_search_locations=[str(place)])
        file = place.with_suffix(".py")
        return spec_from_file_location(name, file, loader=_Loader(name, str(file))) if file.exists() else None


def _name_of_sources() -> str:
    """The package to import: sqlglot itself where it is all Python, else its copy."""
    loaded = sys.modules.get("sqlglot")
    spec = loaded.__spec__ if loaded is not None else find_spec("sqlglot")
    if spec is None or spec.origin is None:
        raise ImportError("Cannot parse SQL: the package sqlglot is not installed: pip install 'sqlglot>=27'")
    folder = Path(spec.origin).parent
    specs = (PathFinder.find_spec(f"sqlglot.{name}", [str(folder)]) for name in ("parser", "tokenizer_core"))
    if all(spec is None or str(spec.origin).endswith(".py") for spec in specs):
        return "sqlglot"
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(folder))
    return _PRIVATE


_PACKAGE = _name_of_sources()
is_private_copy = _PACKAGE == _PRIVATE


def module(name: str) -> Any:
    """A module of sqlglot (``dialects.trino``) in the same world as all below."""
    return importlib.import_module(f"{_PACKAGE}.{name}")


exp: Any = module("expressions")
Spark: Any = module("dialects.spark").Spark
ParseError: Any = module("errors").ParseError
TokenError: Any = module("errors").TokenError
UnsupportedError: Any = module("errors").UnsupportedError
ErrorLevel: Any = module("errors").ErrorLevel
SqlglotToken: Any = module("tokens").Token
TokenType: Any = module("tokens").TokenType


def sqlglot() -> Any:
    """The package itself, or its copy."""
    return importlib.import_module(_PACKAGE)


def users_module(name: str) -> Any:
    """A module of the sqlglot that users import, compiled or not."""
    return importlib.import_module(f"sqlglot.{name}")
