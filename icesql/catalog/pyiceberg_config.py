"""PyIceberg's configuration as a last source: ``PYICEBERG_CATALOG__NAME__KEY`` and ``.pyiceberg.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.table.after_commit import tell

_PREFIX = "PYICEBERG_CATALOG__"
_HOME = "PYICEBERG_HOME"
_FILE = ".pyiceberg.yaml"


def pyiceberg_catalogs(environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Properties by name of catalog; the environment wins over the file. Raises InvalidArgumentError for a file that is no YAML."""
    properties = _of_file(environ)
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX):
            continue
        name, _, key = variable[len(_PREFIX) :].lower().partition("__")
        if name and key:
            properties.setdefault(name, {})[key.replace("__", ".").replace("_", "-")] = value
    return properties


def _of_file(environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    path = _file(environ)
    if path is None:
        return {}
    try:
        import yaml
    except ImportError:
        tell(f"Catalogs of {path} are not known: package pyyaml is missing: pip install 'icesql[rest]'")
        return {}
    try:
        node = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # every value as text, as PyIceberg reads it
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f" at line {mark.line + 1}"
        raise InvalidArgumentError(f"Cannot read catalogs of {path}: not YAML{place}") from None
    catalogs = node.get("catalog") if isinstance(node, dict) else None
    if not isinstance(catalogs, dict):
        return {}
    return {str(name): dict(_flat(catalog)) for name, catalog in catalogs.items() if isinstance(catalog, dict)}


def _file(environ: Mapping[str, str]) -> Path | None:
    """In ``PYICEBERG_HOME``, in the user's home, or in the current folder: the first that is there. Nowhere without a home."""
    folders = [environ[key] for key in (_HOME, "HOME") if environ.get(key)]
    candidates = (Path(folder) / _FILE for folder in ([*folders, "."] if folders else []))
    return next((path for path in candidates if path.is_file()), None)


def _flat(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested maps as keys with dots."""
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
