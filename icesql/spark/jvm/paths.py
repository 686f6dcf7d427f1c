"""File locations as Hadoop names them. Metadata holds a *location*, never percent-decoded; ``Path`` takes its characters as they are."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:")
_LOCAL = re.compile(r"^file:/*")


def hadoop_path(location: str) -> str:
    """The text for ``new Path(...)``: a location without a scheme is a local file, whatever ``fs.defaultFS`` says."""
    return location if _SCHEME.match(location) else "file:" + location


def location_key(location: str) -> str:
    """One spelling for each file: ``/x``, ``file:/x`` and ``file:///x`` are the same."""
    local = _LOCAL.match(location)
    return "/" + location[local.end() :] if local else location
