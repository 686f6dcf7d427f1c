"""The type of what Py4J gives."""

from __future__ import annotations

from typing import Any, TypeAlias

JavaObject: TypeAlias = Any
"""An object, class or method of the JVM, or a Python value that Py4J made of one. Only Java knows its attributes."""
