"""The type of Java objects as Py4J gives them."""

from __future__ import annotations

from typing import Any, TypeAlias

JavaObject: TypeAlias = Any
"""An object, class or method of the JVM, or a Python value that Py4J made of one. Only Java knows its attributes."""
