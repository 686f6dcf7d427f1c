"""File locations as Spark names them.

Metadata holds a *location*: never percent-decoded. Hadoop's ``Path`` takes the same characters as they are; Spark's
``_metadata.file_path`` and ``input_file_name()`` hold the percent-encoded URI of it. All crossings go through this module.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:")
_LOCAL = re.compile(r"^file:/*")
# What java.net.URI leaves alone in a path: unreserved, punctuation, "/" and "@", and every non-ASCII letter.
_LEGAL = re.compile(r"[A-Za-z0-9_\-!.~'()*,;:$&+=/@\u00a1-\U0010ffff]")


def hadoop_path(location: str) -> str:
    """The text for ``new Path(...)``: a location without a scheme is a local file, whatever ``fs.defaultFS`` says."""
    return location if _SCHEME.match(location) else "file:" + location


def to_uri(location: str) -> str:
    """The URI Spark reports for a location, as in ``_metadata.file_path``."""
    path = hadoop_path(location)
    scheme, rest = path.split(":", 1)
    if rest.startswith("//"):
        authority, slash, rest = rest[2:].partition("/")
        prefix, rest = f"{scheme}://{authority}", slash + rest
    else:
        prefix, rest = scheme + ":", rest
    if scheme == "file":
        prefix = "file://" if prefix.startswith("file://") else "file:"
        return prefix + _encode(rest) if prefix == "file:" else "file://" + _encode(rest)
    return prefix + _encode(rest)


def location_key(location: str) -> str:
    """One spelling for each file: ``/x``, ``file:/x`` and ``file:///x`` are the same. For locations, not URIs."""
    local = _LOCAL.match(location)
    return "/" + location[local.end() :] if local else location


def from_uri(uri: str) -> str:
    """``location_key`` of the location a URI stands for."""
    return location_key(unquote(uri))


def _encode(path: str) -> str:
    return "".join(c if _LEGAL.match(c) else "".join(f"%{b:02X}" for b in c.encode()) for c in path)
